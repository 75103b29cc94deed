"""Cutting planes from the inside, for many teachers: a certified gap instead of a vertex.

The programs are solved by an interior point method of our own, `solve_to_interior`. A point in
the middle of what is nearly optimal violates few of the rows that are not in the program yet
(`linear_program`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.papers.darrm.mathematics.linear_program import LinearProgram, dual_bound
from private_ensembles.papers.darrm.mathematics.objective import LinearObjective
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.papers.darrm.mathematics.violations import Cuts, Violations
from private_ensembles.papers.darrm.mathematics.worst_case import WorstCase

# The search stops at this relative gap between the best gamma and the upper bound, or at less if
# nearly every label is right, down to LEAST_GAP.
GAP, LEAST_GAP = 5e-7, 5e-9
FIRST_TOLERANCE, SMOOTH_TOLERANCE, LAST_TOLERANCE = 1e-3, 1e-6, 1e-8
# What the search has by then is certified with its gap.
MAX_ROUNDS = 60
# A gamma as rough as the last one may lose this share of the level by its roughness.
SMOOTHNESS = 0.05
LEAST_ROUGHNESS = 1e-4
# A look at all corners is worth its time if x exceeds 1 by at most this on planes.
ROUGH_EXCESS = 1e-3
# The level and the tolerance end at these multiples of the gap that suffices.
SMOOTH_ENOUGH, FINE = 10, 0.2
# A look at all corners must be able to close this share of the gap.
WORTH = 0.1
# If a larger share of all l weighs next to nothing in the utility, their gamma is worth raising.
OPEN_SHARE = 0.02
SECOND_ROUNDS = 10
# The search forgoes this share of what sum(gamma) could gain.
BACK_OFF = 0.01

# `solve_to_interior` uses what follows.
MOST_STEPS = 60
TO_THE_BOUNDARY = 0.99
# Without smaller entries of a row the steps are only a little less exact.
NEGLIGIBLE = 1e-14
BLOCK, BAND = 64, 32
# A smaller violation of a row counts as none.
VIOLATION = 1e-9
# After so many steps that get no nearer to the optimum or to the rows, rounding has the last word.
PATIENCE = 8
# A start at the boundary is taken to be so far from it, and its prices are those of a start that is
# farther: they would be too high for the first steps.
LEAST_ROOM, LEAST_ROOM_OF_PRICES = 1e-9, 1e-3
# A program over all gamma that ends with a larger gap is solved again from the middle; one over
# monotone gamma, which takes little time, if it ends with more than its tolerance.
UNSOLVED = 0.1


class InteriorSearch:
    """The optimal gamma of many teachers under a linear objective, up to a relative GAP.

    A round solves the program over the rows known so far to a tolerance, from its inside
    (`solve_to_interior`), and adds the assignments that are violated there. Its multipliers bound
    the utility from above. The point itself, scaled down until nothing is violated, bounds it from
    below. The tolerance falls as the violations do.

    A rough gamma violates ever more rows where the utility hardly weighs it. So a general gamma
    pays a little for its second differences, a share of the utility that is small beside the gap
    that suffices: the bound holds all the same, since multipliers from whatever program prove one.
    Once such a gamma is private, it pays less, until the bound has come down to it.

    Args:
        problem: what gamma must keep.
        objective: what is maximised.
        known: rows found so far, which the search adds to.
        monotone: only gamma non-decreasing in |l - K/2|, for which three corners suffice.

    Attributes:
        x: the best gamma at l = (K+1)/2..K.
        upper_bound: as in `cutting_planes.CuttingPlaneSearch`.
        proof: x's worst case over all corners, if a look at them proved it, and whether it is
            exact.
    """

    def __init__(
        self,
        problem: PrivacyProblem,
        objective: LinearObjective,
        known: Cuts,
        *,
        monotone: bool,
    ) -> None:
        self.problem, self.objective, self.monotone = problem, objective, monotone
        self.known = known
        self.bound = self.upper_bound = objective.total + objective.rounding
        self.rounds, self.value = 0, 0.0
        self.proof: tuple[WorstCase, bool] | None = None
        self.violations = Violations(problem, known, monotone=monotone)

    def run(self, feasible_x: NDArray[np.float64] | None = None) -> None:
        """Maximise the utility, then sum(gamma).

        Args:
            feasible_x: the best x so far; None means 0, after trying gamma = 1.
        """
        if feasible_x is None:
            self.x = np.ones(self.objective.size)
            if self.violations.add(self.x, FIRST_TOLERANCE, self._gap())[1] == 0:
                return
            feasible_x = np.zeros(self.objective.size)
        self.smooth = feasible_x
        self.x, self.value = feasible_x, self.objective.value(feasible_x)
        if self.monotone:
            self._maximise_monotone()
        else:
            self._maximise_general()
        if self.x is not feasible_x and self._has_open_entries():
            self._raise_sum()
        if not self.monotone:  # the monotone program bounds the utility of monotone gamma only
            self.upper_bound = self.bound

    def _maximise_monotone(self) -> None:
        """Find the best monotone x; the tolerance falls as the violations do."""
        tolerance = FIRST_TOLERANCE
        for _ in range(MAX_ROUNDS):
            x = self._improve(tolerance)
            new_rows, excess, _ = self.violations.add(x, 0.0, self._gap())
            self._keep_if_better(x, excess)
            if self._is_settled() or (tolerance <= LAST_TOLERANCE and not new_rows):
                return
            if not new_rows or excess <= 2 * tolerance:
                gaps_missing = (self.bound - self.objective.value(x)) / self._sufficient_gap()
                tolerance = max(tolerance / min(10, max(2, 3 * gaps_missing)), LAST_TOLERANCE)

    def _maximise_general(self) -> None:
        """Find a private x that is smooth and nearly optimal, then what rougher ones may add.

        level: share of the utility, 1 / SMOOTHNESS times what a gamma may pay for its roughness.
        """
        roughly = True
        tolerance = level = SMOOTH_TOLERANCE
        for _ in range(MAX_ROUNDS):
            bound_before = self.bound
            x = self._improve(tolerance, level)
            if self._is_settled():
                return
            if roughly:  # on planes alone
                new_rows, excess = self.violations.add_on_planes(x, ROUGH_EXCESS)
                stalls = bound_before - self.bound <= self._sufficient_gap()
                if not new_rows or stalls or excess <= ROUGH_EXCESS:
                    self.smooth = x
                    gap = self._gap()
                    roughly = level > SMOOTH_ENOUGH * gap
                    level = max(level / 10, SMOOTH_ENOUGH * gap) if roughly else level
                    tolerance = max(min(level, FINE * gap), LAST_TOLERANCE)
                continue
            if not self._is_worth_a_look(x):
                if level <= LAST_TOLERANCE:
                    return
                new_rows, _ = self.violations.add_on_planes(x, 2 * tolerance)
                if not new_rows or bound_before - self.bound <= self._sufficient_gap():
                    level = max(level / 10, LAST_TOLERANCE)
                continue
            new_rows, excess, all_seen = self.violations.add(x, 2 * tolerance, self._gap())
            if all_seen:
                self._keep_if_better(x, excess)
                cannot_improve = excess > 2 * tolerance or level <= LAST_TOLERANCE
                if self._is_settled() or (not new_rows and cannot_improve):
                    return
                if not new_rows or excess <= 2 * tolerance:
                    self.smooth = x
                    level = max(level / 10, LAST_TOLERANCE)
        # The last x may still be the best one.
        _, excess, _ = self.violations.add(x, np.inf, self._gap())
        self._keep_if_better(x, excess)

    def _is_worth_a_look(self, x: NDArray[np.float64]) -> bool:
        """Return whether a look at all corners, which gives x's value at most, may pay."""
        return self.objective.value(x) - self.value > WORTH * (self.bound - self.value)

    def _improve(self, tolerance: float, level: float = 0.0) -> NDArray[np.float64]:
        """Return a central x of the rows known, whose multipliers may lower the bound."""
        x, y = self._solve(self.objective.coefficients, tolerance, level=level)
        self.bound = min(self.bound, self._dual_bound(y) + self.objective.rounding)
        return x

    def _gap(self) -> float:
        """Return the relative gap that suffices."""
        return self._sufficient_gap() / self.bound

    def _is_settled(self) -> bool:
        """Return whether the gap suffices."""
        return self.bound - self.value <= self._sufficient_gap()

    def _sufficient_gap(self) -> float:
        """Return the gap that suffices: less if nearly every label is right."""
        lacking = self.objective.total - self.value
        return max(GAP * min(self.bound, 10 * lacking), LEAST_GAP * self.bound)

    def _has_open_entries(self) -> bool:
        """Return whether many l together weigh next to nothing in the utility."""
        cost = np.sort(self.objective.coefficients)
        return bool(np.mean(np.cumsum(cost) < self._sufficient_gap()) > OPEN_SHARE)

    def _raise_sum(self) -> None:
        """Raise sum(gamma) as far as it costs next to nothing, if the utility leaves it open.

        A little way (BACK_OFF) from the largest sum, rows that are slack at the x so far are slack
        again: few are violated, and bounds far below the allowance make the look at all corners
        short.
        """
        sufficient_gap, start = self._sufficient_gap(), self.x
        # Rows of the program may be violated by what counts beside the gap, this one too.
        floor, least_value = self.value - sufficient_gap / 4, self.value - 0.6 * sufficient_gap
        for _ in range(SECOND_ROUNDS):
            x, _ = self._solve(
                np.ones(len(start)),
                FIRST_TOLERANCE,
                level=FIRST_TOLERANCE,
                floor=floor,
                start=start,
            )
            x = start + (1 - BACK_OFF) * (x - start)
            # All corners are looked at only if the planes leave x nearly as it is.
            new_rows, excess, all_seen = self.violations.add(
                x, sufficient_gap / 10 / floor, self._gap()
            )
            x, proof = self.violations.scale_down(x, excess)
            if all_seen and self.objective.value(x) >= least_value and x.sum() > start.sum():
                self.x, self.proof = x, proof
                break
            if not new_rows:
                break

    def _keep_if_better(self, x: NDArray[np.float64], excess: float) -> None:
        """Scale x down until it is private, and keep it if its utility is the largest so far."""
        x, proof = self.violations.scale_down(x, excess)
        value = self.objective.value(x)
        if value > self.value:
            self.x, self.value, self.proof = x, value, proof

    def _solve(
        self,
        cost: NDArray[np.float64],
        tolerance: float,
        *,
        level: float = 0.0,
        floor: float | None = None,
        start: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a central x, no known row violated, and multipliers of all known rows.

        floor: the least utility; None for whatever it is.
        start: a private gamma of at least that utility, which the steps start from.
        """
        cost = self._express_in_variables(cost)
        extra_rows, extra_right = np.zeros((0, len(cost))), np.zeros(0)
        if floor is not None:
            extra_rows = -self._express_in_variables(self.objective.coefficients)[None, :] / floor
            extra_right = np.array([-1.0])
        if self.monotone:  # the last gamma, the sum of all increments, is at most 1
            extra_rows = np.vstack([extra_rows, np.ones(len(cost))])
            extra_right = np.append(extra_right, 1.0)
        in_use = self.known.in_use.copy()
        rows = np.vstack([extra_rows, self._express_in_variables(self.known.rows[in_use])])
        right = np.append(extra_right, np.ones(len(rows) - len(extra_rows)))
        if start is not None and self.monotone:
            start = np.diff(start, prepend=0.0)
        curvature = self._curvature(cost, level)
        solution = solve_to_interior(cost, rows, tolerance, right, curvature, start)
        if start is not None and solution.gap > (tolerance if self.monotone else UNSOLVED):
            # Rounding stops some steps so near the boundary; the middle is farther from it.
            middle = solve_to_interior(cost, rows, tolerance, right, curvature)
            solution = min(solution, middle, key=lambda point: point.gap)
        x = np.clip(np.cumsum(solution.x) if self.monotone else solution.x, 0.0, 1.0)
        multipliers = np.zeros(len(in_use))
        multipliers[in_use] = solution.multipliers[len(extra_rows) :]
        self.known.rest_slack_rows(x, multipliers, tolerance * cost.sum())
        self.rounds += 1
        return x, multipliers

    def _curvature(self, cost: NDArray[np.float64], level: float) -> NDArray[np.float64] | float:
        """Return what `solve_to_interior` takes off for second differences.

        It is SMOOTHNESS * level at the last smooth x.
        """
        if self.monotone:
            return 0.0
        n = self.objective.size
        second_difference = np.diff(np.eye(n), 2, axis=0)
        roughness = float(np.sum((second_difference @ self.smooth) ** 2))
        weight = SMOOTHNESS * level * float(cost @ self.smooth) / max(roughness, LEAST_ROUGHNESS)
        return weight * (second_difference.T @ second_difference)

    def _express_in_variables(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows over gamma as rows over the variables: gamma, or its increments."""
        return np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1] if self.monotone else rows

    def _dual_bound(self, y: NDArray[np.float64]) -> float:
        """Bound the utility of every private gamma by multipliers of the known rows."""
        p, n = self.problem, self.objective.size
        right_side = (p.relaxed_allowance + p.rounding_bound()) / p.allowance
        cost, rows = self.objective.coefficients, self.known.rows
        if not self.monotone:
            return dual_bound(LinearProgram(cost, np.ones(n), rows, np.full(len(y), right_side)), y)
        # The increments add up to at most 1, so the largest of what they may still gain is added.
        return float(y.sum() + max(0.0, self._express_in_variables(cost - y @ rows).max()))


