"""Steps of the first-order method: to the optimum, and to the nearest private point."""

import numpy as np
import pytest
from scipy.optimize import minimize

from private_ensembles.optimal_label import first_order, interior_point
from private_ensembles.optimal_label.objective import right_weights
from private_ensembles.optimal_label.program import Program


def program_of(K, C, accuracy=0.5, epsilon=0.5):
    program = Program(K, C, epsilon, 0.0)
    program.weights = right_weights(program.histograms, accuracy)
    return program


def uniform(program):
    return np.full(program.size, 1 / program.n_classes)


def test_steps_lead_to_what_a_factorisation_finds():
    program = program_of(9, 4)
    wanted, _, _ = interior_point.solve(program)
    point = uniform(program)
    at = first_order.start(program, point, first_order.least_weight(program, point))
    at = first_order.improve(program, at, 4000)
    assert at.steps == 4000
    best = program.weights @ wanted
    assert program.weights @ at.p == pytest.approx(best, abs=1e-4)
    assert best <= program.upper_bound(at.multipliers) <= best + 1e-3
    assert (program.matrix() @ at.p).max() < 1e-3


def test_steps_go_on_where_rows_were_added():
    program = program_of(9, 4)
    at = first_order.improve(program, first_order.start(program, uniform(program), 0.1), 200)
    bound = program.upper_bound(at.multipliers)
    assert program.add_violated(np.eye(program.size)[0] + uniform(program)) > 0
    assert program.upper_bound(program.extended(at.multipliers, at.singles)) == pytest.approx(bound)
    further = first_order.improve(program, at, 200)
    assert len(further.multipliers) == len(program.singles) > len(at.singles)
    assert (further.steps, further.singles) == (400, program.singles)


def test_the_nearest_private_point_is_the_nearest():
    """Against a general solver, in the metric of the steps."""
    program = program_of(4, 3)
    p = np.zeros(program.size)
    p[program.histograms.starts] = 1 / program.histograms.sizes[program.histograms.starts]
    matrix, totals = program.matrix(), program.totals()
    metric = np.maximum(np.asarray(abs(matrix).sum(axis=0)).ravel(), 1.0)
    found = first_order.nearest(program, p, 3000)
    wanted = minimize(
        lambda q: metric @ (q - p) ** 2,
        uniform(program),
        jac=lambda q: 2 * metric * (q - p),
        method="SLSQP",
        bounds=[(0, 1)] * program.size,
        constraints=[
            {"type": "ineq", "fun": lambda q: -(matrix @ q), "jac": lambda q: -matrix.toarray()},
            {"type": "eq", "fun": lambda q: totals @ q - 1, "jac": lambda q: totals.toarray()},
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert wanted.success
    np.testing.assert_allclose(found, wanted.x, atol=2e-3)


def test_projection_is_a_table_of_probabilities():
    program = program_of(6, 4)
    project = first_order._Projection(program)
    generator = np.random.default_rng(0)
    p, step = generator.normal(size=program.size), generator.uniform(0.1, 1, program.size)
    found = project(p, step)
    assert (found >= 0).all()
    np.testing.assert_allclose(program.totals() @ found, 1, rtol=1e-12)
    # Optimal: what was moved is the same multiple of step times size where something is left.
    pull = (p - found) / (step * program.histograms.sizes)
    for row in range(len(program.histograms.counts)):
        mine = program.histograms.owners == row
        left = found[mine] > 0
        np.testing.assert_allclose(pull[mine][left], pull[mine][left][0], rtol=1e-9, atol=1e-12)
        assert (pull[mine][~left] <= pull[mine][left][0] + 1e-12).all()
