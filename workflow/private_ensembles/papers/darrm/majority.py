"""The plurality of private teachers without noise; ties go to the first class."""

from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.audit.audited_labels import DecidingTeacherLabel
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Parameters


@dataclass(frozen=True)
class Answers(Parameters):
    """The parameters of the plain plurality.

    Attributes:
        labels: how many there are.
        weaker: how many times its epsilon a doctored teacher costs; a half-noise twin's alone.
    """

    labels: int
    weaker: float | None = None


class Majority(Law):
    """All privacy is the teachers' own, of which a neighbour changes one."""

    def distribution(self, counts, parameters, secure=False):
        """Return the plurality with certainty."""
        counts = np.asarray(counts)
        return (np.arange(counts.shape[1]) == counts.argmax(axis=1)[:, None]).astype(float)

    def numerical_error(self, n_teachers, n_classes, parameters, secure=False):
        """Return by how much `distribution` may be off: rounding only."""
        return {"relative_error": 1e-10, "absolute_error": 1e-300}

    def draw(self, counts, parameters, source):
        """Return the plurality of each histogram; ties go to the first class."""
        return np.asarray(counts).argmax(axis=1)

    def scale_noise(self, parameters, factor):
        """Return a twin whose doctored teacher costs 1 / `factor` times its epsilon."""
        return replace(parameters, weaker=1 / factor)

    def build_audit(self, task, parameters):
        """Audit votes in which one teacher's training changes and the others are split evenly."""
        epsilon = task.ensemble.private.epsilon * (
            1.0 if parameters.weaker is None else parameters.weaker
        )
        return DecidingTeacherLabel(task.ensemble.teachers, epsilon, task.ensemble.private.delta)


LAW = Majority()
