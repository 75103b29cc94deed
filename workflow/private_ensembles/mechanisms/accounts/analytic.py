"""Exactly what noisy counts cost, for any number of teachers and classes.

The condition for Gaussian noise is that of Balle and Wang 2018; Laplace's delta is `pate.lnmax`'s.
"""

import math

from private_ensembles.accounting.labels import composed, label_epsilon
from private_ensembles.accounting.root import bisect
from private_ensembles.mechanisms.accounts.gaussian_counts import GaussianCounts
from private_ensembles.mechanisms.accounts.improved import scale_cost, scale_of_many
from private_ensembles.mechanisms.accounts.laplace_counts import LaplaceCounts
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.pate.lnmax import lnmax_noisy_counts_delta, scale_of_one

# With more labels optimal composition takes long, and Rényi bounds are better.
_FEW = 30


class ExactLaplace(LaplaceCounts):
    """The least scale of two proofs: each label (epsilon, delta)-DP by its noisy counts, or Rényi.

    Each of a few labels leaks an equal part of half the total delta, and optimal composition takes
    the rest.
    """

    method = "noisy_counts"

    def of_many(self, task, labels):
        scale = scale_of_many(task.epsilon, task.delta, labels)
        if labels <= _FEW:
            leak = _leak(task.delta, labels)
            each = label_epsilon(task.epsilon, labels, task.delta, leak)
            scale = min(scale, scale_of_one(each, leak, method=self.method))
        return LaplaceNoise(scale, labels)

    def composition(self, task, parameters):
        scale, labels = parameters.scale, parameters.labels
        by_rdp = scale_cost(scale, labels, task.delta)
        if labels > _FEW:
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


gaussian = GaussianCounts("analytic", "exact")
laplace = ExactLaplace()
