"""What the best label is best for: expected right labels of teachers who are right equally often.

A teacher votes for the right class with probability `accuracy` and for each other class with equal
probability, independently of the others. So a histogram and the tie group of its right class have a
probability in closed form, and expected right labels are linear in the mechanism.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base.rounding import sixty_digits
from studies.best_label.sorted_histograms import TieGroups

# One weight has five relative roundings of correctly rounded factors.
WEIGHT_ROUNDINGS = 5
# A float does not hold larger numbers of arrangements.
_LARGEST_LOGARITHM = 700.0


def correct_label_weights(histograms: TieGroups, accuracy: float) -> NDArray[np.float64]:
    """Return Pr[the sorted histogram, the right class in the tie group], (groups,).

    A mechanism that releases each class of a tie group with probability p releases the right class
    with probability sum of weights p. Each weight is off by at most WEIGHT_ROUNDINGS relative
    round-offs.

    Args:
        histograms: of K teachers and C classes.
        accuracy: of one teacher, in (1/C, 1).

    Raises:
        ValueError: the accuracy is out of range, or there are so many teachers that the numbers of
            arrangements do not fit a float.

    References:
        docs/best-label.md.

    >>> from studies.best_label.sorted_histograms import tie_groups
    >>> correct_label_weights(tie_groups(2, 2), 0.75)  # 1-1, 2-0 and 0-2
    array([0.375 , 0.5625, 0.0625])
    """
    K, C = histograms.n_teachers, histograms.n_classes
    if not 1 / C < accuracy < 1:
        raise ValueError(f"accuracy = {accuracy}: must be above 1 / {C} and below 1")
    if K * math.log(C) > _LARGEST_LOGARITHM:
        raise ValueError(
            f"n_teachers = {K}: must be at most {_LARGEST_LOGARITHM / math.log(C):.0f}"
        )
    factorials = np.array([math.factorial(n) for n in range(K + 1)], dtype=object)
    votes = factorials[K] // np.multiply.reduce(factorials[histograms.counts], axis=1)
    arrangements = (votes[histograms.owners] * _count_namings(histograms)).astype(np.float64)
    with sixty_digits():  # accuracy^n and ((1 - accuracy) / (C - 1))^n, each rounded once
        bases = Decimal(accuracy), (1 - Decimal(accuracy)) / (C - 1)
        right, wrong = np.array([[float(base**n) for n in range(K + 1)] for base in bases])
    return arrangements * right[histograms.votes] * wrong[K - histograms.votes]


def _count_namings(histograms: TieGroups) -> NDArray[np.object_]:
    """Return how many ways there are to name all classes but the right one, for each tie group.

    The right class is one of the group.
    """
    C = histograms.n_classes
    factorials = np.array([math.factorial(n) for n in range(C + 1)], dtype=object)
    ties = np.multiply.reduceat(factorials[histograms.sizes], histograms.starts)
    sizes = histograms.sizes.astype(object)
    return factorials[C - 1] * sizes // ties[histograms.owners]
