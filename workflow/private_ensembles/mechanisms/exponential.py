"""The exponential mechanism on vote counts, composed by its bounded range."""

from __future__ import annotations

import math

from private_ensembles.mechanisms.composed import PureLabels, answered, composed, label_epsilon
from private_ensembles.mechanisms.gaussian import rho_cost, rho_within
from private_ensembles.mechanisms.protocol import paid
from private_ensembles.mechanisms.selection import exponential_distribution, exponential_release


class Exponential(PureLabels):
    """Rate epsilon / 2. One label's privacy loss spans an interval of length epsilon.

    Moving a vote changes every exponent by at most rate, so the loss of class j is rate times a
    number in [-1, 1] minus the same constant for all j: the mechanism is epsilon-bounded-range and
    costs rho = epsilon^2 / 8 (Cesar and Rogers 2021; Hoeffding's lemma), four times less than what
    pure DP alone promises. Pure composition, where better (few labels), is taken instead.
    """

    name = "exponential"

    def calibrate(self, task, **free):
        """The larger epsilon of one label that either composition allows."""
        labels = paid(task, free)
        rho = rho_within(task.epsilon, task.delta, "improved") / labels
        by_range = math.sqrt(8 * rho) * (1 - 1e-12)
        pure = label_epsilon(task.epsilon, labels, task.delta)
        return {"label_epsilon": max(by_range, pure), "labels": labels}

    def epsilon(self, task, parameters):
        """The lesser of the two compositions."""
        one, labels = parameters["label_epsilon"], int(parameters["labels"])
        by_range = rho_cost(labels * one**2 / 8 * (1 + 1e-15), task.delta, "improved")
        return min(by_range, composed(one, labels, task.delta))

    def distribution(self, counts, parameters):
        """Its own, exact."""
        return exponential_distribution(counts, parameters["label_epsilon"] / 2)

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        rate = parameters["label_epsilon"] / 2
        return answered(exponential_release(counts, generator, rate=rate), parameters)


MECHANISM = Exponential()
