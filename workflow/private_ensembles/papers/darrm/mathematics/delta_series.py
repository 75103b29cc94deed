"""Bounds on f over slices of assignments, by a series in Delta: the teachers at H first.

Every function scores whole slices of assignments by array operations. With the operator
T_p = (1 - p) I + p * shift, G of an assignment is the product of its teachers' operators
applied to g, so no pmf is formed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from private_ensembles.papers.darrm.mathematics.planes import find_peaks
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    UNIT_ROUNDOFF,
    PrivacyProblem,
    assignment_counts,
)

LARGEST_ORDER = 4
# The sizes of a slice's differences only shrink, so they are worked out on every so many slices.
REFRESHED = 8
# More than rounding takes off the size of a difference.
SIZE_ROUNDING = 1e-12


def first_order_assignments(
    problem: PrivacyProblem, g: NDArray[np.float64], keep: int, floor: float
) -> list[NDArray[np.int64]]:
    """Return the assignments whose f exceeds `floor` to first order in Delta, in O(K^3).

    They are the peaks of f, at most `keep` for each number of teachers at H and its mirror image,
    so that cuts come from everywhere, not from one neighbourhood.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        keep: most peaks of a slice.
        floor: what f must exceed.

    Returns:
        Counts (8,) of teachers per corner, the worst assignment first.
    """
    exceeding: list[tuple[float, NDArray[np.int64]]] = []
    for V, _, box in iterate_boxes(problem, g, 1, floor):
        f = bound_to_first_order(problem, V, box)
        for i, b in zip(*find_peaks(f, floor, keep), strict=True):
            counts = choose_corners(problem, V, box[0].start + int(i), box[1].start + int(b))
            exceeding.append((float(f[i, b]), counts))
    exceeding.sort(key=lambda entry: -entry[0])
    return [counts for _, counts in exceeding]


def series_order(problem: PrivacyProblem) -> int:
    """Return the least order of the series whose remainder is negligible, at most LARGEST_ORDER."""
    x = 2 * problem.K * problem.Delta
    for order in range(2, LARGEST_ORDER):
        if x ** (order + 1) / math.factorial(order + 1) < 1e-7:
            return order
    return LARGEST_ORDER


def series_rounding(problem: PrivacyProblem, order: int) -> float:
    """Return what rounding may do to the series' added terms, beside the bound on f itself.

    Each is a sum of at most 2 (order + 1) products, all of them below 1 + c in size.
    """
    return 64 * (order + 1) * UNIT_ROUNDOFF * (1 + problem.c) if problem.Delta > 0 else 0.0


class BoxedSlice(NamedTuple):
    """A slice of assignments, and the box outside of which f, or its bound, is at most the floor.

    Attributes:
        V: (t + 1, K - t + 1), G by the numbers of teachers at H and at (1,1), of t teachers at H
            and its mirror image together.
        sizes: at least max|diff^r V| for r = 0..order + 1.
        box: rows and columns of V.
    """

    V: NDArray[np.float64]
    sizes: list[float]
    box: tuple[slice, slice]


def iterate_boxes(
    problem: PrivacyProblem, g: NDArray[np.float64], order: int, floor: float
) -> Iterator[BoxedSlice]:
    """Yield the slices that may hold an f above `floor`, and where in them.

    The sizes of differences fall from slice to slice, since V is a mean of the last slice's
    neighbours and diff commutes with means: few of them are worked out.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        order: 1 for f to first order in Delta; above, for the bound of `series_worst_case`.
        floor: what f must exceed.
    """
    D, c = problem.Delta, problem.c
    for t, V in enumerate(_slices(problem, g)):
        n = problem.K - t
        if t < REFRESHED or t % REFRESHED == 0:
            sizes = _sizes(V, order + 1)
        # The gain is what teachers at the ends can add, each at most c |diff V| to first order.
        gain = n * D * c * sizes[1] if D > 0 and n > 0 else 0.0
        if order > 1:
            gain += _bound_higher_orders(problem, n, sizes)
        f = V - c * V[::-1]
        if f.max() <= floor - gain:
            continue
        yield BoxedSlice(V, sizes, _hull(f > floor - gain))


def bound_to_first_order(
    problem: PrivacyProblem, V: NDArray[np.float64], box: tuple[slice, slice]
) -> NDArray[np.float64]:
    """Return f over a box of one slice, to first order: each teacher at an end makes its best move.

    Args:
        problem: the privacy problem.
        V: (t + 1, n + 1), a slice (`BoxedSlice`).
        box: which of its rows and columns.
    """
    rows, columns = box
    W = V[::-1]
    D, c = problem.Delta, problem.c
    n = V.shape[1] - 1
    f = V[box] - c * W[box]
    if D == 0 or n == 0:
        return f
    # These are what one teacher gains by leaving (0,0) towards (D,0) or (0,D) with b teachers at
    # (1,1), and one at (1,1) likewise, for b from `low` on.
    low, high = max(columns.start - 1, 0), min(columns.stop, n)
    d = np.diff(V[rows, low : high + 1], axis=1)
    e = c * np.diff(W[rows, low : high + 1], axis=1)
    b = np.arange(columns.start, columns.stop)
    zeros = b[b < n]
    gain = np.maximum(0, np.maximum(d, -e))
    f[:, : len(zeros)] += gain[:, columns.start - low :] * (D * (n - zeros))
    ones = b[b > 0]
    gain = np.maximum(0, np.maximum(-d, e))
    f[:, len(b) - len(ones) :] += gain[:, : len(ones)] * (D * ones)
    return f


def bound_to_all_orders(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    box: tuple[slice, slice],
    f: NDArray[np.float64],
    sizes: list[float],
) -> NDArray[np.float64]:
    """Return the bound of `series_worst_case` over a box of one slice, from its first order.

    Args:
        problem: the privacy problem.
        V: (t + 1, n + 1), a slice (`BoxedSlice`).
        box: which of its rows and columns.
        f: f over the box as `bound_to_first_order` returns it.
        sizes: of the slice's differences (`BoxedSlice`).
    """
    n = V.shape[1] - 1
    if problem.Delta == 0 or n == 0:
        return f
    bound = f + _remainder(problem, n, sizes)
    for r in range(2, min(len(sizes) - 2, n) + 1):
        bound += _bound_term(problem, V, box, r)
    return bound


def find_bounds_exceeding(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    box: tuple[slice, slice],
    sizes: list[float],
    floor: float,
) -> tuple[tuple[slice, slice], NDArray[np.float64]]:
    """Return where in the box `bound_to_all_orders` may exceed `floor`, and the bounds there.

    It goes order by order: if what the next ones can add at most does not reach the floor, they are
    not worked out.
    """
    n = V.shape[1] - 1
    bound = bound_to_first_order(problem, V, box)
    orders = min(len(sizes) - 2, n) if problem.Delta > 0 else 1
    for r in range(1, orders + 1):
        if r > 1:
            bound += _bound_term(problem, V, box, r)
        inner = _hull(bound > floor - _bound_higher_orders(problem, n, sizes, r + 1))
        bound = bound[inner]
        box = tuple(
            slice(outer.start + part.start, outer.start + part.stop)
            for outer, part in zip(box, inner, strict=True)
        )
        if not bound.size:
            break
    return box, bound + _remainder(problem, n, sizes)


def choose_corners(problem: PrivacyProblem, V: NDArray, i: int, b: int) -> NDArray[np.int64]:
    """Return the assignment behind a first-order maximum, each teacher at an end at its best move.

    Args:
        problem: the privacy problem.
        V: (t + 1, n + 1), a slice (`BoxedSlice`).
        i: teachers at H.
        b: teachers at the ones.
    """
    t, c = V.shape[0] - 1, problem.c
    n = problem.K - t
    a = n - b
    counts = {"up": i, "down": t - i, "zero": a, "one": b}
    if problem.Delta > 0:
        if a:
            d, e = V[i, b + 1] - V[i, b], c * (V[t - i, b + 1] - V[t - i, b])
            if max(d, -e) > 0:
                counts["D_zero" if d >= -e else "zero_D"] = counts.pop("zero")
        if b:
            d, e = V[i, b] - V[i, b - 1], c * (V[t - i, b] - V[t - i, b - 1])
            if max(-d, e) > 0:
                counts["below_one" if -d >= e else "one_below"] = counts.pop("one")
    return assignment_counts(**counts)


def _slices(problem: PrivacyProblem, g: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield for t = 0..K the slice V[i, b] = G of t teachers at H and its mirror image.

    i of them are at p = high, t - i at p = low; b others are at 1 and the rest at 0. On the other
    side of the same assignment high and low are exchanged: V[::-1].
    """
    high, low = problem.high, problem.low
    V = np.asarray(g, dtype=np.float64)[None, :]
    yield V
    for t in range(1, problem.K + 1):  # each slice follows from the last
        W = np.empty((t + 1, V.shape[1] - 1))
        W[1:] = (1 - high) * V[:, :-1] + high * V[:, 1:]
        W[0] = (1 - low) * V[0, :-1] + low * V[0, 1:]
        V = W
        yield V


