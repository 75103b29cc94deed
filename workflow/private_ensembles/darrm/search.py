"""Cutting planes for the optimal gamma: objectives, separation oracles and the search itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.darrm import prior as priors
from private_ensembles.darrm.gamma import mirrored
from private_ensembles.darrm.linear_program import CutProgram, Infeasible
from private_ensembles.darrm.privacy_cost import UNIT_ROUNDOFF, PrivacyProblem
from private_ensembles.darrm.separation import three_corners
from private_ensembles.darrm.series import first_order_assignments
from private_ensembles.darrm.worst_case import (
    EFFORT,
    eight_corner_worst_case,
)

VIOLATION = 1e-9  # relative to the allowance; the certificate's scaling pays for what remains
LARGE_VIOLATION = 1e-7
EXACT_TEACHERS = 101
MANY_TEACHERS = 201  # beyond them the optimum is searched from the inside (`central`)
SECOND_OBJECTIVE = 3e-9  # share of the utility that may be given away for a larger sum(gamma)
CUTS_PER_ROUND = 128
CUTS_PER_SLICE = 32
MAX_ROUNDS = 400


class LinearObjective:
    """sum c_l gamma_l (DaRRM Eq. 201 without the factor -1/2), for x = gamma at l = (K+1)/2..K.

    size : of x; total : the utility of gamma = 1, the largest there is; rounding : bound on how
    much larger the utility of an x may be in exact arithmetic, with exact c_l.
    """

    def __init__(self, coefficients: NDArray) -> None:
        self.coefficients = coefficients
        self.size = len(coefficients)
        # Each c_l is the difference of two probabilities good to 5 K round-offs of their size.
        self.rounding = 16 * (self.size + 1) * UNIT_ROUNDOFF
        self.total = float(coefficients.sum())

    def value(self, x: NDArray) -> float:
        return float(self.coefficients @ x)

    def gradient(self, x: NDArray) -> NDArray:
        return self.coefficients


class AbsoluteObjective:
    """E|sum lead_l| - E|sum lead_l (1 - gamma_l)| over sampled leads: twice the error avoided.

    Eq. 196's true expected error, with its absolute value, is concave in gamma as a utility; if
    the lead never changes sign, it equals `LinearObjective`.
    """

    def __init__(self, leads: NDArray) -> None:
        self.leads = leads
        self.size = leads.shape[1]
        self.total = float(np.abs(leads.sum(axis=1)).mean())
        # Of `value`, and of a tangent's slope and height: sums over the samples, then over l.
        self.rounding = 4 * sum(leads.shape) * UNIT_ROUNDOFF * float(np.abs(leads).mean(0).sum())

    def value(self, x: NDArray) -> float:
        return self.total - float(np.abs(self.leads @ (1 - x)).mean())

    def gradient(self, x: NDArray) -> NDArray:
        return np.sign(self.leads @ (1 - x)) @ self.leads / len(self.leads)


def objective(K: int, prior: priors.Prior) -> LinearObjective | AbsoluteObjective:
    """The objective that a prior gives (see `prior`)."""
    if prior.kind == "absolute-uniform":
        return AbsoluteObjective(priors.sampled_leads(K, prior.low, prior.high))
    return LinearObjective(priors.objective(K, prior))


class Search:
    """One cutting-plane search over symmetric gamma, all of them or the monotone ones.

    The program's variables are gamma at l = (K+1)/2..K (their increments for monotone gamma) and,
    for a concave objective, its value u, bounded by tangents.

    relaxation : only the three corners' rows, so that `upper_bound` is all that it is good for.

    upper_bound : no private gamma has a larger utility, in exact arithmetic (docs/method.md, 6).
    proof : None; what the last look at all corners proved is kept where it was made.
    """

    proof = None

    def __init__(
        self,
        problem: PrivacyProblem,
        objective: LinearObjective | AbsoluteObjective,
        solver: str,
        threads: int,
        *,
        monotone: bool,
        relaxation: bool = False,
    ) -> None:
        self.problem, self.objective, self.monotone = problem, objective, monotone
        self.oracles: list[Callable[[NDArray], list[NDArray]]] = [self._three_corners]
        if not (monotone or relaxation):
            self.oracles.append(self._all_corners)
            if problem.Delta > 0:
                self.oracles.append(self._exact_corners)
        n = objective.size
        self.concave = isinstance(objective, AbsoluteObjective)
        cost, upper = self._row(np.zeros(n), 1.0), np.ones(n)
        if self.concave:
            upper = np.append(upper, objective.total)
        else:
            cost = self._row(objective.gradient(np.ones(n)))
        self.program = CutProgram(cost, upper, solver, threads)
        if monotone:  # the last gamma, the sum of all increments, is at most 1
            self.program.fix(np.append(np.ones(n), [0.0] * self.concave), 1.0)
        # What a row may exceed 1 by at a private gamma, the row's division and sums included.
        rounding = problem.relaxed_allowance + problem.rounding_bound()
        self.outwards = rounding / problem.allowance - 1
        self.rounds = 0
        self.x = np.ones(n)
        self.u = objective.total
        self.upper_bound = objective.total + objective.rounding

    @property
    def solver(self) -> str:
        return self.program.solver

    @property
    def version(self) -> str:
        return self.program.version

    @property
    def cuts(self) -> int:
        return self.program.cuts

    @property
    def assignments(self) -> set[tuple[int, ...]]:
        """Teachers per corner of the rows in the program."""
        return {name for name in self.program.names if name is not None}

    def _row(self, rows: NDArray, u: float = 0.0) -> NDArray:
        """Coefficients of gamma (and of u) as coefficients of the program's variables."""
        if self.monotone:
            rows = np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1]
        if not self.concave:
            return rows
        return np.concatenate([rows, np.full((*rows.shape[:-1], 1), u)], axis=-1)

    def run(self, inside: NDArray | None = None) -> None:
        """Maximise the utility, then sum(gamma) among the optima (lexicographic).

        inside : a feasible x to start from, default 0.
        """
        n = self.objective.size
        inside = self._maximise(np.zeros(n) if inside is None else inside)
        if not self.rounds:
            return  # gamma = 1 is private
        if not self.monotone:  # the monotone program bounds the utility of monotone gamma only
            bound = self.program.upper_bound() + self.objective.rounding
            self.upper_bound = min(self.upper_bound, bound)
        floor = self.objective.value(self.x)
        floor -= SECOND_OBJECTIVE * abs(floor)
        if self.concave:
            self.program.fix(self._row(np.zeros(n), -1.0), -floor)
        else:
            self.program.fix(-self._row(self.objective.gradient(self.x)), -floor)
        self.program.set_cost(self._row(np.ones(n)))
        first = self.x
        try:
            self._solve()
            self._maximise(inside)
        except Infeasible:
            # Cuts found on the way lowered the optimum by more than the share given away.
            self.x = first

    def _maximise(self, inside: NDArray) -> NDArray:
        """Cut until the program's optimum satisfies every oracle; return the best interior point.

        In-out separation (Ben-Ameur and Neto 2007): cutting at the midpoint between the optimum
        and a feasible point takes a fraction of the rounds of cutting at the optimum.
        """
        reached = inside
        for oracle in self.oracles:
            reached = inside  # a point that satisfies one family need not satisfy the next
            for _ in range(MAX_ROUNDS):
                if oracle != self._exact_corners:  # too slow to be asked twice a round
                    middle = 0.5 * (self.x + reached)
                    if self._cut(oracle, middle) + self._tangent(middle):
                        self._solve()
                        continue
                    reached = middle
                if not self._cut(oracle, self.x) + self._tangent(self.x):
                    break
                self._solve()
        return reached

    def _tangent(self, x: NDArray) -> int:
        """Add the objective's tangent at x if it cuts off the program's optimum."""
        if not self.concave:
            return 0
        gradient, value = self.objective.gradient(x), self.objective.value(x)
        slack = value + gradient @ (self.x - x) - self.u
        if slack >= -VIOLATION * self.objective.total:
            return 0
        right, outwards = value - gradient @ x, 2 * self.objective.rounding
        self.program.fix(self._row(-gradient, 1.0), right, outwards=outwards)
        return 1

    def _cut(self, oracle: Callable[[NDArray], list[NDArray]], x: NDArray) -> int:
        """Add the violated rows that the oracle finds at x; return how many are new."""
        assignments = oracle(x)
        if not assignments:
            return 0
        rows = np.array([self.problem.row(counts) for counts in assignments])
        rows /= self.problem.allowance
        violated = np.nonzero(rows @ x > 1 + VIOLATION)[0]
        names = [tuple(assignments[k]) for k in violated]
        if not names:
            return 0
        return self.program.add(names, self._row(rows[violated]), outwards=self.outwards)

    def _solve(self) -> None:
        x = self.program.solve()
        if self.concave:
            x, self.u = x[:-1], float(x[-1])
        self.x = np.clip(np.cumsum(x) if self.monotone else x, 0.0, 1.0)
        self.rounds += 1

    def _three_corners(self, x: NDArray) -> list[NDArray]:
        problem = self.problem
        limit = problem.allowance * (1 + VIOLATION)
        return three_corners(problem, problem.odd_vector(mirrored(x)), limit, CUTS_PER_ROUND)

    def _all_corners(self, x: NDArray) -> list[NDArray]:
        problem = self.problem
        g = problem.odd_vector(mirrored(x))
        limit = problem.allowance * (1 + VIOLATION)
        return first_order_assignments(problem, g, CUTS_PER_SLICE, limit)[:CUTS_PER_ROUND]

    def _exact_corners(self, x: NDArray) -> list[NDArray]:
        """The worst of all assignments, some of which the first-order search cannot see."""
        worst, _ = eight_corner_worst_case(
            self.problem, self.problem.odd_vector(mirrored(x)), effort=EFFORT
        )
        # Among many teachers one exact answer takes a second, and the last digits are left to the
        # certificate's scaling.
        enough = VIOLATION if self.problem.K <= EXACT_TEACHERS else LARGE_VIOLATION
        if worst.upper <= self.problem.allowance * (1 + enough):
            return []
        return [worst.counts]
