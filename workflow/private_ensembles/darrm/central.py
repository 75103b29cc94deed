"""Cutting planes from the inside, for many teachers: a certified gap instead of a vertex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.gamma import mirrored
from private_ensembles.darrm.interior import centre
from private_ensembles.darrm.linear_program import dual_bound
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.search import LARGE_VIOLATION, VIOLATION, LinearObjective
from private_ensembles.darrm.separation import (
    edge_assignments,
    edge_rows,
    exact_corners,
    first_order_corners,
    three_corners,
)

GAP = 5e-7  # between the best gamma and the upper bound, relative: enough to stop
LEAST_GAP = 5e-9
FIRST_TOLERANCE, LAST_TOLERANCE = 1e-3, 1e-8
MAX_ROUNDS = 60  # what is found by then is certified with its gap
FAR = 0.3
RETURNS = 5
SECOND_ROUNDS = 15


class CentralSearch:
    """The optimal gamma of many teachers under a linear objective, up to a relative GAP.

    A round solves the program over the rows known so far to a tolerance, from its inside
    (`interior.centre`), and adds the assignments that are violated there. Its multipliers bound the
    utility from above; the point itself, scaled down until nothing is violated, bounds it from
    below. The tolerance falls as the violations do.

    monotone : only gamma non-decreasing in |l - K/2|, for which three corners suffice.

    x : the best gamma at l = (K+1)/2..K; upper_bound : as in `search.Search`.
    """

    solver = "interior"
    version = np.__version__

    def __init__(
        self, problem: PrivacyProblem, objective: LinearObjective, *, monotone: bool
    ) -> None:
        self.problem, self.objective, self.monotone = problem, objective, monotone
        self.names = {tuple(counts) for counts in edge_assignments(problem.K)}
        self.rows = edge_rows(problem) / problem.allowance
        self.working = np.zeros(len(self.rows), dtype=bool)
        self.working[::4] = True
        self.bound = self.upper_bound = objective.total + objective.rounding
        self.rounds, self.value = 0, 0.0

    @property
    def cuts(self) -> int:
        return len(self.rows)

    def run(self, inside: NDArray[np.float64] | None = None) -> None:
        """Maximise the utility, then sum(gamma).

        inside : a feasible x, the best one so far; default 0, after trying gamma = 1.
        """
        if inside is None:
            self.x = np.ones(self.objective.size)
            if self._separate(self.x)[1] == 0:
                return
            inside = np.zeros(self.objective.size)
        self.x, self.value = inside, self.objective.value(inside)
        self._maximise()
        if self.x is not inside:
            self._fill()
        if not self.monotone:  # the monotone program bounds the utility of monotone gamma only
            self.upper_bound = self.bound

    def _maximise(self) -> None:
        tolerance = FIRST_TOLERANCE
        for _ in range(MAX_ROUNDS):
            x, y = self._solve(self.objective.coefficients, tolerance)
            self.bound = min(self.bound, self._dual_bound(y) + self.objective.rounding)
            new, excess = self._separate(x)
            self._keep(x / (1 + excess))
            if self.bound - self.value <= self._enough():
                return
            if excess <= 2 * tolerance:
                if tolerance <= LAST_TOLERANCE and not new:
                    return
                tolerance = max(tolerance / 10, LAST_TOLERANCE)

    def _enough(self) -> float:
        """The gap that suffices: less where nearly every label is right, for errors count then."""
        lacking = self.objective.total - self.value
        return max(GAP * min(self.bound, 10 * lacking), LEAST_GAP * self.bound)

    def _fill(self) -> None:
        """Raise sum(gamma) as far as it costs next to nothing, where the utility leaves it open."""
        room = self._enough()
        floor = self.value - room / 2
        for _ in range(SECOND_ROUNDS):
            x, _ = self._solve(np.ones(self.objective.size), FIRST_TOLERANCE, floor)
            new, excess = self._separate(x)
            x = x / (1 + excess)
            if self.objective.value(x) >= floor - room / 10 and x.sum() > self.x.sum():
                self.x = x
            if not new:
                break

    def _keep(self, x: NDArray[np.float64]) -> None:
        value = self.objective.value(x)
        if value > self.value:
            self.x, self.value = x, value

    def _solve(
        self, cost: NDArray[np.float64], tolerance: float, floor: float | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A central x, no known row violated, and multipliers of all known rows.

        floor : the least utility, None for whatever it is.
        """
        cost = self._in_variables(cost)
        extra, room = np.zeros((0, len(cost))), np.zeros(0)
        if floor is not None:
            extra = -self._in_variables(self.objective.coefficients)[None, :] / floor
            room = np.array([-1.0])
        if self.monotone:  # the last gamma, the sum of all increments, is at most 1
            extra, room = np.vstack([extra, np.ones(len(cost))]), np.append(room, 1.0)
        for _ in range(RETURNS):
            chosen = np.nonzero(self.working)[0]
            rows = np.vstack([extra, self._in_variables(self.rows[chosen])])
            right = np.append(room, np.ones(len(chosen)))
            found = centre(cost, rows, tolerance, right)
            x = np.clip(np.cumsum(found.x) if self.monotone else found.x, 0.0, 1.0)
            back = (self.rows @ x > 1 + VIOLATION) & ~self.working
            if not back.any():
                break
            self.working |= back
        y = np.zeros(len(self.rows))
        y[chosen] = found.multipliers[len(extra) :]
        self.working[(self.rows @ x < 1 - FAR) & (y < tolerance * cost.sum())] = False
        self.rounds += 1
        return x, y

    def _in_variables(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows over gamma as rows over the variables: gamma, or its increments."""
        return np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1] if self.monotone else rows

    def _dual_bound(self, y: NDArray[np.float64]) -> float:
        p, n = self.problem, self.objective.size
        outwards = (p.relaxed_allowance + p.rounding_bound()) / p.allowance
        cost, rows = self.objective.coefficients, self.rows
        if not self.monotone:
            return dual_bound(cost, np.ones(n), rows, np.full(len(y), outwards), y)
        # Increments, the sum of which is at most 1: the largest of what they are left to gain.
        return float(y.sum() + max(0.0, self._in_variables(cost - y @ rows).max()))

    def _separate(self, x: NDArray[np.float64]) -> tuple[int, float]:
        """Add what is violated at x; return how many rows are new, and by how much x exceeds 1."""
        problem = self.problem
        limit = problem.allowance * (1 + VIOLATION)
        g = problem.odd_vector(mirrored(x))
        found = three_corners(problem, g, limit)
        if not self.monotone:
            found += first_order_corners(problem, g, limit)
        rows = self._rows(found)
        excess = max(0.0, float((rows @ x).max()) - 1) if found else 0.0
        if excess <= LARGE_VIOLATION and problem.Delta > 0 and not self.monotone:
            limit = problem.allowance * (1 + LARGE_VIOLATION)
            found, worst = exact_corners(problem, g, limit)
            rows = self._rows(found)
            excess = max(excess, worst / problem.allowance - 1)
        new = [k for k, counts in enumerate(found) if tuple(counts) not in self.names]
        self.names |= {tuple(found[k]) for k in new}
        self.rows = np.vstack([self.rows, rows[new]])
        self.working = np.concatenate([self.working, np.ones(len(new), dtype=bool)])
        return len(new), excess

    def _rows(self, assignments: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        if not assignments:
            return np.zeros((0, self.objective.size))
        return np.array([self.problem.row(a) for a in assignments]) / self.problem.allowance
