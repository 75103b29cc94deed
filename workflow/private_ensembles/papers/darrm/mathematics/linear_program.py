"""Linear programs over gamma: a point in the middle of what is nearly optimal, and a bound.

A vertex of a large program over gamma jumps between 0 and 1 from one l to the next, and violates
thousands of rows that are not in the program yet. A point in the middle of the nearly optimal set
violates few, so that cutting planes need a fraction of the rounds (Gondzio, Gonzalez-Brevis and
Munari, 2016: the primal-dual column generation method). So both solvers use an interior point
method and stop at its point, without crossover to a vertex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import checks
from private_ensembles.papers.darrm.mathematics.privacy_cost import UNIT_ROUNDOFF

# A solver that takes more goes round in circles.
MOST_STEPS, MOST_PIVOTS = 200, 100_000
# An x is taken as optimal if it violates rows by less, and the bound is within NEAR tolerances, or
# NOT_FAR if rounding allows no more: cutting planes go on from there, too.
VIOLATION = 1e-8
NEAR, NOT_FAR = 10, 100
# HiGHS leaves rows and prices off by this much, and allows no less.
SOLVER_TOLERANCE = 1e-10
# HiGHS leaves smaller entries of a row out; no bound rests on what it returns.
NEGLIGIBLE = 1e-12


class SolverUnavailable(RuntimeError):
    """Gurobi is not installed, has no licence, or refuses the size."""


class Infeasible(RuntimeError):
    """No point satisfies the rows, or the solver cannot tell."""


@dataclass(frozen=True)
class LinearProgram:
    """Maximise cost @ x over rows @ x <= right, 0 <= x <= upper.

    Attributes:
        cost: (n,).
        upper: (n,).
        rows: (m, n), of a size around 1.
        right: (m,).
    """

    cost: NDArray[np.float64]
    upper: NDArray[np.float64]
    rows: NDArray[np.float64]
    right: NDArray[np.float64]


@dataclass(frozen=True)
class _Point:
    """A point that a solver ended at, within its bounds.

    Attributes:
        x: (n,), 0 <= x <= upper.
        multipliers: (m,), >= 0.
        gap: between the two, relative; inf if there is no point that keeps the rows.
    """

    x: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    gap: float


def _judge(program: LinearProgram, x: object, prices: object) -> _Point:
    """Return what a solver gave as a point, judged by its numbers and not by the solver's status.

    A solver may call optimal what lies outside its bounds: HiGHS 1.15 gave x = -1.7 beside an x of
    1e12, and 1e42 where 1e20 was the most. So x is put into its bounds before rows are looked at.

    Args:
        program: the program.
        x: (n,), or nothing.
        prices: (m,), the rows' multipliers, or nothing.
    """
    x, multipliers = np.array(x, dtype=float), np.array(prices, dtype=float)
    if x.shape != program.cost.shape or multipliers.shape != program.right.shape:
        return _Point(x, multipliers, np.inf)
    if not (np.isfinite(x).all() and np.isfinite(multipliers).all()):
        return _Point(x, multipliers, np.inf)
    x, multipliers = np.clip(x, 0.0, program.upper), np.maximum(multipliers, 0.0)
    return _Point(x, multipliers, _gap(program, x, multipliers))


class Highs:
    """HiGHS (highspy).

    Its tolerances are absolute. Once its interior point method has ended too far from the optimum,
    the costs of this and of later programs are passed on in a finer unit. A vertex, which the
    simplex method finds, would violate many rows that are not in the program yet.

    Args:
        threads: how many it uses.
        vertex: go to a vertex, whose multipliers are few.

    Attributes:
        finer: whether costs are passed on in the finer unit.
    """

    name = "highs"

    def __init__(self, threads: int = 1, *, vertex: bool = False) -> None:
        import highspy  # late: a tenth of a second that certificates do without

        self.api = highspy
        self.vertex, self.finer = vertex, False
        self.model = highspy.Highs()
        self.version = self.model.version()
        options = {
            "output_flag": False,
            "threads": threads,
            "run_crossover": "off",
            "ipm_iteration_limit": MOST_STEPS,
            "simplex_iteration_limit": MOST_PIVOTS,
            "small_matrix_value": NEGLIGIBLE,
            "primal_feasibility_tolerance": SOLVER_TOLERANCE,
            "dual_feasibility_tolerance": SOLVER_TOLERANCE,
        }
        for option, value in options.items():
            self._set_option(option, value)

    def solve(
        self, program: LinearProgram, tolerance: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x (n,), optimal up to a relative `tolerance`, and multipliers (m,), >= 0.

        Raises:
            ValueError: HiGHS takes no tolerance as small as this.
            Infeasible: HiGHS finds no optimum.
        """
        self._set_option("ipm_optimality_tolerance", tolerance)
        if not self.vertex:
            point = self._run_to_interior(program, tolerance)
            if point.gap <= NOT_FAR * tolerance:
                return point.x, point.multipliers
        # Where rounding stops the interior point method, the simplex method takes over.
        point = self._run(program, tolerance, vertex=True, presolve="on")
        if self.model.getModelStatus() == self.api.HighsModelStatus.kInfeasible:
            # HiGHS' presolve says so of programs of which 0 is a solution, too.
            point = self._run(program, tolerance, vertex=True)
        if point.gap <= NEAR * tolerance:
            return point.x, point.multipliers
        status = self.model.modelStatusToString(self.model.getModelStatus())
        raise Infeasible(f"HiGHS ended with status {status!r}")

    def _run_to_interior(self, program: LinearProgram, tolerance: float) -> _Point:
        """Return the point of one unit of costs, or the better one of both units."""
        finer = self.finer
        point = self._run(program, tolerance, finer=finer)
        if point.gap <= (NOT_FAR if finer else NEAR) * tolerance:
            return point
        self.finer = True
        return min(point, self._run(program, tolerance, finer=not finer), key=lambda end: end.gap)

    def _set_option(self, option: str, value: bool | int | float | str) -> None:
        """Set an option; HiGHS keeps the old value if it refuses this one, and goes on."""
        if self.model.setOptionValue(option, value) != self.api.HighsStatus.kOk:
            raise ValueError(f"HiGHS refuses {option} = {value!r}")

    def _run(
        self,
        program: LinearProgram,
        tolerance: float,
        *,
        finer: bool = False,
        vertex: bool = False,
        presolve: str = "off",
    ) -> _Point:
        """Return what one method comes to."""
        unit = _cost_unit(program, tolerance, finer)
        self.model.passModel(self._model(program, unit))
        self.model.clearSolver()
        self._set_option("solver", "simplex" if vertex else "ipx")
        self._set_option("presolve", presolve)
        self.model.run()
        solution = self.model.getSolution()
        if not (solution.value_valid and solution.dual_valid):
            return _judge(program, None, None)
        return _judge(program, solution.col_value, -unit * np.array(solution.row_dual))

    def _model(self, program: LinearProgram, unit: float):
        """Return the program as HiGHS takes it, with costs in this unit."""
        entries = np.abs(program.rows) > NEGLIGIBLE
        model = self.api.HighsLp()
        model.num_row_, model.num_col_ = program.rows.shape
        model.col_cost_ = -program.cost / unit
        model.col_lower_, model.col_upper_ = np.zeros(len(program.upper)), program.upper
        model.row_lower_ = np.full(len(program.right), -self.api.kHighsInf)
        model.row_upper_ = program.right
        model.a_matrix_.format_ = self.api.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.append(0, np.cumsum(entries.sum(axis=1)))
        model.a_matrix_.index_ = np.nonzero(entries)[1]
        model.a_matrix_.value_ = program.rows[entries]
        return model


