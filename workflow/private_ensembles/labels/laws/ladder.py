"""The optimal ladder on two classes: as steep as (epsilon, delta) for one label allows."""

from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.labels.ladder import ladder_probabilities
from private_ensembles.labels.laws.table import TableLaw
from private_ensembles.labels.parameters import Parameters


@dataclass(frozen=True)
class LeakyLabel(Parameters):
    """What one label costs, on which the ladder's steps depend.

    Attributes:
        label_epsilon: epsilon of one label.
        label_delta: delta of one label.
        labels: How many labels.
    """

    label_epsilon: float
    label_delta: float
    labels: int


class Ladder(TableLaw):
    """The ladder on two classes, whose steps hold for the very floats of its coins."""

    n_classes = 2

    def probabilities(self, counts, parameters):
        K = int(counts[0].sum())
        return ladder_probabilities(
            K, parameters.label_epsilon, parameters.label_delta, np.asarray(counts)[:, 1]
        )

    def numerical_error(self, n_teachers, n_classes, parameters, *, secure=False):
        """Return the error of the majority's column, which is rounded; the flips are exact."""
        return {"relative_error": 2.0**-52, "absolute_error": 1e-300}

    def draw_seeded(self, counts, parameters, generator):
        distribution = self.distribution(counts, parameters)
        flip = generator.random(len(counts)) < distribution.min(axis=1)
        return ((counts[:, 1] > counts[:, 0]) ^ flip).astype(np.int64)

    def scale_noise(self, parameters, factor):
        """Return a steeper ladder, of a larger epsilon."""
        return replace(parameters, label_epsilon=parameters.label_epsilon / factor)


LAW = Ladder()
