"""How often a label of two classes can be right at all, whatever law of noise it has.

Not for one label, where `ladder` is the answer, but for many that share a budget: a bound that no
law exceeds, so that one sees how far GNMax is from the best. Theorem and proof:
docs/many-labels.md#is-gaussian-noise-the-right-noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from private_ensembles import checks
from private_ensembles.accounting.adaptive.account import check_labels
from private_ensembles.accounting.limits import check_budget
from private_ensembles.accounting.root import bisect

# A probability is found to this share of itself; the bound is the end that no law reaches.
_RELATIVE = 1e-9
# A pair is ruled out only if it exceeds delta by more than what binomial tails may be off by.
_CERTAIN = 1 + 1e-6


def bound_on_any_law(
    n_teachers: int, labels: int, epsilon: float, delta: float
) -> NDArray[np.float64]:
    """Return upper bounds on Pr[the label is the majority's], by the majority's lead.

    >>> bound_on_any_law(5, 10, 1.0, 1e-5).round(4)
    array([0.5251, 0.5711, 0.6138])

    n_teachers: K, odd, >= 1. labels: Q >= 1, each drawn anew, and (epsilon, delta)-private
    together, if one vote of each query moves. Returns ((K + 1) / 2,): at leads 1, 3, ..., K votes,
    on average over a majority for either class. It is found at a lead that an adversary who knows
    the votes repeats Q times; one who changes leads may rule out more, so no law may reach the
    bound. Raises ValueError for numbers out of range.
    """
    checks.integer(n_teachers=n_teachers, at_least=1)
    if n_teachers % 2 == 0:
        raise ValueError(f"n_teachers = {n_teachers}: must be odd")
    check_labels(labels, delta)
    check_budget(epsilon, delta)

    def ruled_out(low: float, high: float) -> bool:
        return _worst_delta(low, high, labels, epsilon) > delta * _CERTAIN

    def furthest(of: Callable[[float], tuple[float, float]], start: float) -> float:
        """The least probability from `start` on that is ruled out, or 1."""
        if not ruled_out(*of(1.0)):
            return 1.0
        return bisect(lambda p: ruled_out(*of(p)), start, 1.0, relative=_RELATIVE)

    bounds = [furthest(lambda p: (1 - p, p), 0.5)]
    while len(bounds) < (n_teachers + 1) // 2:
        last = bounds[-1]
        bounds.append(furthest(lambda p, last=last: (last, p), last))
    return np.array(bounds)


def _worst_delta(low: float, high: float, labels: int, epsilon: float) -> float:
    """Delta of that many independent coins, Pr[1] = low in place of high or the other way round."""
    ones = np.arange(labels + 1)
    growth = math.exp(epsilon)
    few = binom.cdf(ones, labels, low) - growth * binom.cdf(ones, labels, high)
    many = binom.sf(ones - 1, labels, high) - growth * binom.sf(ones - 1, labels, low)
    return float(max(few.max(), many.max(), 0.0))
