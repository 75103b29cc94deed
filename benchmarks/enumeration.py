"""The paper's own way to the optimal gamma: write down every privacy constraint, solve once.

DaRRM, Lemma 5.1 and Appendix C.3: the worst case is an assignment of the teachers to the eight
corners of the feasible region, and teachers are interchangeable, so C(K+7, 7) corner multisets
(C(K+3, 3) of four corners if Delta = 0) constrain gamma. This is the baseline that cutting
planes are compared with, in time and in utility; it is vectorised, so that the comparison is fair.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_table
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem

GROUP = 4  # corners whose pmfs are tabulated together; two groups make the eight corners


def row_count(K: int, kinds: int = 8) -> int:
    """Return the number of corner multisets of K teachers: C(K + kinds - 1, kinds - 1)."""
    return comb(K + kinds - 1, kinds - 1)


@cache
def multisets(size: int, kinds: int = GROUP) -> NDArray[np.int64]:
    """Return all counts of `kinds` corners that add up to `size`, (multisets, kinds).

    They are read-only, in the order of the bars in "stars and bars".
    """
    bars = np.fromiter(
        (bar for bars in combinations(range(size + kinds - 1), kinds - 1) for bar in bars),
        dtype=np.int64,
    ).reshape(-1, kinds - 1)
    ends = np.full((len(bars), 1), size + kinds - 1)
    counts = np.diff(np.hstack([np.full((len(bars), 1), -1), bars, ends]), axis=1) - 1
    counts.flags.writeable = False
    return counts


def _group_pmfs(p: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the pmfs of all multisets of one group of corners, (multisets, size + 1)."""
    counts = multisets(size, len(p))
    pmfs = np.zeros((len(counts), size + 1))
    pmfs[:, 0] = 1.0
    for corner, probability in enumerate(p):
        factor = binomial_table(size, float(probability))[counts[:, corner]]
        previous, pmfs = pmfs, np.zeros_like(pmfs)
        for s in range(size + 1):  # a convolution of all rows at once
            pmfs[:, s:] += factor[:, s, None] * previous[:, : size + 1 - s]
    return pmfs


def _shift_pmfs(pmfs: NDArray[np.float64], K: int) -> NDArray[np.float64]:
    """Return every pmf (rows, n + 1) at every shift s = 0..K-n, (K - n + 1, rows, K + 1)."""
    rows, width = pmfs.shape
    shifted = np.zeros((K + 2 - width, rows, K + 1))
    for s in range(K + 2 - width):
        shifted[s, :, s : s + width] = pmfs
    return shifted


def row_blocks(problem: PrivacyProblem) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Yield coefficients of gamma(l), l > K/2, in f at every corner multiset, in K + 1 blocks.

    There is one block for each number t = 0..K of teachers at the first four corners. (If Delta = 0
    there are four corners, and t is the number at the first two.) A row is the difference of two
    pmfs; the pmf of a multiset is the convolution of its two groups' pmfs, done for all pairs by
    one matrix product.

    Yields:
        Rows, (n, (K+1)/2), and counts, (n, 8) int in the order of `privacy_cost.CORNERS`.
    """
    K = problem.K
    p = problem.corner_probabilities()
    corners = np.arange(8) if problem.Delta > 0 else np.array([0, 1, 6, 7])
    kinds = len(corners) // 2
    first, second = corners[:kinds], corners[kinds:]
    for t in range(K + 1):
        first_counts, second_counts = multisets(t, kinds), multisets(K - t, kinds)
        difference = np.zeros((len(first_counts), len(second_counts) * (K + 1)))
        for side, factor in ((0, 1.0), (1, -problem.c)):
            left = _group_pmfs(p[first, side], t)
            right = _shift_pmfs(_group_pmfs(p[second, side], K - t), K)
            difference += factor * left @ right.reshape(t + 1, -1)
        difference = difference.reshape(-1, K + 1)
        half = difference[:, (K + 1) // 2 :] - difference[:, : (K + 1) // 2][:, ::-1]
        counts = np.zeros((len(first_counts) * len(second_counts), 8), dtype=np.int64)
        counts[:, first] = np.repeat(first_counts, len(second_counts), axis=0)
        counts[:, second] = np.tile(second_counts, (len(first_counts), 1))
        yield half, counts


def all_rows(problem: PrivacyProblem) -> NDArray[np.float64]:
    """Return all rows of the paper's program, divided by the allowance: rows @ x <= 1."""
    kinds = 8 if problem.Delta > 0 else 4
    rows = np.empty((row_count(problem.K, kinds), (problem.K + 1) // 2))
    filled = 0
    for block, _ in row_blocks(problem):
        rows[filled : filled + len(block)] = block
        filled += len(block)
    rows /= problem.allowance
    return rows


def solve(
    cost: NDArray[np.float64], rows: NDArray[np.float64], *, time_limit: float | None = None
) -> tuple[NDArray[np.float64], float] | None:
    """Maximise cost @ x over rows @ x <= 1, 0 <= x <= 1, by HiGHS, at its tightest tolerances.

    Args:
        cost: (n,).
        rows: (rows, n).
        time_limit: seconds; None for no limit.

    Returns:
        x and the value, or None if `time_limit` did not suffice.

    Raises:
        RuntimeError: HiGHS finds no optimum.
    """
    import highspy

    model = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "primal_feasibility_tolerance": 1e-10,
        "dual_feasibility_tolerance": 1e-10,
        "time_limit": float("inf") if time_limit is None else float(time_limit),
    }.items():
        model.setOptionValue(option, value)
    n_rows, n = rows.shape
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n, n_rows
    program.col_cost_ = -np.asarray(cost, dtype=np.float64)
    program.col_lower_, program.col_upper_ = np.zeros(n), np.ones(n)
    program.row_lower_, program.row_upper_ = np.full(n_rows, -highspy.kHighsInf), np.ones(n_rows)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(n_rows + 1) * n
    program.a_matrix_.index_ = np.tile(np.arange(n), n_rows)
    program.a_matrix_.value_ = rows.ravel()
    model.passModel(program)
    model.run()
    if model.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
        return None
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS: {model.modelStatusToString(model.getModelStatus())}")
    x = np.array(model.getSolution().col_value)
    return x, float(cost @ x)
