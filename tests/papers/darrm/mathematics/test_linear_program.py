"""Both solvers: near the optimum, with multipliers that prove it, or a plain error."""

import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics.linear_program import (
    Gurobi,
    Highs,
    Infeasible,
    LinearProgram,
    SolverUnavailable,
    dual_bound,
    solver_named,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma


@pytest.fixture(params=[Highs, Gurobi])
def solver(request):
    try:
        return request.param(threads=1)
    except SolverUnavailable as reason:
        pytest.skip(str(reason))


def program(rows, right, cost=(1.0, 2.0), upper=(1.0, 1.0)):
    cost, upper, rows, right = (np.array(part, float) for part in (cost, upper, rows, right))
    return LinearProgram(cost, upper, rows, right)


def test_auto_is_highs():
    assert isinstance(solver_named("auto"), Highs)
    assert optimize_gamma(5, 2, 0.1, 1e-5).solver["name"] == "highs"


def test_unknown_solvers_are_refused():
    with pytest.raises(ValueError, match="solver = 'cplex': must be one of auto, highs, gurobi"):
        optimize_gamma(11, 3, 0.1, solver="cplex")


def test_a_solver_comes_near_the_optimum_and_duality_bounds_it(solver):
    known = program([[1.0, 1.0], [0.0, 1.0]], [1.0, 0.25])  # at (0.75, 0.25)
    x, multipliers = solver.solve(known, 1e-9)
    np.testing.assert_allclose(x, [0.75, 0.25], atol=1e-6)
    assert (multipliers >= 0).all()
    assert 1.25 <= dual_bound(known, multipliers) <= 1.25 + 1e-6


def test_any_multipliers_give_a_bound():
    known = program([[1.0, 1.0], [0.0, 1.0]], [1.0, 0.25])
    for multipliers in np.random.default_rng(0).uniform(0, 3, (50, 2)):
        assert dual_bound(known, multipliers) >= 1.25


def test_among_many_optima_a_solver_stays_inside(solver):
    """Not at one of the vertices (1, 0) and (0, 1)."""
    x, _ = solver.solve(program([[1.0, 1.0]], [1.0], cost=(1.0, 1.0)), 1e-6)
    np.testing.assert_allclose(x, [0.5, 0.5], atol=0.1)


def test_at_a_vertex_few_rows_have_a_price():
    rng = np.random.default_rng(0)
    known = program(rng.uniform(0.5, 1, (40, 5)), np.ones(40), np.ones(5), np.ones(5))
    _, multipliers = Highs(vertex=True).solve(known, 1e-9)
    assert np.count_nonzero(multipliers) <= 5


def test_rows_without_a_point_are_infeasible(solver):
    with pytest.raises(Infeasible):
        solver.solve(program([[1.0, 1.0], [-1.0, -1.0]], [1.0, -1.5]), 1e-9)


def test_a_size_that_the_licence_refuses_is_said():
    try:
        solver = Gurobi()
        assert solver.solve(program(np.ones((2500, 2)), np.ones(2500)), 1e-9)
    except SolverUnavailable as reason:
        assert str(reason).startswith(("Gurobi: ", "gurobipy is not installed"))
