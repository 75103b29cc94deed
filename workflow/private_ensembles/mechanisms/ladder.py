"""The optimal ladder on two classes: as steep as (epsilon, delta) for one label allows."""

from __future__ import annotations

import numpy as np

from private_ensembles.mechanisms import ladder_steps as ladder
from private_ensembles.mechanisms.composed import answered
from private_ensembles.mechanisms.two_classes import LeakyLabels


class Ladder(LeakyLabels):
    """No label-symmetric release of one (epsilon, delta)-DP label is better (docs/ladder.md)."""

    name = "ladder"

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
