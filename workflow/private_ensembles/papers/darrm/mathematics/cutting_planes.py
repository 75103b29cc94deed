"""Cutting planes from the inside: the optimal gamma up to a certified gap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from private_ensembles.papers.darrm.mathematics.linear_program import (
    Gurobi,
    Highs,
    Infeasible,
    LinearProgram,
    dual_bound,
)
from private_ensembles.papers.darrm.mathematics.objective import LinearObjective, Objective
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.papers.darrm.mathematics.violations import VIOLATION, Cuts, Violations
from private_ensembles.papers.darrm.mathematics.worst_case import WorstCase

# The search stops at this relative gap between the best gamma and the upper bound. With many
# teachers, whose rounds take seconds, it stops at GAP, or at less if nearly every label is right,
# down to LEAST_GAP.
FINE_GAP, GAP, LEAST_GAP = 2e-9, 5e-7, 1e-8
MANY_TEACHERS = 201
# A program is solved to the first, relative to the utility, or with many teachers to the second,
# relative to the gap that suffices. The finer it is, the nearer gamma comes to its optimum where
# the utility hardly weighs it.
FINE_TOLERANCE, TOLERANCE = 2e-12, 0.1
# What the search has by then is certified with its gap.
MAX_ROUNDS = 100
# If a larger share of all l weighs next to nothing in the utility, their gamma is worth raising.
OPEN_SHARE = 0.02
FILL_ROUNDS = 24
# The largest sum(gamma) is found up to this relative tolerance.
FILL_TOLERANCE = 1e-9
# Many teachers forgo this share of what sum(gamma) could gain.
BACK_OFF = 0.01


class CuttingPlaneSearch:
    """One cutting-plane search over symmetric gamma, all of them or the monotone ones.

    A round solves the program over the rows known so far, from its inside, and adds the assignments
    that are violated there. Its multipliers bound the utility from above. The point itself, scaled
    down until nothing is violated, bounds it from below.

    The program's variables are gamma at l = (K+1)/2..K and, for a concave objective, its value u,
    bounded by tangents.

    Args:
        problem: what gamma must keep.
        objective: what is maximised.
        solver: see `linear_program`.
        known: rows found so far, which the search adds to.
        monotone: only gamma non-decreasing in |l - K/2|, for which three corners suffice.

    Attributes:
        x: the best gamma at l = (K+1)/2..K.
        upper_bound: no private gamma has a larger utility, in exact arithmetic (docs/method.md,
            section 6).
        proof: x's worst case over all corners, if a look at them proved it, and whether it is
            exact.
        rounds: how many programs were solved.
    """

    def __init__(
        self,
        problem: PrivacyProblem,
        objective: Objective,
        solver: Highs | Gurobi,
        known: Cuts,
        *,
        monotone: bool,
    ) -> None:
        self.problem, self.objective, self.monotone = problem, objective, monotone
        self.solver, self.known = solver, known
        self.concave = not isinstance(objective, LinearObjective)
        self.tangents: list[tuple[NDArray[np.float64], float]] = []  # gradient, value at x = 0
        self.bound = self.upper_bound = objective.total + objective.rounding
        self.rounds, self.value = 0, 0.0
        self.x = np.ones(objective.size)
        self.proof: tuple[WorstCase, bool] | None = None
        self.violations = Violations(problem, known, monotone=monotone)

    def run(self, feasible_x: NDArray[np.float64] | None = None) -> None:
        """Maximise the utility, then sum(gamma).

        Args:
            feasible_x: the best x so far; None means 0, after trying gamma = 1.
        """
        if feasible_x is None:
            if self.violations.add(self.x, 0.0, self._gap())[1] == 0:
                return
            feasible_x = np.zeros(self.objective.size)
        self.x, self.value = feasible_x, self.objective.value(feasible_x)
        self._maximise()
        if self.x is not feasible_x:
            self._raise_sum()
        if not self.monotone:  # the monotone program bounds the utility of monotone gamma only
            self.upper_bound = self.bound

    def _maximise(self) -> None:
        """Find the best x by rounds of solving and of adding what is violated."""
        for _ in range(MAX_ROUNDS):
            try:
                x = self._improve()
            except Infeasible:  # rounding has the last word: x so far is certified with its gap
                return
            new_rows, excess, all_seen = self.violations.add(x, self._gap(), self._gap())
            if all_seen:
                self._keep_if_better(x, excess)
            # A concave objective has got a new tangent, too.
            if self._is_settled() or not (new_rows or self.concave):
                break
        if not all_seen:  # the last x may still be the best one
            _, excess, _ = self.violations.add(x, np.inf, self._gap())
            self._keep_if_better(x, excess)

    def _gap(self) -> float:
        """Return the relative gap that suffices."""
        return self._sufficient_gap() / self.bound

    def _is_settled(self) -> bool:
        """Return whether the gap suffices."""
        return self.bound - self.value <= self._sufficient_gap()

    def _sufficient_gap(self) -> float:
        """Return the gap that suffices: less if nearly every label is right."""
        if self.problem.K <= MANY_TEACHERS:
            return FINE_GAP * self.bound
        lacking = self.objective.total - self.value
        return max(GAP * min(self.bound, 10 * lacking), LEAST_GAP * self.bound)

    def _raise_sum(self) -> None:
        """Raise sum(gamma) where the utility leaves it open: at l that together weigh nothing.

        Many teachers stay a little way (BACK_OFF) from the largest sum, where rows that are slack
        at the x so far are slack again: few are violated, and bounds far below the allowance make
        the look at all corners short.
        """
        sufficient_gap, start = self._sufficient_gap(), self.x
        back_off = BACK_OFF if self.problem.K > MANY_TEACHERS else 0.0
        weight = np.abs(self.objective.gradient(start))
        order = np.argsort(weight, kind="stable")
        raised = order[np.cumsum(weight[order]) < sufficient_gap / 2]
        if len(raised) <= OPEN_SHARE * len(start):
            return
        for _ in range(FILL_ROUNDS):
            x = start.copy()
            try:
                x[raised] += (1 - back_off) * (self._largest_sum(start, raised) - start[raised])
            except Infeasible:
                return
            if self.monotone:
                x = np.maximum.accumulate(x)
            self.known.rest_slack_rows(x, np.zeros(len(self.known.rows)), 1.0)
            # All corners are looked at only if the planes leave x nearly as it is.
            new_rows, excess, all_seen = self.violations.add(
                x, sufficient_gap / 10 / self.value, self._gap()
            )
            x, proof = self.violations.scale_down(x, excess)
            if (
                all_seen
                and self.objective.value(x) >= self.value - sufficient_gap
                and x.sum() > start.sum()
            ):
                self.x, self.proof = x, proof
                return
            if not new_rows:
                return

    def _largest_sum(
        self, start: NDArray[np.float64], raised: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the x at `raised` of the largest sum that the rows in use allow."""
        program, _ = self._program()
        # Half of what `_raise_sum` takes a point for private with: a row that start keeps from any
        # move, by rounding, would hold what it hardly weighs.
        slack = self._sufficient_gap() / 20 / self.value
        columns, used = program.rows[:, raised], program.rows[:, : len(start)] @ start
        right = np.maximum(program.right - used, slack) + columns @ start[raised]
        size = np.abs(columns).max(axis=1)
        touched = size > VIOLATION  # the others can hardly be violated by what is raised
        ones, scale = np.ones(len(raised)), size[touched]
        program = LinearProgram(
            ones, ones, columns[touched] / scale[:, None], right[touched] / scale
        )
        self.rounds += 1
        return np.clip(self.solver.solve(program, FILL_TOLERANCE)[0], 0.0, 1.0)

    def _keep_if_better(self, x: NDArray[np.float64], excess: float) -> None:
        """Scale x down until it is private, and keep it if its utility is the largest so far."""
        x, proof = self.violations.scale_down(x, excess)
        value = self.objective.value(x)
        if value > self.value:
            self.x, self.value, self.proof = x, value, proof

    def _improve(self) -> NDArray[np.float64]:
        """Return a central x of the program over the rows in use, which may lower the bound."""
        program, outwards = self._program()
        tolerance = FINE_TOLERANCE
        if self.problem.K > MANY_TEACHERS:
            tolerance = TOLERANCE * self._sufficient_gap() / self.bound
        variables, multipliers = self.solver.solve(program, tolerance)
        x = np.clip(variables[: self.objective.size], 0.0, 1.0)
        if self.monotone:
            x = np.maximum.accumulate(x)
        in_use = self.known.in_use
        y = np.zeros(len(in_use))
        y[in_use] = multipliers[: in_use.sum()]
        self.known.rest_slack_rows(x, y, tolerance * float(np.abs(program.cost).sum()))
        self.rounds += 1
        if self.concave:
            self._add_tangent(x)
        bound = dual_bound(replace(program, right=program.right + outwards), multipliers)
        self.bound = min(self.bound, bound + self.objective.rounding)
        return x

    def _program(self) -> tuple[LinearProgram, NDArray[np.float64]]:
        """Return the program, the rows in use first, and by what rows may exceed their right side.

        The latter is what rounding may make of a private gamma, the row's division and sums
        included.
        """
        problem, n = self.problem, self.objective.size
        rows_in_use = self.known.rows[self.known.in_use]
        excess = (problem.relaxed_allowance + problem.rounding_bound()) / problem.allowance - 1
        rows, right = rows_in_use, np.ones(len(rows_in_use))
        outwards = np.full(len(rows_in_use), excess)
        if self.monotone:
            rows = np.vstack([rows, np.eye(n - 1, n) - np.eye(n - 1, n, 1)])
            right, outwards = (np.append(side, np.zeros(n - 1)) for side in (right, outwards))
        if not self.concave:
            return LinearProgram(self.objective.coefficients, np.ones(n), rows, right), outwards
        # The utility u is a variable, which is maximised. A tangent: u - gradient @ x <= height.
        cost, upper = np.append(np.zeros(n), 1.0), np.append(np.ones(n), self.objective.total)
        rows = np.column_stack([rows, np.zeros(len(rows))])
        for gradient, height in self.tangents:
            rows = np.vstack([rows, np.append(-gradient, 1.0)])
            right = np.append(right, height)
            outwards = np.append(outwards, 2 * self.objective.rounding)
        return LinearProgram(cost, upper, rows, right), outwards

    def _add_tangent(self, x: NDArray[np.float64]) -> None:
        """Add the objective's tangent at x, which bounds it from above."""
        gradient = self.objective.gradient(x)
        self.tangents.append((gradient, self.objective.value(x) - float(gradient @ x)))
