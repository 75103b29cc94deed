"""Labels known by their epsilon alone: composed, and what a neighbour changes of them."""

from dataclasses import replace

import pytest

from private_ensembles import mechanisms
from private_ensembles.mechanisms.families.composed import composed
from private_ensembles.mechanisms.families.task import Task

BASE = Task(
    epsilon=1.0, delta=1e-5, queries=60, labels=40, n_teachers=9, n_classes=2, teacher_epsilon=0.3
)


@pytest.mark.parametrize("labels", [2, 40])
def test_labels_cost_what_they_compose_to(labels):
    flips = mechanisms.load("permute_and_flip")
    task = replace(BASE, labels=labels, n_classes=3)
    parameters = flips.calibrate(task)
    found = flips.cost(task, parameters).claimed
    assert found == composed(parameters.label_epsilon, labels, task.delta)
    assert 0.9999 * task.epsilon < found <= task.epsilon
