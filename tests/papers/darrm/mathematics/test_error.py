"""Exact errors against enumeration, sampling and the definition."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.papers.darrm.mathematics import error
from private_ensembles.papers.darrm.mathematics.error import error_at, error_of_pmf, expected_error
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling, label_probability
from private_ensembles.papers.darrm.mathematics.objective import (
    coefficients,
    expected_pmf,
    parse_prior,
)
from tests.papers.darrm.mathematics import oracle


def test_error_is_the_total_variation_distance_to_the_majority():
    rng = np.random.default_rng(0)
    gamma = oracle.random_gamma(rng, 7)
    p = rng.random(7)
    alpha = np.array([float(value) for value in oracle.pmf(list(p))])
    expected = abs(alpha @ label_probability(gamma) - alpha[4:].sum())
    assert error_of_pmf(gamma, alpha) == pytest.approx(expected, abs=1e-14)


def test_a_constant_answer_beats_the_pointwise_reading_of_lemma_3_2():
    # DaRRM Lemma 3.2 bounds the worst data set, not each one: gamma = 0 answers 1 half of the time
    # and an always-1 answer is off by Pr[majority = 0] = 0.034 at p = 0.75, where the printed bound
    # |Pr[majority = 1] - p| says 0.216.
    alpha = pmf(np.full(11, 0.75))
    assert alpha[:6].sum() == pytest.approx(0.034, abs=5e-4)
    assert alpha[6:].sum() - 0.75 == pytest.approx(0.216, abs=5e-4)


def test_expected_pmf_of_independent_teachers_is_binomial_in_their_mean():
    rng = np.random.default_rng(1)
    draws = pmf(rng.uniform(0.5, 1, (200_000, 5))).mean(axis=0)
    # Hoeffding over six coordinates: off by more than 0.008 with probability below 1e-9.
    np.testing.assert_allclose(
        draws, expected_pmf(5, parse_prior("uniform:0.5,1")), atol=np.sqrt(np.log(12e9) / 4e5)
    )


@pytest.mark.parametrize("low", [0.5, 0.7])
def test_expected_error_under_a_common_p_is_the_integral_of_the_error(low):
    gamma = gamma_subsampling(11, 3)
    integral = quad(lambda p: float(error_at(gamma, p)), low, 1, epsabs=1e-12)[0] / (1 - low)
    assert expected_error(gamma, f"common:{low},1") == pytest.approx(integral, abs=1e-10)


def test_objective_is_the_lead_that_gamma_can_keep():
    c = coefficients(11, parse_prior("uniform:0.5,1"))
    assert (c >= 0).all()
    assert expected_error(np.ones(12)) == 0
    assert expected_error(np.zeros(12)) == pytest.approx(c.sum() / 2, abs=1e-15)


def test_error_is_symmetric_in_the_two_labels():
    gamma = gamma_subsampling(11, 5)
    p = np.linspace(0, 1, 11)
    np.testing.assert_allclose(error_at(gamma, p), error_at(gamma, 1 - p), atol=1e-15)


def test_pmf_of_another_length_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        error_of_pmf(np.ones(12), np.ones(11))


def test_the_interval_of_an_estimate_is_student_s(monkeypatch):
    means = np.random.default_rng(0).uniform(size=error.REPLICATES + 1)
    # The last one is for the control's factor alone. Controls tell nothing.
    drawn = iter([*means.tolist(), *[0.0] * len(means)])
    monkeypatch.setattr(error, "error_of_pmf", lambda gamma, pmf: np.full(len(pmf), next(drawn)))
    monkeypatch.setattr(error, "error_at", lambda gamma, p: np.zeros(len(p)))
    found = error.expected_error_estimate(np.ones(4), "absolute-uniform:0,1")
    interval = stats.t.interval(
        0.99, error.REPLICATES - 1, means[:-1].mean(), stats.sem(means[:-1])
    )
    assert found.error - found.half_width == pytest.approx(interval[0], rel=1e-12)
    assert found.error + found.half_width == pytest.approx(interval[1], rel=1e-12)
