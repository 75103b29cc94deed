"""The plurality of private teachers without noise; ties go to the first class."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.audit.histograms import two_class_matrix
from private_ensembles.audit.shared_data import teacher_corners
from private_ensembles.mechanisms.audited import OnRows
from private_ensembles.mechanisms.laws.law import Law
from private_ensembles.mechanisms.parameters import Parameters


@dataclass(frozen=True)
class Answers(Parameters):
    """weaker: how many times its epsilon a doctored teacher costs; a twin's alone."""

    labels: int
    weaker: float | None = None


class Majority(Law):
    """All privacy is the teachers' own, of which a neighbour changes one."""

    def distribution(self, counts, parameters, secure=False):
        """Return the plurality with certainty."""
        counts = np.asarray(counts)
        return (np.arange(counts.shape[1]) == counts.argmax(axis=1)[:, None]).astype(float)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        return {"relative_error": 1e-10, "absolute_error": 1e-300}

    def draw(self, counts, parameters, source):
        return np.asarray(counts).argmax(axis=1)

    def less_noise(self, parameters, factor):
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


LAW = Majority()
