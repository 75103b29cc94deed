"""Planes of assignments: teachers at H and at the two ends, f of all of them at once and exactly.

An optimal gamma is bound nearly everywhere by such assignments, in which all zeros stay or all move
on one side, and all ones likewise. There are O(K^2) of them, while all corners take O(K^3) to first
order in Delta alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_table
from private_ensembles.darrm.privacy_cost import PrivacyProblem, assignment_counts

TAIL = 1e-19
# Corners of the zeros and of the ones, and what their moves make of G(p) and of G(p').
MOVES = (
    ("zero", "one", "as_they_are", "as_they_are"),
    ("D_zero", "one", "zeros", "as_they_are"),
    ("zero", "one_below", "as_they_are", "ones"),
    ("D_zero", "one_below", "zeros", "ones"),
    ("zero_D", "one", "as_they_are", "zeros"),
    ("zero", "below_one", "ones", "as_they_are"),
    ("zero_D", "below_one", "ones", "zeros"),
)


def moved_terms(K: int, Delta: float) -> int:
    """Number of terms after which the tail of Bin(K, Delta) is below TAIL.

    Pr[Bin(K, Delta) >= s] <= C(K, s) Delta^s <= (K Delta)^s / s!.
    """
    if Delta == 0:
        return 1
    for s in range(1, K + 1):
        if s * math.log(K * Delta) - math.lgamma(s + 1) < math.log(TAIL):
            return s
    return K + 1


def triangle(g: NDArray, p: float) -> NDArray[np.float64]:
    """Row i holds T_p^i g on 0..K-i, zero beyond."""
    K = len(g) - 1
    table = np.zeros((K + 1, K + 1))
    table[0] = g
    for i in range(1, K + 1):  # sequential in the number of teachers at this corner
        last = table[i - 1, : K + 2 - i]
        table[i, : K + 1 - i] = (1 - p) * last[:-1] + p * last[1:]
    return table


def three_corner_costs(problem: PrivacyProblem, g: NDArray[np.float64]) -> NDArray[np.float64]:
    """f at every assignment of teachers to the corners (D,0), H, (1,1-D).

    Returns an array (K+1, K+1) indexed [teachers at H, teachers at (1,1-D)]; the rest are at
    (D,0); -inf where the counts exceed K. If gamma is non-decreasing in |l - K/2|, G is
    non-decreasing in each p_i, so f is largest on the lower-right frontier of the feasible
    region, whose vertices are these three: their maximum is then exact (DESIGN 5.2).
    """
    K, D, c = problem.K, problem.Delta, problem.c
    i, b = np.ogrid[: K + 1, : K + 1]
    a = K - i - b
    outside = a < 0
    a = np.where(outside, 0, a)
    terms = moved_terms(K, D)
    weights = binomial_table(K, D, terms)
    up, down = triangle(g, problem.high), triangle(g, problem.low)
    left, right = np.zeros((K + 1, K + 1)), np.zeros((K + 1, K + 1))
    for s in range(terms):  # few terms: those of Bin(K, Delta) above TAIL
        left[:, : K + 1 - s] += weights[a[:, : K + 1 - s], s] * up[:, s:]
        right[:, s:] += weights[b[:, s:], s] * down[:, : K + 1 - s]
    f = left - c * right
    f[outside] = -np.inf
    return f


def pure_move_assignments(
    problem: PrivacyProblem,
    g: NDArray[np.float64],
    keep: int,
    floor: float,
    *,
    mirrored: bool = False,
) -> list[NDArray[np.int64]]:
    """The `keep` largest peaks of f above `floor` over teachers at H and pure moves at the ends.

    mirrored : teachers at H's mirror image in the place of H.
    """
    f, move = pure_move_costs(problem, g, mirrored=mirrored)
    found = []
    for i, b in zip(*peaks(f, floor, keep), strict=True):
        zero, one = MOVES[move[i, b]][:2]
        counts = {"down" if mirrored else "up": int(i), one: int(b)}
        counts[zero] = problem.K - int(i) - int(b)
        found.append(assignment_counts(**counts))
    return found


def pure_move_costs(
    problem: PrivacyProblem, g: NDArray[np.float64], *, mirrored: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The largest f over MOVES, and which it is, for every number of teachers at H and the ones.

    Two arrays (K+1, K+1) indexed [teachers at H, teachers at the ones]; the rest are at the zeros;
    -inf where the counts exceed K. mirrored : H's mirror image in the place of H.
    """
    K = problem.K
    i, b = np.ogrid[: K + 1, : K + 1]
    zeros = K - i - b
    p, q = (problem.low, problem.high) if mirrored else (problem.high, problem.low)
    left, right = (_moved(problem, triangle(g, side), zeros) for side in (p, q))
    best = np.full((K + 1, K + 1), -np.inf)
    move = np.zeros((K + 1, K + 1), dtype=np.int64)
    for k, (_, _, ours, theirs) in enumerate(MOVES if problem.Delta > 0 else MOVES[:1]):
        f = left[ours] - problem.c * right[theirs]
        better = (f > best) & (zeros >= 0)
        best[better], move[better] = f[better], k
    return best, move


def _moved(
    problem: PrivacyProblem, table: NDArray[np.float64], zeros: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """G with [i, b] teachers at H and the ones, as they are and with all zeros or ones moved."""
    K, D = problem.K, problem.Delta
    if D == 0:
        return {"as_they_are": table}
    terms = moved_terms(K, D)
    weights = binomial_table(K, D, terms)
    some = np.maximum(zeros, 0)
    up, down = np.zeros_like(table), np.zeros_like(table)
    for s in range(terms):  # few: those of Bin(K, Delta) above TAIL
        up[:, : K + 1 - s] += weights[some[:, : K + 1 - s], s] * table[:, s:]
        down[:, s:] += weights[s:, s] * table[:, : K + 1 - s]
    return {"as_they_are": table, "zeros": up, "ones": down}


def peaks(f: NDArray, floor: float, keep: int) -> tuple[NDArray, NDArray]:
    """Indices of at most `keep` local maxima of a matrix above `floor`, largest first."""
    peak = f > floor
    if not peak.any():
        return np.zeros(0, int), np.zeros(0, int)
    padded = np.pad(f, 1, constant_values=-np.inf)
    rows, columns = f.shape
    for di in (-1, 0, 1):
        for dk in (-1, 0, 1):
            if (di, dk) != (0, 0):
                peak &= f >= padded[1 + di : 1 + di + rows, 1 + dk : 1 + dk + columns]
    i, k = np.nonzero(peak)
    order = np.argsort(-f[i, k], kind="stable")[:keep]
    return i[order], k[order]
