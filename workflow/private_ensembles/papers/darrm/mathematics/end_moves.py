"""The best moves of teachers at the two ends, and bounds on f over all of them.

All is for fixed numbers of teachers at H, at its mirror image, at the zeros and at the ones. V
and W are G of both sides over the number of ones, with one row for every number of teachers at
H. A whole box of rows and numbers of ones is bounded by a few products with banded matrices.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.papers.darrm.mathematics.planes import STRIP, TAIL, move_probabilities
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem

# Second differences of numbers in [-1, 1] are off by less, and tails add less to their means.
NEARLY_ZERO = 1e-12 + 16 * TAIL
# The teachers at an end are moved in so many parts.
PARTS = 16
# Numbers of moves are tried in these steps: what can exceed a floor is tried again in a finer one.
STEPS = (1 << 20, 32, 4, 1)
# So many entries of a table are worked out at once, a few MiB.
ENTRIES = 1 << 18


def box_bounds(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    W: NDArray[np.float64],
    ones: slice,
    known_bounds: NDArray[np.float64],
    floor: float,
) -> NDArray[np.float64]:
    """Return bounds on f over all moves for a box of rows and numbers of ones.

    The theorem is used with none or all of the teachers at an end moved and, if that leaves open
    whether f exceeds the floor, with PARTS parts of them. If all gain most by one and the same
    move, the bounds are exact.

    Args:
        problem: the privacy problem.
        V: (rows, n + 1), G of one side, values in [-1, 1].
        W: (rows, n + 1), G of the other side.
        ones: which numbers of ones, of 0..n.
        known_bounds: (rows, columns), tightened where they exceed the floor.
        floor: what f must exceed.

    Returns:
        (rows, columns) bounds, at most the known ones.

    References:
        docs/method.md, section 3.
    """
    n = V.shape[1] - 1
    b = np.arange(ones.start, ones.stop)
    bends, plain = bound_curvature(problem, V, W, ones)
    lengths = np.where(plain, 0, np.stack([n - b, b])[:, None, :])
    f = _best_whole_moves(problem, V, W, ones)
    bounds = np.minimum(known_bounds, f + _chord_gap(lengths) * bends)
    cells = np.nonzero((bounds > floor) & (f <= floor))
    ends = plain[:, *cells]
    for kind in range(4):
        alike = tuple(part[ends[0] + 2 * ends[1] == kind] for part in cells)
        parts = [1 if kind >> k & 1 else PARTS for k in (0, 1)]
        for batch in _split_for_cache(
            alike, move_probabilities(problem).shape[1] ** 2 + (parts[0] + 1) * (parts[1] + 1)
        ):
            rows, column = batch
            finer, steps = _best_partial_moves(problem, V, W, rows, b[column], parts)
            steps = np.where(plain[:, rows, column], 0, steps)
            finer += _chord_gap(steps) * bends[batch]
            bounds[batch] = np.minimum(bounds[batch], finer)
    return bounds


def _chord_gap(lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return by how much f may exceed chords of lengths (2, ...), per unit of curvature."""
    return np.where(lengths > 1, lengths.astype(float) ** 2, 0.0).sum(axis=0) / 8


