"""The search from the inside: the same optimum as by vertices, within its gap."""

import numpy as np
import pytest

from private_ensembles.darrm import central, certificate, optimize
from private_ensembles.darrm.central import GAP
from private_ensembles.darrm.certificate import certify
from private_ensembles.darrm.optimize import optimize_gamma


@pytest.mark.parametrize("prior", ["uniform:0.5,1", "common:0.5,1"])
@pytest.mark.parametrize(
    ("K", "m", "epsilon", "Delta"),
    [(11, 3, 0.1, 1e-5), (21, 1, 0.5, 0.0), (35, 1.5, 1.0, 1e-3), (51, 5, 0.05, 1e-5)],
)
def test_the_inside_and_the_vertices_agree(monkeypatch, K, m, epsilon, Delta, prior):
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
# as when they were measured (docs/benchmarks/gamma_points.md).
HARDEST = (
    ((1001, 1, 1.0, 1e-3), 55),
    ((1001, 1, 3.0, 1e-3), 32),
    ((1001, 3, 3.0, 1e-3), 30),
    ((1001, 3, 0.1, 1e-3), 32),
    ((1001, 3, 1.0, 1e-5), 35),
    ((1001, 1, 0.01, 1e-5), 15),
)


@pytest.mark.slow
@pytest.mark.parametrize(("point", "rounds"), HARDEST)
def test_the_hardest_points_take_few_rounds(point, rounds):
    K, m, epsilon, Delta = point
    solution = optimize_gamma(K, m, epsilon, Delta, prior="common:0.5,1")
    assert solution.certificate.holds
    assert solution.solver["rounds"] <= rounds
    assert solution.utility_upper_bound - solution.utility <= 2 * GAP * solution.utility
