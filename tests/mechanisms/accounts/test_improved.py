"""LNMax by Renyi bounds: never below what the noisy counts cost exactly, and close to it."""

import math

import numpy as np
import pytest

from private_ensembles.accounting.budgets import pld_epsilon
from private_ensembles.accounting.labels import composed
from private_ensembles.mechanisms.accounts.improved import scale_cost
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.lnmax import lnmax_noisy_counts_delta


@pytest.mark.parametrize(
    ("scale", "labels", "delta"), [(4.0, 1, 1e-3), (20.0, 100, 1e-5), (67.0, 1000, 1e-5)]
)
def test_cost_covers_the_exact_composition_of_the_noisy_counts(scale, labels, delta):
    def curve(epsilons):
        return np.array([lnmax_noisy_counts_delta(scale, x) for x in epsilons])

    largest = 2 / scale * (1 + 1e-9)
    exact = pld_epsilon(curve, labels, delta, largest_epsilon=largest, interval=largest / 500)
    cost = scale_cost(scale, labels, delta)
    assert exact * (1 - 5e-3) <= cost <= 1.2 * exact


@pytest.mark.parametrize("labels", [100, 1000])
def test_many_labels_need_less_noise_than_by_the_pure_guarantee(labels):
    task = Task(3.0, 1e-5, queries=labels, labels=labels, n_teachers=250, n_classes=10)
    mechanism, pure = load("lnmax_improved"), load("lnmax_pure")
    scale = mechanism.calibrate(task).scale
    assert scale < 0.8 * pure.calibrate(task).scale
    assert mechanism.cost(task, LaplaceNoise(scale, labels)).claimed <= 3.0


def test_few_labels_cost_no_more_than_their_pure_guarantees():
    for labels in (1, 3):
        assert scale_cost(5.0, labels, 1e-6) <= composed(math.nextafter(0.4, 1), labels, 1e-6)
