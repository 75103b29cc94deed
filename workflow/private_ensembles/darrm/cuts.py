"""The rows of a growing program: which of them the next solution is asked to respect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.separation import edge_assignments

VIOLATION = 1e-9  # of a row, relative to the allowance; the certificate's scaling pays for it
FIRST = 4  # one in this many of the edges is in use at the start
FAR = 0.05  # from binding, relative, with which a row that has no price rests


class Cuts:
    """Rows of f over gamma at l = (K+1)/2..K, each at most 1, of the assignments known so far.

    rows : (assignments, size); in_use : which of them the program holds, the others rest.
    returned : how many rows at rest the last x violated. These stay in use from then on: a row that
    is left out twice comes back twice.
    """

    def __init__(self, problem: PrivacyProblem) -> None:
        self.problem = problem
        edges = edge_assignments(problem.K)
        self.names = {tuple(counts) for counts in edges}
        self.rows = np.array([problem.row(counts) for counts in edges]) / problem.allowance
        self.in_use = np.arange(len(self.rows)) % FIRST == 0
        self.needed = np.zeros(len(self.rows), dtype=bool)
        self.returned = 0

    def add(
        self, assignments: list[NDArray[np.int64]], x: NDArray[np.float64]
    ) -> tuple[int, float]:
        """Take assignments up; return how many are new and by how much x exceeds 1 at any."""
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

    def sort_out(self, x: NDArray[np.float64], y: NDArray[np.float64], least: float) -> None:
        """Let rows rest that are FAR from binding at x with a multiplier below `least`.

        y : (assignments,) multipliers. Rows at rest that x violates return.
        """
        used = self.rows @ x
        back = (used > 1 + VIOLATION) & ~self.in_use
        self.returned = int(back.sum())
        self.needed |= back
        self.in_use &= (used >= 1 - FAR) | (y >= least)
        self.in_use |= self.needed
