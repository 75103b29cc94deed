"""The optimal ladder on two classes: as steep as (epsilon, delta) for one label allows."""

from __future__ import annotations

import numpy as np

from private_ensembles.baselines import ladder
from private_ensembles.mechanisms.composed import answered, composed, label_epsilon
from private_ensembles.mechanisms.protocol import CAP, LabelMechanism, Task, paid


class Ladder(LabelMechanism):
    """free: leak, the share of the total delta that the labels spend, each an equal part."""

    name = "ladder"
    free = {"leak": (0.0, 1.0)} | CAP

    def further_refusal(self, task: Task) -> str | None:
        """Two classes only; optimal composition of very many labels would take too long."""
        if task.n_classes != 2:
            return "for two classes only"
        return "for at most 5,000 labels" if task.labels > 5000 else None

    def calibrate(self, task, **free):
        """Epsilon and delta of one label."""
        labels = paid(task, free)
        leak = free.get("leak", 0.5) * task.delta / labels * (1 - 1e-9)
        one = label_epsilon(task.epsilon, labels, task.delta, leak)
        return {"label_epsilon": one, "label_delta": leak, "labels": labels}

    def epsilon(self, task, parameters):
        """Compose the labels, leaks included."""
        labels = int(parameters["labels"])
        return composed(parameters["label_epsilon"], labels, task.delta, parameters["label_delta"])

    def distribution(self, counts, parameters):
        """Its own, in closed form."""
        counts = np.asarray(counts)
        matrix = ladder.ladder_matrix(
            int(counts[0].sum()), parameters["label_epsilon"], parameters["label_delta"]
        )
        return matrix[counts[:, 1]]

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        released = ladder.release(
            counts[:, 1],
            int(counts[0].sum()),
            generator,
            epsilon=parameters["label_epsilon"],
            delta=parameters["label_delta"],
        )
        return answered(released, parameters)


MECHANISM = Ladder()
