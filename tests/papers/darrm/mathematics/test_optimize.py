"""The optimised gamma: what it is at known points, what it is said to be, and by which solver."""

import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics import linear_program
from private_ensembles.papers.darrm.mathematics.cutting_planes import FINE_GAP
from private_ensembles.papers.darrm.mathematics.error import expected_error
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling
from private_ensembles.papers.darrm.mathematics.linear_program import (
    Gurobi,
    Highs,
    Infeasible,
    LinearProgram,
    SolverUnavailable,
    dual_bound,
    solver_named,
)
from private_ensembles.papers.darrm.mathematics.objective import coefficients, parse_prior
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma


def test_full_program_of_the_paper_is_reached_at_eleven_teachers():
    solution = optimize_gamma(11, 3, 0.1, 1e-5)
    assert solution.utility == pytest.approx(0.84880602, abs=1e-7)
    assert solution.certificate.holds
    c = coefficients(11, parse_prior("uniform:0.5,1"))
    assert c @ solution.gamma[6:] == pytest.approx(solution.utility, abs=1e-15)


def test_the_program_s_utility_is_not_that_of_definition_2_4():
    """Eq. 201 has the utility of the program, up to what gamma cannot change (docs/darrm.md)."""
    gamma = optimize_gamma(11, 3, 0.1, 1e-5).gamma
    error, for_all_p = (
        expected_error(gamma, prior) for prior in ("uniform:0.5,1", "absolute-uniform:0,1")
    )
    c = coefficients(11, parse_prior("uniform:0.5,1"))
    eq_201 = -0.5 * (c @ gamma[6:])
    assert error == pytest.approx(c.sum() / 2 + eq_201, abs=1e-12)
    assert -2 * eq_201 == pytest.approx(0.848806, abs=5e-7)
    assert 1 - error == pytest.approx(0.959, abs=5e-4)
    assert 1 - for_all_p == pytest.approx(0.962, abs=5e-4)


@pytest.mark.parametrize("solver", ["highs", "gurobi"])
def test_at_one_teachers_budget_the_optimum_is_subsampling(solver):
    if solver == "gurobi":
        pytest.importorskip("gurobipy")
    solution = optimize_gamma(11, 1, 0.1, 1e-5, solver=solver)
    np.testing.assert_allclose(solution.gamma, gamma_subsampling(11, 1), atol=1e-6)


@pytest.mark.parametrize(("K", "m", "Delta"), [(11, 3, 1e-5), (35, 6.4521, 1e-5), (51, 10, 0.0)])
def test_solution_is_never_worse_than_the_best_monotone_one(K, m, Delta):
    general = optimize_gamma(K, m, 0.1, Delta, solver="highs")
    monotone = optimize_gamma(K, m, 0.1, Delta, solver="highs", monotone=True)
    assert monotone.monotone
    assert monotone.certificate.method == "three_corners"
    assert general.utility >= monotone.utility
    assert general.utility <= general.utility_upper_bound
    assert general.scaling_loss < 1e-5


def test_both_solvers_find_the_same_utility():
    pytest.importorskip("gurobipy")
    names = {}
    for solver in ("gurobi", "highs"):
        solution = optimize_gamma(21, 4, 0.2, 1e-4, solver=solver)
        names[solution.solver["name"]] = solution.utility
    if set(names) != {"gurobi", "highs"}:
        pytest.skip("Gurobi has no licence here")
    assert names["gurobi"] == pytest.approx(names["highs"], rel=1e-8)


@pytest.mark.parametrize("prior", ["uniform:0.7,1", "common:0.5,1"])
def test_other_priors_are_optimised_for_themselves(prior):
    c = coefficients(11, parse_prior(prior))
    own = optimize_gamma(11, 3, 0.1, prior=prior, solver="highs")
    other = optimize_gamma(11, 3, 0.1, solver="highs")
    assert c @ own.gamma[6:] >= c @ other.gamma[6:] - 1e-9


@pytest.mark.parametrize("Delta", [1e-17, 1e-9, 1e-5, 0.0123, 0.3])
def test_delta_may_fall_short_of_Delta_by_its_rounding(Delta):
    delta = 1 - (1 - Delta)
    solution = optimize_gamma(11, 1, 0.1, Delta, delta)
    assert solution.certificate.holds
    assert solution.problem.delta == delta  # the smaller allowance, not Delta
    with pytest.raises(ValueError, match="delta"):
        optimize_gamma(11, 1, 0.1, Delta + 1e-15, delta)


