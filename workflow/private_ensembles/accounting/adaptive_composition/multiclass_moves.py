"""GNMax's labels where votes move between three classes or more, as hockey-stick divergences.

Given what such a move leaves as it is, a label is a function of one normal number, and each winner
has an interval of it. The move shifts that number. docs/many-labels.md, "Groups", has the proof.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.base.stated_bounds import upper_bound

# Normal tails, a threshold e^x, |x| <= 600, and products are off by this, relative to themselves.
_ERROR = 1e-12
# The line is divided into so many cells for the ends of intervals, by how many ends there are.
_CELLS = {1: 64, 2: 60, 3: 32}
# An end may be anywhere beyond this, in standard deviations of the normal number.
_FAR = 5.5


def shapes(group_size: int, classes: int) -> list[tuple[int, int]]:
    """Return how many ends of intervals moves between three classes or more have, and their norms.

    Each move of up to `group_size` votes has at most as many ends, and at most the squared norm, of
    one of those listed. "0 ends" stands for one end that may be anywhere, the noisy count.

    Args:
        group_size: How many votes may move at most, >= 1.
        classes: C >= 2.

    Returns:
        Pairs (ends, squared norm).

    >>> shapes(2, 10), shapes(3, 10), shapes(1, 10)
    ([(2, 6)], [(3, 14), (0, 10)], [])
    """
    if group_size == 1 or classes == 2:
        return []
    # The norm is largest if one side of the move is split, with all but one of its votes in one
    # class, and the other side is in one class.
    square = group_size**2 + (group_size - 1) ** 2 + 1
    if group_size == 2:  # two votes of one class and one of two others each, or one of four each
        return [(1 if classes == 3 else 2, square)]
    largest = [(2 if classes == 3 else 3, square)]
    if classes >= 5:  # four classes or more may gain or lose different numbers of votes
        largest.append((0, 2 * (group_size - 1) ** 2 + 2))
    return largest


@upper_bound
def hockey_stick_divergences(
    group_size: int, classes: int, scale: float, t: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return curves above those of all such moves, (rows, n), as `DominatingPairs` has them.

    Args:
        group_size: How many votes may move at most, >= 1.
        classes: C >= 2.
        scale: sigma, in votes, > 0.
        t: (n,) > 0.

    >>> hockey_stick_divergences(2, 10, 20.0, np.array([1.0])).shape
    (1830, 1)
    """
    rows = [np.empty((0, t.size))]
    for ends, square in shapes(group_size, classes):
        shift = math.sqrt(square) / scale * (1 + _ERROR)
        if ends == 0:
            rows.append(_cells(shift, np.array([-np.inf, np.inf]), t))
            continue
        inner = shift / 2 + np.linspace(-_FAR, _FAR, _CELLS[ends] - 1)
        cells = _cells(shift, np.concatenate([[-np.inf], inner, [np.inf]]), t)
        chosen = np.array(list(combinations_with_replacement(range(len(cells)), ends)))
        rows.append(cells[chosen].max(axis=1))
    return np.concatenate(rows)


def _cells(shift: float, edges: NDArray, t: NDArray) -> NDArray[np.float64]:
    """Return the largest curve of one end in each cell between edges: (cells, n).

    One end x has the curve Phi(x) - t Phi(x - shift), which rises up to shift / 2 - ln t / shift
    and falls beyond. Below t = 1 it is t times that of shift - x at 1 / t.
    """
    low, high = edges[:-1, None], edges[1:, None]
    below = t < 1
    large = np.where(below, 1 / t, t)
    best = shift / 2 - np.log(large) / shift
    end = np.where(below, np.clip(best, shift - high, shift - low), np.clip(best, low, high))
    curve = ndtr(end) * (1 + _ERROR) - large * ndtr(end - shift) * (1 - _ERROR)
    return np.maximum(curve, 0.0) * np.where(below, t, 1.0) * (1 + _ERROR)
