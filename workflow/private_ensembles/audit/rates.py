"""The largest rate of a law that prefers large counts, such that one label keeps a budget."""

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

# Of both distributions: an exponent's rounding weighs as much as its size (below 750), and sums
# of C positive terms lose C round-offs.
RELATIVE_ERROR, ABSOLUTE_ERROR = 1e-12, 1e-300
# Leads in units of the noise, 1 / rate, at which preferences are 0 as floats.
_UNDERFLOW = 800


@lru_cache(maxsize=256)
def selection_rate(
    epsilon: float,
    delta: float,
    weigh: Callable[[NDArray, float], NDArray],
    n_teachers: int,
    n_classes: int = 2,
) -> float:
    """Largest rate with which the exact audit proves one label (epsilon, delta)-DP.

    Over all histograms of n_teachers = K votes on n_classes (classes may be renamed, so the reduced
    ones suffice); epsilon / 2, which serves any K and C, if nothing larger does. weigh: Pr[label]
    of counts (queries, classes) at a rate. Raises ValueError for epsilon not finite and > 0, delta
    outside [0, 1], and too many histograms.
    """
    checks.check_finite(epsilon=epsilon, above=0)
    checks.check_probability(delta=delta)
    # Noise is 1 / rate; a lead grows by 2, so no budget lets the rate exceed pure DP's by much
    # unless delta is large: the range covers four hundred times.
    high = 2 / epsilon * (1 + 1e-9)
    if n_classes == 2:  # further leads have 0 and 1 as floats before and after a move
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
    grid = np.geomspace(high / 400, high, 400).tolist()  # more noise need not cost less
    return 1 / find_first_holding(holds, grid, relative=1e-9)  # the very float that was audited
