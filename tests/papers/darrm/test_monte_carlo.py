"""The paper's Monte-Carlo objectives against their exact expectations, and what the study finds."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.base.streams import generator
from private_ensembles.papers.darrm import monte_carlo
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling
from private_ensembles.papers.darrm.mathematics.objective import coefficients, parse_prior
from private_ensembles.papers.darrm.monte_carlo import (
    algorithm_4_draws,
    algorithm_5_draws,
    algorithm_5_expectation,
    mean_leads,
    study_objectives,
)
from private_ensembles.papers.darrm.objectives_figure import draw_objectives
from tests.ranges import check_ends

DRAWS = 20_000
# Hoeffding: the mean of DRAWS numbers in [-1, 1] is off by more with probability below 1e-9.
OFF = math.sqrt(2 * math.log(2e9) / DRAWS)


def lead(p):
    alpha = pmf(np.asarray(p))
    return (alpha - alpha[..., ::-1])[..., (alpha.shape[-1]) // 2 :]


def test_algorithm_4_on_the_upper_half_estimates_the_closed_form():
    p = algorithm_4_draws(11, DRAWS, generator(0, "algorithm_4"), low=0.5)
    expected = coefficients(11, parse_prior("uniform:0.5,1"))
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
    np.testing.assert_allclose(coefficients(11, parse_prior("uniform:0,1")), 0, atol=1e-15)
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


def test_another_way_of_sampling_is_refused():
    with pytest.raises(ValueError, match="sampling = 'all'"):
        algorithm_5_draws(11, 5, generator(0), sampling="all")


# The study ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study():
    return study_objectives(
        11, 3, 0.1, 1e-5, draws=[100, 10_000], repetitions=2, seed=0, solver="highs"
    )


def objective_of(study, algorithm, sampling, **facts):
    chosen = study[(study["algorithm"] == algorithm) & (study["sampling"] == sampling)]
    for name, value in facts.items():
        chosen = chosen[chosen[name] == value]
    assert len(chosen)
    return chosen


def test_as_printed_algorithm_4_stays_useless_at_ten_thousand_draws(study):
    runs = objective_of(study, "algorithm4", "uniform:0,1", draws=10_000)
    assert (runs["coefficient_error"] > 0.95).all()
    assert runs["utility_loss"].max() > 0.01
    assert np.isnan(
        objective_of(study, "algorithm4", "uniform:0,1", estimate="limit")["utility"].item()
    )


def test_on_the_upper_half_algorithm_4_tends_to_the_closed_form(study):
    runs = objective_of(study, "algorithm4", "uniform:0.5,1")
    assert runs[runs["draws"] == 10_000]["coefficient_error"].max() < 0.01
    assert runs[runs["estimate"] == "limit"]["coefficient_error"].item() < 1e-12
    assert runs[runs["draws"] == 10_000]["utility_loss"].max() < 1e-8


@pytest.mark.parametrize("sampling", ["grid", "multisets"])
def test_algorithm_5_keeps_a_bias_that_hardly_moves_gamma(study, sampling):
    limit = objective_of(study, "algorithm5", sampling, estimate="limit")
    assert 0.02 < limit["coefficient_error"].item() < 0.03
    runs = objective_of(study, "algorithm5", sampling, draws=10_000)
    assert (runs["coefficient_error"] > 0.01).all()
    assert runs["utility_loss"].max() < 1e-4


def test_no_estimate_beats_the_bound(study):
    assert (study["utility_loss"].dropna() > 0).all()


def test_figure_is_drawn_with_every_series(study, drawn):
    draw_objectives(study)
    (legend,) = drawn[0].legends
    assert len(legend.get_texts()) == 4
    for axis in drawn[0].axes:
        sampled = [line for line in axis.lines if line.get_label().startswith("Algorithm")]
        assert [line.get_xdata().tolist() for line in sampled] == [[100, 10_000]] * 4


NOT_ODD = (0, -1, 2, 1.5, True)
DRAW = np.random.default_rng(0)

RANGES = {
    "lengths": (
        lambda x: monte_carlo.mean_leads(np.full((2, 3), 0.5), x),
        ([], [0], [3], [1, 1], [2, 1]),
        ([1], [2], [1, 2]),
    ),
    "algorithm_4_draws, K": (lambda x: monte_carlo.algorithm_4_draws(x, 1, DRAW), NOT_ODD, (1,)),
    "algorithm_4_draws, draws": (
        lambda x: monte_carlo.algorithm_4_draws(3, x, DRAW),
        (0, -1, 1.5, True),
        (1,),
    ),
    "algorithm_4_draws, low": (
        lambda x: monte_carlo.algorithm_4_draws(3, 1, DRAW, low=x, high=0.5),
        (-1e-9, 0.5, math.nan),
        (0.0, 0.4),
    ),
    "algorithm_4_draws, high": (
        lambda x: monte_carlo.algorithm_4_draws(3, 1, DRAW, low=0.5, high=x),
        (0.5, 1 + 1e-9, math.nan),
        (0.6, 1.0),
    ),
    "algorithm_5_draws": (
        lambda x: monte_carlo.algorithm_5_draws(3, 1, DRAW, tau=x),
        (0, -1, 1.5, True),
        (1, 2),
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
