"""Cutting planes from the inside, for many teachers: a certified gap instead of a vertex.

The programs are solved by an interior point method of our own, `centre`. A point in the middle of
what is nearly optimal violates few of the rows that are not in the program yet
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

GAP = 5e-7  # between the best gamma and the upper bound, relative: enough to stop
LEAST_GAP = 5e-9
FIRST_TOLERANCE, SMOOTH_TOLERANCE, LAST_TOLERANCE = 1e-3, 1e-6, 1e-8
MAX_ROUNDS = 60  # what is found by then is certified with its gap
SMOOTHNESS = 0.05  # of the level, what a gamma as rough as the last one may lose by it
LEAST_ROUGHNESS = 1e-4
ROUGH_EXCESS = 1e-3  # on planes, with which a look at all corners is worth its time
SMOOTH_ENOUGH, FINE = 10, 0.2  # level and tolerance, of the gap that suffices
WORTH = 0.1  # share of the gap that a look at all corners must be able to close
OPEN_SHARE = (
    0.02  # share of all l that may weigh next to nothing before their gamma is worth raising
)
SECOND_ROUNDS = 24
BACK_OFF = 0.01  # share of what sum(gamma) could gain
# Of `centre`:
MOST_STEPS = 60
TO_THE_BOUNDARY = 0.99
NEGLIGIBLE = 1e-14  # an entry of a row whose loss only makes the steps a little less exact
BLOCK, BAND = 64, 32
VIOLATION = 1e-9  # of a row, which counts as none
PATIENCE = 8  # steps without a better gap after which rounding has the last word


class InteriorSearch:
    """The optimal gamma of many teachers under a linear objective, up to a relative GAP.

    A round solves the program over the rows known so far to a tolerance, from its inside
    (`centre`), and adds the assignments that are violated there. Its multipliers bound the
    utility from above; the point itself, scaled down until nothing is violated, bounds it from
    below. The tolerance falls as the violations do.

    A rough gamma violates ever more rows where the utility hardly weighs it. So a general gamma
    pays a little for its second differences, a share of the utility that is small beside the gap
    that suffices: the bound holds all the same, since multipliers from whatever program prove one.
    Once such a gamma is private, it pays less, until the bound has come down to it.

    monotone : only gamma non-decreasing in |l - K/2|, for which three corners suffice.

    x : the best gamma at l = (K+1)/2..K; upper_bound : as in `search.CuttingPlaneSearch`; proof : x's worst
    case over all corners, if a look at them proved it, and whether it is exact.
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

        inside : a feasible x, the best one so far; default 0, after trying gamma = 1.
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
        tolerance = FIRST_TOLERANCE
        for _ in range(MAX_ROUNDS):
            x = self._improve(tolerance)
            new, excess, _ = self.violations.add(x, 0.0, self._gap())
            self._keep_if_better(x, excess)
            if self._is_settled() or (tolerance <= LAST_TOLERANCE and not new):
                return
            if not new or excess <= 2 * tolerance:
                short = (self.bound - self.objective.value(x)) / self._sufficient_gap()
                tolerance = max(tolerance / min(10, max(2, 3 * short)), LAST_TOLERANCE)

    def _maximise_general(self) -> None:
        """First a private x that is smooth and nearly optimal, then what rougher ones may add.

        level : share of the utility, 1 / SMOOTHNESS times what a gamma may pay for its roughness.
        """
        roughly = True
        tolerance = level = SMOOTH_TOLERANCE
        for _ in range(MAX_ROUNDS):
            known = self.bound
            x = self._improve(tolerance, level)
            if self._is_settled():
                return
            if roughly:  # on planes alone
                new, excess = self.violations.add_on_planes(x, ROUGH_EXCESS)
                stalls = known - self.bound <= self._sufficient_gap()
                if not new or stalls or excess <= ROUGH_EXCESS:
                    self.smooth = x
                    least = self._gap()
                    roughly = level > SMOOTH_ENOUGH * least
                    level = max(level / 10, SMOOTH_ENOUGH * least) if roughly else level
                    tolerance = max(min(level, FINE * least), LAST_TOLERANCE)
                continue
            if not self._is_worth_a_look(x):
                if level <= LAST_TOLERANCE:
                    return
                new, _ = self.violations.add_on_planes(x, 2 * tolerance)
                if not new or known - self.bound <= self._sufficient_gap():
                    level = max(level / 10, LAST_TOLERANCE)
                continue
            new, excess, seen = self.violations.add(x, 2 * tolerance, self._gap())
            if seen:
                self._keep_if_better(x, excess)
                ends = excess > 2 * tolerance or level <= LAST_TOLERANCE
                if self._is_settled() or (not new and ends):
                    return
                if not new or excess <= 2 * tolerance:
                    self.smooth = x
                    level = max(level / 10, LAST_TOLERANCE)
        # The last x may still be the best one.
        _, excess, _ = self.violations.add(x, np.inf, self._gap())
        self._keep_if_better(x, excess)

    def _is_worth_a_look(self, x: NDArray[np.float64]) -> bool:
        """Whether a look at all corners can close the gap: it raises the value to x's at most."""
        return self.objective.value(x) - self.value > WORTH * (self.bound - self.value)

    def _improve(self, tolerance: float, level: float = 0.0) -> NDArray[np.float64]:
        """A central x of the rows known, whose multipliers may lower the bound."""
        x, y = self._solve(self.objective.coefficients, tolerance, level=level)
        self.bound = min(self.bound, self._dual_bound(y) + self.objective.rounding)
        return x

    def _gap(self) -> float:
        """The relative gap that suffices."""
        return self._sufficient_gap() / self.bound

    def _is_settled(self) -> bool:
        return self.bound - self.value <= self._sufficient_gap()

    def _sufficient_gap(self) -> float:
        """The gap that suffices: less if nearly every label is right, for then errors count."""
        lacking = self.objective.total - self.value
        return max(GAP * min(self.bound, 10 * lacking), LEAST_GAP * self.bound)

    def _has_open_entries(self) -> bool:
        """Whether many l together weigh next to nothing in the utility."""
        cost = np.sort(self.objective.coefficients)
        return bool(np.mean(np.cumsum(cost) < self._sufficient_gap()) > OPEN_SHARE)

    def _raise_sum(self) -> None:
        """Raise sum(gamma) as far as it costs next to nothing, if the utility leaves it open.

        A little way BACK from the largest sum, rows that are slack at the x so far are slack again:
        few are violated, and bounds far below the allowance make the look at all corners short.
        """
        room, start = self._sufficient_gap(), self.x
        # The program gives its rows, this one too, a violation that counts beside the room.
        floor, least = self.value - room / 4, self.value - 0.6 * room
        for _ in range(SECOND_ROUNDS):
            x, _ = self._solve(
                np.ones(len(start)), FIRST_TOLERANCE, level=FIRST_TOLERANCE, floor=floor
            )
            x = start + (1 - BACK_OFF) * (x - start)
            # All corners are asked about an x that the planes leave nearly as it is.
            new, excess, seen = self.violations.add(x, room / 10 / floor, self._gap())
            x, proof = self.violations.scale_down(x, excess)
            if seen and self.objective.value(x) >= least and x.sum() > start.sum():
                self.x, self.proof = x, proof
                break
            if not new:
                break

    def _keep_if_better(self, x: NDArray[np.float64], excess: float) -> None:
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
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A central x, no known row violated, and multipliers of all known rows.

        floor : the least utility, None for whatever it is.
        """
        cost = self._express_in_variables(cost)
        extra, room = np.zeros((0, len(cost))), np.zeros(0)
        if floor is not None:
            extra = -self._express_in_variables(self.objective.coefficients)[None, :] / floor
            room = np.array([-1.0])
        if self.monotone:  # the last gamma, the sum of all increments, is at most 1
            extra, room = np.vstack([extra, np.ones(len(cost))]), np.append(room, 1.0)
        in_use = self.known.in_use.copy()
        rows = np.vstack([extra, self._express_in_variables(self.known.rows[in_use])])
        right = np.append(room, np.ones(len(rows) - len(extra)))
        solution = solve_to_interior(cost, rows, tolerance, right, self._curvature(cost, level))
        x = np.clip(np.cumsum(solution.x) if self.monotone else solution.x, 0.0, 1.0)
        y = np.zeros(len(in_use))
        y[in_use] = solution.multipliers[len(extra) :]
        self.known.rest_slack_rows(x, y, tolerance * cost.sum())
        self.rounds += 1
        return x, y

    def _curvature(self, cost: NDArray[np.float64], level: float) -> NDArray[np.float64] | float:
        """What `centre` takes off for second differences: SMOOTHNESS * level at the last one."""
        if self.monotone:
            return 0.0
        n = self.objective.size
        bend = np.diff(np.eye(n), 2, axis=0)
        rough = float(np.sum((bend @ self.smooth) ** 2))
        weight = SMOOTHNESS * level * float(cost @ self.smooth) / max(rough, LEAST_ROUGHNESS)
        return weight * (bend.T @ bend)

    def _express_in_variables(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows over gamma as rows over the variables: gamma, or its increments."""
        return np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1] if self.monotone else rows

    def _dual_bound(self, y: NDArray[np.float64]) -> float:
        p, n = self.problem, self.objective.size
        outwards = (p.relaxed_allowance + p.rounding_bound()) / p.allowance
        cost, rows = self.objective.coefficients, self.known.rows
        if not self.monotone:
            return dual_bound(LinearProgram(cost, np.ones(n), rows, np.full(len(y), outwards)), y)
        # Increments, the sum of which is at most 1: the largest of what they are left to gain.
        return float(y.sum() + max(0.0, self._express_in_variables(cost - y @ rows).max()))


