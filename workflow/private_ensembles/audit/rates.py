"""The largest rate of a law that prefers large counts such that one label keeps a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import reduced_histograms
from private_ensembles.base import checks
from private_ensembles.base.root_search import find_first_holding

# Both distributions have these errors: an exponent's rounding weighs as much as its size (below
# 750), and sums of C positive terms lose C round-offs.
RELATIVE_ERROR, ABSOLUTE_ERROR = 1e-12, 1e-300
# The other class has a probability of 0 as a float if the lead is so many times 1 / rate.
_UNDERFLOW = 800


@lru_cache(maxsize=256)
def selection_rate(
    epsilon: float,
    delta: float,
    weigh: Callable[[NDArray, float], NDArray],
    n_teachers: int,
    n_classes: int = 2,
) -> float:
    """Return the largest rate with which the exact audit proves one label (epsilon, delta)-DP.

    The audit goes over all histograms; classes may be renamed, so the reduced ones suffice.

    Args:
        epsilon: finite and > 0.
        delta: in [0, 1].
        weigh: (counts, rate) -> Pr[label], both arrays (queries, classes).
        n_teachers: how many votes a histogram has.
        n_classes: how many classes there are.

    Returns:
        The rate; epsilon / 2, which serves any number of teachers and classes, if no larger one
        does.

    Raises:
        ValueError: for epsilon or delta out of range, and for too many histograms.
    """
    checks.check_finite(epsilon=epsilon, above=0)
    checks.check_probability(delta=delta)
    # The noise is 1 / rate. A move changes a lead by 2, so no budget lets the rate exceed pure DP's
    # by much unless delta is large. The range covers four hundred times.
    high = 2 / epsilon * (1 + 1e-9)
    if n_classes == 2:  # the probabilities at larger leads are 0 and 1 as floats, and stay so
        n_teachers = min(n_teachers, n_teachers % 2 + 2 * math.ceil(_UNDERFLOW * high))
    histograms, pairs = reduced_histograms(n_teachers, n_classes)

    def holds(noise: float) -> bool:
        spent = exact_delta(
            weigh(histograms, 1 / noise),
            pairs,
            epsilon,
            relative_error=RELATIVE_ERROR,
            absolute_error=ABSOLUTE_ERROR,
        )
        return spent <= delta

    if not holds(high):
        return epsilon / 2
    grid = np.geomspace(high / 400, high, 400).tolist()  # more noise may cost more
    return 1 / find_first_holding(holds, grid, relative=1e-9)  # holds() audited this very float
