"""Labels that are (epsilon, delta)-DP each, by an exact audit of one: noise and cost of all."""

from dataclasses import replace

import pytest

from private_ensembles import mechanisms
from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.mechanisms.families.task import Task

BASE = Task(
    epsilon=1.0, delta=1e-5, queries=60, labels=40, n_teachers=9, n_classes=2, teacher_epsilon=0.3
)


@pytest.mark.parametrize("labels", [1, 7, 40])
@pytest.mark.parametrize("K", [3, 9, 81])
def test_exact_noise_is_never_more_than_the_same_noise_by_a_general_proof(K, labels):
    task = replace(BASE, n_teachers=K, labels=labels)
    gaussian = mechanisms.load("gnmax_analytic").calibrate(task).sigma
    for leak in (0.01, 0.5, 1.0):
        assert mechanisms.load("gnmax_exact").calibrate(task, leak=leak).sigma <= gaussian
    pure = mechanisms.load("lnmax_pure").calibrate(task).scale
    exact = mechanisms.load("lnmax_exact").calibrate(task, leak=0.0).scale
    assert exact <= pure * (1 + 1e-6)


def test_one_label_of_exact_noise_spends_the_whole_budget():
    task = replace(BASE, queries=1, labels=1, n_teachers=7)
    for name in ("gnmax_exact", "lnmax_exact"):
        mechanism = mechanisms.load(name)
        parameters = mechanism.calibrate(task, leak=1.0)
        exact = mechanism.audited(task, parameters).worst(task.delta).epsilon
        assert exact == pytest.approx(task.epsilon, rel=1e-5)
        assert exact <= mechanism.cost(task, parameters).claimed * (1 + 1e-9)


def test_the_leaks_of_all_labels_are_part_of_their_cost():
    ladder = mechanisms.load("ladder")
    one = ladder.calibrate(BASE, leak=0.5)
    assert 40 * one.label_delta == pytest.approx(0.5 * BASE.delta, rel=1e-6)
    together = optimal_homogeneous(one.label_epsilon, one.label_delta, 40, BASE.delta)
    assert ladder.cost(BASE, one).claimed == together.epsilon <= BASE.epsilon
