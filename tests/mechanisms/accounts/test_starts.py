"""What other proofs say of noise, where the account of labels starts from."""

from dataclasses import replace
from fractions import Fraction

import pytest

from private_ensembles.accounting.labels import composed
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.data_independent import rho_cost

EXPONENTIAL, PERMUTE_AND_FLIP = load("exponential"), load("permute_and_flip")


@pytest.mark.parametrize("mechanism", [EXPONENTIAL, PERMUTE_AND_FLIP], ids=lambda m: m.name)
@pytest.mark.parametrize("labels", [2, 40])
def test_labels_of_more_classes_cost_no_more_than_they_compose_to(mechanism, labels):
    task = Task(1.0, 1e-5, 60, labels, 9, 3)
    parameters = mechanism.calibrate(task)
    claimed = mechanism.cost(task, parameters).claimed
    assert claimed <= composed(parameters.label_epsilon, labels, task.delta)
    assert 0.999 * task.epsilon < claimed <= task.epsilon


def test_very_many_labels_of_two_classes_compose_as_well():
    task = Task(1.0, 1e-5, 20_000, 20_000, 9, 2)
    assert EXPONENTIAL.refusal(task) is None
    assert EXPONENTIAL.calibrate(task) == EXPONENTIAL.account.start.find(
        EXPONENTIAL.law, task, 20_000
    )
    assert "has no sampler" in EXPONENTIAL.refusal(replace(task, secure=True))


@pytest.mark.parametrize("labels", [400, 5000])
def test_many_labels_of_the_exponential_mechanism_compose_by_their_bounded_range(labels):
    """epsilon^2 / 8 of rho each (Dong, Durfee and Rogers 2020), in both directions."""
    task = Task(1.0, 1e-5, labels, labels, n_teachers=50, n_classes=3)
    start, law = EXPONENTIAL.account.start, EXPONENTIAL.law
    parameters = start.find(law, task, labels)
    rho = Fraction(labels) * Fraction(parameters.label_epsilon) ** 2 / 8
    spent = start.cost(law, task, parameters).proven
    assert spent == pytest.approx(rho_cost(float(rho), 1e-5, "improved"), rel=1e-9)
    assert 0.9999 < spent <= 1.0
