"""Rényi divergences by the conversion of Canonne, Kamath and Steinke 2020, Proposition 12."""

import math
from functools import lru_cache

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.accounting.labels import ORDERS, composed, largest_within
from private_ensembles.mechanisms.accounts.gaussian_counts import GaussianCounts
from private_ensembles.mechanisms.accounts.laplace_counts import LaplaceCounts
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.pate.lnmax import lnmax_independent_rdp

_FEW = 5  # labels, of which the pure guarantees together may cost less than Rényi bounds say


@lru_cache(maxsize=1024)
def scale_cost(scale: float, labels: int, delta: float) -> float:
    """Total epsilon of labels with noise of this scale, whatever the votes: an upper bound.

    By the Rényi bounds of `lnmax_independent_rdp`, added up over labels, and the conversion; for a
    few labels also by the optimal composition of what is (2 / scale, 0)-DP.
    """
    rdp = labels * lnmax_independent_rdp(scale, ORDERS) * (1 + 1e-15)
    by_rdp = rdp_to_dp(ORDERS, rdp, delta, "improved")[0]
    if labels > _FEW:
        return by_rdp
    return min(by_rdp, composed(math.nextafter(2 / scale, math.inf), labels, delta))


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


gaussian = GaussianCounts("improved_rdp", "improved")
laplace = RenyiLaplace()
