"""GNMax: labels follow the noisy lead, on whole numbers or not; three ways of secure noise."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.labels.laws import gaussian
from private_ensembles.labels.laws.gaussian import (
    COINS,
    CONTINUOUS,
    WHOLE,
    GaussianNoise,
    gnmax,
)
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)


@pytest.mark.parametrize("sigma", [0.5, 4.0])
def test_labels_of_two_classes_follow_the_noisy_lead(sigma):
    chances = WHOLE.distribution(both_counts(7), GaussianNoise(sigma))
    leads = 2 * np.arange(8) - 7
    np.testing.assert_allclose(chances[:, 1], ndtr(leads / (math.sqrt(2) * sigma)), rtol=1e-12)
    rows = np.column_stack([both_counts(7) + 200, np.zeros(8, int)])
    many = WHOLE.distribution(rows, GaussianNoise(sigma))
    np.testing.assert_allclose(many[:, :2], chances, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("sigma", [3.0, 20.0])
def test_what_is_not_listed_is_as_near_as_is_granted(n_classes, sigma, monkeypatch):
    """The label from whole noise beside that from continuous noise, for all kinds of votes."""
    counts = np.random.default_rng(0).multinomial(30, np.full(n_classes, 1 / n_classes), 20)
    noise = GaussianNoise(sigma)
    exact = WHOLE.distribution(counts, noise, secure=True)
    for module in (gaussian, discrete_gaussian):
        monkeypatch.setattr(module, "MAX_TABULATED_SIGMA", 1.0)
    near = WHOLE.distribution(counts, noise, secure=True)
    errors = WHOLE.numerical_error(30, n_classes, noise, secure=True)
    apart = np.abs(near - exact).sum(axis=1) / 2
    assert 0 < apart.max() <= errors["absolute_error"]
    assert errors["absolute_error"] < 4 / sigma
    right = WHOLE.probability_correct(counts, exact.argmax(axis=1), noise, secure=True)
    assert right == pytest.approx(near[np.arange(20), exact.argmax(axis=1)], abs=1e-9)


def test_gnmax_s_labels_do_not_depend_on_the_queries_that_follow():
    counts = np.random.default_rng(9).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=200)
    whole = gnmax(counts, 3.0, SeededNoise(np.random.default_rng(5)))
    for part in (1, 17, 199):
        assert (
            gnmax(counts[:part], 3.0, SeededNoise(np.random.default_rng(5))).tolist()
            == whole[:part].tolist()
        )
    assert not np.array_equal(whole, gnmax(counts, 3.0, SeededNoise(np.random.default_rng(6))))


@pytest.mark.parametrize("law", [WHOLE, CONTINUOUS, COINS])
def test_seeded_labels_are_those_of_the_seed_whatever_sampler_secure_ones_have(law):
    counts = np.tile([[6, 5]], (200, 1))
    seeded = [SeededNoise(np.random.default_rng(5)) for _ in range(2)]
    assert law.draw(counts, GaussianNoise(3.0), seeded[0]).tolist() == (
        gnmax(counts, 3.0, seeded[1]).tolist()
    )


class NamedNoise:
    """A source of secure labels that says which noise it was asked for."""

    secure = True

    def argmax_whole_gaussian(self, counts, sigma):
        return np.zeros(len(counts), int)

    def argmax_gaussian(self, counts, sigma):
        return np.ones(len(counts), int)


@pytest.mark.parametrize(
    ("law", "n_classes", "drawn"), [(WHOLE, 2, 0), (WHOLE, 3, 0), (CONTINUOUS, 2, 1), (COINS, 3, 1)]
)
def test_secure_labels_are_of_the_noise_that_is_charged(law, n_classes, drawn):
    """And not coins, whose law is another than that of noise on whole numbers."""
    counts = np.full((200, n_classes), 5)
    assert (law.draw(counts, GaussianNoise(3.0), NamedNoise()) == drawn).all()


@pytest.mark.parametrize(("law", "n_classes"), [(CONTINUOUS, 2), (CONTINUOUS, 10), (COINS, 10)])
def test_secure_continuous_noise_has_the_pairs_of_continuous_noise(law, n_classes):
    task = Task(Ensemble(50, n_classes), Budget(2.0, 1e-5), Wanted(1))
    noise, t = GaussianNoise(9.0), np.exp([-0.3, 0, 0.3])
    plain, secure = (
        law.dominating_pairs(replace(task, secure=secure), noise).hockey_stick_divergences(t)
        for secure in (False, True)
    )
    np.testing.assert_array_equal(plain, secure)