@dataclass(frozen=True)
class InteriorPoint:
    """A nearly optimal point of a program, and multipliers that show how near.

    Attributes:
        x: (n,) nearly optimal.
        multipliers: (rows,), >= 0.
        gap: between the two, relative.
    """

    x: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    gap: float


def solve_to_interior(
    cost: NDArray[np.float64],
    rows: NDArray[np.float64],
    tolerance: float,
    right: NDArray[np.float64] | None = None,
    curvature: NDArray[np.float64] | float = 0.0,
    start: NDArray[np.float64] | None = None,
) -> InteriorPoint:
    """Maximise cost @ x over rows @ x <= right, 0 <= x <= 1, up to a relative gap of `tolerance`.

    The steps need one n x n matrix. They are those of a predictor-corrector method on

        rows @ x + s = right, x + z = 1, rows.T @ y + v - u = cost - curvature @ x, all >= 0.

    The multipliers bound the optimum by weak duality whatever the tolerance and the curvature. The
    method ends early, with its best point, if rounding allows no more.

    Args:
        cost: (n,).
        rows: (m, n).
        tolerance: relative.
        right: (m,); None means 1.
        curvature: (n, n), positive semidefinite: x @ curvature @ x / 2 is taken off what is
            maximised.
        start: (n,), a point that keeps the rows; None for the middle of 0 and 1. Where the rows
            leave little room, steps from the middle take long to find it.

    References:
        Mehrotra's method: Nocedal and Wright, Numerical Optimization, 14.2 and 16.6.
    """
    n = len(cost)
    right = np.ones(len(rows)) if right is None else right
    if start is None:
        x, room = np.full(n, 0.5), 0.05
    else:
        x, room = np.clip(start, LEAST_ROOM, 1 - LEAST_ROOM), LEAST_ROOM
    primal = [x, 1 - x, np.maximum(right - rows @ x, room)]
    scale = 0.1 * max(float(np.abs(cost).mean()), 1e-300)
    dual = [scale / np.maximum(values, LEAST_ROOM_OF_PRICES) for values in primal]
    best, least_lack, idle_steps = InteriorPoint(x, dual[2], np.inf), np.inf, 0
    curvature = np.zeros((n, n)) + curvature
    blocks = _blocks(rows)
    for _ in range(MOST_STEPS):
        left_sides, prices = rows @ primal[0], dual[2] @ rows
        curved = curvature @ primal[0]
        gap, violation = _gap(cost - curved, right, primal[0], dual[2], left_sides, prices)
        # One of the first points may violate nothing, and those that lead to the optimum a little.
        lack = gap + violation
        idle_steps = 0 if lack < least_lack else idle_steps + 1
        least_lack = min(lack, least_lack)
        gap += violation / VIOLATION
        if gap < best.gap:
            idle_steps = 0
            best = InteriorPoint(primal[0], dual[2], gap)
        if best.gap <= tolerance or idle_steps > PATIENCE:
            break
        factor = _factor(rows, blocks, primal, dual, curvature)
        if factor is None:
            break
        products = [p * d for p, d in zip(primal, dual, strict=True)]
        mean = sum(map(np.sum, products)) / sum(map(len, products))
        # The residuals are what rows @ x + s = right and rows.T @ y + v - u = cost lack.
        residuals = right - primal[2] - left_sides, cost - curved - prices - dual[1] + dual[0]
        down, up = _step(rows, residuals, primal, dual, factor, [-p for p in products])
        predicted = [
            (p + _longest_step(primal, down) * a) @ (d + _longest_step(dual, up) * b)
            for p, d, a, b in zip(primal, dual, down, up, strict=True)
        ]
        target = mean * (sum(predicted) / (mean * sum(map(len, products)))) ** 3
        changes = [target - p - a * b for p, a, b in zip(products, down, up, strict=True)]
        down, up = _step(rows, residuals, primal, dual, factor, changes)
        # If x changes the prices, residuals shrink only if both go the same way.
        lengths = [
            TO_THE_BOUNDARY * _longest_step(primal, down),
            TO_THE_BOUNDARY * _longest_step(dual, up),
        ]
        if curvature.any():
            lengths = [min(lengths)] * 2
        primal, dual = _take_step(primal, down, lengths[0]), _take_step(dual, up, lengths[1])
    return best


