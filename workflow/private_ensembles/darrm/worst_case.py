"""Worst cases of DaRRM's privacy cost f over assignments of teachers to corners.

Every function scores whole families of assignments by array operations: with the operator
T_p = (1 - p) I + p * shift, G of an assignment is the product of its teachers' operators applied
to g, so no pmf is formed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.ends import box_bounds
from private_ensembles.darrm.moves import STEPS, best_moves
from private_ensembles.darrm.planes import (
    TAIL,
    peaks,
    pure_move_assignments,
    three_corner_costs,
)
from private_ensembles.darrm.privacy_cost import UNIT_ROUNDOFF, PrivacyProblem, assignment_counts

# Table entries that an exact eight-corner maximum may work out, some eight seconds' worth, and what
# the moves of one number of teachers take beside the entries themselves.
EFFORT = 3e8
OVERHEAD = 1 << 13
LARGEST_ORDER = 4
# Slices between two looks at the sizes of a slice's differences, which only shrink.
REFRESHED = 8
SIZE_ROUNDING = 1e-12
# Teachers beyond which a look at all pure moves first saves more than it costs.
SEEDED = 201


@dataclass(frozen=True)
class WorstCase:
    """An upper bound on f without the rounding bound, and the worst assignment found.

    upper : at least f at every assignment of the family, up to `PrivacyProblem.rounding_bound`.
    counts : (8,) teachers per corner (order of `privacy_cost.CORNERS`) of the worst one found.
    """

    upper: float
    counts: NDArray[np.int64]

    def scaled(self, problem: PrivacyProblem, factor: float) -> WorstCase:
        """The same for g * factor, factor in [0, 1], each product off by one round-off.

        f is linear in g, with coefficients of total size at most 1 + c.
        """
        slack = 4 * UNIT_ROUNDOFF * (1 + problem.c + abs(self.upper))
        return WorstCase(self.upper * factor + slack, self.counts)


@dataclass(frozen=True)
class Look:
    """What a look at all corners found.

    found : assignments whose f exceeds the limit, with their f, worst first, one at most for each
    number of teachers at one end and at H and its mirror image together: the worst of these.
    worst : the worst case over what was looked at; exact : whether up to rounding; all_seen :
    whether that was everything.
    """

    found: list[tuple[float, NDArray[np.int64]]]
    worst: WorstCase
    exact: bool
    all_seen: bool


def three_corner_worst_case(problem: PrivacyProblem, g: NDArray[np.float64]) -> WorstCase:
    """Maximum of `three_corner_costs`, with the truncated binomial tails added."""
    f = three_corner_costs(problem, g)
    i, b = np.unravel_index(np.argmax(f), f.shape)
    counts = assignment_counts(D_zero=problem.K - i - b, up=i, one_below=b)
    return WorstCase(float(f[i, b]) + 2 * TAIL * (1 + problem.c), counts)


def _slices(problem: PrivacyProblem, g: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """For t = 0..K: V[i, b] = G with i teachers at p = high, t - i at p = low, b at 1, rest at 0.

    The other side of the same assignment has high and low exchanged: V[::-1].
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
    """The smallest box that holds every True; nothing where there is none."""
    rows, columns = (np.nonzero(above.any(axis=axis))[0] for axis in (1, 0))
    if not len(rows):
        return slice(0, 0), slice(0, 0)
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def _best_shift(differences: NDArray, order: int, sign: float) -> NDArray[np.float64]:
    """max(0, max_s sign * (-1)^s D^order V(b - s)) over the s for which it is defined.

    differences : D^order V, shape (rows, n + 1 - order); returned shape (rows, n + 1) over b.
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


def series_worst_case(
    problem: PrivacyProblem, g: NDArray[np.float64], order: int | None = None
) -> WorstCase:
    """Upper bound on f over all eight corners in O(order * K^3), and the worst assignment found.

    order : of the expansion in Delta, default `series_order`.

    The four corners (0,0), (1,1), H and its mirror image are evaluated exactly. A teacher at (D,0)
    instead of (0,0) replaces the operator I by I + D*diff, one at (1-D,1) the shift S by
    S - D*diff, and the same on the other side, so with n = a + b teachers at the ends f is a
    polynomial in Delta whose term of order r is at most

        Delta^r C(n, r) max(0, max_s (-1)^s diff^r V(b-s), max_s -(-1)^s c diff^r V'(b-s))

    (Vandermonde on the choices, and C(x, r) + C(y, r) <= C(x + y, r) since a teacher moves on one
    side only). The first order is exact; orders beyond `order` are bounded through
    |diff^(r+k) V| <= 2^k max|diff^r V| by (n Delta)^(order+1) / (order+1)! e^(2 n Delta)
    max(|diff^(order+1) V|, c |diff^(order+1) V'|). With Delta = 0 the bound is the exact maximum.
    """
    order = series_order(problem) if order is None else order
    counts = three_corner_worst_case(problem, g).counts
    upper, best = problem.cost(np.abs(g), counts), -np.inf
    # Low enough for the same assignment to be met again whatever the rounding.
    floor = upper - 2 * problem.rounding_bound()
    for V, sizes, box in _boxes(problem, g, order, floor):
        f = _first_order(problem, V, box)
        upper = max(upper, float(_bound(problem, V, box, f, sizes).max()))
        k = int(np.argmax(f))
        if f.flat[k] > best:
            best = float(f.flat[k])
            i, b = divmod(k, f.shape[1])
            counts = _corner_choice(problem, V, box[0].start + i, box[1].start + b)
    return WorstCase(upper + _series_rounding(problem, order), counts)


def first_order_assignments(
    problem: PrivacyProblem, g: NDArray[np.float64], keep: int, floor: float
) -> list[NDArray[np.int64]]:
    """Assignments whose f exceeds `floor` to first order in Delta, worst first, in O(K^3).

    The peaks of f, at most `keep` for each number of teachers at H and its mirror image, so that
    cuts come from all over the family, not from one neighbourhood.
    """
    found: list[tuple[float, NDArray[np.int64]]] = []
    for V, _, box in _boxes(problem, g, 1, floor):
        f = _first_order(problem, V, box)
        for i, b in zip(*peaks(f, floor, keep), strict=True):
            counts = _corner_choice(problem, V, box[0].start + int(i), box[1].start + int(b))
            found.append((float(f[i, b]), counts))
    found.sort(key=lambda item: -item[0])
    return [counts for _, counts in found]


def series_order(problem: PrivacyProblem) -> int:
    """The least order of the series whose remainder is negligible, at most LARGEST_ORDER."""
    x = 2 * problem.K * problem.Delta
    for order in range(2, LARGEST_ORDER):
        if x ** (order + 1) / math.factorial(order + 1) < 1e-7:
            return order
    return LARGEST_ORDER


def _series_rounding(problem: PrivacyProblem, order: int) -> float:
    """Rounding of the series' added terms, beside the bound on f itself.

    Each is a sum of at most 2 (order + 1) products, all of them below 1 + c in size.
    """
    return 64 * (order + 1) * UNIT_ROUNDOFF * (1 + problem.c) if problem.Delta > 0 else 0.0


def _boxes(
    problem: PrivacyProblem, g: NDArray[np.float64], order: int, floor: float
) -> Iterator[tuple[NDArray[np.float64], list[float], tuple[slice, slice]]]:
    """The slices that may hold an f above `floor`, and where in them.

    order : 1 for f to first order in Delta; above, for the bound of `series_worst_case`.
    Yields (V, sizes, (rows, columns)): outside of the box, f or its bound is at most `floor`.
    sizes : at least max|diff^r V| for r = 0..order + 1. They fall from slice to slice, since V is
    a mean of the last slice's neighbours and diff commutes with means: few of them are worked out.
    """
    D, c = problem.Delta, problem.c
    for t, V in enumerate(_slices(problem, g)):
        n = problem.K - t
        if t < REFRESHED or t % REFRESHED == 0:
            sizes = _sizes(V, order + 1)
        # What the teachers at the ends can add, each at most c |diff V| to first order.
        gain = n * D * c * sizes[1] if D > 0 and n > 0 else 0.0
        if order > 1:
            gain += _higher_orders(problem, n, sizes)
        f = V - c * V[::-1]
        if f.max() <= floor - gain:
            continue
        yield V, sizes, _hull(f > floor - gain)


def _sizes(V: NDArray[np.float64], order: int) -> list[float]:
    """At least max|diff^r V| for r = 0..order, here and in the next slices, rounding included."""
    sizes = [1.0]
    for _ in range(order):
        V = np.diff(V, axis=1)
        # Each slice's mean is off by 3 round-offs, and 2^r of its numbers make a difference.
        sizes.append(float(np.abs(V).max()) + SIZE_ROUNDING if V.shape[1] else 0.0)
    return sizes


def _higher_orders(problem: PrivacyProblem, n: int, sizes: list[float], least: int = 2) -> float:
    """Bound on the terms of the series from order `least` on, with n teachers at the ends."""
    orders = range(least, len(sizes) - 1)
    terms = (math.comb(n, r) * problem.Delta**r * problem.c * sizes[r] for r in orders)
    return sum(terms) + _remainder(problem, n, sizes)


def _remainder(problem: PrivacyProblem, n: int, sizes: list[float]) -> float:
    """Bound on the terms of the series beyond its last order, len(sizes) - 2."""
    D, order = problem.Delta, len(sizes) - 2
    if D == 0 or n <= order:
        return 0.0
    log = 2 * n * D + (order + 1) * math.log(n * D) - math.lgamma(order + 2)
    return math.exp(log) * problem.c * sizes[order + 1]


def _first_order(
    problem: PrivacyProblem, V: NDArray[np.float64], box: tuple[slice, slice]
) -> NDArray[np.float64]:
    """f over a box of one slice (t + 1, n + 1), each teacher at an end making its best move."""
    rows, columns = box
    W = V[::-1]
    D, c = problem.Delta, problem.c
    n = V.shape[1] - 1
    f = V[box] - c * W[box]
    if D == 0 or n == 0:
        return f
    # What one teacher gains by leaving (0,0) towards (D,0) or (0,D) with b teachers at (1,1), and
    # one at (1,1) likewise, for b from `low` on.
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


def _bound(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    box: tuple[slice, slice],
    f: NDArray[np.float64],
    sizes: list[float],
) -> NDArray[np.float64]:
    """The bound of `series_worst_case` over a box of one slice, from its first order."""
    n = V.shape[1] - 1
    if problem.Delta == 0 or n == 0:
        return f
    bound = f + _remainder(problem, n, sizes)
    for r in range(2, min(len(sizes) - 2, n) + 1):
        bound += _term(problem, V, box, r)
    return bound


def _term(
    problem: PrivacyProblem, V: NDArray[np.float64], box: tuple[slice, slice], r: int
) -> NDArray[np.float64]:
    """The bound of `series_worst_case` on the term of order r >= 2, over a box of one slice."""
    n, (rows, columns) = V.shape[1] - 1, box
    # diff^r V(b - s) for s = 0..r needs the columns b - r..b + r.
    low, high = max(columns.start - r, 0), min(columns.stop + r, n + 1)
    d, e = (np.diff(side[rows, low:high], r, axis=1) for side in (V, V[::-1]))
    best = np.maximum(_best_shift(d, r, 1.0), problem.c * _best_shift(e, r, -1.0))
    inside = slice(columns.start - low, columns.stop - low)
    return math.comb(n, r) * problem.Delta**r * best[:, inside]


def _bounds_above(
    problem: PrivacyProblem,
    V: NDArray[np.float64],
    box: tuple[slice, slice],
    sizes: list[float],
    floor: float,
) -> tuple[tuple[slice, slice], NDArray[np.float64]]:
    """`_bound` where it may exceed `floor`: in what part of the box, and the bounds there.

    Order by order: where what the next ones can add at most does not reach the floor, they are not
    worked out.
    """
    n = V.shape[1] - 1
    bound = _first_order(problem, V, box)
    orders = min(len(sizes) - 2, n) if problem.Delta > 0 else 1
    for r in range(1, orders + 1):
        if r > 1:
            bound += _term(problem, V, box, r)
        inner = _hull(bound > floor - _higher_orders(problem, n, sizes, r + 1))
        bound = bound[inner]
        box = tuple(
            slice(outer.start + part.start, outer.start + part.stop)
            for outer, part in zip(box, inner, strict=True)
        )
        if not bound.size:
            break
    return box, bound + _remainder(problem, n, sizes)


def _corner_choice(problem: PrivacyProblem, V: NDArray, i: int, b: int) -> NDArray[np.int64]:
    """The assignment behind a first-order maximum: every teacher at an end makes its best move."""
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


def eight_corner_worst_case(
    problem: PrivacyProblem,
    g: NDArray[np.float64],
    *,
    effort: float = np.inf,
    prune: bool = True,
) -> tuple[WorstCase, bool]:
    """The exact maximum of f over all C(K+7, 7) corner multisets, in O(K^5) time or far less.

    With i teachers at H, j at its mirror image, a at the zeros and b at the ones, the two sides
    separate: f = P(aP, bP) - c P'(aQ, bQ), where aP of the zeros sit at (D,0), aQ at (0,D), and bP,
    bQ of the ones likewise. So the best (aQ, bQ) for every (aP, bP) is a running maximum over
    aQ <= a - aP, bQ <= b - bP, and no pair is enumerated. With `prune` only those (i, j, b) are
    worked out whose bound of `series_worst_case` exceeds the largest f met so far.

    effort : number of table entries after which what is left keeps its series bound.
    Returns the worst case, and whether it is exact (up to rounding).
    """
    # A search ends at the gamma that is certified next: the last answers are kept.
    return _eight_corner_worst_case(
        problem, np.asarray(g, dtype=np.float64).tobytes(), effort, prune
    )


def look(
    problem: PrivacyProblem,
    g: NDArray[np.float64],
    limit: float = np.inf,
    *,
    effort: float = np.inf,
    first: int | None = None,
    prune: bool = True,
) -> Look:
    """Look for the worst of all assignments, and for all that exceed `limit` (see `Look`).

    effort, prune : as in `eight_corner_worst_case`; first : where some with at most so many
    teachers at H and its mirror image exceed the limit, the others are not looked at.
    """
    counts = _likely_worst(problem, g)
    best = problem.cost(np.abs(g), counts)
    floor, steps = (min(best, limit), STEPS) if prune else (-np.inf, STEPS[-1:])
    search = _ExactSearch(problem, floor, limit if prune else -np.inf, effort, steps)
    all_seen = search.run(g, first=first)
    found = sorted(search.found, key=lambda item: -item[0])
    if found and found[0][0] > best:
        best, counts = found[0]
    # A cell that was pruned has a bound below the floor, up to the rounding of the series.
    upper = max(best, search.left_over) + 4 * TAIL * (1 + problem.c)
    upper += _series_rounding(problem, series_order(problem))
    above = [item for item in found if item[0] > limit]
    return Look(above, WorstCase(upper, counts), search.left_over == -np.inf, all_seen)


class _ExactSearch:
    """One look at all corners, worked out where the bounds exceed the floor.

    The floor rises with the largest f met, as far as `limit`. found : assignments that exceeded
    it and their f; left_over : bound on f where the effort did not suffice.
    """

    def __init__(
        self,
        problem: PrivacyProblem,
        floor: float,
        limit: float,
        effort: float,
        steps: tuple[int, ...],
    ) -> None:
        self.problem, self.floor, self.limit = problem, floor, limit
        self.effort, self.steps = effort, steps
        self.found: list[tuple[float, NDArray[np.int64]]] = []
        self.left_over = -np.inf

    def run(self, g: NDArray[np.float64], *, first: int | None = None) -> bool:
        """Look at g; first : as in `look`. Returns whether all corners were looked at."""
        problem, order = self.problem, series_order(self.problem)
        for V, sizes, box in _boxes(problem, g, order, self.floor):
            if first is not None and len(V) > first + 1 and self._exceeded():
                return False
            box, bound = _bounds_above(problem, V, box, sizes, self.floor)
            if bound.size:
                rows, ones = box
                bound = box_bounds(problem, V[rows], V[::-1][rows], ones, bound, self.floor)
            for column in np.nonzero((bound > self.floor).any(axis=0))[0]:
                rows = np.nonzero(bound[:, column] > self.floor)[0]
                if len(rows):  # the floor may have risen since
                    self._column(V, box[0].start + rows, box[1].start + column, bound[rows, column])
        return True

    def _exceeded(self) -> bool:
        return any(value > self.limit for value, _ in self.found)

    def _column(self, V: NDArray, rows: NDArray, b: int, bound: NDArray) -> None:
        """Work out some rows of a slice with b teachers at the ones."""
        t, largest = len(V) - 1, float(bound.max())
        if self.effort <= 0:
            self.left_over = max(self.left_over, largest)
            return
        moves = best_moves(
            self.problem,
            V[rows],
            V[t - rows],
            b,
            self.floor,
            effort=self.effort,
            steps=self.steps,
        )
        self.effort -= moves.spent + OVERHEAD
        self.left_over = max(self.left_over, min(moves.left_over, largest))
        if moves.counts:
            i = int(rows[moves.row])
            self.found.append((moves.value, assignment_counts(up=i, down=t - i, **moves.counts)))
            self.floor = max(self.floor, min(self.limit, moves.value))


def _likely_worst(problem: PrivacyProblem, g: NDArray[np.float64]) -> NDArray[np.int64]:
    """An assignment with a large f: the better it is, the less of what follows has to be met."""
    if problem.K > SEEDED:
        found = pure_move_assignments(problem, g, 1, -np.inf)
        if found:
            return found[0]
    return three_corner_worst_case(problem, g).counts


@functools.lru_cache(maxsize=4)
def _eight_corner_worst_case(
    problem: PrivacyProblem, buffer: bytes, effort: float, prune: bool
) -> tuple[WorstCase, bool]:
    g = np.frombuffer(buffer)
    if problem.Delta == 0:
        return series_worst_case(problem, g), True
    found = look(problem, g, effort=effort, prune=prune)
    return found.worst, found.exact
