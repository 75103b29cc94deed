"""The optimal ladder on two classes: as steep as (epsilon, delta) for one label allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from private_ensembles.mechanisms.families.ladder_steps import ladder_matrix
from private_ensembles.mechanisms.families.leaky import LeakyLabels


class Ladder(LeakyLabels):
    """No label-symmetric release of one (epsilon, delta)-DP label is better (docs/ladder.md)."""

    name = "ladder"
    label = "Optimal ladder on two classes"
    paper = "tight baselines"
    source = "docs/ladder.md: no label-symmetric release is better"
    order = 32
    proof = "ladder.md#the-ladder"
    color = "black"

    @staticmethod
    def coin_refusal(labels, n_classes):
        """None: the steps hold for the floats as they stand, so that coins of them compose."""
        return None

    def find(self, task, labels, **free):
        return self.one_label(task, labels, **free)

    def table(self, n_teachers, parameters):
        return ladder_matrix(n_teachers, parameters.label_epsilon, parameters.label_delta)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """The majority's column is rounded; the flips hold as they stand."""
        return {"relative_error": 2.0**-52, "absolute_error": 1e-300}

    def draw(self, counts, parameters, generator):
        chances = self.distribution(counts, parameters)
        counts = np.asarray(counts)
        flip = generator.random(len(counts)) < chances.min(axis=1)
        return ((counts[:, 1] > counts[:, 0]) ^ flip).astype(np.int64)

    def weaker(self, parameters, factor):
        """Steeper by a larger epsilon."""
        return replace(parameters, label_epsilon=parameters.label_epsilon / factor)


MECHANISM = Ladder()
