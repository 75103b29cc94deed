"""A growing linear program, solved by Gurobi if its licence allows, and else by HiGHS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.darrm.privacy_cost import UNIT_ROUNDOFF

# The licence that comes with `pip install gurobipy` ends at 2,000 variables and rows.
ROW_LIMIT = 1900
SOLVERS = ("auto", "gurobi", "highs")


class SolverUnavailable(RuntimeError):
    """Gurobi is not installed, has no licence, or refuses the size."""


class Infeasible(RuntimeError):
    """No point satisfies the rows, or the solver cannot tell."""


class _Highs:
    name = "highs"

    def __init__(self, cost: NDArray, upper: NDArray, threads: int) -> None:
        import highspy

        self.infinity = highspy.kHighsInf
        self.model = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "threads": threads,
            # Rows come normalised, and unscaled tolerances are what the certificate sees.
            "simplex_scale_strategy": 0,
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        }.items():
            self.model.setOptionValue(option, value)
        self.columns = np.arange(len(cost), dtype=np.int32)
        for bound in upper:
            self.model.addVar(0.0, float(bound))
        self.set_cost(cost)
        self.version = f"{highspy.Highs().version()}"

    def _run(self) -> str:
        self.model.run()
        return self.model.modelStatusToString(self.model.getModelStatus())

    def set_cost(self, cost: NDArray) -> None:
        self.model.changeColsCost(len(cost), self.columns, -np.asarray(cost, dtype=np.float64))

    def add_rows(self, rows: NDArray, right: NDArray) -> None:
        for row, bound in zip(rows, right, strict=True):
            self.model.addRow(-self.infinity, float(bound), len(row), self.columns, row)

    def solve(self) -> tuple[NDArray, NDArray]:
        status = self._run()
        if status not in ("Optimal", "Infeasible"):
            # A warm start can leave the simplex in numerical trouble: once more from scratch.
            self.model.clearSolver()
            self.model.setOptionValue("simplex_scale_strategy", 1)
            status = self._run()
            self.model.setOptionValue("simplex_scale_strategy", 0)
        if status != "Optimal":
            raise Infeasible(f"HiGHS ended with status {status!r}")
        solution = self.model.getSolution()
        return np.array(solution.col_value), -np.array(solution.row_dual)


class _Gurobi:
    name = "gurobi"

    def __init__(self, cost: NDArray, upper: NDArray, threads: int) -> None:
        try:
            import gurobipy
        except ImportError as error:
            raise SolverUnavailable("gurobipy is not installed") from error
        self.api = gurobipy
        try:
            environment = gurobipy.Env(params={"OutputFlag": 0})
            self.model = gurobipy.Model(env=environment)
        except gurobipy.GurobiError as error:
            raise SolverUnavailable(f"Gurobi: {error}") from error
        for option, value in {
            "Threads": threads,
            "FeasibilityTol": 1e-9,
            "OptimalityTol": 1e-9,
            "Method": 1,
            "ScaleFlag": 0,
        }.items():
            self.model.setParam(option, value)
        self.x = self.model.addMVar(len(cost), lb=0.0, ub=upper)
        self.rows: list = []
        self.version = ".".join(str(part) for part in gurobipy.gurobi.version())
        self.set_cost(cost)

    def set_cost(self, cost: NDArray) -> None:
        self.model.setObjective(np.asarray(cost) @ self.x, self.api.GRB.MAXIMIZE)

    def add_rows(self, rows: NDArray, right: NDArray) -> None:
        self.rows.append(self.model.addConstr(np.asarray(rows) @ self.x <= np.asarray(right)))

    def solve(self) -> tuple[NDArray, NDArray]:
        try:
            self.model.optimize()
        except self.api.GurobiError as error:
            raise SolverUnavailable(f"Gurobi: {error}") from error
        if self.model.Status in (self.api.GRB.INFEASIBLE, self.api.GRB.INF_OR_UNBD):
            raise Infeasible("the rows leave no point")
        if self.model.Status != self.api.GRB.OPTIMAL:
            raise SolverUnavailable(f"Gurobi ended with status {self.model.Status}")
        duals = [np.atleast_1d(block.Pi) for block in self.rows]
        return np.asarray(self.x.X), np.concatenate(duals) if duals else np.zeros(0)


def dual_bound(
    cost: NDArray, upper: NDArray, rows: NDArray, right: NDArray, multipliers: NDArray
) -> float:
    """A bound on cost @ x over all x with rows @ x <= right, 0 <= x <= upper, rounding included.

    Weak duality from any multipliers, whatever solver and tolerance they come from: for y >= 0,
    cost @ x <= y @ right + sum_j upper_j max(0, cost_j - (y @ rows)_j). A sum of n products, in
    whatever order, is off by at most n + 1 round-offs of the sum of their sizes (Higham, Accuracy
    and Stability of Numerical Algorithms, section 3.1); four times that is added.
    """
    active = np.nonzero(multipliers > 0)[0]
    y, rows, right = multipliers[active], rows[active], right[active]
    reduced = np.maximum(cost - y @ rows, 0.0)
    value = float(y @ right + reduced @ upper)
    size = float(y @ np.abs(right) + (y @ np.abs(rows)) @ upper + np.abs(cost) @ upper)
    return value + 4 * (len(active) + len(cost) + 4) * UNIT_ROUNDOFF * size


class CutProgram:
    """maximise cost @ x subject to 0 <= x <= upper and the rows added so far.

    solver : auto (Gurobi, or HiGHS if Gurobi is not available), gurobi or highs. Raises ValueError
    for another name and SolverUnavailable if gurobi was asked for and is not available.
    """

    def __init__(
        self, cost: NDArray, upper: NDArray, solver: str = "auto", threads: int = 1
    ) -> None:
        checks.one_of(SOLVERS, solver=solver)
        self.cost, self.upper = np.array(cost, dtype=np.float64), np.array(upper, dtype=np.float64)
        self.wanted, self.threads = solver, threads
        self.rows = np.zeros((0, len(self.cost)))
        self.right = np.zeros(0)
        self.outwards = np.zeros(0)
        self.fixed = np.zeros(0, dtype=bool)
        self.idle = np.zeros(0, dtype=np.int64)
        self.names: list[object] = []
        self.cuts = 0
        self._build()

    def _build(self) -> None:
        for backend in {"auto": (_Gurobi, _Highs), "gurobi": (_Gurobi,), "highs": (_Highs,)}[
            self.wanted
        ]:
            try:
                self.backend = backend(self.cost, self.upper, self.threads)
                break
            except SolverUnavailable:
                if self.wanted == "gurobi":
                    raise
        if len(self.rows):
            self.backend.add_rows(self.rows, self.right)

    @property
    def solver(self) -> str:
        return self.backend.name

    @property
    def version(self) -> str:
        return self.backend.version

    def set_cost(self, cost: NDArray) -> None:
        self.cost = np.array(cost, dtype=np.float64)
        self.backend.set_cost(self.cost)

    def fix(self, row: NDArray, right: float, *, outwards: float = 0.0) -> None:
        """Add one row @ x <= right that is never dropped; `outwards` as in `add`."""
        self._append(row[None, :], np.array([float(right)]), outwards, [None], fixed=True)

    def add(self, names: list, rows: NDArray, *, outwards: float = 0.0) -> int:
        """Add the rows @ x <= 1 whose name is not in the program yet; return how many are new.

        outwards : how far above 1 a row may be, because of rounding, at an x that is feasible in
        exact arithmetic. The search ignores it, `upper_bound` does not.

        A named row that is found violated again is so within the solver's tolerance only: adding it
        once more would change nothing.
        """
        known = set(self.names)
        new = [k for k, name in enumerate(names) if name not in known]
        if new:
            right = np.ones(len(new))
            self._append(rows[new], right, outwards, [names[k] for k in new], fixed=False)
            self.cuts += len(new)
        return len(new)

    def _append(
        self, rows: NDArray, right: NDArray, outwards: float, names: list, *, fixed: bool
    ) -> None:
        self.rows = np.vstack([self.rows, rows])
        self.right = np.concatenate([self.right, right])
        self.outwards = np.concatenate([self.outwards, np.full(len(rows), outwards)])
        self.fixed = np.concatenate([self.fixed, np.full(len(rows), fixed)])
        self.idle = np.concatenate([self.idle, np.zeros(len(rows), dtype=np.int64)])
        self.names += names
        if len(self.rows) > ROW_LIMIT:
            self._drop_idle_rows()
        else:
            self.backend.add_rows(rows, right)

    def solve(self) -> NDArray[np.float64]:
        """The optimal x; with `auto`, falls back on HiGHS if the solver gives up."""
        try:
            x, self.duals = self.backend.solve()
        except SolverUnavailable:
            if self.wanted == "gurobi":
                raise
            self.wanted = "highs"
            self._build()
            x, self.duals = self.backend.solve()
        slack = self.right - self.rows @ x
        self.idle = np.where(slack > 1e-7, self.idle + 1, 0)
        return np.clip(x, 0, self.upper)

    def upper_bound(self) -> float:
        """A bound on cost @ x over all x that are feasible in exact arithmetic (`dual_bound`)."""
        return dual_bound(self.cost, self.upper, self.rows, self.right + self.outwards, self.duals)

    def _drop_idle_rows(self) -> None:
        order = np.lexsort((np.arange(len(self.rows)), self.idle))
        keep = np.zeros(len(self.rows), dtype=bool)
        keep[order[: ROW_LIMIT // 2]] = True
        keep |= self.fixed
        self.rows, self.right = self.rows[keep], self.right[keep]
        self.outwards = self.outwards[keep]
        self.fixed, self.idle = self.fixed[keep], self.idle[keep]
        self.names = [name for name, kept in zip(self.names, keep, strict=True) if kept]
        self._build()