def _hull(above: NDArray[np.bool_]) -> tuple[slice, slice]:
    """Return the smallest box that holds every True; nothing if there is none."""
    rows, columns = (np.nonzero(above.any(axis=axis))[0] for axis in (1, 0))
    if not len(rows):
        return slice(0, 0), slice(0, 0)
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def _sizes(V: NDArray[np.float64], order: int) -> list[float]:
    """Return at least max|diff^r V| for r = 0..order, here and in the next slices."""
    sizes = [1.0]
    for _ in range(order):
        V = np.diff(V, axis=1)
        # Each slice's mean is off by 3 round-offs, and 2^r of its numbers make a difference.
        sizes.append(float(np.abs(V).max()) + SIZE_ROUNDING if V.shape[1] else 0.0)
    return sizes


def _bound_higher_orders(
    problem: PrivacyProblem, n: int, sizes: list[float], least: int = 2
) -> float:
    """Bound the terms of the series from order `least` on, with n teachers at the ends."""
    orders = range(least, len(sizes) - 1)
    terms = (math.comb(n, r) * problem.Delta**r * problem.c * sizes[r] for r in orders)
    return sum(terms) + _remainder(problem, n, sizes)


def _remainder(problem: PrivacyProblem, n: int, sizes: list[float]) -> float:
    """Bound the terms of the series beyond its last order, len(sizes) - 2."""
    D, order = problem.Delta, len(sizes) - 2
    if D == 0 or n <= order:
        return 0.0
    log = 2 * n * D + (order + 1) * math.log(n * D) - math.lgamma(order + 2)
    return math.exp(log) * problem.c * sizes[order + 1]


