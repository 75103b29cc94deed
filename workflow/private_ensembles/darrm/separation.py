"""Assignments of teachers to corners that a gamma violates, found by search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.planes import peaks, three_corner_costs
from private_ensembles.darrm.privacy_cost import PrivacyProblem, assignment_counts
from private_ensembles.darrm.series import first_order_assignments
from private_ensembles.darrm.worst_case import (
    EFFORT,
    Look,
    look,
)

CUTS_PER_ROUND = 256
CUTS_PER_SLICE = 32
APART = 4  # teachers that change corners between two cuts, twice: closer ones are nearly parallel
CANDIDATES = 8000
FEW_AT_H = 128  # teachers, whose exact search takes a second at K = 1001, all of it four


def edge_assignments(K: int) -> list[NDArray[np.int64]]:
    """Some teachers at H, all others at one end: almost every row that matters at the optimum.

    Among many teachers G is nearly a function of the mean of the p_i, and what binds is the most
    that the mean can move: the frontier (e^epsilon p, 1 - e^-epsilon (1 - p)), which these reach.
    """
    zeros = [assignment_counts(D_zero=K - i, up=i) for i in range(K + 1)]
    return zeros + [assignment_counts(one_below=K - i, up=i) for i in range(K)]


def three_corners(
    problem: PrivacyProblem, g: NDArray[np.float64], limit: float, keep: int = CUTS_PER_ROUND
) -> list[NDArray[np.int64]]:
    """The `keep` largest peaks of f above `limit` over assignments to three corners.

    Local maxima over the grid of assignments: neighbours make nearly parallel cuts.
    """
    i, b = peaks(three_corner_costs(problem, g), limit, keep)
    return [
        assignment_counts(D_zero=problem.K - h - k, up=h, one_below=k)
        for h, k in zip(i, b, strict=True)
    ]


def first_order_corners(
    problem: PrivacyProblem, g: NDArray[np.float64], limit: float
) -> list[NDArray[np.int64]]:
    """Assignments to all corners whose f exceeds `limit` to first order in Delta, far apart."""
    return _far_apart(first_order_assignments(problem, g, CUTS_PER_SLICE, limit))


def exact_corners(
    problem: PrivacyProblem, g: NDArray[np.float64], limit: float
) -> tuple[list[NDArray[np.int64]], Look]:
    """Assignments to all corners that exceed `limit`, far apart, and all that the look tells.

    Few teachers at H and its mirror image leave gamma's jumps as they are: those assignments are
    looked at first, and alone if they exceed `limit`.
    """
    seen = look(problem, g, limit, effort=EFFORT, first=FEW_AT_H)
    return _far_apart([counts for _, counts in seen.exceeding]), seen


def _far_apart(assignments: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """The first CUTS_PER_ROUND of them, none close to one before it."""
    chosen = np.zeros((0, 8), dtype=np.int64)
    for counts in assignments[:CANDIDATES]:
        if len(chosen) == CUTS_PER_ROUND:
            break
        if np.all(np.abs(chosen - counts).sum(axis=1) > APART):
            chosen = np.vstack([chosen, counts])
    return list(chosen)
