"""What a gamma violates: rows for a search to add, and what a look at all corners proves of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from private_ensembles.papers.darrm.mathematics.delta_series import first_order_assignments
from private_ensembles.papers.darrm.mathematics.gamma import mirror_gamma
from private_ensembles.papers.darrm.mathematics.planes import (
    find_peaks,
    pure_move_assignments,
    three_corner_costs,
)
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    PrivacyProblem,
    assignment_counts,
)
from private_ensembles.papers.darrm.mathematics.worst_case import (
    EFFORT,
    CornerSearchResult,
    WorstCase,
    search_corners,
)

# A row may be violated by this much, relative to the allowance: the certificate's scaling pays.
VIOLATION = 1e-9
# One in this many of the edges is in use at the start.
FIRST = 4
# A row without a price rests if it is farther from binding than this, relative.
FAR_FROM_BINDING = 0.05
# A round takes up to so many cuts on planes, and so many others.
CUTS_ON_PLANES, CUTS_PER_ROUND = 600, 256
CUTS_PER_SLICE = 32
LARGE_VIOLATION = 1e-7
# A violation may take this share of the gap that suffices off the utility.
OVERLOOKED = 0.2
# If the excess on the first plane is larger, the second plane can wait.
FAR_OFF = 0.05
# Cuts between which fewer teachers change corners, counted twice, are nearly parallel.
LEAST_DISTANCE = 4
CANDIDATES = 8000
# Up to so many teachers at H and its mirror image are searched first, which takes a second at
# K = 1001; all of them take four.
FIRST_TEACHERS_AT_H = 128


class AddedRows(NamedTuple):
    """What a search's point has added to the rows known.

    Attributes:
        new: how many rows are new, or have returned.
        excess: by how much the point exceeds 1 at any row.
        all_seen: whether all corners were looked at, so that `x / (1 + excess)` is private, or
            nearly.
    """

    new: int
    excess: float
    all_seen: bool


class Cuts:
    """Rows of f over gamma at l = (K+1)/2..K, each at most 1, of the assignments known so far.

    Attributes:
        rows: (assignments, size).
        in_use: which of them the program holds; the others rest.
        needed: rows that stay in use: one that is left out twice comes back twice.
        returned_rows: how many rows at rest the last x violated, which are needed from then on.
    """

    def __init__(self, problem: PrivacyProblem) -> None:
        self.problem = problem
        edges = edge_assignments(problem.K)
        self.names = {tuple(counts) for counts in edges}
        self.rows = np.array([problem.row(counts) for counts in edges]) / problem.allowance
        self.in_use = np.arange(len(self.rows)) % FIRST == 0
        self.needed = np.zeros(len(self.rows), dtype=bool)
        self.returned_rows = 0

    def add(
        self, assignments: list[NDArray[np.int64]], x: NDArray[np.float64]
    ) -> tuple[int, float]:
        """Take assignments up, and count the new ones.

        Args:
            assignments: counts (8,) of teachers per corner.
            x: (size,), gamma at l = (K+1)/2..K.

        Returns:
            How many are new, and by how much x exceeds 1 at any of them.
        """
        if not assignments:
            return 0, 0.0
        rows = (
            np.array([self.problem.row(counts) for counts in assignments]) / self.problem.allowance
        )
        new = [k for k, counts in enumerate(assignments) if tuple(counts) not in self.names]
        self.names |= {tuple(assignments[k]) for k in new}
        self.rows = np.vstack([self.rows, rows[new]])
        self.in_use = np.append(self.in_use, np.ones(len(new), dtype=bool))
        self.needed = np.append(self.needed, np.zeros(len(new), dtype=bool))
        return len(new), max(0.0, float((rows @ x).max()) - 1)

    def rest_slack_rows(self, x: NDArray[np.float64], y: NDArray[np.float64], least: float) -> None:
        """Let rows rest that are FAR_FROM_BINDING at x with a multiplier below `least`.

        Rows at rest that x violates return.

        Args:
            x: (size,), gamma at l = (K+1)/2..K.
            y: (assignments,) multipliers.
            least: the multiplier with which a row stays.
        """
        left_sides = self.rows @ x
        returned = (left_sides > 1 + VIOLATION) & ~self.in_use
        self.returned_rows = int(returned.sum())
        self.needed |= returned
        self.in_use &= (left_sides >= 1 - FAR_FROM_BINDING) | (y >= least)
        self.in_use |= self.needed


class Violations:
    """The violated assignments of a search's points, which it adds to the rows known.

    Args:
        problem: what gamma must keep.
        known: the rows known, which it adds to.
        monotone: only gamma non-decreasing in |l - K/2| are looked at: three corners suffice.
    """

    def __init__(self, problem: PrivacyProblem, known: Cuts, *, monotone: bool) -> None:
        self.problem, self.known, self.monotone = problem, known, monotone
        self._seen: tuple[NDArray[np.float64], CornerSearchResult] | None = None

    def add(self, x: NDArray[np.float64], plane_excess: float, gap: float) -> AddedRows:
        """Add what is violated at x.

        Args:
            x: (size,), gamma at l = (K+1)/2..K.
            plane_excess: the searches over all corners, which take longer, are run if x exceeds 1
                by at most this on planes.
            gap: the relative one that suffices; what is overlooked is small beside it.
        """
        problem = self.problem
        limit = problem.allowance * (1 + VIOLATION)
        g = problem.odd_vector(mirror_gamma(x))
        if self.monotone:
            new, excess = self.known.add(find_three_corner_violations(problem, g, limit), x)
            return AddedRows(new + self.known.returned_rows, excess, True)
        new, excess = self.add_on_planes(x, plane_excess)
        if new and excess > plane_excess:
            return AddedRows(new, excess, False)
        if problem.Delta == 0:  # the first order is all there is
            added, largest = self.known.add(find_first_order_violations(problem, g, limit), x)
            return AddedRows(new + added, max(excess, largest), True)
        # What exceeds the allowance and is overlooked is taken off the utility in the end.
        limit = problem.allowance * (1 + min(LARGE_VIOLATION, OVERLOOKED * gap))
        violated, search = find_exact_violations(problem, g, limit)
        if search.all_seen:
            self._seen = x, search
        if search.worst.upper > limit:
            excess = max(excess, search.worst.upper / problem.allowance - 1)
        return AddedRows(new + self.known.add(violated, x)[0], excess, search.all_seen)

    def add_on_planes(self, x: NDArray[np.float64], plane_excess: float) -> tuple[int, float]:
        """Add the pure moves that are violated at x; those at H's mirror image come second.

        Returns:
            How many rows are new or have returned, and by how much x exceeds 1 at any.
        """
        problem = self.problem
        g = problem.odd_vector(mirror_gamma(x))
        limit = problem.allowance * (1 + VIOLATION)
        new, excess = self.known.returned_rows, 0.0
        for mirror in (False, True):
            violated = pure_move_assignments(problem, g, CUTS_ON_PLANES, limit, mirrored=mirror)
            added, largest = self.known.add(violated, x)
            new, excess = new + added, max(excess, largest)
            if excess > max(plane_excess, FAR_OFF):
                break
        return new, excess

    def scale_down(
        self, x: NDArray[np.float64], excess: float
    ) -> tuple[NDArray[np.float64], tuple[WorstCase, bool] | None]:
        """Return x / (1 + excess), and what the last look at all corners proves if it was at x."""
        factor = 1 / (1 + excess)
        proof = None
        if self._seen is not None and self._seen[0] is x:
            search = self._seen[1]
            proof = search.worst.scale(self.problem, factor), search.exact
        return x * factor, proof


def edge_assignments(K: int) -> list[NDArray[np.int64]]:
    """Return assignments of some teachers at H, all others at one end.

    They are almost every row that matters at the optimum. Among many teachers G is nearly a
    function of the mean of the p_i, and what binds is the most that the mean can move: the frontier
    (e^epsilon p, 1 - e^-epsilon (1 - p)), which these reach.
    """
    zeros = [assignment_counts(D_zero=K - i, up=i) for i in range(K + 1)]
    return zeros + [assignment_counts(one_below=K - i, up=i) for i in range(K)]


def find_three_corner_violations(
    problem: PrivacyProblem, g: NDArray[np.float64], limit: float, keep: int = CUTS_PER_ROUND
) -> list[NDArray[np.int64]]:
    """Return the largest peaks of f over assignments to three corners.

    They are local maxima over the grid of assignments: neighbours make nearly parallel cuts.

    Args:
        problem: the privacy problem.
        g: (K + 1,), as `PrivacyProblem.odd_vector` returns it.
        limit: what f must exceed.
        keep: most peaks.
    """
    i, b = find_peaks(three_corner_costs(problem, g), limit, keep)
    return [
        assignment_counts(D_zero=problem.K - h - k, up=h, one_below=k)
        for h, k in zip(i, b, strict=True)
    ]


def find_first_order_violations(
    problem: PrivacyProblem, g: NDArray[np.float64], limit: float
) -> list[NDArray[np.int64]]:
    """Return assignments, far apart, whose f exceeds `limit` to first order in Delta."""
    return _select_far_apart(first_order_assignments(problem, g, CUTS_PER_SLICE, limit))


def find_exact_violations(
    problem: PrivacyProblem, g: NDArray[np.float64], limit: float
) -> tuple[list[NDArray[np.int64]], CornerSearchResult]:
    """Return assignments to all corners that exceed `limit`, far apart, and the search's result.

    Few teachers at H and its mirror image leave gamma's jumps as they are: those assignments are
    looked at first, and alone if they exceed `limit`.
    """
    search = search_corners(problem, g, limit, effort=EFFORT, first=FIRST_TEACHERS_AT_H)
    return _select_far_apart([counts for _, counts in search.exceeding]), search


def _select_far_apart(assignments: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return the first CUTS_PER_ROUND assignments, none close to one before it."""
    chosen = np.zeros((0, 8), dtype=np.int64)
    for counts in assignments[:CANDIDATES]:
        if len(chosen) == CUTS_PER_ROUND:
            break
        if np.all(np.abs(chosen - counts).sum(axis=1) > LEAST_DISTANCE):
            chosen = np.vstack([chosen, counts])
    return list(chosen)
