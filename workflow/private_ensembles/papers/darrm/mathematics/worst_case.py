"""Worst cases of DaRRM's privacy cost f over assignments of teachers to corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.papers.darrm.mathematics.delta_series import (
    bound_to_all_orders,
    bound_to_first_order,
    choose_corners,
    find_bounds_exceeding,
    iterate_boxes,
    series_order,
    series_rounding,
)
from private_ensembles.papers.darrm.mathematics.end_moves import best_moves, box_bounds
from private_ensembles.papers.darrm.mathematics.planes import (
    TAIL,
    pure_move_assignments,
    three_corner_costs,
)
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    UNIT_ROUNDOFF,
    PrivacyProblem,
    assignment_counts,
)

# An exact eight-corner maximum may work out so many table entries, some eight seconds' worth. The
# moves of one number of teachers take an overhead beside the entries themselves.
EFFORT = 3e8
OVERHEAD = 1 << 13
# With more teachers, a look at all pure moves first saves more than it costs.
SEEDED = 201


@upper_bound
@dataclass(frozen=True)
class WorstCase:
    """An upper bound on f without the rounding bound, and the worst assignment found.

    Attributes:
        upper: at least f at every assignment looked at, up to `PrivacyProblem.rounding_bound`.
        counts: (8,) int, teachers per corner (order of `privacy_cost.CORNERS`) of the worst one
            found.
    """

    upper: float
    counts: NDArray[np.int64]

    def scale(self, problem: PrivacyProblem, factor: float) -> WorstCase:
        """Return the same for g * factor, factor in [0, 1], each product off by one round-off.

        f is linear in g, with coefficients of total size at most 1 + c.
        """
        slack = 4 * UNIT_ROUNDOFF * (1 + problem.c + abs(self.upper))
        return WorstCase(self.upper * factor + slack, self.counts)


@dataclass(frozen=True)
class CornerSearchResult:
    """What a search of all corners found.

    Attributes:
        exceeding: assignments whose f exceeds the limit, with their f, worst first: at most one,
            the worst, for each number of teachers at one end and at H and its mirror image
            together.
        worst: the worst case over what was looked at.
        exact: whether it is exact up to rounding.
        all_seen: whether everything was looked at.
    """

    exceeding: list[tuple[float, NDArray[np.int64]]]
    worst: WorstCase
    exact: bool
    all_seen: bool


def three_corner_worst_case(problem: PrivacyProblem, g: NDArray[np.float64]) -> WorstCase:
    """Return the maximum of `three_corner_costs`, with the truncated binomial tails added.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.

    References:
        docs/method.md, section 2.
    """
    f = three_corner_costs(problem, g)
    i, b = np.unravel_index(np.argmax(f), f.shape)
    counts = assignment_counts(D_zero=problem.K - i - b, up=i, one_below=b)
    return WorstCase(float(f[i, b]) + 2 * TAIL * (1 + problem.c), counts)


@upper_bound
def series_worst_case(
    problem: PrivacyProblem, g: NDArray[np.float64], order: int | None = None
) -> WorstCase:
    """Return an upper bound on f over all eight corners in O(order * K^3), and the worst found.

    The four corners (0,0), (1,1), H and its mirror image are evaluated exactly. With n = a + b
    teachers at the ends f is a polynomial in Delta whose term of order r is at most

        Delta^r C(n, r) max(0, max_s (-1)^s diff^r V(b-s), max_s -(-1)^s c diff^r V'(b-s)).

    The first order is exact; orders beyond `order` are bounded through

        (n Delta)^s / s! e^(2 n Delta) max(|diff^s V|, c |diff^s V'|), s = order + 1.

    With Delta = 0 the bound is the exact maximum.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        order: of the expansion in Delta; None means `series_order`.

    References:
        docs/method.md, section 4.
    """
    order = series_order(problem) if order is None else order
    counts = three_corner_worst_case(problem, g).counts
    upper, best = problem.cost(np.abs(g), counts), -np.inf
    # Low enough for the same assignment to be met again whatever the rounding.
    floor = upper - 2 * problem.rounding_bound()
    for V, sizes, box in iterate_boxes(problem, g, order, floor):
        f = bound_to_first_order(problem, V, box)
        upper = max(upper, float(bound_to_all_orders(problem, V, box, f, sizes).max()))
        k = int(np.argmax(f))
        if f.flat[k] > best:
            best = float(f.flat[k])
            i, b = divmod(k, f.shape[1])
            counts = choose_corners(problem, V, box[0].start + i, box[1].start + b)
    return WorstCase(upper + series_rounding(problem, order), counts)


def eight_corner_worst_case(
    problem: PrivacyProblem,
    g: NDArray[np.float64],
    *,
    effort: float = np.inf,
) -> tuple[WorstCase, bool]:
    """Return the exact maximum of f over all C(K+7, 7) corner multisets.

    It takes O(K^5) time or far less. With i teachers at H, j at its mirror image, a at the zeros
    and b at the ones, the two sides separate: f = P(aP, bP) - c P'(aQ, bQ), where aP of the zeros
    sit at (D,0), aQ at (0,D), and bP, bQ of the ones likewise. So the best (aQ, bQ) for every
    (aP, bP) is a running maximum over aQ <= a - aP, bQ <= b - bP, and no pair is enumerated. Only
    those (i, j, b) are worked out whose bound of `series_worst_case` exceeds the largest f met so
    far.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        effort: number of table entries after which what is left keeps its series bound.

    Returns:
        The worst case, and whether it is exact (up to rounding).

    References:
        docs/method.md, section 3.
    """
    if problem.Delta == 0:
        return series_worst_case(problem, g), True
    search = search_corners(problem, g, effort=effort)
    return search.worst, search.exact


def search_corners(
    problem: PrivacyProblem,
    g: NDArray[np.float64],
    limit: float = np.inf,
    *,
    effort: float = np.inf,
    first: int | None = None,
) -> CornerSearchResult:
    """Search all assignments for the worst, and for those that exceed `limit`.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        limit: what f must exceed.
        effort: as in `eight_corner_worst_case`.
        first: if some with at most that many teachers at H and its mirror image exceed the limit,
            the others are not looked at.
    """
    counts = _guess_worst(problem, g)
    best = problem.cost(np.abs(g), counts)
    search = _CornerSearch(problem, min(best, limit), limit, effort)
    all_seen = search.run(g, first=first)
    exceeding = sorted(search.exceeding, key=lambda entry: -entry[0])
    if exceeding and exceeding[0][0] > best:
        best, counts = exceeding[0]
    # A cell that was pruned has a bound below the floor, up to the rounding of the series.
    upper = max(best, search.remaining_bound) + 4 * TAIL * (1 + problem.c)
    upper += series_rounding(problem, series_order(problem))
    above_limit = [entry for entry in exceeding if entry[0] > limit]
    return CornerSearchResult(
        above_limit, WorstCase(upper, counts), search.remaining_bound == -np.inf, all_seen
    )


class _CornerSearch:
    """One search of all corners, worked out where the bounds exceed the floor.

    The floor rises with the largest f met, as far as `limit`.

    Attributes:
        exceeding: assignments that exceeded the floor, and their f.
        remaining_bound: bound on f if the effort did not suffice, else -inf.
    """

    def __init__(self, problem: PrivacyProblem, floor: float, limit: float, effort: float) -> None:
        self.problem, self.floor, self.limit, self.effort = problem, floor, limit, effort
        self.exceeding: list[tuple[float, NDArray[np.int64]]] = []
        self.remaining_bound = -np.inf

    def run(self, g: NDArray[np.float64], *, first: int | None = None) -> bool:
        """Search all corners for g as `search_corners` does; return whether all were looked at."""
        problem, order = self.problem, series_order(self.problem)
        for V, sizes, box in iterate_boxes(problem, g, order, self.floor):
            if first is not None and len(V) > first + 1 and self._has_exceeded_limit():
                return False
            box, bound = find_bounds_exceeding(problem, V, box, sizes, self.floor)
            if bound.size:
                rows, ones = box
                bound = box_bounds(problem, V[rows], V[::-1][rows], ones, bound, self.floor)
            for column in np.nonzero((bound > self.floor).any(axis=0))[0]:
                rows = np.nonzero(bound[:, column] > self.floor)[0]
                if len(rows):  # the floor may have risen since
                    self._search_column(
                        V, box[0].start + rows, box[1].start + column, bound[rows, column]
                    )
        return True

    def _has_exceeded_limit(self) -> bool:
        """Return whether an f met exceeds the limit."""
        return any(value > self.limit for value, _ in self.exceeding)

    def _search_column(self, V: NDArray, rows: NDArray, b: int, bound: NDArray) -> None:
        """Work out some rows of a slice with b teachers at the ones."""
        t, largest = len(V) - 1, float(bound.max())
        if self.effort <= 0:
            self.remaining_bound = max(self.remaining_bound, largest)
            return
        moves = best_moves(self.problem, V[rows], V[t - rows], b, self.floor, effort=self.effort)
        self.effort -= moves.entries_used + OVERHEAD
        self.remaining_bound = max(self.remaining_bound, min(moves.remaining_bound, largest))
        if moves.counts:
            i = int(rows[moves.row])
            self.exceeding.append(
                (moves.value, assignment_counts(up=i, down=t - i, **moves.counts))
            )
            self.floor = max(self.floor, min(self.limit, moves.value))


def _guess_worst(problem: PrivacyProblem, g: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return an assignment with a large f: the larger, the less is left to be searched."""
    if problem.K > SEEDED:
        worst = pure_move_assignments(problem, g, 1, -np.inf)
        if worst:
            return worst[0]
    return three_corner_worst_case(problem, g).counts
