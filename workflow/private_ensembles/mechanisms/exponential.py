"""The exponential mechanism on vote counts, composed by its bounded range."""

from __future__ import annotations

import math

import numpy as np

from private_ensembles.accounting.adaptive.selection_covers import exponential_cover
from private_ensembles.mechanisms.families.gaussian import rho_cost, rho_within
from private_ensembles.mechanisms.families.selection import Selection, checked, preferences


class Exponential(Selection):
    """Rate epsilon / 2. One label's privacy loss spans an interval of length epsilon.

    Moving a vote changes every exponent by at most rate, so the loss of class j is rate times a
    number in [-1, 1] minus the same constant for all j: the mechanism is epsilon-bounded-range and
    costs rho = epsilon^2 / 8 (Cesar and Rogers 2021; Hoeffding's lemma), four times less than what
    pure DP alone promises. If pure composition is better (few labels), it is used instead.
    """

    name = "exponential"
    label = "Exponential mechanism on the counts"
    source = "McSherry and Talwar 2007, Theorem 6"
    order = 30
    color = "orange"
    dominating = staticmethod(exponential_cover)

    @staticmethod
    def weigh(counts, rate):
        """Pr[label j] = e^(rate n_j) / sum of e^(rate n_i)."""
        weights = preferences(counts, rate)
        return weights / weights.sum(axis=1, keepdims=True)

    @staticmethod
    def choose(counts, generator, *, rate):
        """Choose the largest of rate n_j plus Gumbel noise."""
        scores = rate * checked(counts, rate)
        return np.argmax(scores + generator.gumbel(size=scores.shape), axis=1)

    def epsilon_of_one(self, task, labels):
        rho = rho_within(task.epsilon, task.delta, "improved") / labels
        by_range = math.sqrt(8 * rho) * (1 - 1e-12)
        return max(by_range, super().epsilon_of_one(task, labels))

    def composition(self, task, parameters):
        rho = parameters.labels * parameters.label_epsilon**2 / 8 * (1 + 1e-15)
        by_range = rho_cost(rho, task.delta, "improved")
        return min(by_range, super().composition(task, parameters))


MECHANISM = Exponential()
