"""The search from the inside: the same optimum as by HiGHS, within its gap."""

import numpy as np
import pytest

from private_ensembles.darrm import central, certificate, optimize, violations
from private_ensembles.darrm.central import GAP
from private_ensembles.darrm.certificate import certify
from private_ensembles.darrm.cuts import Cuts
from private_ensembles.darrm.objective import LinearObjective
from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.darrm.prior import objective, parse_prior
from private_ensembles.darrm.privacy_cost import PrivacyProblem


@pytest.mark.parametrize("prior", ["uniform:0.5,1", "common:0.5,1"])
@pytest.mark.parametrize(
    ("K", "m", "epsilon", "Delta"),
    [(11, 3, 0.1, 1e-5), (21, 1, 0.5, 0.0), (35, 1.5, 1.0, 1e-3), (51, 5, 0.05, 1e-5)],
)
def test_both_searches_agree(monkeypatch, K, m, epsilon, Delta, prior):
    vertex = optimize_gamma(K, m, epsilon, Delta, prior=prior, solver="highs")
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    inside = optimize_gamma(K, m, epsilon, Delta, prior=prior)
    assert inside.utility == pytest.approx(vertex.utility, rel=3 * GAP)
    assert inside.utility <= vertex.utility_upper_bound
    assert vertex.utility <= inside.utility_upper_bound
    assert inside.utility_upper_bound - inside.utility <= 2 * GAP * inside.utility
    assert certify(inside.gamma, m, epsilon, Delta).holds


def test_what_the_last_look_proved_is_the_certificate(monkeypatch):
    """No second look: the certificate of a fresh one agrees with it."""
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    point = (35, 1.5, 1.0, 1e-3)

    def twice(*arguments, **named):
        raise AssertionError("a second look at all corners")

    with monkeypatch.context() as without:
        without.setattr(certificate, "eight_corner_worst_case", twice)
        inside = optimize_gamma(*point, prior="common:0.5,1")
    assert inside.certificate.method == "eight_corners"
    fresh = certify(inside.gamma, *point[1:])
    assert fresh.method == "eight_corners"
    assert inside.certificate.worst_cost == pytest.approx(fresh.worst_cost, rel=1e-11)
    assert inside.certificate.worst_cost >= fresh.attained_cost


def test_many_teachers_are_searched_from_the_inside():
    solution = optimize_gamma(301, 2, 0.5, 1e-5, prior="common:0.5,1")
    assert solution.certificate.holds
    assert solution.utility_upper_bound - solution.utility <= 2 * GAP * solution.utility
    assert solution.solver["name"] == "interior"


def test_what_the_utility_leaves_open_is_filled(monkeypatch):
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    filled = optimize_gamma(101, 5, 0.1, 1e-5)
    vertex = optimize_gamma(101, 5, 0.1, 1e-5, solver="highs")
    assert np.mean(filled.gamma) > 0.97 * np.mean(vertex.gamma)


@pytest.mark.parametrize("point", [(101, 3, 3.0, 1e-3), (101, 2, 2.0, 1e-3)])
def test_filling_asks_about_all_corners_twice_at_most(monkeypatch, point):
    """These looks took four fifths of the time at K = 1001, for nothing that the utility weighs."""
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    looks, while_filling = [], []

    def looked(*arguments):
        looks.append(arguments)
        return exact_corners(*arguments)

    def filled(search):
        before, unfilled = len(looks), search.x.sum()
        fill(search)
        while_filling.append(len(looks) - before)
        assert search.x.sum() > unfilled

    exact_corners, fill = violations.exact_corners, central.CentralSearch._fill
    monkeypatch.setattr(violations, "exact_corners", looked)
    monkeypatch.setattr(central.CentralSearch, "_fill", filled)
    filled_gamma = optimize_gamma(*point).gamma
    monkeypatch.undo()
    vertex = optimize_gamma(*point, solver="highs").gamma
    assert 1 <= while_filling[-1] <= 2
    assert np.mean(filled_gamma) > 0.99 * np.mean(vertex)


@pytest.mark.parametrize("point", [(51, 3, 3.0, 1e-3), (101, 3, 3.0, 1e-3), (101, 2, 2.0, 1e-3)])
def test_the_gap_is_small_beside_the_errors_where_nearly_every_label_is_right(monkeypatch, point):
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    solution = optimize_gamma(*point)
    total = objective(point[0], parse_prior("uniform:0.5,1")).sum()
    enough = max(10 * GAP * (total - solution.utility), central.LEAST_GAP)
    # What filling gives away beside the gap itself, and what a violation overlooked does.
    assert solution.utility_upper_bound - solution.utility <= 1.8 * enough


def test_no_noise_is_needed_where_the_majority_is_private_already(monkeypatch):
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    solution = optimize_gamma(11, 7, 0.1, 1e-5)
    assert (solution.gamma == 1).all()
    assert solution.utility <= solution.utility_upper_bound <= solution.utility * (1 + 1e-12)


def test_monotone_gamma_is_searched_among_the_monotone(monkeypatch):
    vertex = optimize_gamma(35, 3, 0.1, 1e-5, solver="highs", monotone=True)
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    inside = optimize_gamma(35, 3, 0.1, 1e-5, monotone=True)
    assert inside.monotone
    assert inside.certificate.method == "three_corners"
    assert inside.utility == pytest.approx(vertex.utility, rel=3 * GAP)


def test_rounds_that_run_out_leave_a_certified_gamma_and_an_honest_gap(monkeypatch):
    vertex = optimize_gamma(35, 1.5, 1.0, 1e-3, prior="common:0.5,1", solver="highs")
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    monkeypatch.setattr(central, "MAX_ROUNDS", 3)
    inside = optimize_gamma(35, 1.5, 1.0, 1e-3, prior="common:0.5,1")
    assert inside.certificate.holds
    assert inside.utility <= vertex.utility_upper_bound
    assert vertex.utility <= inside.utility_upper_bound
    assert inside.utility_upper_bound - inside.utility > 2 * GAP * inside.utility


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
        goal = LinearObjective(objective(11, parse_prior("uniform:0.5,1")))
        goal.rounding = rounding
        search = central.CentralSearch(problem, goal, Cuts(problem), monotone=monotone)
        assert search.bound == search.upper_bound == goal.total + rounding
        search.smooth = np.zeros(goal.size)
        search._improve(central.FIRST_TOLERANCE)
        found.append(search.bound)
    assert found[1] == pytest.approx(found[0] + 1e-3, abs=1e-12)
