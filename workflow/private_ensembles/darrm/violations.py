"""What a gamma violates: rows for a search to add, and what a look at all corners proves of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.cuts import VIOLATION, Cuts
from private_ensembles.darrm.gamma import mirrored
from private_ensembles.darrm.planes import pure_move_assignments
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.separation import (
    exact_corners,
    first_order_corners,
    three_corners,
)
from private_ensembles.darrm.worst_case import Look, WorstCase

CUTS_PER_ROUND = 600
LARGE_VIOLATION = 1e-7
OVERLOOKED = 0.2  # share of the gap that suffices, which a violation may take off the utility
FAR_OFF = 0.05  # an excess on the first plane with which the second one can wait


class Violations:
    """The violated assignments of a search's points, which it adds to the rows known.

    monotone : only gamma non-decreasing in |l - K/2| are asked about: three corners suffice.
    """

    def __init__(self, problem: PrivacyProblem, known: Cuts, *, monotone: bool) -> None:
        self.problem, self.known, self.monotone = problem, known, monotone
        self._seen: tuple[NDArray[np.float64], Look] | None = None

    def add(self, x: NDArray[np.float64], enough: float, gap: float) -> tuple[int, float, bool]:
        """Add what is violated at x: (how many rows are new, by how much x exceeds 1, all seen).

        The searches over all corners, which take longer, are asked if x exceeds 1 by `enough` at
        most on planes. All seen: they were asked, and `x / (1 + excess)` is private, or nearly.
        gap : the relative one that suffices; what is overlooked is small beside it.
        """
        problem = self.problem
        limit = problem.allowance * (1 + VIOLATION)
        g = problem.odd_vector(mirrored(x))
        if self.monotone:
            new, excess = self.known.add(three_corners(problem, g, limit), x)
            return new + self.known.returned, excess, True
        new, excess = self.add_on_planes(x, enough)
        if new and excess > enough:
            return new, excess, False
        if problem.Delta == 0:  # the first order is all there is
            more, largest = self.known.add(first_order_corners(problem, g, limit), x)
            return new + more, max(excess, largest), True
        # What exceeds the allowance and is not found is taken off the utility in the end.
        limit = problem.allowance * (1 + min(LARGE_VIOLATION, OVERLOOKED * gap))
        violated, look = exact_corners(problem, g, limit)
        if look.all_seen:
            self._seen = x, look
        if look.worst.upper > limit:
            excess = max(excess, look.worst.upper / problem.allowance - 1)
        return new + self.known.add(violated, x)[0], excess, look.all_seen

    def add_on_planes(self, x: NDArray[np.float64], enough: float) -> tuple[int, float]:
        """Add the pure moves that are violated at x; those at H's mirror image come second."""
        problem = self.problem
        g = problem.odd_vector(mirrored(x))
        limit = problem.allowance * (1 + VIOLATION)
        new, excess = self.known.returned, 0.0
        for mirror in (False, True):
            violated = pure_move_assignments(problem, g, CUTS_PER_ROUND, limit, mirrored=mirror)
            more, largest = self.known.add(violated, x)
            new, excess = new + more, max(excess, largest)
            if excess > max(enough, FAR_OFF):
                break
        return new, excess

    def scaled_down(
        self, x: NDArray[np.float64], excess: float
    ) -> tuple[NDArray[np.float64], tuple[WorstCase, bool] | None]:
        """Return x / (1 + excess), and what the last look at all corners proves if it was at x."""
        factor = 1 / (1 + excess)
        proof = None
        if self._seen is not None and self._seen[0] is x:
            look = self._seen[1]
            proof = look.worst.scaled(self.problem, factor), look.exact
        return x * factor, proof
