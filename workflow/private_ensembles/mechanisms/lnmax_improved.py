"""LNMax with Laplace noise found by Rényi bounds, which compose better than pure guarantees."""

from __future__ import annotations

import math
from functools import lru_cache

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.mechanisms.families.composed import ORDERS, composed, largest_within
from private_ensembles.mechanisms.families.laplace import LaplaceNoise, WithinBudget
from private_ensembles.pate.lnmax_accounting import lnmax_independent_rdp

_FEW = 5  # labels, of which the pure guarantees together may cost less than Rényi bounds say


@lru_cache(maxsize=1024)
def scale_cost(scale: float, labels: int, delta: float) -> float:
    """Total epsilon of labels with noise of this scale, whatever the votes: an upper bound.

    By the Rényi bounds of `lnmax_independent_rdp`, added up over labels, and the conversion of
    Canonne, Kamath & Steinke (2020), Proposition 12; for a few labels also by the optimal
    composition of what is (2 / scale, 0)-DP.
    """
    rdp = labels * lnmax_independent_rdp(scale, ORDERS) * (1 + 1e-15)
    found = rdp_to_dp(ORDERS, rdp, delta, "improved")[0]
    if labels > _FEW:
        return found
    return min(found, composed(math.nextafter(2 / scale, math.inf), labels, delta))


def scale_of_many(epsilon: float, delta: float, labels: int) -> float:
    """Return the least scale found with which the labels cost at most epsilon at delta."""
    return 1 / largest_within(epsilon, lambda rate: scale_cost(1 / rate, labels, delta))


class LNMaxByRenyi(WithinBudget):
    """Every query is answered by LNMax; its cost is that of the noisy counts."""

    name = "lnmax_improved"
    label = "LNMax, scale by the improved RDP conversion"
    source = "PATE 2017 (LNMax); Canonne, Kamath and Steinke 2020, Proposition 12"
    order = 21
    analysis = "improved"
    method = "improved_rdp"

    def find_many(self, task, labels):
        return LaplaceNoise(scale_of_many(task.epsilon, task.delta, labels), labels)

    def cost_of_many(self, task, parameters):
        return scale_cost(parameters.scale, parameters.labels, task.delta)


MECHANISM = LNMaxByRenyi()
