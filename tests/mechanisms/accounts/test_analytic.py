"""Noisy counts that are charged exactly: Gaussian and Laplace noise, one label and many."""

from dataclasses import replace

import pytest

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.discrete_gaussian import Moves
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.lnmax import lnmax_noisy_counts_delta


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("labels", [1, 7, 300])
def test_the_analytic_sigma_keeps_the_budget_with_secure_noise(labels, n_classes):
    """Any number of labels and classes; refused before, but for one label of two classes."""
    task = Task(1.0, 1e-5, 300, labels, 50, n_classes, secure=True)
    analytic = load("gnmax_analytic")
    assert analytic.refusal(task) is None
    parameters = analytic.calibrate(task)
    spent = discrete_gaussian.delta(1.0, [Moves(2 * labels, parameters.sigma)])
    assert 0.99e-5 < spent <= 1e-5
    assert 0.999 < analytic.cost(task, parameters).claimed <= 1.0
    continuous = analytic.calibrate(replace(task, secure=False))
    assert continuous.sigma <= parameters.sigma <= 1.001 * continuous.sigma
    assert (continuous.continuous, parameters.continuous) == (True, False)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_one_label_of_laplace_noise_spends_the_delta_of_its_noisy_counts(epsilon):
    task, laplace = Task(epsilon, 1e-4, 1, 1, 50, 10), load("lnmax_analytic")
    scale = laplace.calibrate(task).scale
    assert 0.999e-4 < lnmax_noisy_counts_delta(scale, epsilon) <= 1e-4
    assert scale < load("lnmax_pure").calibrate(task).scale


@pytest.mark.parametrize("labels", [2, 30, 31, 300])
def test_several_labels_of_laplace_noise_take_the_better_of_two_proofs(labels):
    """Noisy counts that compose, up to thirty labels; Rényi bounds, of any number."""
    task = Task(1.0, 1e-5, labels, labels, 50, 10)
    laplace, improved = load("lnmax_analytic"), load("lnmax_improved")
    parameters, by_renyi = laplace.calibrate(task), improved.calibrate(task)
    assert parameters.scale <= by_renyi.scale
    assert 0.999 < laplace.cost(task, parameters).proven <= 1.0
    noise = LaplaceNoise(10.0, labels)
    assert laplace.cost(task, noise).proven <= improved.cost(task, noise).proven
    if labels == 300:
        assert parameters.scale == by_renyi.scale
