"""Every label is epsilon-DP by itself, whatever the votes; the labels are composed."""

from __future__ import annotations

from dataclasses import dataclass

from private_ensembles.mechanisms.families.base import CAP, Cost, Parameters
from private_ensembles.mechanisms.families.composed import composed, label_epsilon
from private_ensembles.mechanisms.families.table import TableMechanism
from private_ensembles.mechanisms.families.task import Task


@dataclass(frozen=True)
class PureLabel(Parameters):
    """label_epsilon: what one label costs, from which the noise follows."""

    label_epsilon: float
    labels: int


class PureLabels(TableMechanism):
    """Labels known by their epsilon alone."""

    free = CAP

    def find(self, task: Task, labels: int, **free: float) -> Parameters:
        return PureLabel(label_epsilon(task.epsilon, labels, task.delta), labels)

    def cost(self, task: Task, parameters: Parameters) -> Cost:
        found = composed(parameters.label_epsilon, parameters.labels, task.delta)
        return Cost(found, found)
