"""Laplace noise on the counts: one label by its method, several as they compose."""

import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.budgets import pld_epsilon
from private_ensembles.accounting.labels import composed, label_epsilon
from private_ensembles.mechanisms.accounts.laplace_counts import scale_cost
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.lnmax import lnmax_noisy_counts_delta, lnmax_scale

METHODS = {
    "lnmax_pure": "pure",
    "lnmax_improved": "improved_rdp",
    "lnmax_analytic": "noisy_counts",
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("epsilon", [0.2676, 2.0])
def test_one_label_has_the_scale_of_its_method_and_costs_the_budget(name, epsilon):
    mechanism, task = load(name), Task(epsilon, 3e-4, 1, 1, 11, 10)
    parameters = mechanism.calibrate(task)
    scale = lnmax_scale(epsilon, 3e-4, method=METHODS[name], n_teachers=11)
    assert parameters.scale == pytest.approx(scale, rel=1e-12)
    assert mechanism.cost(task, parameters).proven == epsilon


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.0])
def test_the_scale_of_the_paper_is_rounded_up(epsilon):
    scale = load("lnmax_pure").calibrate(Task(epsilon, 1e-5, 1, 1, 50, 10)).scale
    exact = 2 / Fraction(epsilon)
    assert exact <= Fraction(scale) <= exact * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_one_label_spends_the_delta_of_its_noisy_counts(epsilon):
    task = Task(epsilon, 1e-4, 1, 1, 50, 10)
    scale = load("lnmax_analytic").calibrate(task).scale
    assert 0.999e-4 < lnmax_noisy_counts_delta(scale, epsilon) <= 1e-4
    assert scale < load("lnmax_pure").calibrate(task).scale


@pytest.mark.parametrize("name", METHODS)
def test_less_noise_than_the_method_asks_for_costs_more_than_the_budget(name):
    mechanism, task = load(name), Task(0.5, 1e-6, 1, 1, 11, 10)
    parameters = mechanism.calibrate(task)
    if name == "lnmax_pure":
        more = parameters.__class__(2 * parameters.label_epsilon, 1)
    else:
        more = mechanism.law.less_noise(parameters, 0.5)
    assert more.scale == pytest.approx(parameters.scale / 2)
    assert mechanism.cost(task, more).proven > 0.9


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("labels", [3, 200])
def test_several_labels_keep_the_budget_and_use_it_up(name, labels):
    mechanism, task = load(name), Task(1.0, 1e-5, labels, labels, 11, 10)
    assert 0.999 < mechanism.cost(task, mechanism.calibrate(task)).proven <= 1.0


@pytest.mark.parametrize("labels", [2, 40])
def test_several_labels_compose_by_their_pure_guarantees(labels):
    task = Task(1.0, 1e-5, labels, labels, 50, 10)
    parameters = load("lnmax_pure").calibrate(task)
    assert parameters.label_epsilon == label_epsilon(1.0, labels, 1e-5)
    cost = load("lnmax_pure").cost(task, parameters)
    assert cost.proven == cost.claimed == composed(parameters.label_epsilon, labels, 1e-5) <= 1.0


@pytest.mark.parametrize(
    ("scale", "labels", "delta"), [(4.0, 1, 1e-3), (20.0, 100, 1e-5), (67.0, 1000, 1e-5)]
)
def test_renyi_bounds_cover_the_exact_composition_of_the_noisy_counts(scale, labels, delta):
    def curve(epsilons):
        return np.array([lnmax_noisy_counts_delta(scale, x) for x in epsilons])

    largest = 2 / scale * (1 + 1e-9)
    exact = pld_epsilon(curve, labels, delta, largest_epsilon=largest, interval=largest / 500)
    cost = scale_cost(scale, labels, delta)
    assert exact * (1 - 5e-3) <= cost <= 1.2 * exact


def test_few_labels_cost_no_more_than_their_pure_guarantees():
    for labels in (1, 3):
        assert scale_cost(5.0, labels, 1e-6) <= composed(math.nextafter(0.4, 1), labels, 1e-6)


@pytest.mark.parametrize("labels", [2, 30, 31, 300])
def test_the_exact_account_takes_the_better_of_two_proofs(labels):
    """Noisy counts that compose, up to thirty labels; Rényi bounds, of any number."""
    task = Task(1.0, 1e-5, labels, labels, 50, 10)
    laplace, improved = load("lnmax_analytic"), load("lnmax_improved")
    parameters, by_renyi = laplace.calibrate(task), improved.calibrate(task)
    assert parameters.scale <= by_renyi.scale
    assert 0.999 < laplace.cost(task, parameters).proven <= 1.0
    noise = LaplaceNoise(10.0, labels)
    assert laplace.cost(task, noise).proven <= improved.cost(task, noise).proven
    if labels == 300:
        assert parameters.scale == by_renyi.scale < 0.8 * load("lnmax_pure").calibrate(task).scale
