"""Gaussian noise on the counts: three analyses of one rho, and what a neighbour may see."""

import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from private_ensembles.mechanisms.families import gaussian
from private_ensembles.mechanisms.families.gaussian import (
    GaussianNoise,
    label_distribution,
    paper_epsilon,
    rho_cost,
    rho_within,
    sigma_of_one,
)
from scipy.special import ndtr

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.discrete_gaussian import Moves
from private_ensembles.mechanisms.audited import both_counts
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.release import release
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Secure
from private_ensembles.pate.gnmax_lattice import lattice_distribution


@pytest.mark.parametrize("analysis", ["classic", "improved", "exact"])
def test_rho_spends_the_budget(analysis):
    rho = rho_within(1.5, 1e-6, analysis)
    assert 1.4999 < rho_cost(rho, 1e-6, analysis) <= 1.5


def test_analyses_are_ordered_from_the_loosest_to_the_tightest():
    paper, classic, improved, exact = (
        paper_epsilon(0.02, 1e-5),
        *(rho_cost(0.02, 1e-5, analysis) for analysis in ("classic", "improved", "exact")),
    )
    assert paper >= classic > improved > exact > 0


def test_a_small_budget_has_orders_enough():
    # At the paper's orders, 500 at most, no sigma would do.
    assert math.isfinite(sigma_of_one(1e-3, 1e-5, "rdp", 1))
    sigmas = [sigma_of_one(0.5, 1e-4, method, 11) for method in ("rdp", "analytic", "exact")]
    assert sigmas == sorted(sigmas, reverse=True)


@pytest.mark.parametrize("sigma", [0.5, 4.0])
def test_labels_of_two_classes_follow_the_noisy_lead(sigma):
    found = label_distribution(both_counts(7), sigma)
    leads = 2 * np.arange(8) - 7
    np.testing.assert_allclose(found[:, 1], ndtr(leads / (math.sqrt(2) * sigma)), rtol=1e-12)
    many = label_distribution(np.column_stack([both_counts(7) + 200, np.zeros(8, int)]), sigma)
    np.testing.assert_allclose(many[:, :2], found, rtol=1e-9)


def test_secure_labels_follow_the_lattice():
    task = Task(1.0, 1e-3, 1, 1, 5, 2, secure=True)
    analytic = load("gnmax_analytic")
    sigma = analytic.calibrate(task).sigma
    found = analytic.law.distribution(both_counts(5), GaussianNoise(sigma), secure=True)
    np.testing.assert_array_equal(found, lattice_distribution(both_counts(5), sigma))
    assert (found != analytic.law.distribution(both_counts(5), GaussianNoise(sigma))).any()


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


@pytest.mark.parametrize("cost", [load("gnmax").cost_at_noise, load("gnmax_analytic").cost])
def test_what_is_proven_of_given_noise_is_of_the_noise_that_is_drawn(cost):
    """At sigma = 1 the continuous account of one label claims a delta too small by a quarter."""
    task = Task(1.0, 1e-2, 1, 1, 5, 2)
    continuous, secure = (
        cost(replace(task, secure=kind), GaussianNoise(1.0)).proven for kind in (False, True)
    )
    spent = [discrete_gaussian.delta(epsilon, [Moves(2, 1.0)]) for epsilon in (secure, continuous)]
    assert spent[0] <= 1e-2 < spent[1]


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(
    ("name", "analysis"), [("gnmax", "classic"), ("gnmax_improved", "improved")]
)
def test_any_noise_costs_what_its_own_rho_does(name, analysis, secure):
    """Noise that no calibration gave: each label of two counts takes 1 / sigma^2 of rho."""
    task = Task(1.0, 1e-4, 30, 7, 5, 2, secure=secure)
    for sigma in (3.0, 11.0):
        found = load(name).cost(task, GaussianNoise(sigma, 7))
        assert found.claimed == pytest.approx(rho_cost(7 / sigma**2, 1e-4, analysis), rel=1e-9)
        assert found.proven <= found.claimed


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("sigma", [3.0, 20.0])
def test_what_is_not_listed_is_as_near_as_is_granted(n_classes, sigma, monkeypatch):
    """The label from whole noise beside that from continuous noise, for all kinds of votes."""
    counts = np.random.default_rng(0).multinomial(30, np.full(n_classes, 1 / n_classes), 20)
    exact = gaussian.label_distribution(counts, sigma, secure=True)
    for module in (gaussian, discrete_gaussian):
        monkeypatch.setattr(module, "LISTED", 1.0)
    near = gaussian.label_distribution(counts, sigma, secure=True)
    errors = gaussian.gaussian_error(30, n_classes, sigma, secure=True)
    apart = np.abs(near - exact).sum(axis=1) / 2
    assert 0 < apart.max() <= errors["absolute_error"]
    assert errors["absolute_error"] < 4 / sigma
    right = gaussian.label_right(counts, exact.argmax(axis=1), sigma, secure=True)
    assert right == pytest.approx(near[np.arange(20), exact.argmax(axis=1)], abs=1e-9)


@pytest.mark.parametrize("labels", [1, 20])
@pytest.mark.parametrize("name", ["gnmax", "gnmax_analytic", "gnmax_improved", "confident_gnmax"])
def test_the_least_budget_is_planned_in_little_memory(name, labels):
    """Grids of Renyi orders and lists of noise grew as 1 / epsilon, to gigabytes."""
    mechanism = load(name)
    task = Task(1e-6, 1e-5, 20, labels, 250, 3, secure=True)
    tracemalloc.start()
    parameters = mechanism.calibrate(task)
    cost = mechanism.cost(task, parameters)
    counts = np.tile([[249, 1, 0]], (20, 1))
    answers, right = mechanism.law.expected(counts, np.zeros(20, int), task, parameters)
    labels = release(mechanism, counts, parameters, Secure())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.9e-6 < cost.claimed <= 1e-6
    assert right == pytest.approx(answers / 3, rel=0.02)
    assert labels.shape == (20,)
    assert peak < 64 << 20
