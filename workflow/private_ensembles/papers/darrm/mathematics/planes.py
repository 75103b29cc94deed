"""Planes of assignments: teachers at H and at the two ends, f of all of them exactly.

An optimal gamma is bound nearly everywhere by such assignments, in which all zeros stay or all
move on one side, and all ones likewise. There are O(K^2) of them, while all corners take O(K^3)
to first order in Delta alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_table
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    PrivacyProblem,
    assignment_counts,
)

# Probabilities below this are left out.
TAIL = 1e-19
# So many rows are worked on at once: what they hold at K = 1001 fits a processor's cache.
STRIP = 64
# Each row has the corners of the zeros and of the ones, and the tables of G(p) and of G(p') that
# their moves make.
MOVES = (
    ("zero", "one", "as_they_are", "as_they_are"),
    ("D_zero", "one", "zeros", "as_they_are"),
    ("zero", "one_below", "as_they_are", "ones"),
    ("D_zero", "one_below", "zeros", "ones"),
    ("zero_D", "one", "as_they_are", "zeros"),
    ("zero", "below_one", "ones", "as_they_are"),
    ("zero_D", "below_one", "ones", "zeros"),
)


def count_move_terms(K: int, Delta: float) -> int:
    """Return the number of terms after which the tail of Bin(K, Delta) is below TAIL.

    Pr[Bin(K, Delta) >= s] <= C(K, s) Delta^s <= (K Delta)^s / s!.
    """
    if Delta == 0:
        return 1
    for s in range(1, K + 1):
        if s * math.log(K * Delta) - math.lgamma(s + 1) < math.log(TAIL):
            return s
    return K + 1


@functools.lru_cache(maxsize=2)
def move_probabilities(problem: PrivacyProblem) -> NDArray[np.float64]:
    """Return Bin(s; n, Delta) at [n, s], n up to K, for the s that matter; read-only."""
    weights = binomial_table(problem.K, problem.Delta, count_move_terms(problem.K, problem.Delta))
    weights.flags.writeable = False
    return weights


def tabulate_operator_powers(g: NDArray, p: float) -> NDArray[np.float64]:
    """Return the table (K + 1, K + 1) whose row i holds T_p^i g on 0..K-i, zero beyond."""
    K = len(g) - 1
    table = np.zeros((K + 1, K + 1))
    table[0] = g
    for i in range(1, K + 1):  # sequential in the number of teachers at this corner
        last = table[i - 1, : K + 2 - i]
        table[i, : K + 1 - i] = (1 - p) * last[:-1] + p * last[1:]
    return table


def three_corner_costs(problem: PrivacyProblem, g: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return f at every assignment of teachers to the corners (D,0), H, (1,1-D).

    If gamma is non-decreasing in |l - K/2|, G is non-decreasing in each p_i, so f is largest on the
    lower-right frontier of the feasible region, whose vertices are these three: their maximum is
    then exact.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.

    Returns:
        (K+1, K+1) indexed [teachers at H, teachers at (1,1-D)]; the rest are at (D,0); -inf if the
        counts exceed K.

    References:
        docs/method.md, section 2.
    """
    up, down = tabulate_operator_powers(g, problem.high), tabulate_operator_powers(g, problem.low)
    f = np.full_like(up, -np.inf)
    for rows, columns in _strips(problem.K):
        left = _move_zeros(problem, up[rows, columns], rows)
        right = _move_ones(problem, down[rows, columns])
        f[rows, columns] = left - problem.c * right
    f[_mask_outside(problem.K)] = -np.inf
    return f


def pure_move_assignments(
    problem: PrivacyProblem,
    g: NDArray[np.float64],
    keep: int,
    floor: float,
    *,
    mirrored: bool = False,
) -> list[NDArray[np.int64]]:
    """Return the largest peaks of f over teachers at H and pure moves at the ends.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        keep: most peaks.
        floor: what f must exceed.
        mirrored: teachers at H's mirror image in the place of H.

    Returns:
        Counts (8,) of teachers per corner, the worst assignment first.
    """
    f, move = pure_move_costs(problem, g, mirrored=mirrored)
    assignments = []
    for i, b in zip(*find_peaks(f, floor, keep), strict=True):
        at_zero, at_one = MOVES[move[i, b]][:2]
        counts = {"down" if mirrored else "up": int(i), at_one: int(b)}
        counts[at_zero] = problem.K - int(i) - int(b)
        assignments.append(assignment_counts(**counts))
    return assignments


