"""DaRRM on private teachers, two classes: one label by gamma, or all labels by all the teachers.

One label (Lemma 3.4 of DaRRM): with (epsilon, Delta)-DP teachers and a certified gamma it is
(m epsilon, delta)-DP, whichever records the teachers share. Teachers that are trained once answer
every query with the same randomness, so these guarantees do not compose over queries
(docs/privacy.md). Many labels: they are post-processing of all K teachers, whose composition covers
any number of them; if the budget has room for it, no noise is needed at all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.composition import Composition, optimal_homogeneous
from private_ensembles.audit.shared_data import shared_data_curve, worst_teachers
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.release import label_probability, release
from private_ensembles.mechanisms.families.audited import Audited, Worst
from private_ensembles.mechanisms.families.base import Cost, Mechanism, Parameters
from private_ensembles.mechanisms.families.task import PRIVACY_MODELS, Budget, Task


@dataclass(frozen=True)
class NoisyMajority(Parameters):
    """m: allowance of one label; K means the plain majority of all teachers.

    delta: of the label. teacher_epsilon, teacher_Delta: one teacher's cost for the task's
    adjacency. gamma: (K + 1,), if it is given; None: the mechanism's own at m.
    """

    m: float
    labels: int
    K: int
    delta: float
    teacher_epsilon: float
    teacher_Delta: float
    gamma: NDArray | None = field(default=None, compare=False)


class NoiseFunction(Mechanism):
    """gamma for the allowance m of a label; m = K means the plain majority of all teachers.

    One teacher's cost is that of `majority_cost` for the task's adjacency: for replace_one by group
    privacy of two, which also holds if every teacher sees every record. What one record does
    to the votes themselves is not bounded, so no histogram is audited (`hides_votes`).
    """

    paper = "DaRRM"
    teachers = "private"
    privacy_models = PRIVACY_MODELS
    n_classes = 2
    hides_votes = False

    def further_refusal(self, task: Task) -> str | None:
        """Require odd K, and one label unless the budget pays for all teachers."""
        if reason := super().further_refusal(task):
            return reason
        if task.n_teachers % 2 == 0:
            return "for an odd number of teachers"
        if reason := task.teacher_refusal():
            return reason
        if task.labels > 1 and self._everyone(task) > task.epsilon:
            return (
                "proven for one label: teachers that are trained once share their randomness "
                f"between queries, and all of them together cost {self._everyone(task):.4g}"
            )
        return None

    @abstractmethod
    def allowance(self, task: Task, teacher: Composition) -> float:
        """Return the largest m at which one label keeps the budget, in [1, K]."""

    @abstractmethod
    def own_gamma(self, parameters: NoisyMajority) -> NDArray[np.float64]:
        """Return the noise function, (K + 1,), that is private at m < K."""

    def gamma(self, parameters: NoisyMajority) -> NDArray[np.float64]:
        """Return the noise function, (K + 1,), that releases labels."""
        if parameters.gamma is not None:
            return parameters.gamma
        if parameters.m == parameters.K:
            return np.ones(parameters.K + 1)
        return self.own_gamma(parameters)

    def _everyone(self, task: Task) -> float:
        """Return what all K teachers cost together at the task's delta."""
        teacher = task.teacher_cost()
        cost = teacher.epsilon, teacher.delta, task.n_teachers
        return optimal_homogeneous(*cost, task.delta).epsilon

    def find(self, task: Task, labels: int, **free: float) -> Parameters:
        """Find no noise if the budget pays for all teachers, else m and delta of the one label."""
        teacher = task.teacher_cost()
        everyone = self._everyone(task) <= task.epsilon
        m = float(task.n_teachers) if everyone else self.allowance(task, teacher)
        given = (m, labels, task.n_teachers, task.delta)
        return NoisyMajority(*given, teacher.epsilon, teacher.delta)

    def cost(self, task: Task, parameters: Parameters) -> Cost:
        """Return the cost of all teachers, or of the one label."""
        found = self.label_cost(parameters)
        if parameters.m == task.n_teachers and parameters.gamma is None:
            found = self._everyone(task)
        return Cost(found, found)

    def label_cost(self, parameters: NoisyMajority) -> float:
        """Return what one label costs."""
        return parameters.m * parameters.teacher_epsilon * (1 + 1e-15)

    def terms(self, budget: Budget) -> Task:
        """Return what DaRRM claims: all teachers see all data, in their accountant's adjacency."""
        return replace(
            super().terms(budget),
            delta=budget.delta_gamma,
            privacy_model="shared_data",
            adjacency="add_remove",
            teacher_epsilon=budget.teacher_epsilon,
            teacher_Delta=budget.teacher_Delta,
        )

    def for_budget(self, budget: Budget, found) -> Parameters:
        teacher = budget.teacher_epsilon, budget.teacher_Delta
        problem = PrivacyProblem(budget.K, budget.m, *teacher, budget.delta_gamma)
        given = (budget.m, 1, budget.K, budget.delta_gamma)
        return NoisyMajority(*given, *teacher, gamma=self.gamma_at(problem, found))

    @abstractmethod
    def gamma_at(self, problem: PrivacyProblem, found) -> NDArray[np.float64]:
        """Return the certified gamma of DaRRM's tables; found: of other jobs."""

    def distribution(self, counts, parameters, secure=False):
        """Return DaRRM's own distribution, which is exact for every source of noise."""
        ones = label_probability(self.gamma(parameters))[np.asarray(counts)[:, 1]]
        return np.stack([1 - ones, ones], axis=1)

    def sample(self, counts, parameters, noise):
        """Draw by DaRRM's Algorithm 1."""
        return release(np.asarray(counts)[:, 1], self.gamma(parameters), noise.generator)

    def weaker(self, parameters, factor):
        return replace(parameters, gamma=1 - factor * (1 - self.gamma(parameters)))

    def audited_bound(self, task, parameters):
        """Return the epsilon of the worst teachers."""
        teacher = {"teacher_epsilon": task.teacher_epsilon, "teacher_Delta": task.teacher_Delta}
        return self.audited(task, replace(parameters, **teacher)).worst(task.delta).epsilon

    def audited(self, task, parameters):
        """Audit one label against all teachers that are as private as stated."""
        teacher = parameters.teacher_epsilon, parameters.teacher_Delta
        gamma = self.gamma(parameters)

        def choose(ones: NDArray, generator) -> NDArray:
            return release(ones, gamma, generator)

        return OnTeachers(label_probability(gamma), teacher, choose)


class OnTeachers(Audited):
    """A label of K teachers that all see all data; an input: Pr[teacher says 1] of each, (K,)."""

    def __init__(
        self, probability: NDArray, teacher: tuple[float, float], choose: Callable
    ) -> None:
        self.probability, self.teacher, self.choose = probability, teacher, choose

    def worst(self, delta: float) -> Worst:
        found = worst_teachers(self.probability, *self.teacher, delta)
        return Worst(found.epsilon, found.first, found.second)

    def curve(self, epsilons: NDArray) -> NDArray[np.float64]:
        return shared_data_curve(self.probability, *self.teacher, epsilons)

    def draw(self, given, runs, generator):
        """Draw labels of teachers that vote as the input says, independently in every run."""
        ones = (generator.random((runs, len(given))) < given).sum(axis=1)
        return self.choose(ones, generator)
