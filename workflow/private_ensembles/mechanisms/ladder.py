"""The optimal ladder on two classes: as steep as (epsilon, delta) for one label allows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.mechanisms.families.base import CAP, Parameters
from private_ensembles.mechanisms.families.composed import composed, label_epsilon
from private_ensembles.mechanisms.families.label_account import LabelAccount
from private_ensembles.mechanisms.families.ladder_steps import ladder_matrix


@dataclass(frozen=True)
class LeakyLabel(Parameters):
    """label_epsilon, label_delta: what one label costs."""

    label_epsilon: float
    label_delta: float
    labels: int


class Ladder(LabelAccount):
    """No label-symmetric release of one (epsilon, delta)-DP label is better (docs/ladder.md).

    free: leak, the share of the total delta that the labels spend, each an equal part. One label
    spends all of it.
    """

    name = "ladder"
    label = "Optimal ladder on two classes"
    paper = "tight baselines"
    source = "docs/ladder.md: no label-symmetric release is better"
    order = 32
    proof = "ladder.md#the-ladder"
    color = "black"
    n_classes = 2
    free = {"leak": (0.0, 1.0)} | CAP

    @staticmethod
    def coin_refusal(labels, n_classes):
        """Return None: the steps hold for the floats themselves, so their coins compose."""
        return None

    def in_parts(self, task, labels, leak=0.5):
        """Divide the budget by optimal composition of labels of which no more is known."""
        if labels == 1:
            return LeakyLabel(task.epsilon, task.delta, labels)
        each = leak * task.delta / labels * (1 - 1e-9)
        return LeakyLabel(label_epsilon(task.epsilon, labels, task.delta, each), each, labels)

    def where_parts_cost_less(self, task, start):
        return start

    def cost_in_parts(self, task, parameters):
        one, delta = parameters.label_epsilon, parameters.label_delta
        if parameters.labels > 1 or delta < task.delta:
            one = composed(one, parameters.labels, task.delta, delta)
        return one

    def table(self, n_teachers, parameters):
        return ladder_matrix(n_teachers, parameters.label_epsilon, parameters.label_delta)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Return the error of the majority's column, which is rounded; the flips are exact."""
        return {"relative_error": 2.0**-52, "absolute_error": 1e-300}

    def draw(self, counts, parameters, noise):
        chances = self.distribution(counts, parameters)
        counts = np.asarray(counts)
        flip = noise.generator.random(len(counts)) < chances.min(axis=1)
        return ((counts[:, 1] > counts[:, 0]) ^ flip).astype(np.int64)

    def weaker(self, parameters, factor):
        """Return a steeper ladder, of a larger epsilon."""
        return replace(parameters, label_epsilon=parameters.label_epsilon / factor)


MECHANISM = Ladder()