def pure_move_costs(
    problem: PrivacyProblem, g: NDArray[np.float64], *, mirrored: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the largest f over MOVES, and which it is, by the teachers at H and at the ones.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        mirrored: H's mirror image in the place of H.

    Returns:
        Two arrays (K+1, K+1) indexed [teachers at H, teachers at the ones]; the rest are at the
        zeros; -inf if the counts exceed K.
    """
    K = problem.K
    p, q = (problem.low, problem.high) if mirrored else (problem.high, problem.low)
    tables = tabulate_operator_powers(g, p), tabulate_operator_powers(g, q)
    best = np.full((K + 1, K + 1), -np.inf)
    move = np.zeros((K + 1, K + 1), dtype=np.int64)
    for strip in _strips(K):
        left, right = (_move_strip(problem, table[strip], strip[0]) for table in tables)
        largest, which = best[strip], move[strip]
        for k, (_, _, ours, theirs) in enumerate(MOVES if problem.Delta > 0 else MOVES[:1]):
            f = left[ours] - problem.c * right[theirs]
            which[f > largest] = k
            np.maximum(largest, f, out=largest)
    best[_mask_outside(K)] = -np.inf
    return best, move


def _strips(K: int) -> Iterator[tuple[slice, slice]]:
    """Yield a triangle (K+1, K+1) in strips that a cache holds: (rows, columns in use)."""
    for start in range(0, K + 1, STRIP):
        yield slice(start, min(start + STRIP, K + 1)), slice(0, K + 1 - start)


def _mask_outside(K: int) -> NDArray[np.bool_]:
    """Return where the counts exceed K."""
    return np.add.outer(np.arange(K + 1), np.arange(K + 1)) > K


def _move_strip(
    problem: PrivacyProblem, table: NDArray[np.float64], rows: slice
) -> dict[str, NDArray[np.float64]]:
    """Return a strip of G as it is, with all zeros moved, and with all ones moved."""
    if problem.Delta == 0:
        return {"as_they_are": table}
    return {
        "as_they_are": table,
        "zeros": _move_zeros(problem, table, rows),
        "ones": _move_ones(problem, table),
    }


def _move_ones(problem: PrivacyProblem, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the table whose entry [i, b] is sum_s Bin(s; b, Delta) table[i, b - s]."""
    if problem.Delta == 0:
        return table
    terms = move_probabilities(problem).shape[1]
    moved = np.empty_like(table)
    for start in range(0, table.shape[1], STRIP):  # the matrix is a band along its diagonal
        stop, first = min(start + STRIP, table.shape[1]), max(0, start - terms + 1)
        moved[:, start:stop] = table[:, first:stop] @ _band(problem)[first:stop, start:stop]
    return moved


def _move_zeros(
    problem: PrivacyProblem, table: NDArray[np.float64], rows: slice
) -> NDArray[np.float64]:
    """Return the table of sum_s Bin(s; K - i - b, Delta) table[i, b + s] at [i, b]; 0 beyond K - i.

    rows: the numbers i of the table's rows.
    """
    if problem.Delta == 0:
        return table
    zeros = problem.K - np.arange(problem.K + 1)[rows, None] - np.arange(table.shape[1])
    valid_zeros = np.maximum(zeros, 0)
    # The columns are turned to number the zeros in place of the ones, and back.
    flipped = np.take_along_axis(table, valid_zeros, axis=1)
    return np.where(
        zeros >= 0, np.take_along_axis(_move_ones(problem, flipped), valid_zeros, axis=1), 0.0
    )


@functools.lru_cache(maxsize=2)
def _band(problem: PrivacyProblem) -> NDArray[np.float64]:
    """Return the matrix (K+1, K+1) with Bin(n - l; n, Delta) at [l, n]; read-only."""
    K, weights = problem.K, move_probabilities(problem)
    band = np.zeros((K + 1, K + 1))
    for s in range(weights.shape[1]):  # these are few: the terms of Bin(K, Delta) above TAIL
        band[np.arange(K + 1 - s), np.arange(s, K + 1)] = weights[s:, s]
    band.flags.writeable = False
    return band


def find_peaks(f: NDArray, floor: float, keep: int) -> tuple[NDArray, NDArray]:
    """Return the indices of the largest local maxima of a matrix, largest first.

    Args:
        f: the matrix.
        floor: what a maximum must exceed.
        keep: most maxima.
    """
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
