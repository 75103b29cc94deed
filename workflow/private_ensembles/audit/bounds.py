"""Bounds on the cost of one label if there are too many histograms to list.

The lower bound comes from some pairs of neighbours, which prove that no smaller epsilon holds;
`leading_pairs` are those where noisy maxima are most fragile. The upper bound is whatever is proven
of the noisy counts, or of anything else that the label is post-processing of. If the histograms can
be listed, up to renaming the classes, both bounds are the exact value up to the stated errors of
the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.divergence import exact_epsilon
from private_ensembles.audit.histograms import (
    count_sorted_histograms,
    leading_pairs,
    reduced_histograms,
)
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# Bounds that are so close are one number, rounded to either side.
_MEET = 1e-6


@dataclass(frozen=True)
class EpsilonBounds:
    """The least epsilon at delta lies in [lower, upper].

    If it is exact, all histograms were listed and the two bounds meet, up to rounding.
    """

    lower: float
    upper: float
    exact: bool


@upper_bound
@lower_bound
def epsilon_bounds(
    distribution: Callable[[NDArray], NDArray],
    n_teachers: int,
    n_classes: int,
    delta: float,
    *,
    upper: float = math.inf,
    relative_error: float = 0.0,
    absolute_error: float = 0.0,
    most_histograms: int = 20_000,
) -> EpsilonBounds:
    """Bound the least epsilon with which one label is (epsilon, delta)-DP, for disjoint shards.

    Args:
        distribution: counts (H, C) -> Pr[label] (H, L), label-symmetric: renaming the classes
            renames the labels and does nothing else.
        n_teachers: how many votes a histogram has.
        n_classes: how many classes there are.
        delta: in [0, 1].
        upper: an epsilon that is proven otherwise.
        relative_error: each probability p is known within relative_error p + absolute_error.
        absolute_error: see relative_error.
        most_histograms: up to so many sorted histograms are all listed; of more, those of
            `leading_pairs` are.

    Raises:
        ValueError: as for `exact_epsilon` and `enumerate_histograms`, and if the lower bound
            exceeds `upper`.
    """
    listed = count_sorted_histograms(n_teachers, n_classes) <= most_histograms
    rows, pairs = (reduced_histograms if listed else leading_pairs)(n_teachers, n_classes)
    matrix = np.asarray(distribution(rows), dtype=np.float64)
    errors = {"relative_error": relative_error, "absolute_error": absolute_error}
    lower = exact_epsilon(matrix, pairs, delta, side="lower", **errors)
    audited = exact_epsilon(matrix, pairs, delta, **errors) if listed else math.inf
    if lower > min(upper, audited):
        raise ValueError(f"upper = {upper}: must not be below what the audit finds, {lower}")
    # Probabilities that underflow, or that are hardly known, leave bounds that do not meet.
    upper = min(upper, audited)
    exact = listed and (upper <= lower * (1 + _MEET) + _MEET)
    return EpsilonBounds(lower, upper, exact)