def _split_for_cache(
    cells: tuple[NDArray[np.int64], ...], entries: int
) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Yield the cells in parts so small that what one needs fits a processor's cache."""
    size = max(1, ENTRIES // entries)
    for start in range(0, len(cells[0]), size):
        yield tuple(part[start : start + size] for part in cells)


def _best_partial_moves(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    W: NDArray[np.float64],
    rows: NDArray[np.int64],
    ones: NDArray[np.int64],
    parts: list[int],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the largest f with whole parts of the zeros and ones moved, and the largest parts.

    rows, ones: (cells,) int, where in V and W. The results have the shapes (cells,) and (2, cells).
    """
    n, weights = V.shape[1] - 1, move_probabilities(problem)
    sizes = np.stack([n - ones, ones])
    nodes = [
        size[:, None] * np.arange(number + 1) // number
        for size, number in zip(sizes, parts, strict=True)
    ]
    r = np.arange(weights.shape[1])
    neighbour = np.clip(ones[:, None, None] + r[:, None] - r, 0, n)
    row = rows[:, None, None]
    tables = []
    for side, zeros_moved, ones_moved in (
        (V, *nodes),
        (W, *(size[:, None] - node for size, node in zip(sizes, nodes, strict=True))),
    ):
        right = np.swapaxes(weights[ones_moved], 1, 2)
        tables.append(weights[zeros_moved] @ side[row, neighbour] @ right)
    f = _best_sums(tables[0], -problem.c * tables[1])
    steps = [np.diff(node, axis=1).max(axis=1) for node in nodes]
    return f.max(axis=(1, 2)), np.stack(steps)


def _best_sums(P: NDArray[np.float64], Q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P plus the largest Q that its complement leaves, (rows, nodes, nodes)."""
    reach = Q[:, ::-1, ::-1]  # from the last complement on, the fewest moves
    reach = np.maximum.accumulate(np.maximum.accumulate(reach, axis=1), axis=2)
    return P + reach[:, ::-1, ::-1]


def bound_curvature(
    problem: PrivacyProblem, V: NDArray[np.float64], W: NDArray[np.float64], ones: slice
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Bound the curvature of f, and say at which ends all teachers gain most by the same move.

    Let X of the other zeros and Y of the other ones be moved. A zero's move gains
    Delta E diff V(b + X - Y), a one's gains -Delta E diff V(b - 1 + X - Y), and as much of -c W on
    the other side. These stray from what they are at X = Y = 0 by what diff^2 V adds up to on the
    way. One more move changes them by Delta^2 E diff^2 V(b + X - Y), b - 2 in place of b for a one.

    Args:
        problem: the privacy problem.
        V: (rows, n + 1), G of one side, values in [-1, 1].
        W: (rows, n + 1), G of the other side.
        ones: which numbers of ones, of 0..n.

    Returns:
        (rows, columns) at least what one more move takes off a gain, and (2, rows, columns) whether
        all zeros, and all ones, gain most by the same move wherever the others are.
    """
    n, c = V.shape[1] - 1, problem.c
    width = ones.stop - ones.start
    tails = _tail_bounds(problem, n)
    # Entry k + len(tails) - 1 is at least Pr[X - Y = k].
    here = np.concatenate([tails[:0:-1], tails])
    # These are at least Pr[passing from 0 over k]: beyond k if k >= 0, at or below it if k < 0.
    passed = np.concatenate([tails[:0:-1], tails[1:], tails[-1:]])
    second = [np.diff(side, 2, axis=1) for side in (V, W)]
    from_two_below = slice(ones.start - 2, ones.stop)
    down = _sum_weighted_neighbours(np.maximum(-second[0], 0), here, from_two_below)
    up = _sum_weighted_neighbours(np.maximum(second[1], 0), here, from_two_below)
    down, up = (np.maximum(side[:, :width], side[:, 2:]) for side in (down, up))
    bends = problem.Delta**2 * (down + c * up + (1 + c) * NEARLY_ZERO)
    strays = [
        _sum_weighted_neighbours(np.abs(side), passed, slice(ones.start - 1, ones.stop))
        + NEARLY_ZERO
        for side in second
    ]
    # No teacher has the differences at -1 and at n: any number will do.
    first = [
        np.diff(_padded_columns(side, ones.start - 1, ones.stop + 1), axis=1) for side in (V, W)
    ]
    plain = np.empty((2, len(V), width), dtype=bool)
    for k, (part, sign) in enumerate(((slice(1, None), 1.0), (slice(None, -1), -1.0))):
        ours, theirs = sign * first[0][:, part], -sign * c * first[1][:, part]
        stray, their_stray = strays[0][:, part], c * strays[1][:, part]
        most, theirs_most = ours + stray, theirs + their_stray
        plain[k] = ours - stray >= np.maximum(theirs_most, 0)
        plain[k] |= theirs - their_stray >= np.maximum(most, 0)
        plain[k] |= np.maximum(most, theirs_most) <= 0
    b = np.arange(ones.start, ones.stop)
    plain |= np.stack([b == n, b == 0])[:, None, :]  # no teacher at this end
    return bends, plain


def _best_whole_moves(
    problem: PrivacyProblem, V: NDArray[np.float64], W: NDArray[np.float64], ones: slice
) -> NDArray[np.float64]:
    """Return the largest f with all or none of the zeros moved on one side, and so of the ones."""
    stay, zeros, ones_moved, both = _expect_after_moves(problem, V, ones)
    others = [-problem.c * side for side in _expect_after_moves(problem, W, ones)]
    with_ones, with_zeros = np.maximum(others[0], others[2]), np.maximum(others[0], others[1])
    f = stay + np.maximum(np.maximum(with_ones, with_zeros), others[3])
    np.maximum(f, zeros + with_ones, out=f)
    np.maximum(f, ones_moved + with_zeros, out=f)
    return np.maximum(f, both + others[0], out=f)


def _expect_after_moves(
    problem: PrivacyProblem, V: NDArray[np.float64], ones: slice
) -> tuple[NDArray[np.float64], ...]:
    """Return V over the ones as it is, with all zeros moved, with all ones moved, and with both."""
    n, weights = V.shape[1] - 1, move_probabilities(problem)
    b = np.arange(ones.start, ones.stop)
    reach = weights.shape[1] - 1
    up, down = weights[n - b], weights[b]
    diagonals = np.zeros((3, len(b), 2 * reach + 1))  # Pr[X - Y = k] at reach + k
    diagonals[0, :, reach:] = up
    diagonals[1, :, : reach + 1] = down[:, ::-1]
    for s in range(reach + 1):  # these are few: the terms of Bin(K, Delta) above TAIL
        diagonals[2, :, reach - s : 2 * reach + 1 - s] += up * down[:, s, None]
    moved = np.empty((3, len(V), len(b)))
    for start in range(0, len(b), STRIP):
        stop = min(start + STRIP, len(b))
        neighbours = _padded_columns(V, ones.start + start - reach, ones.start + stop + reach)
        for kind in range(3):
            moved[kind, :, start:stop] = neighbours @ _band(diagonals[kind, start:stop])
    return V[:, ones], *moved


def _sum_weighted_neighbours(
    table: NDArray[np.float64], weights: NDArray[np.float64], columns: slice
) -> NDArray[np.float64]:
    """Return sum_k weights[reach + k] table[j + k] at columns j; weights: (2 reach + 1,)."""
    reach, count = len(weights) // 2, columns.stop - columns.start
    width = min(STRIP, count)
    band = _band(np.broadcast_to(weights, (width, len(weights))))
    sums = np.empty((len(table), count))
    for start in range(0, count, STRIP):
        stop = min(start + STRIP, count)
        neighbours = _padded_columns(
            table, columns.start + start - reach, columns.start + stop + reach
        )
        sums[:, start:stop] = neighbours @ band[: neighbours.shape[1], : stop - start]
    return sums


def _band(diagonals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix (width + 2 reach, width) with diagonals[j] from row j on in column j."""
    width, length = diagonals.shape
    band = np.zeros((width + length - 1, width))
    j = np.arange(width)[:, None]
    band[j + np.arange(length), j] = diagonals
    return band


def _padded_columns(table: NDArray[np.float64], start: int, stop: int) -> NDArray[np.float64]:
    """Return columns start..stop - 1 of a table that is zero beyond its own."""
    size = table.shape[1]
    inside = table[:, min(max(start, 0), size) : max(min(stop, size), 0)]
    before = min(max(-start, 0), stop - start)
    return np.pad(inside, ((0, 0), (before, stop - start - before - inside.shape[1])))


@functools.lru_cache(maxsize=2048)
def _tail_bounds(problem: PrivacyProblem, n: int) -> NDArray[np.float64]:
    """Bound Pr[Bin(n, Delta) >= k], k = 0, 1, ..., by (n Delta)^k / k!; 0 if negligible."""
    logs = [k * math.log(max(n, 1) * problem.Delta) - math.lgamma(k + 1) for k in range(n + 1)]
    terms = move_probabilities(problem).shape[1]
    return np.append(np.exp(np.minimum(logs[:terms], 0.0)), 0.0)


@dataclass(frozen=True)
class BestMoves:
    """The largest f met, above the floor if `counts` is there, and a bound on what is left.

    Attributes:
        value: f, or the floor.
        row: of the tables, where f is.
        counts: teachers at each corner of the ends; None if no f met exceeds the floor.
        remaining_bound: bound on f if effort or steps left more than `value` possible, else -inf.
        entries_used: table entries worked out.
    """

    value: float
    row: int
    counts: dict[str, int] | None
    remaining_bound: float
    entries_used: int


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
    """Return the largest f above `floor` with b teachers at the ones and the rest at the zeros.

    For aP of the a = n - b zeros at (D,0), aQ at (0,D), bP of the ones at (1-D,1) and bQ at
    (1,1-D), f = P(aP, bP) - c P'(aQ, bQ), with aP + aQ <= a and bP + bQ <= b: for every (aP, bP) a
    running maximum over (aQ, bQ).

    Every `step`-th aP and bP, the last ones, and their complements as aQ and bQ suffice except for
    what a concave f can exceed its chords by. If all zeros gain most by the same move, whatever the
    ones do, no other is tried for them, and likewise for the ones. So coarse steps settle most
    rows, and only those that may exceed the largest f met are tried in finer ones, down to steps of
    1, which are exact.

    Args:
        problem: the privacy problem.
        V: (rows, n + 1), G of one side over the number of ones.
        W: (rows, n + 1), G of the other side.
        b: teachers at the ones.
        floor: what f must exceed.
        effort: table entries that may be worked out.
        steps: as `STEPS`, falling.

    References:
        docs/method.md, section 3.
    """
    ends = V.shape[1] - 1 - b, b
    bends, plain = (side[..., 0] for side in bound_curvature(problem, V, W, slice(b, b + 1)))
    value, row, counts, entries_used = floor, 0, None, 0
    rows = np.arange(len(V))
    bounds = np.full(len(V), np.inf)
    for step in steps:
        for group in _group_by_move(plain, rows):
            # If all teachers at an end make the same move, its two ends are all that is tried.
            gaps = [0 if plain[k, group[0]] else min(step, ends[k]) for k in (0, 1)]
            nodes = [
                _tried_move_counts(size, gap or max(size, 1))
                for size, gap in zip(ends, gaps, strict=True)
            ]
            gap = sum(length**2 for length in gaps if length > 1) / 8
            entries = len(nodes[0]) * len(nodes[1])
            if entries_used + 2 * entries * len(group) > effort:
                return BestMoves(value, row, counts, float(bounds[rows].max()), entries_used)
            entries_used += 2 * entries * len(group)
            for batch in np.array_split(group, -(-len(group) * entries // ENTRIES)):
                P, Q = _tabulate_moves(problem, V[batch], W[batch], b, *nodes)
                f = _best_sums(P, Q)
                bounds[batch] = np.minimum(bounds[batch], f.max(axis=(1, 2)) + gap * bends[batch])
                k = int(np.argmax(f))
                if f.flat[k] > value:
                    value = float(f.flat[k])
                    cell, i, j = np.unravel_index(k, f.shape)
                    row, counts = int(batch[cell]), _count_corners(Q[cell], i, j, *nodes)
        rows = rows[bounds[rows] > value]
        if not len(rows):
            break
    remaining = float(bounds[rows].max()) if len(rows) else -np.inf
    return BestMoves(value, row, counts, remaining, entries_used)


def _group_by_move(plain: NDArray[np.bool_], rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Group the rows by whether their zeros and their ones make one move."""
    kinds = plain[0, rows] + 2 * plain[1, rows]
    return [rows[kinds == kind] for kind in range(4) if (kinds == kind).any()]


def _tried_move_counts(size: int, step: int) -> NDArray[np.int64]:
    """Return 0, step, 2 step, ... and size: the numbers of moves on one side that are tried."""
    return np.append(np.arange(0, size, step), size)


def _tabulate_moves(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    W: NDArray[np.float64],
    b: int,
    a_nodes: NDArray[np.int64],
    b_nodes: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P at the nodes and -c P' at their complements, (rows, nodes, nodes)."""
    weights = move_probabilities(problem)
    a, terms = V.shape[1] - 1 - b, weights.shape[1]
    r, s = np.arange(min(a + 1, terms)), np.arange(min(b + 1, terms))
    shift = b + r[:, None] - s[None, :]
    zeros, ones = weights[:, : len(r)], weights[:, : len(s)].T
    P = zeros[a_nodes] @ V[:, shift] @ ones[:, b_nodes]
    Q = zeros[a - a_nodes] @ W[:, shift] @ ones[:, b - b_nodes]
    return P, -problem.c * Q


def _count_corners(
    Q: NDArray[np.float64], i: int, j: int, a_nodes: NDArray[np.int64], b_nodes: NDArray[np.int64]
) -> dict[str, int]:
    """Count teachers at the corners of the ends, for P at nodes i, j and the best -c P' there."""
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
