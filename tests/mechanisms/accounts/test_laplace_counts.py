"""Laplace noise on the counts: one label by its method, several as they compose."""

import pytest

from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.lnmax import lnmax_scale

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
