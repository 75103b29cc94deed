"""What several labels of private teachers that are trained once cost together, Delta = 0.

A teacher that is epsilon-DP answers all queries from one training. Its answers on two data sets are
a function of one randomised bit (Kairouz, Oh & Viswanath 2015), so that with two classes and Q
queries it is one of 4^Q behaviours: what it votes if the bit is 1, and if it is 0. A label is
the list a(l) = Pr[release 1 | l teachers say 1], l = 0..K, drawn independently for every query.
Theorems and proofs: docs/darrm.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

# What a teacher votes on both queries if its bit is 1, and if it is 0.
_VOTES = tuple(itertools.product((0, 1), repeat=2))
BEHAVIOURS = tuple(itertools.product(_VOTES, repeat=2))


def teachers_of_a_label(probability_of_one: ArrayLike) -> float:
    """Return w, such that any number Q of labels costs at most Q w teacher_epsilon together.

    w is the largest of l max(0, 1 - a(l - 1) / a(l)) + (K - l) max(0, 1 - a(l + 1) / a(l)), over l
    and both labels: how many teachers a label can reveal at most. Queries may depend on
    earlier labels. probability_of_one: (K + 1,) in [0, 1].
    """
    values, worst = np.asarray(probability_of_one), 0.0
    K = len(values) - 1
    ones = np.arange(K + 1)
    for chances in (values, 1 - values):
        below, above = np.roll(chances, 1), np.roll(chances, -1)  # of ends, weighed by 0
        told = np.zeros(K + 1)
        for weight, beside in ((ones, below), (K - ones, above)):
            with np.errstate(divide="ignore", invalid="ignore"):
                lost = np.maximum(chances - beside, 0) / chances
            told += np.where(chances > 0, weight * lost, 0.0)
        worst = max(worst, float(told.max()))
    return worst


def two_labels_epsilon(probability_of_one: ArrayLike, teacher_epsilon: float) -> float:
    """Return the epsilon of two labels of teachers that are trained once.

    Pr[o | D] - e^x Pr[o | D'] is linear in each teacher's pair of laws, so that its maximum is
    where every teacher has one of the 16 behaviours; all C(K + 15, 15) choices are enumerated. For
    K = 11 they are 7,726,160, half a GiB.
    """
    values = np.asarray(probability_of_one)
    other = 1 - values
    pairs = [(values, values)]
    # If both labels are treated alike, exchanging them exchanges behaviours.
    if not np.array_equal(other, values[::-1]):
        pairs += [(values, other), (other, other)]
    worst = 1.0
    for first, second in pairs:
        for here, there in _chances(np.outer(first, second), teacher_epsilon):
            told = here > 0
            if told.any():
                worst = max(worst, float((here[told] / there[told]).max()))
    return math.log(worst)


def _chances(table: NDArray, epsilon: float) -> Iterator[tuple[NDArray, NDArray]]:
    """Pr[both labels] on both data sets, at all choices of behaviours.

    table: (K + 1, K + 1), Pr[both labels | counts of ones]. Teachers are added one by one, the
    behaviour of each never before the last one's, and the table shrinks: what is left of it after k
    teachers is the chance given the votes of the others.
    """
    decay = math.exp(-epsilon)
    sides = (1 / (1 + decay), decay / (1 + decay)), (decay / (1 + decay), 1 / (1 + decay))
    groups = [np.zeros((0, 2, *table.shape)) for _ in BEHAVIOURS]
    groups[0] = np.stack([table, table])[None]
    for left in range(len(table) - 1, 0, -1):
        grown = []
        for last, votes in enumerate(BEHAVIOURS):
            rows = np.concatenate(groups[: last + 1])
            added = np.empty((len(rows), 2, left, left))
            for side, chances in enumerate(sides):
                parts = []
                for chance, (i, j) in zip(chances, votes, strict=True):
                    parts.append(chance * rows[:, side, i : i + left, j : j + left])
                says_one, says_zero = parts
                np.add(says_one, says_zero, out=added[:, side])
            if left == 1:  # nobody is left to vote
                yield added[:, 0, 0, 0], added[:, 1, 0, 0]
            else:
                grown.append(added)
        groups = grown