def _gap(
    cost: NDArray, right: NDArray, x: NDArray, y: NDArray, left_sides: NDArray, prices: NDArray
) -> tuple[float, float]:
    """Return the dual bound less the utility, relative, and by what x violates the rows."""
    bound = float(y @ right + np.maximum(cost - prices, 0).sum())
    violation = max(0.0, float((left_sides - right).max()) - VIOLATION)
    return abs(bound - float(cost @ x)) / max(abs(bound), 1e-300), violation


def _step(
    rows: NDArray,
    residuals: tuple[NDArray, NDArray],
    primal: list[NDArray],
    dual: list[NDArray],
    factor: tuple[NDArray, bool],
    changes: list[NDArray],
) -> tuple[list[NDArray], list[NDArray]]:
    """Return Newton's step of (x, z, s) and (u, v, y) that changes their products by `changes`."""
    from scipy.linalg import cho_solve

    (x, z, s), (u, v, y), (ux, vz, ys) = primal, dual, changes
    primal_residual, dual_residual = residuals
    target = dual_residual - ((ys - y * primal_residual) / s) @ rows - vz / z + ux / x
    dx = cho_solve(factor, target, check_finite=False)
    ds = primal_residual - rows @ dx
    return [dx, -dx, ds], [(ux - u * dx) / x, (vz + v * dx) / z, (ys - y * ds) / s]


