"""The paper's own way to the optimal gamma: write down every privacy constraint, solve once.

DaRRM, Lemma 5.1 and Appendix C.3: the worst case is an assignment of the teachers to the eight
corners of the feasible region, and teachers are interchangeable, so C(K+7, 7) corner multisets
(C(K+3, 3) of four corners where Delta = 0) constrain gamma. This is the baseline that cutting
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
    """Number of corner multisets of K teachers: C(K + kinds - 1, kinds - 1)."""
    return comb(K + kinds - 1, kinds - 1)


@cache
def multisets(size: int, kinds: int = GROUP) -> NDArray[np.int64]:
    """All counts of `kinds` corners that add up to `size`, shape (C(size+kinds-1, kinds-1), kinds).

    Read-only, in the order of the bars in "stars and bars".
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
    """Pmfs of all multisets of one group of corners, shape (multisets, size + 1)."""
    counts = multisets(size, len(p))
    out = np.zeros((len(counts), size + 1))
    out[:, 0] = 1.0
    for corner, probability in enumerate(p):
        factor = binomial_table(size, float(probability))[counts[:, corner]]
        last, out = out, np.zeros_like(out)
        for s in range(size + 1):  # a convolution of all rows at once
            out[:, s:] += factor[:, s, None] * last[:, : size + 1 - s]
    return out


def _shift_pmfs(pmfs: NDArray[np.float64], K: int) -> NDArray[np.float64]:
    """Every pmf (rows, n + 1) at every shift s = 0..K-n: (K - n + 1, rows, K + 1)."""
    rows, width = pmfs.shape
    out = np.zeros((K + 2 - width, rows, K + 1))
    for s in range(K + 2 - width):
        out[s, :, s : s + width] = pmfs
    return out


def row_blocks(problem: PrivacyProblem) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Coefficients of gamma(l), l > K/2, in f at every corner multiset, in K + 1 blocks.

    Yields (rows, counts): (n, (K+1)/2) and (n, 8) in the order of `privacy_cost.CORNERS`, one pair
    for each number t = 0..K of teachers at the first four corners. (With Delta = 0, four corners:
    t is then the number at the first two.) A row is the difference of two pmfs; the pmf of a
    multiset is the convolution of its two groups' pmfs, done for all pairs by one matrix product.
    """
    K = problem.K
    p = problem.corner_probabilities()
    places = np.arange(8) if problem.Delta > 0 else np.array([0, 1, 6, 7])
    kinds = len(places) // 2
    first, second = places[:kinds], places[kinds:]
    for t in range(K + 1):
        one, two = multisets(t, kinds), multisets(K - t, kinds)
        weight = np.zeros((len(one), len(two) * (K + 1)))
        for side, factor in ((0, 1.0), (1, -problem.c)):
            left = _group_pmfs(p[first, side], t)
            right = _shift_pmfs(_group_pmfs(p[second, side], K - t), K)
            weight += factor * left @ right.reshape(t + 1, -1)
        weight = weight.reshape(-1, K + 1)
        half = weight[:, (K + 1) // 2 :] - weight[:, : (K + 1) // 2][:, ::-1]
        counts = np.zeros((len(one) * len(two), 8), dtype=np.int64)
        counts[:, first] = np.repeat(one, len(two), axis=0)
        counts[:, second] = np.tile(two, (len(one), 1))
        yield half, counts


def all_rows(problem: PrivacyProblem) -> NDArray[np.float64]:
    """All rows of the paper's program, divided by the allowance: rows @ x <= 1."""
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

    Returns (x, value), or None where `time_limit` seconds did not suffice.
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
