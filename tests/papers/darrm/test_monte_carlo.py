"""The paper's Monte-Carlo objectives against their exact expectations."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.darrm.gamma import gamma_subsampling
from private_ensembles.darrm.prior import objective, parse_prior
from private_ensembles.noise.streams import generator
from private_ensembles.papers.darrm.monte_carlo import (
    algorithm_4_draws,
    algorithm_5_draws,
    algorithm_5_expectation,
    mean_leads,
)

DRAWS = 20_000
# Hoeffding: the mean of DRAWS numbers in [-1, 1] is off by more with probability below 1e-9.
OFF = math.sqrt(2 * math.log(2e9) / DRAWS)


def lead(p):
    alpha = pmf(np.asarray(p))
    return (alpha - alpha[..., ::-1])[..., (alpha.shape[-1]) // 2 :]


def test_algorithm_4_on_the_upper_half_estimates_the_closed_form():
    p = algorithm_4_draws(11, DRAWS, generator(0, "algorithm_4"), low=0.5)
    expected = objective(11, parse_prior("uniform:0.5,1"))
    np.testing.assert_allclose(mean_leads(p, [DRAWS])[0], expected, atol=OFF)


def test_algorithm_4_returns_the_mean_of_minus_half_the_lead_times_gamma():
    gamma = gamma_subsampling(5, 3)
    p = algorithm_4_draws(5, 7, generator(0))
    expected = np.mean([-0.5 * lead(row) @ gamma[3:] for row in p])
    assert -0.5 * mean_leads(p, [7])[0] @ gamma[3:] == pytest.approx(expected, abs=1e-15)


def test_objective_of_algorithm_4_as_printed_is_identically_zero_in_expectation():
    # Sampling from [0, 1]: p and 1 - p have the same law and opposite leads.
    p = algorithm_4_draws(11, 2_000, generator(1))
    np.testing.assert_allclose(lead(p) + lead(1 - p), 0, atol=1e-14)
    np.testing.assert_allclose(objective(11, parse_prior("uniform:0,1")), 0, atol=1e-15)
    estimate = mean_leads(algorithm_4_draws(11, DRAWS, generator(2)), [DRAWS])[0]
    assert 0 < np.abs(estimate).max() < OFF


@pytest.mark.parametrize("sampling", ["grid", "multisets"])
def test_algorithm_5_estimates_its_exact_expectation(sampling):
    p = algorithm_5_draws(11, DRAWS, generator(3, sampling), sampling=sampling)
    expected = algorithm_5_expectation(11, sampling=sampling)
    np.testing.assert_allclose(mean_leads(p, [DRAWS])[0], expected, atol=OFF)


@pytest.mark.parametrize(("K", "tau"), [(1, 3), (3, 4), (5, 3)])
def test_expectations_of_algorithm_5_are_the_sums_over_its_points(K, tau):
    W = 0.5 + 0.5 / tau * np.arange(tau)
    for sampling, points in (
        ("grid", list(product(W, repeat=K))),
        ("multisets", list(combinations_with_replacement(W, K))),
    ):
        expected = lead(np.array(points)).mean(axis=0)
        actual = algorithm_5_expectation(K, tau=tau, sampling=sampling)
        np.testing.assert_allclose(actual, expected, atol=1e-14)


def log_scale(K, tau=50):
    """ln(P w) = ln(C(tau + K - 1, K) theta^K K!), in the form that neither over- nor underflows."""
    return math.lgamma(tau + K) - math.lgamma(tau) + K * math.log(0.5 / tau)


def test_scale_of_algorithm_5_is_the_printed_one_and_overflows_for_large_ensembles():
    theta = 0.5 / 50
    printed = math.comb(50 + 11 - 1, 11) * theta**11 * math.factorial(11)
    assert math.exp(log_scale(11)) == pytest.approx(printed, rel=1e-12)
    # P K! theta^K exceeds the volume of [0.5, 1]^K: repeated points have fewer permutations.
    assert printed > 2 * 0.5**11
    assert log_scale(1001) > 750  # e^750 is no float
    mean = mean_leads(algorithm_5_draws(1001, 3, generator(4)), [3])[0]
    assert np.isfinite(log_scale(1001) + np.log(mean[-300:])).all()


def test_multisets_are_drawn_uniformly():
    index = np.rint(
        (algorithm_5_draws(3, 60_000, generator(5), tau=3, sampling="multisets") - 0.5) * 6
    )
    found, counts = np.unique(index, axis=0, return_counts=True)
    assert len(found) == math.comb(5, 3)
    assert (np.diff(found, axis=1) >= 0).all()
    share = 1 / len(found)
    np.testing.assert_allclose(counts / 60_000, share, atol=6 * math.sqrt(share / 60_000))


def test_nested_means_are_the_means_of_prefixes():
    p = algorithm_4_draws(5, 100, generator(6))
    means = mean_leads(p, [1, 10, 100])
    for length, mean in zip((1, 10, 100), means, strict=True):
        np.testing.assert_allclose(mean, lead(p[:length]).mean(axis=0), atol=1e-15)


def test_the_same_generator_gives_the_same_estimate():
    first, second = (mean_leads(algorithm_5_draws(5, 10, generator(7)), [10]) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: algorithm_4_draws(10, 5, rng), "K = 10"),
        (lambda rng: algorithm_4_draws(11, 0, rng), "draws = 0"),
        (lambda rng: algorithm_4_draws(11, 5, rng, low=0.5, high=0.4), "low, high"),
        (lambda rng: algorithm_5_draws(11, 5, rng, tau=0), "tau = 0"),
        (lambda rng: algorithm_5_draws(11, 5, rng, sampling="all"), "sampling = 'all'"),
        (lambda rng: mean_leads(np.ones((5, 3)), [5, 4]), "lengths"),
    ],
)
def test_parameters_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(generator(0))
