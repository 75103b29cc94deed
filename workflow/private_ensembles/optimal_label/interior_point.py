"""HiGHS' interior point method on a program's rows: exact enough for some tens of thousand rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from private_ensembles.optimal_label.program import Program


def solve(
    program: Program, least: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return about the best p (G,), multipliers of the rows (R,), and the objective (G,).

    least: tie groups whose smallest probability is maximised in place of the program's weights; the
    objective returned is then the mean of these groups that no mechanism can make larger. Neither
    has to be exact: `certificate` repairs the one and bounds with the other. Raises RuntimeError
    if HiGHS ends otherwise.
    """
    rows, size = program.rows, program.size
    weights, blocks, lower, upper = _program(program, least)
    values, duals = best_point(weights, sparse.vstack(blocks), lower, upper)
    duals[:rows] /= program.growth
    objective = program.weights
    if least is not None:
        shares = np.maximum(duals[-len(least) :], 0.0)
        if not shares.sum() > 0:  # any shares give a bound
            shares = np.ones(len(least))
        objective = np.bincount(least, shares / shares.sum(), size)
    return values[:size], duals[:rows], objective


def best_point(
    weights: NDArray, matrix: sparse.spmatrix, lower: NDArray, upper: NDArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return about the x in [0, 1] that maximises weights @ x, and multipliers of the rows.

    Rows are lower <= matrix @ x <= upper, of which multipliers are >= 0 where the upper end binds.
    Raises RuntimeError if HiGHS finds no optimum.
    """
    import highspy  # late: a tenth of a second that tables of two classes do without

    matrix = matrix.tocsr()
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = -weights
    program.col_lower_ = np.zeros(len(weights))
    program.col_upper_ = np.ones(len(weights))
    program.row_lower_, program.row_upper_ = lower, upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    model = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "solver": "ipm",
        "run_crossover": "off",
        "ipm_optimality_tolerance": 1e-9,
    }.items():
        model.setOptionValue(option, value)
    model.passModel(program)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        # Near a vertex the interior point's multipliers can be far off: go to the vertex.
        model.setOptionValue("run_crossover", "on")
        model.clearSolver()
        model.run()
    status = model.modelStatusToString(model.getModelStatus())
    if status != "Optimal":
        raise RuntimeError(f"HiGHS ended with status {status!r}")
    solution = model.getSolution()
    return np.array(solution.col_value), -np.array(solution.row_dual)


def _program(program: Program, least: NDArray | None):
    """Weights and rows, totals and, if the least of some p is maximised, t - p <= 0 for each.

    Rows are divided by e^epsilon, their largest entry. HiGHS' tolerances are absolute: without it
    an epsilon above 15 left bounds that were off by a few percent.
    """
    rows, totals = program.matrix() / program.growth, program.totals()
    weights, size = program.weights, program.size
    blocks = [rows, totals]
    lower = [np.full(rows.shape[0], -np.inf), np.ones(totals.shape[0])]
    upper = [np.full(rows.shape[0], program.delta / program.growth), np.ones(totals.shape[0])]
    if least is not None:
        chosen = np.ones(len(least)), (np.arange(len(least)), least)
        blocks = [
            sparse.hstack([block, sparse.csr_matrix((block.shape[0], 1))]) for block in blocks
        ]
        floor = -sparse.csr_matrix(chosen, (len(least), size))
        blocks.append(sparse.hstack([floor, np.ones((len(least), 1))]))
        lower.append(np.full(len(least), -np.inf))
        upper.append(np.zeros(len(least)))
        weights = np.append(np.zeros(size), 1.0)
    return weights, blocks, np.concatenate(lower), np.concatenate(upper)
