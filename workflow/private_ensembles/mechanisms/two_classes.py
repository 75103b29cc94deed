"""Two classes, each label (epsilon, delta)-DP: what all labels cost by optimal composition."""

from __future__ import annotations

from private_ensembles.mechanisms.composed import composed, label_epsilon
from private_ensembles.mechanisms.protocol import CAP, LabelMechanism, Parameters, Task, paid


class LeakyLabels(LabelMechanism):
    """free: leak, the share of the total delta that the labels spend, each an equal part.

    most_labels: optimal composition of more takes long.
    """

    most_labels = 5000
    free = {"leak": (0.0, 1.0)} | CAP

    def further_refusal(self, task: Task) -> str | None:
        """Two classes only; optimal composition of very many labels would take too long."""
        if task.n_classes != 2:
            return "for two classes only"
        if task.labels > self.most_labels:
            return f"for at most {self.most_labels:,} labels"
        return None

    def calibrate(self, task: Task, **free: float) -> Parameters:
        """Epsilon and delta of one label; the noise follows from them."""
        labels = paid(task, free)
        leak = free.get("leak", 0.5) * task.delta / labels * (1 - 1e-9)
        one = label_epsilon(task.epsilon, labels, task.delta, leak)
        return {"label_epsilon": one, "label_delta": leak, "labels": labels}

    def epsilon(self, task: Task, parameters: Parameters) -> float:
        """Compose the labels, leaks included."""
        labels = int(parameters["labels"])
        return composed(parameters["label_epsilon"], labels, task.delta, parameters["label_delta"])
