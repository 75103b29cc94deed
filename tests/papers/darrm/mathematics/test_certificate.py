"""Certificates against exact 40-digit enumeration of all eight corners, and as they are written."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings

from private_ensembles.accounting.certificate_format import write_hexadecimal
from private_ensembles.papers.darrm.mathematics import certificate as module
from private_ensembles.papers.darrm.mathematics.certificate import (
    certify,
    certify_problem,
    scale_to_allowance,
)
from private_ensembles.papers.darrm.mathematics.certificate_file import (
    certificates_of_gamma,
    certify_privacy,
)
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling
from private_ensembles.papers.darrm.mathematics.objective import empirical_prior
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.papers.darrm.mathematics.worst_case import three_corner_worst_case
from tests.papers.darrm.mathematics import oracle
from tests.papers.darrm.mathematics.test_worst_case import problems
from verify import verify


@pytest.mark.keeps("papers.darrm.mathematics.certificate:Certificate")
@settings(max_examples=30)
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


@pytest.mark.parametrize("exponent", [20.0, 27.6])
def test_large_budgets_are_certified_without_loss_of_soundness(exponent):
    gamma = np.full(6, 1.0)
    for value in (1.0, 1 - 1e-9, 1 - 1e-12):
        certificate = certify(gamma * value, 5, exponent / 5, 1e-6, 5e-6)
        exact = oracle.worst_cost(gamma * value, 5, exponent / 5, 1e-6)
        assert certificate.worst_cost >= exact
        assert not certificate.holds or exact <= oracle.allowance(5, exponent / 5, 5e-6)


def test_what_the_lemma_does_not_cover_is_refused():
    with pytest.raises(ValueError, match="symmetric"):
        certify(np.linspace(0, 1, 12), 3, 0.1)
    with pytest.raises(ValueError, match=r"Delta = 0\.7"):
        certify(np.ones(12), 3, 0.1, 0.7)


def test_scaling_makes_any_gamma_private_and_loses_no_more_than_it_must():
    rng = np.random.default_rng(8)
    for Delta in (0.0, 1e-5, 0.02):
        problem = PrivacyProblem(5, 2, 0.3, Delta, 2 * Delta)
        gamma = oracle.random_gamma(rng, 5, low=0.7)
        scaled, certificate = scale_to_allowance(problem, gamma)
        assert certificate.holds
        assert certificate.slack < 1e-12 or np.array_equal(scaled, gamma)
        np.testing.assert_allclose(scaled / gamma, (scaled / gamma)[0], rtol=1e-14)
        exact = oracle.worst_cost(scaled, 2, 0.3, Delta)
        assert exact <= certificate.worst_cost
        # What the certificate says of its rounding is what lies between the two.
        times = 1 if np.array_equal(scaled, gamma) else 2
        assert certificate.rounding_error == times * problem.rounding_bound()
        unrounded = certificate.worst_cost - certificate.rounding_error
        assert unrounded == pytest.approx(float(exact), rel=1e-13)
        assert certificate.attained_cost == pytest.approx(float(exact), rel=1e-13)
        assert exact <= oracle.allowance(2, 0.3, 2 * Delta)


def test_the_sum_of_a_cost_and_its_rounding_is_rounded_outwards():
    problem = PrivacyProblem(5, 2, 0.3, 0.01, 0.02)
    for half in np.sort(np.random.default_rng(0).random((20, 3)), axis=1):
        gamma = np.concatenate([half[::-1], half])
        known = three_corner_worst_case(problem, problem.odd_vector(gamma)).upper
        found = certify_problem(problem, gamma)
        assert found.method == "three_corners"
        assert Fraction(found.worst_cost) >= Fraction(known) + Fraction(found.rounding_error)


def test_rounding_is_part_of_the_cost():
    problem = PrivacyProblem(11, 3, 0.1, 0.0, 0.0)
    certificate = certify_problem(problem, np.zeros(12))
    assert 0 < certificate.worst_cost < 1e-12
    assert certificate.holds


def test_a_dip_below_the_monotone_envelope_is_charged_at_its_full_size(monkeypatch):
    """f has coefficients of total size 1 + c, so a dip of d moves it by (1 + c) d at most."""
    nobody = np.array([5, 0, 0, 0, 0, 0, 0, 0])
    known = SimpleNamespace(upper=0.1, counts=nobody)
    monkeypatch.setattr(module, "three_corner_worst_case", lambda *_: known)
    monkeypatch.setattr(module, "_general_bound", lambda *_: (9.0, "general", nobody))
    dipped = np.array([0.7, 0.5, 0.6, 0.6, 0.5, 0.7])
    found = certify(dipped, 2, 0.5, 0.0)
    assert found.worst_cost >= 0.1 + (0.6 - 0.5) * (1 + math.exp(1.0)) * (1 - 1e-12)


# Files --------------------------------------------------------------------------------------------


def test_numbers_keep_all_bits():
    gamma = np.array([0.1, 1.0, 5e-324])
    assert [float.fromhex(text) for text in write_hexadecimal(gamma)] == gamma.tolist()
    body = certify_privacy(PrivacyProblem(3, 1.1, 0.1, 1e-5, 0.3), np.array([0.1, 0.0, 0.0, 0.1]))
    found = [float.fromhex(body[name]) for name in ("m", "epsilon", "Delta", "delta")]
    assert found == [1.1, 0.1, 1e-5, 0.3]


@pytest.mark.parametrize("prior", ["uniform:0.5,1", "common:0.5,1"])
@pytest.mark.parametrize(("K", "m"), [(1, 1), (5, 5), (21, 4)])
def test_multipliers_prove_the_bound_of_the_search(K, m, prior):
    """gamma = 1 (m = K) needs no multiplier, one teacher a single one."""
    solution = optimize_gamma(K, m, 0.1, 1e-5, prior=prior, solver="highs")
    proof = certificates_of_gamma(solution)[1]
    verify.check(proof)
    claimed = float.fromhex(proof["utility"])
    assert solution.utility_upper_bound <= claimed <= solution.utility_upper_bound + 1e-10
    assert len(proof["rows"]) <= (K + 1) // 2 + 1


def test_a_utility_that_nobody_could_recompute_has_no_certificate():
    with pytest.warns(UserWarning, match="not covered"):
        prior = empirical_prior([0, 3, 3], 3, "0" * 64)
    for chosen in (prior, "absolute-uniform:0,1"):
        found = certificates_of_gamma(optimize_gamma(3, 1, 0.1, prior=chosen, solver="highs"))
        assert [body["kind"] for body in found] == ["gamma_privacy"]
