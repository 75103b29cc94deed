"""Certificates against exact 40-digit enumeration of all eight corners."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.darrm.certificate import certify, certify_problem, scale_to_allowance
from private_ensembles.darrm.gamma import gamma_subsampling
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.worst_case import (
    eight_corner_worst_case,
    series_worst_case,
    three_corner_worst_case,
)

from . import oracle


@st.composite
def problems(draw, largest=5):
    K = draw(st.sampled_from([k for k in (1, 3, 5, 7) if k <= largest]))
    m = draw(st.floats(1, K))
    epsilon = draw(st.floats(1e-3, 3))
    Delta = draw(st.sampled_from([0.0, 1e-9, 1e-5, 1e-3, 0.02, 0.05]))
    delta = min(0.9, Delta * draw(st.floats(1, 5)))
    half = draw(st.lists(st.floats(0, 1), min_size=(K + 1) // 2, max_size=(K + 1) // 2))
    return np.array(half[::-1] + half), m, epsilon, Delta, delta


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems())
def test_certificate_bounds_the_exact_worst_cost_and_no_more(case):
    gamma, m, epsilon, Delta, delta = case
    exact = oracle.worst_cost(gamma, m, epsilon, Delta)
    certificate = certify(gamma, m, epsilon, Delta, delta)
    scale = 1 + float(np.exp(m * epsilon))
    assert certificate.worst_cost >= exact
    assert certificate.worst_cost <= exact + 1e-12 * scale
    assert certificate.allowance <= oracle.allowance(m, epsilon, delta)
    assert certificate.holds == (certificate.worst_cost <= certificate.allowance)
    assert abs(certificate.attained_cost - exact) <= 1e-12 * scale


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems(largest=7), st.integers(1, 5))
def test_looser_bounds_are_never_below_the_exact_one(case, order):
    gamma, m, epsilon, Delta, delta = case
    problem = PrivacyProblem(len(gamma) - 1, m, epsilon, Delta, delta)
    g = problem.odd_vector(gamma)
    exact = eight_corner_worst_case(problem, g)[0].upper
    series = series_worst_case(problem, g, order)
    tolerance = 1e-12 * (1 + problem.c)
    assert series.upper >= exact - tolerance
    assert three_corner_worst_case(problem, g).upper <= exact + tolerance


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(largest=7))
def test_pruning_never_changes_the_exact_maximum(case):
    gamma, m, epsilon, Delta, delta = case
    problem = PrivacyProblem(len(gamma) - 1, m, epsilon, Delta, delta)
    g = problem.odd_vector(gamma)
    pruned, _ = eight_corner_worst_case(problem, g)
    full, exact = eight_corner_worst_case(problem, g, prune=False)
    assert exact
    assert pruned.upper == pytest.approx(full.upper, abs=1e-12 * (1 + problem.c))


def test_effort_that_runs_out_leaves_a_looser_bound():
    rng = np.random.default_rng(9)
    problem = PrivacyProblem(21, 3, 0.2, 0.02, 0.06)
    g = problem.odd_vector(oracle.random_gamma(rng, 21))
    exact, is_exact = eight_corner_worst_case(problem, g)
    loose, is_loose = eight_corner_worst_case(problem, g, effort=10)
    assert is_exact
    assert not is_loose
    assert loose.upper > exact.upper
    assert loose.upper <= series_worst_case(problem, g).upper + 1e-12


@pytest.mark.parametrize("Delta", [0.0, 1e-5, 0.02])
def test_three_corners_are_exact_for_monotone_gamma(Delta):
    rng = np.random.default_rng(3)
    for K in (5, 9, 15):
        half = np.sort(rng.random((K + 1) // 2))
        gamma = np.concatenate([half[::-1], half])
        problem = PrivacyProblem(K, 2, 0.4, Delta, 0.1)
        g = problem.odd_vector(gamma)
        three, (eight, _) = three_corner_worst_case(problem, g), eight_corner_worst_case(problem, g)
        assert three.upper == pytest.approx(eight.upper, abs=1e-12 * (1 + problem.c))


@pytest.mark.parametrize("K", [3, 7, 11, 15])
@pytest.mark.parametrize("Delta", [0.0, 1e-5, 0.01, 0.05])
def test_certificate_accepts_just_below_and_refuses_just_above_the_allowance(K, Delta):
    rng = np.random.default_rng(K)
    m, epsilon, delta = 1.0, 0.3, max(Delta, 1e-6)
    gamma = oracle.random_gamma(rng, K, low=0.5)
    gamma[[0, -1]] = 1.0  # then the cost exceeds the allowance or can be brought there
    cost = certify(gamma, m, epsilon, Delta, delta)
    factor = cost.allowance / cost.attained_cost
    assert factor < 1 - 1e-6
    assert certify(gamma * factor * (1 - 1e-6), m, epsilon, Delta, delta).holds
    assert not certify(gamma * factor * (1 + 1e-6), m, epsilon, Delta, delta).holds


def test_nearly_monotone_gamma_costs_no_more_than_its_envelope():
    gamma = gamma_subsampling(301, 21)
    half = gamma[151:].copy()
    half[40] = half[39] - 1e-13
    bent = np.concatenate([half[::-1], half])
    certificate = certify(bent, 21, 0.1, 1e-3)
    assert certificate.method in ("monotone_envelope", "eight_corners")
    half[40] = half[39]
    flat = certify(np.concatenate([half[::-1], half]), 21, 0.1, 1e-3)
    assert flat.method == "three_corners"
    assert certificate.worst_cost == pytest.approx(flat.worst_cost, abs=1e-11)


def test_worst_assignment_attains_the_cost_that_is_claimed_for_it():
    rng = np.random.default_rng(5)
    gamma = oracle.random_gamma(rng, 5)
    problem = PrivacyProblem(5, 2, 0.5, 0.03, 0.06)
    worst, exact = eight_corner_worst_case(problem, problem.odd_vector(gamma))
    assert exact
    assert worst.counts.sum() == 5
    exact = oracle.cost(gamma, 2, 0.5, 0.03, worst.counts)
    assert float(exact) == pytest.approx(worst.upper, abs=1e-12)


@pytest.mark.parametrize("exponent", [20.0, 27.6])
def test_large_budgets_are_certified_without_loss_of_soundness(exponent):
    gamma = np.full(6, 1.0)
    for value in (1.0, 1 - 1e-9, 1 - 1e-12):
        certificate = certify(gamma * value, 5, exponent / 5, 1e-6, 5e-6)
        exact = oracle.worst_cost(gamma * value, 5, exponent / 5, 1e-6)
        assert certificate.worst_cost >= exact
        assert not certificate.holds or exact <= oracle.allowance(5, exponent / 5, 5e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0.1), "m = 0"),
        ((12, 0.1), "m = 12"),
        ((3, 0.0), "epsilon"),
        ((3, -1.0), "epsilon"),
        ((3, float("nan")), "epsilon"),
        ((3, 0.1, 0.7), "Delta"),
        ((3, 0.1, 1e-3, 1e-4), "delta"),
        ((11, 100.0), "m \\* epsilon"),
    ],
)
def test_parameters_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        certify(np.ones(12), *arguments)


def test_asymmetric_gamma_is_refused():
    with pytest.raises(ValueError, match="symmetric"):
        certify(np.linspace(0, 1, 12), 3, 0.1)


def test_scaling_makes_any_gamma_private_and_loses_no_more_than_it_must():
    rng = np.random.default_rng(8)
    for Delta in (0.0, 1e-5, 0.02):
        problem = PrivacyProblem(7, 2, 0.3, Delta, 2 * Delta)
        gamma = oracle.random_gamma(rng, 7, low=0.7)
        scaled, certificate = scale_to_allowance(problem, gamma)
        assert certificate.holds
        assert certificate.slack < 1e-12 or np.array_equal(scaled, gamma)
        np.testing.assert_allclose(scaled / gamma, (scaled / gamma)[0], rtol=1e-14)
        assert oracle.worst_cost(scaled, 2, 0.3, Delta) <= oracle.allowance(2, 0.3, 2 * Delta)


def test_rounding_is_part_of_the_cost():
    problem = PrivacyProblem(11, 3, 0.1, 0.0, 0.0)
    certificate = certify_problem(problem, np.zeros(12))
    assert 0 < certificate.worst_cost < 1e-12
    assert certificate.holds
