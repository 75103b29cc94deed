"""GNMax's labels where votes move between three classes or more, as curves, for `adaptive.account`.

Given what such a move leaves as it is, a label is a function of one normal number, and each winner
has an interval of it. The move shifts that number. docs/many-labels.md, "Groups", has the proof.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

# Of normal tails, a threshold e^x, |x| <= 600, and products, relative to themselves.
_ERROR = 1e-12
# The ends of intervals are in one of so many cells of the line, by how many ends there are.
_CELLS = {1: 64, 2: 60, 3: 32}
# Beyond it, in standard deviations of the normal number, an end may be anywhere.
_FAR = 5.5


def shapes(group_size: int, classes: int) -> list[tuple[int, int]]:
    """Return (ends, square): how many ends of intervals a move has at most, and its squared norm.

    Of all moves of up to `moved` votes between three classes or more: each has at most as many ends
    and at most the norm of one of them. One end that may be anywhere, "0 ends", is the noisy count.

    >>> shapes(2, 10), shapes(3, 10), shapes(1, 10)
    ([(2, 6)], [(3, 14), (0, 10)], [])
    """
    if group_size == 1 or classes == 2:
        return []
    # A side of the move is split: all but one vote are of one class, and the other side is of one.
    square = group_size**2 + (group_size - 1) ** 2 + 1
    if group_size == 2:  # two votes of one class and one of each of two, or one of each of four
        return [(1 if classes == 3 else 2, square)]
    most = [(2 if classes == 3 else 3, square)]
    if classes >= 5:  # four classes or more that gain or lose different numbers of votes
        most.append((0, 2 * (group_size - 1) ** 2 + 2))
    return most


def hockey_stick_divergences(
    group_size: int, classes: int, scale: float, t: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return curves above those of all such moves, (rows, n), as `Family.excesses` has them.

    >>> hockey_stick_divergences(2, 10, 20.0, np.array([1.0])).shape
    (1830, 1)

    moved: votes, >= 1. classes: C >= 2. scale: sigma, in votes, > 0. t: (n,) > 0.
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
    """The largest curve of one end in each cell between edges: (cells, n).

    One end x has the curve Phi(x) - t Phi(x - shift), which rises up to shift / 2 - ln t / shift
    and falls beyond. Below t = 1 it is t times that of shift - x at 1 / t.
    """
    low, high = edges[:-1, None], edges[1:, None]
    below = t < 1
    large = np.where(below, 1 / t, t)
    best = shift / 2 - np.log(large) / shift
    at = np.where(below, np.clip(best, shift - high, shift - low), np.clip(best, low, high))
    curve = ndtr(at) * (1 + _ERROR) - large * ndtr(at - shift) * (1 - _ERROR)
    return np.maximum(curve, 0.0) * np.where(below, t, 1.0) * (1 + _ERROR)