@dataclass(frozen=True)
class InteriorPoint:
    """x : (n,) nearly optimal; multipliers : (rows,), >= 0; gap : between the two, relative."""

    x: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    gap: float


def solve_to_interior(
    cost: NDArray[np.float64],
    rows: NDArray[np.float64],
    tolerance: float,
    right: NDArray[np.float64] | None = None,
    curvature: NDArray[np.float64] | float = 0.0,
) -> InteriorPoint:
    """Maximise cost @ x over rows @ x <= right, 0 <= x <= 1, up to a relative gap of `tolerance`.

    cost : (n,); rows : (m, n); right : (m,), default 1; curvature : (n, n), positive semidefinite,
    default 0: x @ curvature @ x / 2 is taken off what is maximised. Mehrotra's predictor-corrector
    method (Nocedal and Wright, Numerical Optimization, 14.2 and 16.6) on

        rows @ x + s = right, x + z = 1, rows.T @ y + v - u = cost - curvature @ x, all >= 0,

    whose steps need one n x n matrix. The multipliers bound the optimum by weak duality whatever
    the tolerance and the curvature. Ends early, with its best point, if rounding allows no more.
    """
    n = len(cost)
    right = np.ones(len(rows)) if right is None else right
    x, z = np.full(n, 0.5), np.full(n, 0.5)
    s = np.maximum(right - rows @ x, 0.05)
    scale = 0.1 * max(float(np.abs(cost).mean()), 1e-300)
    primal, dual = [x, z, s], [scale / x, scale / z, scale / s]
    best, idle = InteriorPoint(x, dual[2], np.inf), 0
    curvature = np.zeros((n, n)) + curvature
    blocks = _blocks(rows)
    for _ in range(MOST_STEPS):
        used, priced = rows @ primal[0], dual[2] @ rows
        bent = curvature @ primal[0]
        gap = _gap(cost - bent, right, primal[0], dual[2], used, priced)
        idle = 0 if gap < best.gap else idle + 1
        if gap < best.gap:
            best = InteriorPoint(primal[0], dual[2], gap)
        if best.gap <= tolerance or idle > PATIENCE:
            break
        factor = _factor(rows, blocks, primal, dual, curvature)
        if factor is None:
            break
        products = [p * d for p, d in zip(primal, dual, strict=True)]
        mean = sum(map(np.sum, products)) / sum(map(len, products))
        # What is lacking of rows @ x + s = right and of rows.T @ y + v - u = cost.
        residuals = right - primal[2] - used, cost - bent - priced - dual[1] + dual[0]
        down, up = _step(rows, residuals, primal, dual, factor, [-p for p in products])
        ahead = [
            (p + _longest_step(primal, down) * a) @ (d + _longest_step(dual, up) * b)
            for p, d, a, b in zip(primal, dual, down, up, strict=True)
        ]
        target = mean * (sum(ahead) / (mean * sum(map(len, products)))) ** 3
        wanted = [target - p - a * b for p, a, b in zip(products, down, up, strict=True)]
        down, up = _step(rows, residuals, primal, dual, factor, wanted)
        # If x changes the prices, both must go the same way for what is lacking to shrink.
        lengths = [
            TO_THE_BOUNDARY * _longest_step(primal, down),
            TO_THE_BOUNDARY * _longest_step(dual, up),
        ]
        if curvature.any():
            lengths = [min(lengths)] * 2
        primal, dual = _take_step(primal, down, lengths[0]), _take_step(dual, up, lengths[1])
    return best


