"""What the papers prove: a scale of 2 / epsilon, and PATE's Rényi sigma on its grid of orders."""

from fractions import Fraction

import pytest

from private_ensembles.accounting.labels import composed, label_epsilon
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.gnmax import gnmax_sigma


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.0])
def test_one_label_of_laplace_noise_has_the_scale_of_the_paper(epsilon):
    task = Task(epsilon, 1e-5, 1, 1, 50, 10)
    parameters = load("lnmax_pure").calibrate(task)
    exact = 2 / Fraction(epsilon)
    assert exact <= Fraction(parameters.scale) <= exact * (1 + Fraction(1, 2**50))
    assert load("lnmax_pure").cost(task, parameters).proven == epsilon


@pytest.mark.parametrize("labels", [2, 40])
def test_several_labels_of_laplace_noise_compose_by_their_pure_guarantees(labels):
    task = Task(1.0, 1e-5, labels, labels, 50, 10)
    parameters = load("lnmax_pure").calibrate(task)
    assert parameters.label_epsilon == label_epsilon(1.0, labels, 1e-5)
    cost = load("lnmax_pure").cost(task, parameters)
    assert cost.proven == cost.claimed == composed(parameters.label_epsilon, labels, 1e-5) <= 1.0


def test_one_label_of_gaussian_noise_has_the_sigma_of_the_paper():
    task = Task(1.0, 1e-4, 1, 1, 11, 2)
    parameters = load("gnmax").calibrate(task)
    assert parameters.sigma == gnmax_sigma(1.0, 1e-4, method="rdp", n_teachers=1)
    cost = load("gnmax").cost(task, parameters)
    assert cost.proven < cost.claimed <= 1.0
