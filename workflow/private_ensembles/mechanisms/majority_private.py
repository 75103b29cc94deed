"""The plurality of private teachers on disjoint shards, without noise: one teacher's cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.accounting.composition import replace_one
from private_ensembles.audit.histograms import two_class_matrix
from private_ensembles.audit.shared_data import teacher_corners
from private_ensembles.mechanisms.families.audited import OnRows
from private_ensembles.mechanisms.families.base import Cost, Mechanism, Parameters
from private_ensembles.mechanisms.families.task import Task


@dataclass(frozen=True)
class Answers(Parameters):
    """weaker: how many times its epsilon a doctored teacher costs; a twin's alone."""

    labels: int
    weaker: float | None = None


class PrivateMajority(Mechanism):
    """All labels are post-processing of the teachers, of which a neighbour changes one."""

    name = "majority_private"
    label = "Majority of private teachers, no noise"
    paper = "DaRRM"
    source = "parallel composition and post-processing; the row that DaRRM lacks"
    order = 52
    proof = "audit.md#private-teachers"
    color = "black"
    teachers = "private"
    hides_votes = False
    costs_once = True

    def further_refusal(self, task: Task) -> str | None:
        """Require that the teachers keep the budget by themselves."""
        return task.teacher_refusal()

    def find(self, task, labels, **free):
        return Answers(labels)

    def cost(self, task, parameters):
        """Return one teacher's cost, which covers any number of labels."""
        found = task.teacher_cost().epsilon
        return Cost(found, found)

    def terms(self, budget):
        """Return one teacher's cost, for any number of queries on disjoint shards (DESIGN 5.6).

        Shards that are cut from a permutation serve replace_one, so that cost is one teacher's by
        group privacy; a keyed hash serves add_remove, at the accountant's own cost.
        """
        teacher = budget.teacher_epsilon, budget.teacher_Delta
        adjacency, cost = "add_remove", teacher
        if not budget.keyed_hash:
            group = replace_one(*teacher)
            adjacency, cost = "replace_one", (group.epsilon, group.delta)
        model = ("disjoint_shards", adjacency)
        return Task(*cost, 1, 1, budget.K, 2, *model, *teacher, budget.secure)

    def distribution(self, counts, parameters, secure=False):
        """Return the plurality with certainty; ties go to the first class, as in `sample`."""
        counts = np.asarray(counts)
        return (np.arange(counts.shape[1]) == counts.argmax(axis=1)[:, None]).astype(float)

    def sample(self, counts, parameters, noise):
        return np.asarray(counts).argmax(axis=1)

    def weaker(self, parameters, factor):
        return replace(parameters, weaker=1 / factor)

    def audited(self, task, parameters):
        """Audit votes in which one teacher's training changes and the others are split evenly."""
        epsilon = task.teacher_epsilon * (1.0 if parameters.weaker is None else parameters.weaker)
        return OnOneTeacher(task.n_teachers, epsilon, task.teacher_Delta)


class OnOneTeacher(OnRows):
    """The majority when one teacher's vote decides and all others keep theirs.

    inputs: places in the list of Pr[the changed teacher says 1]: the eight corners on one data set,
    then on the other. The corners are the worst that the teacher's own claim allows, so they serve
    to test the sampler, and confirm no claim.
    """

    assumed = True

    def __init__(self, n_teachers: int, epsilon: float, Delta: float) -> None:
        self.n_teachers = n_teachers
        self.says_one = teacher_corners(epsilon, Delta).T.ravel()
        self.inputs = np.arange(16)
        self.matrix = two_class_matrix(self.says_one)
        self.pairs = np.stack([np.arange(8), np.arange(8) + 8], axis=1)
        self.errors = {"relative_error": 1e-14, "absolute_error": 1e-16}

    def draw(self, given, runs, generator):
        """Draw the majority of all votes."""
        others = self.n_teachers // 2
        vote = generator.random(runs) < self.says_one[int(given)]
        return (2 * (others + vote) > self.n_teachers).astype(np.uint8)


MECHANISM = PrivateMajority()
