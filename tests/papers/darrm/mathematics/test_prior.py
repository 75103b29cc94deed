"""Priors: closed forms against integrals, the sampled objective against its definition."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.error import error_of_pmf, expected_error_estimate
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.prior import (
    empirical_prior,
    expected_pmf,
    objective,
    parse_prior,
    sampled_leads,
)

SHA = "0" * 64


@pytest.mark.parametrize(("low", "high"), [(0.5, 1), (0.3, 0.9)])
def test_common_prior_is_the_integral_of_binomials(low, high):
    expected = [
        quad(lambda p, l=l: binom.pmf(l, 7, p), low, high, epsabs=1e-13)[0] / (high - low)
        for l in range(8)
    ]
    np.testing.assert_allclose(expected_pmf(7, parse_prior(f"common:{low},{high}")), expected)


def test_leads_are_never_negative_where_every_teacher_leans_to_one():
    p = np.random.default_rng(0).uniform(0.5, 1, (2000, 9))
    alpha = pmf(p)
    assert ((alpha - alpha[:, ::-1])[:, 5:] >= -1e-15).all()


def test_exact_error_equals_the_sampled_one_where_the_absolute_value_changes_nothing():
    gamma = gamma_subsampling(11, 3)
    exact = expected_error_estimate(gamma, "uniform:0.6,1")
    sampled = expected_error_estimate(gamma, "absolute-uniform:0.6,1")
    assert exact.method == "exact"
    assert exact.half_width == 0
    assert abs(sampled.error - exact.error) <= sampled.half_width
    assert sampled.half_width < 1e-4


def test_interval_covers_plain_monte_carlo_and_is_far_narrower():
    gamma = gamma_subsampling(11, 3)
    estimate = expected_error_estimate(gamma, "absolute-uniform:0,1")
    errors = error_of_pmf(gamma, pmf(np.random.default_rng(1).random((200_000, 11))))
    # Errors lie in [0, 1/2]: Hoeffding at 1e-9.
    bound = 0.5 * np.sqrt(np.log(2e9) / (2 * len(errors)))
    assert abs(errors.mean() - estimate.error) < bound + estimate.half_width
    plain = 2.58 * errors[: 16 << 11].std() / np.sqrt(16 << 11)
    assert estimate.half_width < plain / 5


def test_without_the_absolute_value_the_objective_over_all_p_vanishes():
    leads = sampled_leads(7, 0.0, 1.0)
    assert np.abs(leads.mean(axis=0)).max() < 1e-3
    np.testing.assert_allclose(objective(7, parse_prior("uniform:0,1")), 0, atol=1e-16)


@pytest.mark.parametrize("Delta", [0.0, 1e-5])
def test_true_error_is_smallest_for_the_gamma_optimised_for_it(Delta):
    own = optimize_gamma(11, 3, 0.1, Delta, prior="absolute-uniform:0,1", solver="highs")
    assert certify(own.gamma, 3, 0.1, Delta).holds
    assert own.utility <= own.utility_upper_bound
    assert own.utility_upper_bound - own.utility < 1e-7
    rivals = [
        optimize_gamma(11, 3, 0.1, Delta, prior=f"uniform:{a},1", solver="highs").gamma
        for a in (0.5, 0.7)
    ]
    leads = sampled_leads(11, 0.0, 1.0)
    for gamma in (*rivals, gamma_subsampling(11, 3)):
        rival = np.abs(leads @ (1 - gamma[6:])).mean()
        assert np.abs(leads @ (1 - own.gamma[6:])).mean() <= rival + 1e-8


def test_sampled_objective_agrees_with_the_linear_one_where_the_lead_has_one_sign():
    linear = optimize_gamma(9, 3, 0.2, prior="uniform:0.5,1", solver="highs")
    sampled = optimize_gamma(9, 3, 0.2, prior="absolute-uniform:0.5,1", solver="highs")
    c = objective(9, parse_prior("uniform:0.5,1"))
    assert c @ sampled.gamma[5:] == pytest.approx(linear.utility, abs=1e-4)


def test_empirical_prior_weighs_the_majorities_that_were_seen():
    counts = np.array([11, 0, 9, 2, 6])
    with pytest.warns(UserWarning, match="depends on the votes"):
        prior = empirical_prior(counts, 11, SHA)
    assert prior.name == f"empirical:{SHA}"
    np.testing.assert_allclose(objective(11, prior), [0.2, 0, 0, 0.4, 0, 0.4])
    solution = optimize_gamma(11, 3, 0.1, prior=prior, solver="highs")
    assert solution.prior == prior.name
    gamma = gamma_subsampling(11, 3)
    expected = np.mean(0.5 * (1 - gamma[counts]))
    assert expected_error_estimate(gamma, prior).error == pytest.approx(expected, abs=1e-15)


def test_empirical_prior_of_other_teachers_is_refused():
    with pytest.warns(UserWarning, match="votes"):
        prior = empirical_prior([3], 5, SHA)
    with pytest.raises(ValueError, match="of 5 teachers"):
        objective(11, prior)
    with pytest.raises(ValueError, match="empirical_prior"):
        parse_prior(f"empirical:{SHA}")
    with pytest.raises(ValueError, match="sha256"):
        empirical_prior([1], 11, "abc")


def test_a_name_has_all_digits_of_its_prior():
    """Two priors that differ in the last place have two names; 1.0 is still written as 1."""
    assert parse_prior("uniform:0.5,1").name == "uniform:0.5,1"
    assert parse_prior("common:0.123456789012345,1").name == "common:0.123456789012345,1"