@pytest.mark.parametrize("prior", ["normal:0,1", "uniform:0.5", "uniform:1,0.5", "uniform:0,0.4"])
def test_unknown_priors_are_refused(prior):
    with pytest.raises(ValueError, match="prior"):
        optimize_gamma(11, 3, 0.1, prior=prior)


@pytest.mark.parametrize("K", [3, 11, 35])
def test_the_bound_on_every_utility_covers_that_of_the_majority_itself(K):
    """Where gamma = 1 is private: p_i uniform on [0.5, 1] makes two binomial tails at 3 / 4."""
    solution = optimize_gamma(K, K, 0.1, 1e-5)
    assert (solution.gamma == 1).all()
    pmf = [Fraction(math.comb(K, l) * 3**l, 4**K) for l in range(K + 1)]
    exact = sum(pmf[l] - pmf[K - l] for l in range((K + 1) // 2, K + 1))
    assert exact <= Fraction(solution.utility_upper_bound) <= exact + Fraction(1e-12)


@pytest.mark.parametrize("K", [35, 51, 101])
def test_a_small_allowance_is_optimised_up_to_the_gap(K):
    """Rows are then differences of nearly equal numbers, over an allowance as small as they are."""
    solution = optimize_gamma(K, 1, 0.01, 1e-3)
    assert solution.certificate.holds
    assert solution.utility_upper_bound - solution.utility <= FINE_GAP


def test_points_inside_are_taken_and_no_vertex(monkeypatch):
    """HiGHS' prices are too far off at first: a finer unit of costs mends that."""
    run, vertices = Highs._run, []

    def note(self, *program, vertex=False, **options):
        vertices.append(vertex)
        return run(self, *program, vertex=vertex, **options)

    monkeypatch.setattr(Highs, "_run", note)
    solution = optimize_gamma(101, 3, 1.0, 1e-5)
    assert solution.utility_upper_bound - solution.utility <= FINE_GAP
    assert len(vertices) > solution.solver["rounds"]  # one program was passed on again
    assert not any(vertices)


# Solvers ------------------------------------------------------------------------------------------


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


def test_the_bound_of_any_multipliers_is_rounded_outwards():
    """Weak duality in fractions of the program's own numbers."""
    source = np.random.default_rng(0)
    for m, n in ((1, 1), (2, 3), (40, 5)) * 5:
        rows, right = source.normal(size=(m, n)), source.normal(size=m)
        known = program(rows, right, source.normal(size=n), source.random(n))
        multipliers = np.maximum(source.normal(size=m), 0)
        y = [Fraction(value) for value in multipliers.tolist()]
        exact = sum(a * Fraction(b) for a, b in zip(y, right.tolist(), strict=True))
        for j in range(n):
            taken = sum(a * Fraction(b) for a, b in zip(y, rows[:, j].tolist(), strict=True))
            left = Fraction(float(known.cost[j])) - taken
            exact += Fraction(float(known.upper[j])) * max(left, Fraction(0))
        bound = Fraction(dual_bound(known, multipliers))
        assert exact <= bound <= exact + Fraction(1, 10**11)


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


@pytest.mark.parametrize("largest", [1e10, 1e12, 1e15, 1e19])
def test_answers_are_within_their_bounds_whatever_the_status_says(solver, largest):
    """HiGHS 1.15 calls x = (-1.7, 1e12) optimal, and Gurobi's presolve finds no optimum at all."""
    known = program([[1.0, 0.0]], [0.5], cost=(1.0, 1.0), upper=(1.0, largest))
    x, multipliers = solver.solve(known, 1e-9)
    assert (x >= 0).all()
    assert (x <= known.upper).all()
    assert known.cost @ x == pytest.approx(largest, rel=1e-7)
    assert dual_bound(known, multipliers) >= largest


def test_highs_itself_leaves_the_bounds():
    """Once it does no longer, the test above says nothing about HiGHS."""
    model = Highs()
    known = program([[1.0, 0.0]], [0.5], cost=(1.0, 1.0), upper=(1.0, 1e12))
    model.solve(known, 1e-9)
    assert min(model.model.getSolution().col_value) < -0.5


def test_gurobi_s_presolve_is_off():
    """Without our settings it calls a bounded program infeasible or unbounded, from 1e11 on."""
    try:
        gurobi = Gurobi()
    except SolverUnavailable as reason:
        pytest.skip(str(reason))
    usual, statuses = gurobi.api.Env(params={"OutputFlag": 0}), []
    for environment in (gurobi.environment, usual):
        with gurobi.api.Model(env=environment) as model:
            x = model.addMVar(2, lb=0.0, ub=np.array([1.0, 1e12]))
            model.setObjective(np.ones(2) @ x, gurobi.api.GRB.MAXIMIZE)
            model.addConstr(np.array([[1.0, 0.0]]) @ x <= np.array([0.5]))
            model.optimize()
            statuses.append(model.Status)
    assert statuses == [gurobi.api.GRB.OPTIMAL, gurobi.api.GRB.INF_OR_UNBD]


def test_an_upper_bound_that_is_none_to_the_solver_gives_no_false_optimum(solver):
    """Both take 1e20 for infinity; Gurobi then called optimal what was 50 % off its bound."""
    known = program([[1.0]], [2e20], cost=(1.0,), upper=(1e20,))
    try:
        x, multipliers = solver.solve(known, 1e-9)
    except Infeasible:
        return
    assert known.cost @ x >= (1 - 1e-6) * dual_bound(known, multipliers)


@pytest.mark.parametrize(
    ("x", "prices"),
    [
        ([math.nan, 0.0], [0.0]),
        ([0.0, math.inf], [0.0]),
        ([0.0, 0.0], [math.nan]),
        ([], []),
        ([0.0], [0.0]),
        ([0.0, 0.0], []),
        ([0.0, 0.0], [0.0, 0.0]),
        ([0.6, 0.6], [1.0]),  # violates the row
        (None, None),
    ],
)
def test_an_answer_that_is_not_finite_or_not_whole_is_none(x, prices):
    known = program([[1.0, 1.0]], [1.0])
    assert linear_program._judge(known, [0.5, 0.5], [1.0]).gap < math.inf
    assert linear_program._judge(known, x, prices).gap == math.inf


def test_highs_refuses_an_option_out_loud():
    """It says so by a status alone and goes on with the old value, here a tolerance of 1e-7."""
    solver = Highs()
    with pytest.raises(ValueError, match="HiGHS refuses ipm_optimality_tolerance = 1e-13"):
        solver.solve(program([[1.0, 1.0]], [1.0]), 1e-13)
    solver._set_option("primal_feasibility_tolerance", linear_program.SOLVER_TOLERANCE)
    with pytest.raises(ValueError, match="primal_feasibility_tolerance = 9e-11"):
        solver._set_option("primal_feasibility_tolerance", 9e-11)


def test_a_program_that_presolve_calls_infeasible_is_solved_without_it(monkeypatch):
    """x = 0 is a solution. HiGHS' presolve is wrong here at its own tolerance of 1e-7."""
    monkeypatch.setattr(linear_program, "SOLVER_TOLERANCE", 1e-7)
    weights = 10.0 ** -np.linspace(0, 8.5, 38)
    values = weights * np.exp(np.random.default_rng(0).uniform(-3, 3, 38))
    known, statuses = program(weights[None], [1e-6], values, np.ones(38)), []
    run = Highs._run

    def note(self, *arguments, **options):
        point = run(self, *arguments, **options)
        statuses.append(self.model.modelStatusToString(self.model.getModelStatus()))
        return point

    monkeypatch.setattr(Highs, "_run", note)
    x, multipliers = Highs(vertex=True).solve(known, 1e-6)
    assert statuses == ["Infeasible", "Optimal"]
    assert known.cost @ x == pytest.approx(dual_bound(known, multipliers), rel=1e-6)


def test_a_size_that_the_licence_refuses_is_said():
    try:
        solver = Gurobi()
        assert solver.solve(program(np.ones((2500, 2)), np.ones(2500)), 1e-9)
    except SolverUnavailable as reason:
        assert str(reason).startswith(("Gurobi: ", "gurobipy is not installed"))
