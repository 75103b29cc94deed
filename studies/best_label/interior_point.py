"""HiGHS' interior point method on a program's rows: exact enough for some tens of thousand rows."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from studies.best_label.program import Program


def solve(program: Program) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return about the best p, (groups,), within 0 and 1, and multipliers of the rows, (rows,).

    Neither has to be exact: `certificate` repairs the one and bounds with the other. Rows are
    divided by e^epsilon, their largest entry. HiGHS' tolerances are absolute: without it an epsilon
    above 15 left bounds that were off by a few percent.

    Raises:
        RuntimeError: HiGHS finds no optimum.
    """
    rows, totals = program.matrix() / program.growth, program.totals()
    matrix = sparse.vstack([rows, totals]).tocsr()
    ones = np.ones(totals.shape[0])
    linear_program = highspy.HighsLp()
    linear_program.num_row_, linear_program.num_col_ = matrix.shape
    linear_program.col_cost_ = -program.weights
    linear_program.col_lower_ = np.zeros(program.size)
    linear_program.col_upper_ = np.ones(program.size)
    linear_program.row_lower_ = np.concatenate([np.full(program.row_count, -np.inf), ones])
    linear_program.row_upper_ = np.concatenate(
        [np.full(program.row_count, program.delta / program.growth), ones]
    )
    linear_program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    linear_program.a_matrix_.start_, linear_program.a_matrix_.index_ = matrix.indptr, matrix.indices
    linear_program.a_matrix_.value_ = matrix.data
    model = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "solver": "ipm",
        "run_crossover": "off",
        "ipm_optimality_tolerance": 1e-9,
    }.items():
        model.setOptionValue(option, value)
    model.passModel(linear_program)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        # Near a vertex the interior point's multipliers can be far off: go to the vertex. Presolve
        # may call a program infeasible that is not.
        model.setOptionValue("run_crossover", "on")
        model.setOptionValue("presolve", "off")
        model.clearSolver()
        model.run()
    status = model.modelStatusToString(model.getModelStatus())
    if status != "Optimal":
        raise RuntimeError(f"HiGHS ended with status {status!r}")
    solution = model.getSolution()
    multipliers = -np.array(solution.row_dual)[: program.row_count] / program.growth
    # What HiGHS calls optimal may have p = -7e-8.
    p = np.clip(solution.col_value, 0.0, 1.0)
    if not (np.isfinite(p).all() and np.isfinite(multipliers).all()):
        raise RuntimeError("HiGHS called an answer optimal that is not finite")
    return p, multipliers
