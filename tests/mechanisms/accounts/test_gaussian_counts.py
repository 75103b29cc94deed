"""Gaussian noise on the counts: three analyses of one rho."""

import tracemalloc

import numpy as np
import pytest

from private_ensembles.mechanisms.laws.gaussian import GaussianNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.release import release
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Secure
from private_ensembles.pate.data_independent import rho_cost


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(
    ("name", "analysis"), [("gnmax", "classic"), ("gnmax_improved", "improved")]
)
def test_any_noise_costs_what_its_own_rho_does(name, analysis, secure):
    """Noise that no calibration gave: each label of two counts takes 1 / sigma^2 of rho."""
    task = Task(1.0, 1e-4, 30, 7, 5, 2, secure=secure)
    for sigma in (3.0, 11.0):
        cost = load(name).cost(task, GaussianNoise(sigma, 7))
        assert cost.claimed == pytest.approx(rho_cost(7 / sigma**2, 1e-4, analysis), rel=1e-9)
        assert cost.proven <= cost.claimed


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
