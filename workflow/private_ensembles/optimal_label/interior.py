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
    where HiGHS ends otherwise.
    """
    import highspy  # late: a tenth of a second that tables of two classes do without

    model = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "solver": "ipm",
        "run_crossover": "off",
        "ipm_optimality_tolerance": 1e-9,
    }.items():
        model.setOptionValue(option, value)
    model.passModel(_model(program, highspy, least))
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        # Near a vertex the interior point's multipliers can be far off: go to the vertex.
        model.setOptionValue("run_crossover", "on")
        model.clearSolver()
        model.run()
    status = model.modelStatusToString(model.getModelStatus())
    if status != "Optimal":
        raise RuntimeError(f"HiGHS ended with status {status!r}")
    found = model.getSolution()
    values, duals = np.array(found.col_value), -np.array(found.row_dual)
    rows, size = program.rows, program.size
    duals[:rows] /= program.growth
    objective = program.weights
    if least is not None:
        shares = np.maximum(duals[-len(least) :], 0.0)
        if not shares.sum() > 0:  # any shares give a bound
            shares = np.ones(len(least))
        objective = np.bincount(least, shares / shares.sum(), size)
    return values[:size], duals[:rows], objective


def _model(program: Program, highspy, least: NDArray | None):
    """Rows, totals and, where the least of some p is maximised, t - p <= 0 for each of them.

    Rows are divided by e^epsilon, their largest entry. HiGHS' tolerances are absolute: without it
    an epsilon above 15 left bounds that were off by a few percent.
    """
    rows, totals = program.matrix() / program.growth, program.totals()
    cost, size = -program.weights, program.size
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
        cost = np.append(np.zeros(size), -1.0)
    matrix = sparse.vstack(blocks).tocsr()
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = cost
    model.col_lower_, model.col_upper_ = np.zeros(len(cost)), np.ones(len(cost))
    model.row_lower_, model.row_upper_ = np.concatenate(lower), np.concatenate(upper)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    return model
