"""The best moves of teachers at the two ends, with the others at H and its mirror image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.ends import bends_and_moves
from private_ensembles.darrm.planes import moved_weights
from private_ensembles.darrm.privacy_cost import PrivacyProblem

# Teachers between two numbers of moves that are tried; what can exceed a floor is tried again.
STEPS = (1 << 20, 32, 4, 1)
ENTRIES = 1 << 18  # of a table that is worked out at once, a few MiB


@dataclass(frozen=True)
class BestMoves:
    """The largest f met, above the floor if `counts` is there, and a bound on what is left.

    value : f, or the floor; row : of the tables, where it is; counts : teachers at each corner of
    the ends, None if no f met exceeds the floor; left_over : bound on f if effort or
    steps left more than `value` possible, else -inf; spent : table entries worked out.
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

    Every `step`-th aP and bP, the last ones, and their complements as aQ and bQ suffice except
    for what a concave f can exceed its chords by. If all zeros gain most by one and the same move,
    whatever the ones do, no other is tried for them, and likewise for the ones (docs/method.md, 3).
    So coarse steps settle most rows, and only those that may exceed the largest f met are tried in
    finer ones, down to steps of 1, which are exact.
    """
    ends = V.shape[1] - 1 - b, b
    bends, plain = (part[..., 0] for part in bends_and_moves(problem, V, W, slice(b, b + 1)))
    value, row, counts, spent = floor, 0, None, 0
    rows = np.arange(len(V))
    bounds = np.full(len(V), np.inf)
    for step in steps:
        for part in _alike(plain, rows):
            # If all teachers at an end make the same move, its two ends are all that is tried.
            gaps = [0 if plain[k, part[0]] else min(step, ends[k]) for k in (0, 1)]
            nodes = [
                _nodes(size, gap or max(size, 1)) for size, gap in zip(ends, gaps, strict=True)
            ]
            gap = sum(length**2 for length in gaps if length > 1) / 8
            entries = len(nodes[0]) * len(nodes[1])
            if spent + 2 * entries * len(part) > effort:
                return BestMoves(value, row, counts, float(bounds[rows].max()), spent)
            spent += 2 * entries * len(part)
            for few in np.array_split(part, -(-len(part) * entries // ENTRIES)):
                P, Q = _tables(problem, V[few], W[few], b, *nodes)
                reach = Q[:, ::-1, ::-1]  # from the last complement on, the fewest moves
                reach = np.maximum.accumulate(np.maximum.accumulate(reach, axis=1), axis=2)
                f = P + reach[:, ::-1, ::-1]
                bounds[few] = np.minimum(bounds[few], f.max(axis=(1, 2)) + gap * bends[few])
                k = int(np.argmax(f))
                if f.flat[k] > value:
                    value = float(f.flat[k])
                    at, i, j = np.unravel_index(k, f.shape)
                    row, counts = int(few[at]), _counts(Q[at], i, j, *nodes)
        rows = rows[bounds[rows] > value]
        if not len(rows):
            break
    left_over = float(bounds[rows].max()) if len(rows) else -np.inf
    return BestMoves(value, row, counts, left_over, spent)


def _alike(plain: NDArray[np.bool_], rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The rows by whether their zeros and their ones make one move."""
    kinds = plain[0, rows] + 2 * plain[1, rows]
    return [rows[kinds == kind] for kind in range(4) if (kinds == kind).any()]


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
