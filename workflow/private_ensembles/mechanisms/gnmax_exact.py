"""GNMax with the least sigma that the exact audit of one label allows: two classes, odd K.

Few labels are known best by their own distribution (`pate.gnmax.gnmax_sigma`, ``exact``), which
optimal composition takes for any (epsilon, delta)-DP label; many by their Gaussian noise, which
composes exactly. Both prove the budget, so the smaller sigma does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from private_ensembles.mechanisms.families import gaussian
from private_ensembles.mechanisms.families.audited import both_counts
from private_ensembles.mechanisms.families.base import Cost, Parameters
from private_ensembles.mechanisms.families.gaussian import GaussianMaximum
from private_ensembles.mechanisms.families.leaky import LeakyLabels


@dataclass(frozen=True)
class ExactNoise(Parameters):
    """label_epsilon, label_delta: one label's cost, where sigma is the label's; else None."""

    label_epsilon: float | None
    label_delta: float | None
    labels: int
    sigma: float


class ExactGNMax(GaussianMaximum, LeakyLabels):
    """free: leak, which the exact method needs above 0, and cap."""

    name = "gnmax_exact"
    label = "GNMax, σ by the exact audit of the label"
    source = "PATE section 4.1; σ by DESIGN 5.5, two classes and this number of teachers"
    order = 13
    analysis = "label"
    method = "exact"
    most_labels = 1000  # every setting that is tried costs an audit
    free = LeakyLabels.free | {"leak": (0.01, 1.0)}
    distribution = LeakyLabels.distribution

    def further_refusal(self, task):
        """As all of two classes; odd K."""
        if task.n_teachers % 2 == 0:
            return "for an odd number of teachers"
        return LeakyLabels.further_refusal(self, task)

    def find(self, task, labels, **free):
        one = self.one_label(task, labels, **free)
        budget = one.label_epsilon, one.label_delta
        by_label = gaussian.sigma_of_one(*budget, "exact", task.n_teachers)
        if task.secure:  # one label, coins of a table, which the audit of the label proves
            return ExactNoise(*budget, labels, by_label)
        rho = gaussian.rho_within(task.epsilon, task.delta, "exact")
        by_noise = math.sqrt(labels / rho) * (1 + 1e-12)
        if by_label < by_noise:
            return ExactNoise(*budget, labels, by_label)
        return ExactNoise(None, None, labels, by_noise, continuous=True)

    def for_budget(self, budget, found):
        """The sigma found by `search_gnmax_sigma`."""
        if "sigma_exact" not in found:
            return self.calibrate(self.terms(budget))
        given = ExactNoise(budget.epsilon, budget.delta, 1, found["sigma_exact"])
        return self.proven_of_coins(given, self.terms(budget))

    def cost(self, task, parameters):
        """By the proof that gave sigma."""
        if parameters.label_epsilon is not None:
            return LeakyLabels.cost(self, task, parameters)
        rho = parameters.labels / parameters.sigma**2 * (1 + 1e-14)
        found = gaussian.rho_cost(rho, task.delta, "exact")
        return Cost(found, found)

    secure_refusal = LeakyLabels.secure_refusal

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Of the table, whatever it is drawn by."""
        return gaussian.gaussian_error(n_teachers, n_classes, parameters.sigma)

    def table(self, n_teachers, parameters):
        return gaussian.label_distribution(both_counts(n_teachers), parameters.sigma)

    def sample(self, counts, parameters, noise):
        """GNMax's; secure labels are coins of the table, for the proof is of continuous noise."""
        sampler = LeakyLabels if noise.secure else GaussianMaximum
        return sampler.sample(self, counts, parameters, noise)


MECHANISM = ExactGNMax()
