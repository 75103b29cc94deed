"""Gaussian noise on the counts: three analyses of one rho."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels.gnmax import gnmax_sigma
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noisy_counts import rho_to_epsilon
from private_ensembles.labels.release_gate import release_from_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)


def test_one_label_has_the_sigma_of_the_paper():
    task, gnmax = Task(Ensemble(11, 2), Budget(1.0, 1e-4), Wanted(1)), load_mechanism("gnmax")
    parameters = gnmax.calibrate(task)
    assert parameters.sigma == gnmax_sigma(1.0, 1e-4, method="rdp", n_teachers=1)
    cost = gnmax.cost(task, parameters)
    assert cost.proven < cost.claimed <= 1.0


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("labels", [1, 7, 300])
def test_the_analytic_sigma_keeps_the_budget_with_secure_noise(labels, n_classes):
    """Any number of labels and classes; refused before, but for one label of two classes."""
    task = Task(Ensemble(50, n_classes), Budget(1.0, 1e-5), Wanted(labels, 300), secure=True)
    analytic = load_mechanism("gnmax_analytic")
    assert analytic.refusal(task) is None
    parameters = analytic.calibrate(task)
    spent = discrete_gaussian.delta(1.0, [DiscreteGaussianCounts(2 * labels, parameters.sigma)])
    assert 0.99e-5 < spent <= 1e-5
    assert 0.999 < analytic.cost(task, parameters).claimed <= 1.0
    continuous = analytic.calibrate(replace(task, secure=False))
    assert continuous.sigma <= parameters.sigma <= 1.001 * continuous.sigma
    assert (continuous.continuous, parameters.continuous) == (True, False)


@pytest.mark.parametrize("secure", [False, True])
def test_any_noise_costs_what_its_own_rho_does(secure):
    """Noise that no calibration gave: each label of two counts takes 1 / sigma^2 of rho."""
    task = Task(Ensemble(5, 2), Budget(1.0, 1e-4), Wanted(7, 30), secure=secure)
    for sigma in (3.0, 11.0):
        cost = load_mechanism("gnmax").cost(task, GaussianNoise(sigma, 7))
        assert cost.claimed == pytest.approx(
            rho_to_epsilon(7 / sigma**2, 1e-4, "classic"), rel=1e-9
        )
        assert cost.proven <= cost.claimed


@pytest.mark.parametrize("labels", [1, 20])
@pytest.mark.parametrize("name", ["gnmax", "gnmax_analytic", "confident_gnmax"])
def test_the_least_budget_is_planned_in_little_memory(name, labels):
    """Grids of Renyi orders and lists of noise grew as 1 / epsilon, to gigabytes."""
    mechanism = load_mechanism(name)
    task = Task(Ensemble(250, 3), Budget(1e-6, 1e-5), Wanted(labels, 20), secure=True)
    tracemalloc.start()
    parameters = mechanism.calibrate(task)
    cost = mechanism.cost(task, parameters)
    counts = np.tile([[249, 1, 0]], (20, 1))
    answers, right = mechanism.law.expected_answers(counts, np.zeros(20, int), task, parameters)
    labels = release_from_counts(mechanism, counts, parameters, SecureNoise())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.9e-6 < cost.claimed <= 1e-6
    assert right == pytest.approx(answers / 3, rel=0.02)
    assert labels.shape == (20,)
    assert peak < 64 << 20
