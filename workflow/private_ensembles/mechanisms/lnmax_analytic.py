"""LNMax with Laplace noise found by the exact delta of the noisy counts: any number of classes."""

from __future__ import annotations

import math

from private_ensembles.accounting.root import bisect
from private_ensembles.mechanisms.families.composed import composed, label_epsilon
from private_ensembles.mechanisms.families.laplace import (
    LaplaceNoise,
    WithinBudget,
    lnmax_noisy_counts_delta,
    scale_of_one,
)
from private_ensembles.mechanisms.lnmax_improved import scale_cost, scale_of_many

# With more labels optimal composition takes long, and Rényi bounds are better.
_FEW = 30


class LNMaxByNoisyCounts(WithinBudget):
    """The least scale of two proofs: each label (epsilon, delta)-DP by its noisy counts, or Rényi.

    Each of a few labels leaks an equal part of half the total delta, and optimal composition takes
    the rest.
    """

    name = "lnmax_analytic"
    label = "LNMax, scale by the exact δ of the noisy counts"
    source = "PATE 2017 (LNMax); families.laplace.lnmax_noisy_counts_delta, any number of classes"
    order = 22
    analysis = "analytic"
    method = "noisy_counts"

    def find_many(self, task, labels):
        scale = scale_of_many(task.epsilon, task.delta, labels)
        if labels <= _FEW:
            leak = _leak(task.delta, labels)
            one = label_epsilon(task.epsilon, labels, task.delta, leak)
            scale = min(scale, scale_of_one(one, leak, method=self.method))
        return LaplaceNoise(scale, labels)

    def cost_of_many(self, task, parameters):
        scale, labels = parameters.scale, parameters.labels
        found = scale_cost(scale, labels, task.delta)
        if labels > _FEW:
            return found
        leak = _leak(task.delta, labels)
        one = _least_epsilon(scale, leak)
        return min(found, composed(one, labels, task.delta, leak))


def _leak(delta: float, labels: int) -> float:
    return delta / 2 / labels * (1 - 1e-9)


def _least_epsilon(scale: float, delta: float) -> float:
    """Return an epsilon at which the noisy counts cost at most delta, within 1e-12 of the least."""
    high = math.nextafter(2 / scale, math.inf) * (1 + 2.0**-40)

    def enough(epsilon: float) -> bool:
        return lnmax_noisy_counts_delta(scale, epsilon) <= delta

    return bisect(enough, 0.0, high, relative=1e-12)


MECHANISM = LNMaxByNoisyCounts()