def _gap(
    cost: NDArray, right: NDArray, x: NDArray, y: NDArray, used: NDArray, priced: NDArray
) -> float:
    """The dual bound less the utility, relative to the bound; more if x violates a row."""
    bound = float(y @ right + np.maximum(cost - priced, 0).sum())
    violation = max(0.0, float((used - right).max()) - VIOLATION)
    return abs(bound - float(cost @ x)) / max(abs(bound), 1e-300) + violation / VIOLATION


def _step(
    rows: NDArray,
    residuals: tuple[NDArray, NDArray],
    primal: list[NDArray],
    dual: list[NDArray],
    factor: tuple[NDArray, bool],
    wanted: list[NDArray],
) -> tuple[list[NDArray], list[NDArray]]:
    """Newton's step of (x, z, s) and (u, v, y) that moves their products by `wanted`."""
    from scipy.linalg import cho_solve

    (x, z, s), (u, v, y), (ux, vz, ys) = primal, dual, wanted
    lacking, reduced = residuals
    target = reduced - ((ys - y * lacking) / s) @ rows - vz / z + ux / x
    dx = cho_solve(factor, target, check_finite=False)
    ds = lacking - rows @ dx
    return [dx, -dx, ds], [(ux - u * dx) / x, (vz + v * dx) / z, (ys - y * ds) / s]


def _take_step(values: list[NDArray], steps: list[NDArray], length: float) -> list[NDArray]:
    return [value + length * step for value, step in zip(values, steps, strict=True)]


def _blocks(rows: NDArray) -> list[tuple[NDArray, slice]]:
    """Rows that are nearly zero outside the same columns: (their numbers, the columns).

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
    """Cholesky factor of rows.T diag(y/s) rows + curvature + diag(u/x + v/z), if rounding lets."""
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
    return None


def _longest_step(values: list[NDArray], steps: list[NDArray]) -> float:
    """The longest step, at most 1, that leaves all values >= 0."""
    length = 1.0
    for value, step in zip(values, steps, strict=True):
        down = step < 0
        if down.any():
            with np.errstate(over="ignore"):  # a step too small to count may go as far as it likes
                length = min(length, float((-value[down] / step[down]).min()))
    return length
