"""The search from the inside: the same optimum as by HiGHS, within its gap."""

import numpy as np
import pytest
from scipy.optimize import linprog

from private_ensembles.papers.darrm.mathematics import interior_search, optimize
from private_ensembles.papers.darrm.mathematics.interior_search import GAP
from private_ensembles.papers.darrm.mathematics.objective import (
    LinearObjective,
    coefficients,
    parse_prior,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.papers.darrm.mathematics.violations import Cuts
from tests.papers.lanes import slow_but


@pytest.mark.slow
def test_many_teachers_are_searched_from_the_inside():
    solution = optimize_gamma(301, 2, 0.5, 1e-5, prior="common:0.5,1")
    assert solution.certificate.holds
    assert solution.utility_upper_bound - solution.utility <= 2 * GAP * solution.utility
    assert solution.solver["name"] == "interior"


def test_steps_go_on_after_a_point_that_violates_nothing_far_from_the_optimum():
    """One such point among the first steps, and the gap would stay at 3e-3."""
    solution = optimize_gamma(203, 1, 1.0, 1e-3)
    assert solution.certificate.holds
    assert solution.utility_upper_bound - solution.utility <= 2 * GAP * solution.utility


FILLED = ((31, 3, "uniform:0.95,1"), (101, 5, "uniform:0.5,1"))


@pytest.mark.parametrize(("K", "m", "prior"), slow_but(FILLED, FILLED[0]))
def test_what_the_utility_leaves_open_is_filled(monkeypatch, K, m, prior):
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    filled = optimize_gamma(K, m, 0.1, 1e-5, prior=prior)
    assert filled.certificate.holds
    assert filled.utility_upper_bound - filled.utility <= 2 * GAP * filled.utility
    assert filled.solver["name"] == "interior"
    vertex = optimize_gamma(K, m, 0.1, 1e-5, prior=prior, solver="highs")
    monkeypatch.setattr(interior_search.InteriorSearch, "_raise_sum", lambda one: None)
    unfilled = optimize_gamma(K, m, 0.1, 1e-5, prior=prior)
    assert np.mean(filled.gamma) > max(0.97 * np.mean(vertex.gamma), np.mean(unfilled.gamma))


def test_what_steps_from_the_boundary_do_not_solve_is_solved_from_the_middle():
    filled = optimize_gamma(301, 29, 0.1, 1e-5)
    assert filled.certificate.holds
    assert np.mean(filled.gamma) > 0.99  # 0.95, if steps end where rounding stops them


# Rounds, each one solution of the program, that the hardest points take at most; half as many again
# as when they were measured (docs/benchmarks/README.md).
HARDEST = (
    ((1001, 3, 3.0, 1e-3, "uniform:0.5,1"), 24),
    ((1001, 1, 1.0, 1e-3, "common:0.5,1"), 55),
    ((1001, 1, 3.0, 1e-3, "common:0.5,1"), 32),
    ((1001, 3, 3.0, 1e-3, "common:0.5,1"), 30),
    ((1001, 3, 0.1, 1e-3, "common:0.5,1"), 32),
    ((1001, 3, 1.0, 1e-5, "common:0.5,1"), 35),
    ((1001, 1, 0.01, 1e-5, "common:0.5,1"), 15),
)


@pytest.mark.slow
@pytest.mark.parametrize(("point", "rounds"), HARDEST)
def test_the_hardest_points_take_few_rounds(point, rounds):
    *numbers, prior = point
    solution = optimize_gamma(*numbers, prior=prior)
    assert solution.certificate.holds
    assert solution.solver["rounds"] <= rounds
    assert solution.utility_upper_bound - solution.utility <= 2 * GAP * solution.utility


@pytest.mark.parametrize("monotone", [True, False])
def test_the_bound_grants_what_the_objective_may_be_off_by(monotone):
    problem = PrivacyProblem(11, 3, 0.1, 1e-5, 3e-5)
    found = []
    for rounding in (0.0, 1e-3):
        goal = LinearObjective(coefficients(11, parse_prior("uniform:0.5,1")))
        goal.rounding = rounding
        search = interior_search.InteriorSearch(problem, goal, Cuts(problem), monotone=monotone)
        assert search.bound == search.upper_bound == goal.total + rounding
        search.smooth = np.zeros(goal.size)
        search._improve(interior_search.FIRST_TOLERANCE)
        found.append(search.bound)
    assert found[1] == pytest.approx(found[0] + 1e-3, abs=1e-12)


def program(seed, n=20, m=60):
    rng = np.random.default_rng(seed)
    return rng.random(n), rng.normal(size=(m, n)) + 0.1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_centre_is_within_the_gap_of_the_optimum(seed, tolerance):
    cost, rows = program(seed)
    optimum = -linprog(-cost, A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1)).fun
    found = interior_search.solve_to_interior(cost, rows, tolerance)
    assert found.gap <= tolerance
    assert cost @ found.x >= optimum * (1 - tolerance)
    assert (rows @ found.x).max() <= 1 + tolerance
    assert np.all((found.x > 0) & (found.x < 1))


