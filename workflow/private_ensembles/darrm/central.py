"""Cutting planes from the inside, for many teachers: a certified gap instead of a vertex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm.gamma import mirrored
from private_ensembles.darrm.interior import centre
from private_ensembles.darrm.linear_program import dual_bound
from private_ensembles.darrm.planes import pure_move_assignments
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
FIRST_TOLERANCE, SMOOTH_TOLERANCE, LAST_TOLERANCE = 1e-3, 1e-6, 1e-8
MAX_ROUNDS = 60  # what is found by then is certified with its gap
CUTS_PER_ROUND = 600
FAR = 0.05
RETURNS = 5
SMOOTHNESS = 0.05  # of the tolerance, what a gamma as rough as the last one may lose by it
LEAST_ROUGHNESS = 1e-4
ROUGH_EXCESS = 1e-3
FAR_OFF = 0.05  # an excess on the first plane with which the second one can wait
OPEN = 0.02  # share of all l that may weigh next to nothing before their gamma is worth raising
SECOND_ROUNDS = 8


class CentralSearch:
    """The optimal gamma of many teachers under a linear objective, up to a relative GAP.

    A round solves the program over the rows known so far to a tolerance, from its inside
    (`interior.centre`), and adds the assignments that are violated there. Its multipliers bound the
    utility from above; the point itself, scaled down until nothing is violated, bounds it from
    below. The tolerance falls as the violations do.

    A rough gamma violates ever new rows where the utility hardly weighs it. So a general gamma pays
    a little for its second differences, in proportion to the tolerance: the bound is none the worse
    for it, since multipliers from whatever program prove one.

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

    @property
    def assignments(self) -> set[tuple[int, ...]]:
        """Teachers per corner of the rows found so far."""
        return self.names

    def run(self, inside: NDArray[np.float64] | None = None) -> None:
        """Maximise the utility, then sum(gamma).

        inside : a feasible x, the best one so far; default 0, after trying gamma = 1.
        """
        if inside is None:
            self.x = np.ones(self.objective.size)
            if self._separate(self.x, FIRST_TOLERANCE)[1] == 0:
                return
            inside = np.zeros(self.objective.size)
        self.smooth = inside
        self.x, self.value = inside, self.objective.value(inside)
        self._maximise()
        if self.x is not inside and self._open():
            self._fill()
        if not self.monotone:  # the monotone program bounds the utility of monotone gamma only
            self.upper_bound = self.bound

    def _maximise(self) -> None:
        tolerance = FIRST_TOLERANCE if self.monotone else SMOOTH_TOLERANCE
        for _ in range(MAX_ROUNDS):
            x, y = self._solve(self.objective.coefficients, tolerance)
            known = self.bound
            self.bound = min(self.bound, self._dual_bound(y) + self.objective.rounding)
            last = tolerance <= LAST_TOLERANCE
            short = (self.bound - self.objective.value(x)) / self._enough()
            hopeful = last or short <= 1
            if self.monotone or hopeful:
                new, excess, seen = self._separate(x, 2 * tolerance)
                settled = seen and (not new or excess <= 2 * tolerance)
            else:  # were it private, the gap would still be too large: a rough look suffices
                new, excess = self._separate_on_planes(x, ROUGH_EXCESS)
                stalls = known - self.bound <= self._enough()
                seen, settled = False, not new or stalls or excess <= ROUGH_EXCESS
            if seen:
                self._keep(x / (1 + excess))
                if self.bound - self.value <= self._enough() or (last and not new):
                    return
            if settled:
                self.smooth = x
                step = 10 if hopeful else min(10, 3 * short)
                tolerance = max(tolerance / step, LAST_TOLERANCE)
        _, excess, _ = self._separate(x, np.inf)  # the last x may still be the best one
        self._keep(x / (1 + excess))

    def _enough(self) -> float:
        """The gap that suffices: less where nearly every label is right, for errors count then."""
        lacking = self.objective.total - self.value
        return max(GAP * min(self.bound, 10 * lacking), LEAST_GAP * self.bound)

    def _open(self) -> bool:
        """Whether many l together weigh next to nothing in the utility."""
        cost = np.sort(self.objective.coefficients)
        return bool(np.mean(np.cumsum(cost) < self._enough()) > OPEN)

    def _fill(self) -> None:
        """Raise sum(gamma) as far as it costs next to nothing, where the utility leaves it open."""
        room = self._enough()
        floor = self.value - room / 2
        for _ in range(SECOND_ROUNDS):
            x, _ = self._solve(np.ones(self.objective.size), FIRST_TOLERANCE, floor)
            new, excess, seen = self._separate(x, FIRST_TOLERANCE)
            x = x / (1 + excess)
            if seen and self.objective.value(x) >= floor - room / 10 and x.sum() > self.x.sum():
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
            found = centre(cost, rows, tolerance, right, self._curvature(cost, tolerance))
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

    def _curvature(
        self, cost: NDArray[np.float64], tolerance: float
    ) -> NDArray[np.float64] | float:
        """What `centre` takes off for second differences: SMOOTHNESS at the last good gamma."""
        if self.monotone:
            return 0.0
        n = self.objective.size
        bend = np.diff(np.eye(n), 2, axis=0)
        rough = float(np.sum((bend @ self.smooth) ** 2))
        weight = SMOOTHNESS * tolerance * float(cost @ self.smooth) / max(rough, LEAST_ROUGHNESS)
        return weight * (bend.T @ bend)

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

    def _separate(self, x: NDArray[np.float64], enough: float) -> tuple[int, float, bool]:
        """Add what is violated at x: (how many rows are new, by how much x exceeds 1, all seen).

        The searches over all corners, which take longer, are asked where x exceeds 1 by `enough` at
        most on planes. All seen: they were asked, and `x / (1 + excess)` is private, or nearly.
        """
        problem = self.problem
        limit = problem.allowance * (1 + VIOLATION)
        g = problem.odd_vector(mirrored(x))
        if self.monotone:
            new, excess = self._add(three_corners(problem, g, limit), x)
            return new, excess, True
        new, excess = self._separate_on_planes(x, enough)
        if new and excess > enough:
            return new, excess, False
        more, largest = self._add(first_order_corners(problem, g, limit), x)
        new, excess = new + more, max(excess, largest)
        if excess <= LARGE_VIOLATION and problem.Delta > 0:
            limit = problem.allowance * (1 + LARGE_VIOLATION)
            found, worst = exact_corners(problem, g, limit)
            new += self._add(found, x)[0]
            if found:
                excess = max(excess, worst / problem.allowance - 1)
        return new, excess, True

    def _separate_on_planes(self, x: NDArray[np.float64], enough: float) -> tuple[int, float]:
        """Add the pure moves that are violated at x; those at H's mirror image come second."""
        problem = self.problem
        g = problem.odd_vector(mirrored(x))
        limit = problem.allowance * (1 + VIOLATION)
        new, excess = 0, 0.0
        for mirror in (False, True):
            found = pure_move_assignments(problem, g, CUTS_PER_ROUND, limit, mirrored=mirror)
            more, largest = self._add(found, x)
            new, excess = new + more, max(excess, largest)
            if excess > max(enough, FAR_OFF):
                break
        return new, excess

    def _add(self, found: list[NDArray[np.int64]], x: NDArray[np.float64]) -> tuple[int, float]:
        """Take the assignments up as rows; return how many are new and by how much x exceeds 1."""
        if not found:
            return 0, 0.0
        rows = self._rows(found)
        new = [k for k, counts in enumerate(found) if tuple(counts) not in self.names]
        self.names |= {tuple(found[k]) for k in new}
        self.rows = np.vstack([self.rows, rows[new]])
        self.working = np.concatenate([self.working, np.ones(len(new), dtype=bool)])
        return len(new), max(0.0, float((rows @ x).max()) - 1)

    def _rows(self, assignments: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        if not assignments:
            return np.zeros((0, self.objective.size))
        return np.array([self.problem.row(a) for a in assignments]) / self.problem.allowance
