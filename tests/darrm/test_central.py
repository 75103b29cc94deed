"""The search from the inside: the same optimum as by HiGHS, within its gap."""

import numpy as np
import pytest

from private_ensembles.darrm import central, optimize
from private_ensembles.darrm.central import GAP
from private_ensembles.darrm.cuts import Cuts
from private_ensembles.darrm.objective import LinearObjective
from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.darrm.prior import objective, parse_prior
from private_ensembles.darrm.privacy_cost import PrivacyProblem


def test_many_teachers_are_searched_from_the_inside():
    solution = optimize_gamma(301, 2, 0.5, 1e-5, prior="common:0.5,1")
    assert solution.certificate.holds
    assert solution.utility_upper_bound - solution.utility <= 2 * GAP * solution.utility
    assert solution.solver["name"] == "interior"


def test_what_the_utility_leaves_open_is_filled(monkeypatch):
    monkeypatch.setattr(optimize, "MANY_TEACHERS", 10)
    filled = optimize_gamma(101, 5, 0.1, 1e-5)
    vertex = optimize_gamma(101, 5, 0.1, 1e-5, solver="highs")
    monkeypatch.setattr(central.CentralSearch, "_fill", lambda one: None)
    unfilled = optimize_gamma(101, 5, 0.1, 1e-5)
    assert np.mean(filled.gamma) > max(0.97 * np.mean(vertex.gamma), np.mean(unfilled.gamma))


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