@pytest.mark.parametrize("tolerance", [1e-1, 1e-8])
def test_multipliers_bound_the_optimum(tolerance):
    cost, rows = program(9)
    optimum = -linprog(-cost, A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1)).fun
    y = interior_search.solve_to_interior(cost, rows, tolerance).multipliers
    assert y.min() >= 0
    assert y.sum() + np.maximum(cost - y @ rows, 0).sum() >= optimum


def test_what_nothing_binds_ends_in_the_middle_of_the_optima():
    x = interior_search.solve_to_interior(np.array([1.0, 0.0]), np.array([[1.0, 1e-6]]), 1e-6).x
    assert x[0] > 1 - 1e-5
    assert 0.01 < x[1] < 0.99


def test_a_tolerance_beyond_rounding_ends_with_the_best_point():
    cost, rows = program(3)
    assert interior_search.solve_to_interior(cost, np.vstack([rows, rows]), 0.0).gap < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_where_rows_leave_little_room_few_steps_lead_from_a_point_that_keeps_them(
    monkeypatch, seed
):
    monkeypatch.setattr(interior_search, "MOST_STEPS", 30)
    cost, rows = program(seed)
    near = interior_search.solve_to_interior(cost, rows, 1e-6).x
    floor = (1 - 1e-7) * float(cost @ near)  # of the utility, while the sum is raised
    rows, right = np.vstack([-cost / floor, rows]), np.append(-1.0, np.ones(len(rows)))
    ones = np.ones(len(cost))
    optimum = -linprog(-ones, A_ub=rows, b_ub=right, bounds=(0, 1)).fun
    raised = interior_search.solve_to_interior(ones, rows, 1e-3, right, start=near)
    assert raised.gap <= 1e-3
    assert (rows @ raised.x - right).max() <= 2 * interior_search.VIOLATION
    assert optimum * (1 - 1e-3) <= ones @ raised.x <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_curvature_is_taken_off_and_the_multipliers_still_bound_the_program_without_it(weight):
    cost, rows = program(4)
    bend = np.diff(np.eye(len(cost)), 2, axis=0)
    optimum = -linprog(-cost, A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1)).fun
    straight = interior_search.solve_to_interior(cost, rows, 1e-8)
    found = interior_search.solve_to_interior(cost, rows, 1e-8, curvature=weight * bend.T @ bend)
    assert found.gap <= 1e-8

    def worth(x):
        return cost @ x - weight * np.sum((bend @ x) ** 2) / 2

    assert worth(found.x) > worth(straight.x)
    assert np.sum((bend @ found.x) ** 2) < np.sum((bend @ straight.x) ** 2)
    # A small step towards any other point of the program gains nothing.
    slope = cost - weight * bend.T @ (bend @ found.x)
    assert slope @ (straight.x - found.x) <= 1e-6
    y = found.multipliers
    assert y.sum() + np.maximum(cost - y @ rows, 0).sum() >= optimum
