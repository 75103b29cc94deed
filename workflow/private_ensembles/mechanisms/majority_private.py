"""The plurality of private teachers on disjoint shards, without noise: one teacher's cost."""

from __future__ import annotations

import numpy as np

from private_ensembles.accounting.budgets import majority_cost
from private_ensembles.mechanisms.composed import answered
from private_ensembles.mechanisms.protocol import LabelMechanism, Task


class PrivateMajority(LabelMechanism):
    """All labels are post-processing of the teachers, of which a neighbour changes one."""

    name = "majority_private"
    hides_votes = False

    def _cost(self, task: Task):
        return majority_cost(task.teacher_epsilon, task.teacher_Delta, task.adjacency)

    def further_refusal(self, task: Task) -> str | None:
        """The teachers must keep the budget by themselves."""
        cost = self._cost(task)
        if cost.epsilon <= task.epsilon and cost.delta <= task.delta:
            return None
        return f"one teacher costs ({cost.epsilon:.4g}, {cost.delta:.4g}), more than the budget"

    def calibrate(self, task, **free):
        """Nothing to choose."""
        return {"labels": task.labels}

    def epsilon(self, task, parameters):
        """One teacher's, for any number of labels."""
        return self._cost(task).epsilon

    def distribution(self, counts, parameters):
        """Certain; ties go to the first class, as `release` has it."""
        counts = np.asarray(counts)
        return (np.arange(counts.shape[1]) == counts.argmax(axis=1)[:, None]).astype(float)

    def release(self, counts, parameters, generator):
        """The plurality of each of the first `labels` queries."""
        return answered(np.asarray(counts).argmax(axis=1), parameters)


MECHANISM = PrivateMajority()
