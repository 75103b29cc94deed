"""Interactive-GNMax (PATE, Algorithm 2): queries on which teachers and student agree cost less.

The outcome is no answer (-1), or a label of the teachers; a label that is reinforced is the
student's own, known before, so that it says "no answer".
"""

from __future__ import annotations

import numpy as np

from private_ensembles.mechanisms.families.checked import (
    CheckedMaximum,
    CheckedNoise,
    rounds_cost,
)
from private_ensembles.pate.mechanisms import NO_ANSWER, interactive_gnmax, student_excess


class InteractiveGNMax(CheckedMaximum):
    """At given noise for two classes, with a student's scores that are the same on every query."""

    name = "interactive_gnmax"
    label = "Interactive-GNMax"
    source = "PATE Algorithm 2; the student's scores must come from released labels only"
    order = 63
    color = "sky"
    aggregator = 3
    keeps_budget = False

    def at_noise(self, noise, n_classes):
        """Take a task's confident noise, and a student's score for two classes."""
        if n_classes > 2:
            return None
        given = noise["confident"]
        scales = given["threshold"], given["sigma1"], given["sigma2"]
        return CheckedNoise(*scales, score=noise["student_score"])

    def printed_totals(self, task, secure=False):
        """Return totals of both rounds as if every query were answered."""
        rounds = task.get("two_rounds")
        if not rounds:
            return {}
        rounds = [rounds["first"], rounds["second"]]
        return {"interactive": rounds_cost(rounds, task["delta"], secure=secure)}

    def consensus(self, counts, parameters, secure):
        """Return max_j (n_j - K p_j), with K p_j rounded if noise is secure."""
        return student_excess(counts, _scores(counts, parameters), whole=secure)

    def sample(self, counts, parameters, noise):
        """Draw the teachers' labels."""
        given = parameters.threshold, parameters.sigma1, parameters.sigma2
        scores = _scores(counts, parameters)
        labels, reinforced = interactive_gnmax(counts, scores, 0.5, *given, noise.generator)
        return np.where(reinforced, NO_ANSWER, labels)


def _scores(counts, parameters):
    scores = np.array([1 - parameters.score, parameters.score])
    return np.broadcast_to(scores, np.shape(counts))


MECHANISM = InteractiveGNMax()
