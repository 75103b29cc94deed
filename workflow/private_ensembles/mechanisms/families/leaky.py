"""Two classes, each label (epsilon, delta)-DP: what all labels cost by optimal composition."""

from __future__ import annotations

from dataclasses import dataclass

from private_ensembles.mechanisms.families.base import CAP, Cost, Parameters
from private_ensembles.mechanisms.families.composed import composed, label_epsilon
from private_ensembles.mechanisms.families.table import TableMechanism
from private_ensembles.mechanisms.families.task import Task


@dataclass(frozen=True)
class LeakyLabel(Parameters):
    """label_epsilon, label_delta: what one label costs."""

    label_epsilon: float
    label_delta: float
    labels: int


class LeakyLabels(TableMechanism):
    """free: leak, the share of the total delta that the labels spend, each an equal part.

    One label spends all of it. most_labels: optimal composition of more takes long.
    """

    n_classes = 2
    most_labels = 5000
    free = {"leak": (0.0, 1.0)} | CAP

    def further_refusal(self, task: Task) -> str | None:
        """Optimal composition of very many labels would take too long."""
        if task.n_classes == 2 and task.labels > self.most_labels:
            return f"for at most {self.most_labels:,} labels"
        return super().further_refusal(task)

    def one_label(self, task: Task, labels: int, leak: float = 0.5) -> LeakyLabel:
        """Epsilon and delta of one label; the noise follows from them."""
        if labels == 1:
            return LeakyLabel(task.epsilon, task.delta, labels)
        each = leak * task.delta / labels * (1 - 1e-9)
        return LeakyLabel(label_epsilon(task.epsilon, labels, task.delta, each), each, labels)

    def cost(self, task: Task, parameters: Parameters) -> Cost:
        one, delta = parameters.label_epsilon, parameters.label_delta
        if parameters.labels > 1 or delta < task.delta:
            one = composed(one, parameters.labels, task.delta, delta)
        return Cost(one, one)
