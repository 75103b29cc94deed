"""DaRRM on private teachers, two classes: one label by gamma, or all labels by all the teachers.

One label (Lemma 3.4 of DaRRM): with (epsilon, Delta)-DP teachers and a certified gamma it is
(m epsilon, delta)-DP, whichever records the teachers share. Teachers that are trained once answer
every query with the same randomness, so these guarantees do not compose over queries
(docs/privacy.md). Many labels: they are post-processing of all K teachers, whose composition covers
any number of them; where the budget has room for it, no noise is needed at all.
"""

from __future__ import annotations

import numpy as np

from private_ensembles.accounting.budgets import majority_cost
from private_ensembles.accounting.composition import Composition, optimal_homogeneous
from private_ensembles.darrm.release import label_probability, release
from private_ensembles.mechanisms.composed import answered
from private_ensembles.mechanisms.protocol import LabelMechanism, Parameters, Task


class NoiseFunction(LabelMechanism):
    """gamma for the allowance m of a label; m = K stands for the plain majority of all teachers.

    One teacher's cost is that of `majority_cost` for the task's adjacency: for replace_one by group
    privacy of two, which holds where every teacher sees every record as well. What one record does
    to the votes themselves is not bounded, so no histogram is audited (`hides_votes`).
    """

    hides_votes = False

    def further_refusal(self, task: Task) -> str | None:
        """Two classes, odd K, and one label, unless the budget pays for all teachers."""
        if task.n_classes != 2:
            return "for two classes only"
        if task.secure:
            return "has no sampler for noise: secure"
        if task.n_teachers % 2 == 0:
            return "for an odd number of teachers"
        teacher = self._teacher(task)
        if teacher.epsilon > task.epsilon or teacher.delta > task.delta:
            cost = f"({teacher.epsilon:.4g}, {teacher.delta:.4g})"
            return f"one teacher costs {cost}, more than the budget"
        if task.labels > 1 and self._everyone(task) > task.epsilon:
            return (
                "proven for one label: teachers that are trained once share their randomness "
                f"between queries, and all of them together cost {self._everyone(task):.4g}"
            )
        return None

    def allowance(self, task: Task, teacher: Composition) -> float:
        """The largest m at which one label keeps the budget, in [1, K]."""
        raise NotImplementedError

    def gamma(self, parameters: Parameters) -> np.ndarray:
        """The noise function, (K + 1,), that is private at m < K."""
        raise NotImplementedError

    @staticmethod
    def _teacher(task: Task) -> Composition:
        return majority_cost(task.teacher_epsilon, task.teacher_Delta, task.adjacency)

    def _everyone(self, task: Task) -> float:
        """What all K teachers cost together at the task's delta."""
        teacher = self._teacher(task)
        cost = teacher.epsilon, teacher.delta, task.n_teachers
        return optimal_homogeneous(*cost, task.delta).epsilon

    def calibrate(self, task: Task, **free: float) -> Parameters:
        """No noise where the budget pays for all teachers, else m and delta of the one label."""
        teacher = self._teacher(task)
        everyone = self._everyone(task) <= task.epsilon
        m = float(task.n_teachers) if everyone else self.allowance(task, teacher)
        facts = {"teacher_epsilon": teacher.epsilon, "teacher_Delta": teacher.delta}
        return {"m": m, "labels": task.labels, "K": task.n_teachers, "delta": task.delta, **facts}

    def epsilon(self, task: Task, parameters: Parameters) -> float:
        """That of all teachers, or of the one label."""
        if parameters["m"] == task.n_teachers:
            return self._everyone(task)
        return parameters["m"] * parameters["teacher_epsilon"] * (1 + 1e-15)

    def _gamma(self, parameters: Parameters) -> np.ndarray:
        K = int(parameters["K"])
        return np.ones(K + 1) if parameters["m"] == K else self.gamma(parameters)

    def distribution(self, counts, parameters):
        """DaRRM's own, exact."""
        ones = label_probability(self._gamma(parameters))[np.asarray(counts)[:, 1]]
        return np.stack([1 - ones, ones], axis=1)

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        ones = np.asarray(counts)[:, 1]
        return answered(release(ones, self._gamma(parameters), generator), parameters)
