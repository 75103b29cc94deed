"""What an optimal label is optimal for: expected right labels under a stated profile of teachers.

A teacher votes for the right class with probability `accuracy` and for each other class with equal
probability, independently of the others. Then a histogram and the tie group of its right class have
a probability in closed form, and expected right labels are linear in the mechanism.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.rounding import sixty_digits
from private_ensembles.optimal_label.sorted_histograms import TieGroups

# Of one weight, relative: five roundings of correctly rounded factors.
WEIGHT_ROUNDINGS = 5
# Larger numbers of arrangements are no floats.
_LARGEST_LOGARITHM = 700.0


def right_weights(histograms: TieGroups, accuracy: float) -> NDArray[np.float64]:
    """Return Pr[the sorted histogram, the right class in the tie group], (G,).

    >>> from private_ensembles.optimal_label.sorted_histograms import tie_groups
    >>> right_weights(tie_groups(2, 2), 0.75)  # 1-1, 2-0 and 0-2
    array([0.375 , 0.5625, 0.0625])

    accuracy: of one teacher, in (1/C, 1). A mechanism that releases each class of a tie group with
    probability p releases the right class with probability sum of weights p. Each weight is off by
    at most WEIGHT_ROUNDINGS relative round-offs. Raises ValueError for another accuracy, and for so
    many teachers that the numbers of arrangements are no floats. Source: docs/best-label.md.
    """
    K, C = histograms.n_teachers, histograms.n_classes
    if not 1 / C < accuracy < 1:
        raise ValueError(f"accuracy = {accuracy}: must be above 1 / {C} and below 1")
    if K * math.log(C) > _LARGEST_LOGARITHM:
        raise ValueError(
            f"n_teachers = {K}: must be at most {_LARGEST_LOGARITHM / math.log(C):.0f}"
        )
    factorials = np.array([math.factorial(n) for n in range(max(K, C) + 1)], dtype=object)
    votes = factorials[K] // np.multiply.reduce(factorials[histograms.counts], axis=1)
    ties = np.multiply.reduceat(factorials[histograms.sizes], histograms.starts)
    # Names of all classes but the right one, whose group has one less of them to name.
    names = factorials[C - 1] * histograms.sizes.astype(object) // ties[histograms.owners]
    arrangements = (votes[histograms.owners] * names).astype(np.float64)
    right, wrong = _powers(accuracy, K, C)
    return arrangements * right[histograms.votes] * wrong[K - histograms.votes]


def _powers(accuracy: float, n_teachers: int, n_classes: int) -> tuple[NDArray, NDArray]:
    """accuracy^n and ((1 - accuracy) / (C - 1))^n for n = 0..K, each rounded once."""
    with sixty_digits():
        right = Decimal(accuracy)
        wrong = (1 - right) / (n_classes - 1)
        both = [[float(base**n) for n in range(n_teachers + 1)] for base in (right, wrong)]
    return np.array(both[0]), np.array(both[1])


def leaders(histograms: TieGroups, lead: int) -> NDArray[np.int64]:
    """Return the leading group of every histogram whose lead is at least `lead` votes.

    A mechanism's least Pr[the leader] over these is what `minimax` maximises. Raises ValueError for
    a lead outside 1..K.
    """
    if not 1 <= lead <= histograms.n_teachers:
        raise ValueError(f"lead = {lead}: must be in 1..{histograms.n_teachers}")
    ahead = histograms.counts[:, 0] - histograms.counts[:, 1] >= lead
    return histograms.starts[ahead]