def _bound_term(
    problem: PrivacyProblem, V: NDArray[np.float64], box: tuple[slice, slice], r: int
) -> NDArray[np.float64]:
    """Bound the term of order r >= 2 over a box of one slice, as in `series_worst_case`."""
    n, (rows, columns) = V.shape[1] - 1, box
    # diff^r V(b - s) for s = 0..r needs the columns b - r..b + r.
    low, high = max(columns.start - r, 0), min(columns.stop + r, n + 1)
    d, e = (np.diff(side[rows, low:high], r, axis=1) for side in (V, V[::-1]))
    best = np.maximum(_best_shift(d, r, 1.0), problem.c * _best_shift(e, r, -1.0))
    inside = slice(columns.start - low, columns.stop - low)
    return math.comb(n, r) * problem.Delta**r * best[:, inside]


def _best_shift(differences: NDArray, order: int, sign: float) -> NDArray[np.float64]:
    """Return max(0, max_s sign * (-1)^s D^order V(b - s)) over the s for which it is defined.

    differences: D^order V, shape (rows, n + 1 - order). The result has the shape (rows, n + 1).
    """
    rows, width = differences.shape
    best = np.zeros((rows, width + order))
    for s in range(order + 1):  # order <= 5
        np.maximum(
            best[:, s : s + width],
            sign * (-1) ** s * differences,
            out=best[:, s : s + width],
        )
    return best
