"""Laplace noise on vote counts, by three proofs: pure guarantees, Rényi bounds, the noisy counts.

Rényi divergences are converted by Canonne, Kamath and Steinke 2020, Proposition 12; the delta of
noisy counts is `pate.lnmax`'s.

If g votes move, g times the noise costs the same (docs/many-labels.md, "Groups").
"""

import math
from abc import abstractmethod
from functools import lru_cache

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.accounting.labels import ORDERS, composed, label_epsilon, largest_within
from private_ensembles.accounting.root import bisect
from private_ensembles.accounting.rounding import above
from private_ensembles.mechanisms.accounts import groups
from private_ensembles.mechanisms.accounts.account import CAP, Account
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise, PureScale
from private_ensembles.mechanisms.parameters import Cost, Parameters
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.lnmax import (
    lnmax_independent_rdp,
    lnmax_noisy_counts_delta,
    scale_of_one,
)

# Labels of which the pure guarantees together may cost less than Rényi bounds say.
_FEW_PURE = 5
# With more labels optimal composition of noisy counts takes long, and Rényi bounds are better.
_FEW_COUNTS = 30


class LaplaceCounts(Account):
    """LNMax, charged for its noisy counts; a subclass says how much noise several labels need.

    method: that of `lnmax_scale`, by which one label is calibrated.
    """

    free = CAP
    groups = True

    def find(self, law, task, labels, **free):
        """Find the scale of one label by the method, of many as they compose."""
        if task.moved > 1:
            known = self.find(law, task.of_one_vote(), labels)
            return self.by_scale(law.less_noise(known, groups.more_noise(task.moved)))
        if labels == 1:
            return self.of_one(task)
        return self.of_many(task, labels)

    def of_one(self, task: Task) -> Parameters:
        """Return the noise of one label."""
        return LaplaceNoise(scale_of_one(task.epsilon, task.delta, method=self.method))

    def by_scale(self, noise: Parameters) -> Parameters:
        """Return the same noise, of which no more is claimed than follows from its scale."""
        return noise

    @abstractmethod
    def of_many(self, task: Task, labels: int) -> Parameters:
        """Return the noise of several labels that keep the budget together."""

    def cost(self, law, task, parameters):
        """Return the budget if the method allows this noise for one label, else the composition."""
        if task.moved > 1:
            divided = law.less_noise(parameters, groups.less_noise(task.moved))
            return self.cost(law, task.of_one_vote(), self.by_scale(divided))
        one = parameters.labels == 1
        if one and parameters.scale >= scale_of_one(task.epsilon, task.delta, method=self.method):
            return Cost(task.epsilon, task.epsilon)
        together = self.composition(task, parameters)
        return Cost(together, together)

    @abstractmethod
    def composition(self, task: Task, parameters: Parameters) -> float:
        """Return what the labels cost together."""


class PureLaplace(LaplaceCounts):
    """PATE 2017: one moved vote changes two counts by one, so that the scale is 2 / epsilon.

    One label spends no delta; with many, composition spends it.
    """

    method = "pure"

    def of_one(self, task):
        scale = scale_of_one(task.epsilon, task.delta, method=self.method)
        return PureScale(task.epsilon, 1, scale)

    def of_many(self, task, labels):
        return PureScale(label_epsilon(task.epsilon, labels, task.delta), labels)

    def by_scale(self, noise):
        return PureScale(above(2 / noise.scale), noise.labels, noise.scale)

    def composition(self, task, parameters):
        return composed(parameters.label_epsilon, parameters.labels, task.delta)


@lru_cache(maxsize=1024)
def scale_cost(scale: float, labels: int, delta: float) -> float:
    """Total epsilon of labels with noise of this scale, whatever the votes: an upper bound.

    By the Rényi bounds of `lnmax_independent_rdp`, added up over labels, and the conversion; for a
    few labels also by the optimal composition of what is (2 / scale, 0)-DP.
    """
    rdp = labels * lnmax_independent_rdp(scale, ORDERS) * (1 + 1e-15)
    by_rdp = rdp_to_dp(ORDERS, rdp, delta, "improved")[0]
    if labels > _FEW_PURE:
        return by_rdp
    return min(by_rdp, composed(math.nextafter(2 / scale, math.inf), labels, delta))


@lru_cache(maxsize=1024)
def scale_of_many(epsilon: float, delta: float, labels: int) -> float:
    """Return the least scale found with which the labels cost at most epsilon at delta."""
    return 1 / largest_within(epsilon, lambda rate: scale_cost(1 / rate, labels, delta))


class RenyiLaplace(LaplaceCounts):
    """Rényi bounds compose better than pure guarantees."""

    method = "improved_rdp"

    def of_many(self, task, labels):
        return LaplaceNoise(scale_of_many(task.epsilon, task.delta, labels), labels)

    def composition(self, task, parameters):
        return scale_cost(parameters.scale, parameters.labels, task.delta)


class ExactLaplace(LaplaceCounts):
    """The least scale of two proofs: each label (epsilon, delta)-DP by its noisy counts, or Rényi.

    Each of a few labels leaks an equal part of half the total delta, and optimal composition takes
    the rest.
    """

    method = "noisy_counts"

    def of_many(self, task, labels):
        scale = scale_of_many(task.epsilon, task.delta, labels)
        if labels <= _FEW_COUNTS:
            leak = _leak(task.delta, labels)
            each = label_epsilon(task.epsilon, labels, task.delta, leak)
            scale = min(scale, scale_of_one(each, leak, method=self.method))
        return LaplaceNoise(scale, labels)

    def composition(self, task, parameters):
        scale, labels = parameters.scale, parameters.labels
        by_rdp = scale_cost(scale, labels, task.delta)
        if labels > _FEW_COUNTS:
            return by_rdp
        leak = _leak(task.delta, labels)
        return min(by_rdp, composed(_least_epsilon(scale, leak), labels, task.delta, leak))


def _leak(delta: float, labels: int) -> float:
    return delta / 2 / labels * (1 - 1e-9)


def _least_epsilon(scale: float, delta: float) -> float:
    """Return an epsilon at which the noisy counts cost at most delta, within 1e-12 of the least."""
    high = math.nextafter(2 / scale, math.inf) * (1 + 2.0**-40)

    def enough(epsilon: float) -> bool:
        return lnmax_noisy_counts_delta(scale, epsilon) <= delta

    return bisect(enough, 0.0, high, relative=1e-12)


paper = PureLaplace()
improved = RenyiLaplace()
analytic = ExactLaplace()
