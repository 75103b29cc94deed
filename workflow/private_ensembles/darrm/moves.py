"""The best moves of teachers at the two ends, with the others at H and its mirror image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.planes import TAIL, moved_weights
from private_ensembles.darrm.privacy_cost import PrivacyProblem

# Teachers between two numbers of moves that are tried; what can exceed a floor is tried again.
STEPS = (1 << 20, 32, 4, 1)
ENTRIES = 1 << 18  # of a table that is worked out at once, a few MiB
DIFFERENCE_ROUNDING = 1e-12  # of a second difference of numbers in [-1, 1]


@dataclass(frozen=True)
class BestMoves:
    """The largest f met, above the floor if `counts` is there, and a bound on what is left.

    value : f, or the floor; row : of the tables, where it is; counts : teachers at each corner of
    the ends, None where no f met exceeds the floor; left_over : bound on f where the effort did not
    suffice, -inf where it did; spent : table entries worked out.
    """

    value: float
    row: int
    counts: dict[str, int] | None
    left_over: float
    spent: int


def best_moves(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    W: NDArray[np.float64],
    b: int,
    floor: float = -np.inf,
    *,
    effort: float = np.inf,
    steps: tuple[int, ...] = STEPS,
) -> BestMoves:
    """The largest f above `floor` with b teachers at the ones, the rest at the zeros, some moved.

    V, W : (rows, n + 1), G of both sides over the number of ones. For aP of the a = n - b zeros at
    (D,0), aQ at (0,D), bP of the ones at (1-D,1) and bQ at (1,1-D), f = P(aP, bP) - c P'(aQ, bQ),
    with aP + aQ <= a and bP + bQ <= b: for every (aP, bP) a running maximum over (aQ, bQ).

    Every `step`-th aP and bP, the last ones, and their complements as aQ and bQ suffice up to
    step^2 / 4 Delta^2 (max|diff^2 V| + c max|diff^2 W|), by which f exceeds a function linear
    between them (docs/method.md, 3). So coarse steps settle most rows, and only those that may
    exceed the largest f met are tried in finer ones. The last step of 1 is exact.
    """
    ends = V.shape[1] - 1 - b, b
    bends = _bend(problem, V, b) + problem.c * _bend(problem, W, b)
    value, row, counts, spent = floor, 0, None, 0
    rows = np.arange(len(V))
    bounds = np.full(len(V), np.inf)
    for step in steps:
        a_nodes, b_nodes = (_nodes(size, step) for size in ends)
        entries = len(a_nodes) * len(b_nodes)
        if spent + 2 * entries * len(rows) > effort:
            return BestMoves(value, row, counts, float(bounds[rows].max()), spent)
        spent += 2 * entries * len(rows)
        gap = min(step, max(ends)) if step > 1 else 0
        for part in np.array_split(rows, -(-len(rows) * entries // ENTRIES)):
            P, Q = _tables(problem, V[part], W[part], b, a_nodes, b_nodes)
            reach = Q[:, ::-1, ::-1]  # from the last complement on, the fewest moves
            reach = np.maximum.accumulate(np.maximum.accumulate(reach, axis=1), axis=2)
            f = P + reach[:, ::-1, ::-1]
            bounds[part] = f.max(axis=(1, 2)) + gap**2 / 4 * bends[part]
            k = int(np.argmax(f))
            if f.flat[k] > value:
                value = float(f.flat[k])
                part_row, i, j = np.unravel_index(k, f.shape)
                row, counts = int(part[part_row]), _counts(Q[part_row], i, j, a_nodes, b_nodes)
        rows = rows[bounds[rows] > value] if step > 1 else rows[:0]
        if not len(rows):
            break
    left_over = float(bounds[rows].max()) if len(rows) else -np.inf
    return BestMoves(value, row, counts, left_over, spent)


def _nodes(size: int, step: int) -> NDArray[np.int64]:
    """0, step, 2 step, ... and size: the numbers of moves on one side that are tried."""
    return np.append(np.arange(0, size, step), size)


def _tables(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    W: NDArray[np.float64],
    b: int,
    a_nodes: NDArray[np.int64],
    b_nodes: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P at the nodes and -c P' at their complements, (rows, nodes of zeros, nodes of ones)."""
    weights = moved_weights(problem)
    a, terms = V.shape[1] - 1 - b, weights.shape[1]
    r, s = np.arange(min(a + 1, terms)), np.arange(min(b + 1, terms))
    shift = b + r[:, None] - s[None, :]
    left, right = weights[:, : len(r)], weights[:, : len(s)].T
    P = left[a_nodes] @ V[:, shift] @ right[:, b_nodes]
    Q = left[a - a_nodes] @ W[:, shift] @ right[:, b - b_nodes]
    return P, -problem.c * Q


def _bend(problem: PrivacyProblem, V: NDArray[np.float64], b: int) -> NDArray[np.float64]:
    """At least Delta^2 |diff^2 V| wherever moves from b ones lead, but for a tail; of each row."""
    reach = moved_weights(problem).shape[1] + 2
    second = np.abs(np.diff(V[:, max(0, b - reach) : b + reach + 1], 2, axis=1))
    largest = second.max(axis=1) if second.shape[1] else np.zeros(len(V))
    return problem.Delta**2 * (largest + DIFFERENCE_ROUNDING + 8 * TAIL)


def _counts(
    Q: NDArray[np.float64], i: int, j: int, a_nodes: NDArray[np.int64], b_nodes: NDArray[np.int64]
) -> dict[str, int]:
    """Teachers at the corners of the ends, for P at nodes i, j and the best -c P' beside it."""
    rest = Q[i:, j:]
    k, l = np.unravel_index(int(np.argmax(rest)), rest.shape)
    a, b = int(a_nodes[-1]), int(b_nodes[-1])
    aP, bP = int(a_nodes[i]), int(b_nodes[j])
    aQ, bQ = a - int(a_nodes[i + k]), b - int(b_nodes[j + l])
    return {
        "zero": a - aP - aQ,
        "D_zero": aP,
        "zero_D": aQ,
        "one": b - bP - bQ,
        "below_one": bP,
        "one_below": bQ,
    }