def _take_step(values: list[NDArray], steps: list[NDArray], length: float) -> list[NDArray]:
    """Return the values after a step of this length."""
    return [value + length * step for value, step in zip(values, steps, strict=True)]


def _blocks(rows: NDArray) -> list[tuple[NDArray, slice]]:
    """Group rows that are nearly zero outside the same columns: (their numbers, the columns).

    A row of f has entries where its two binomials have weight, a band around their means.
    """
    entries = np.abs(rows) > NEGLIGIBLE
    first, last = entries.argmax(axis=1), rows.shape[1] - entries[:, ::-1].argmax(axis=1)
    order = np.lexsort((last, first // BAND))
    groups = [order[k : k + BLOCK] for k in range(0, len(order), BLOCK)]
    return [(group, slice(first[group].min(), last[group].max())) for group in groups]


def _factor(
    rows: NDArray,
    blocks: list[tuple[NDArray, slice]],
    primal: list[NDArray],
    dual: list[NDArray],
    curvature: NDArray,
) -> tuple[NDArray, bool] | None:
    """Return the Cholesky factor of rows.T diag(y/s) rows + curvature + diag(u/x + v/z)."""
    from scipy.linalg import LinAlgError, blas, cho_factor

    (x, z, s), (u, v, y) = primal, dual
    weights = np.sqrt(y / s)
    matrix = curvature + np.diag(u / x + v / z)
    for group, columns in blocks:
        scaled = rows[group, columns] * weights[group, None]
        matrix[columns, columns] += blas.dsyrk(1.0, scaled.T, lower=1)
    entries = np.diag_indices(len(x))
    for _ in range(2):
        try:
            return cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            matrix[entries] += 1e-14 * matrix[entries].max()
    return None  # rounding leaves no positive definite matrix


def _longest_step(values: list[NDArray], steps: list[NDArray]) -> float:
    """Return the longest step, at most 1, that leaves all values >= 0."""
    length = 1.0
    for value, step in zip(values, steps, strict=True):
        down = step < 0
        if down.any():
            with np.errstate(over="ignore"):  # a step too small to count may go as far as it likes
                length = min(length, float((-value[down] / step[down]).min()))
    return length