class Gurobi:
    """Gurobi (gurobipy). Its licence may limit rows and columns.

    Args:
        threads: how many it uses.

    Raises:
        SolverUnavailable: it is not installed or has no licence.
    """

    name = "gurobi"

    def __init__(self, threads: int = 1) -> None:
        try:
            import gurobipy
        except ImportError as error:
            raise SolverUnavailable("gurobipy is not installed") from error
        self.api = gurobipy
        options = {
            "OutputFlag": 0,
            "Threads": threads,
            # With it Gurobi 13 calls a bounded program "infeasible or unbounded" from upper bounds
            # of 1e11 on.
            "Presolve": 0,
            "Method": 2,  # the barrier method
            "Crossover": 0,
        }
        try:
            self.environment = gurobipy.Env(params=options)
        except gurobipy.GurobiError as error:
            raise SolverUnavailable(f"Gurobi: {error}") from error
        self.version = ".".join(str(part) for part in gurobipy.gurobi.version())

    def solve(
        self, program: LinearProgram, tolerance: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x (n,), optimal up to a relative `tolerance`, and multipliers (m,), >= 0.

        Raises:
            Infeasible: Gurobi finds no optimum.
            SolverUnavailable: the licence refuses the size.
        """
        try:
            with self.api.Model(env=self.environment) as model:
                model.Params.BarConvTol = tolerance
                x = model.addMVar(len(program.cost), lb=0.0, ub=program.upper)
                model.setObjective(program.cost @ x, self.api.GRB.MAXIMIZE)
                rows = model.addConstr(program.rows @ x <= program.right)
                model.optimize()
                if model.Status not in (self.api.GRB.OPTIMAL, self.api.GRB.SUBOPTIMAL):
                    raise Infeasible(f"Gurobi ended with status {model.Status}")
                point = _judge(program, x.X, rows.Pi)
                if point.gap > NOT_FAR * tolerance:
                    raise Infeasible(f"Gurobi ended at a gap of {point.gap:.1e}")
                return point.x, point.multipliers
        except self.api.GurobiError as error:
            raise SolverUnavailable(f"Gurobi: {error}") from error


SOLVERS = {"auto": Highs, "highs": Highs, "gurobi": Gurobi}


def solver_named(name: str, threads: int = 1) -> Highs | Gurobi:
    """Return the solver of that name; `auto` is HiGHS.

    Raises:
        ValueError: there is no such solver.
    """
    checks.check_choice(tuple(SOLVERS), solver=name)
    return SOLVERS[name](threads)


def _cost_unit(program: LinearProgram, tolerance: float, finer: bool) -> float:
    """Return the unit of the costs, which HiGHS takes as 1: their largest, or a finer one.

    In the finer one prices that are each off by SOLVER_TOLERANCE make the bound too large by
    `tolerance` of all that there is to gain.
    """
    unit = max(float(np.abs(program.cost).max()), 1e-300)
    if finer:
        total = float(np.abs(program.cost) @ program.upper)
        unit = min(unit, tolerance * total / (SOLVER_TOLERANCE * float(program.upper.sum())))
    return max(unit, 1e-300)


def _gap(program: LinearProgram, x: NDArray[np.float64], multipliers: NDArray[np.float64]) -> float:
    """Return the bound of the multipliers less x's value, relative; inf if x violates a row."""
    if float((program.rows @ x - program.right).max(initial=0.0)) > VIOLATION:
        return np.inf
    bound = dual_bound(program, multipliers)
    return (bound - float(program.cost @ x)) / max(abs(bound), 1e-300)


def dual_bound(program: LinearProgram, multipliers: NDArray[np.float64]) -> float:
    """Bound cost @ x over all feasible x, rounding included.

    Weak duality makes a bound of any multipliers, whatever solver and tolerance they come from: for
    y >= 0, cost @ x <= y @ right + sum_j upper_j max(0, cost_j - (y @ rows)_j). A sum of n
    products, in whatever order, is off by at most n + 1 round-offs of the sum of their sizes; four
    times that is added.

    Args:
        program: the program.
        multipliers: (m,).

    References:
        Higham, Accuracy and Stability of Numerical Algorithms, section 3.1.
    """
    cost, upper = program.cost, program.upper
    active = np.nonzero(multipliers > 0)[0]
    y, rows, right = multipliers[active], program.rows[active], program.right[active]
    reduced = np.maximum(cost - y @ rows, 0.0)
    value = float(y @ right + reduced @ upper)
    size = float(y @ np.abs(right) + (y @ np.abs(rows)) @ upper + np.abs(cost) @ upper)
    return value + 4 * (len(active) + len(cost) + 4) * UNIT_ROUNDOFF * size
