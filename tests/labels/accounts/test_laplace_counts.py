"""Laplace noise on the counts: one label by its pure guarantee, several as they compose."""

from fractions import Fraction

import pytest

from private_ensembles.accounting.label_composition import (
    largest_label_epsilon,
    total_label_epsilon,
)
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

PURE = load_mechanism("lnmax_pure")


@pytest.mark.parametrize("epsilon", [0.2676, 0.3, 1.0, 2.0, 7.0])
def test_one_label_costs_the_budget_and_its_scale_is_rounded_up(epsilon):
    task = Task(Ensemble(11, 10), Budget(epsilon, 3e-4), Wanted(1))
    parameters = PURE.calibrate(task)
    exact = 2 / Fraction(epsilon)
    assert exact <= Fraction(parameters.scale) <= exact * (1 + Fraction(1, 2**50))
    assert PURE.cost(task, parameters).proven == epsilon


def test_less_noise_than_the_budget_asks_for_costs_more():
    task = Task(Ensemble(11, 10), Budget(0.5, 1e-6), Wanted(1))
    parameters = PURE.calibrate(task)
    twin = PURE.law.scale_noise(parameters, 0.5)
    assert twin.scale == pytest.approx(parameters.scale / 2)
    assert PURE.cost(task, twin).proven > 0.9


@pytest.mark.parametrize("labels", [2, 3, 40, 200])
def test_several_labels_compose_by_their_pure_guarantees(labels):
    task = Task(Ensemble(50, 10), Budget(1.0, 1e-5), Wanted(labels))
    parameters = PURE.calibrate(task)
    assert parameters.label_epsilon == largest_label_epsilon(1.0, labels, 1e-5)
    cost = PURE.cost(task, parameters)
    assert (
        cost.proven == cost.claimed == total_label_epsilon(parameters.label_epsilon, labels, 1e-5)
    )
    assert 0.999 < cost.proven <= 1.0


def test_a_scale_a_hair_below_what_the_budget_asks_for_costs_more_than_the_budget():
    """Where 2 / epsilon rounds down, it is too little noise, for which no delta makes up here."""
    tried = 0
    for k in range(1, 60):
        epsilon = k / 7
        scale = 2 / epsilon
        if Fraction(scale) < 2 / Fraction(epsilon):
            task = Task(Ensemble(11, 10), Budget(epsilon, 1e-50), Wanted(1))
            proven = PURE.cost(task, PURE.law.noise_at_scale(scale)).proven
            assert epsilon < proven <= epsilon * (1 + 1e-15)
            tried += 1
    assert tried > 10
