"""GNMax with the least sigma that its labels need together, in any number of classes.

Only the label leaves, so only the label is charged (docs/many-labels.md): one label of two classes
by the exact audit, all others by adaptive composition of their own law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum as Family
from private_ensembles.accounting.discrete_gaussian import fine_distance
from private_ensembles.mechanisms.families import gaussian
from private_ensembles.mechanisms.families.audited import both_counts
from private_ensembles.mechanisms.families.base import Parameters
from private_ensembles.mechanisms.families.gaussian import GaussianMaximum
from private_ensembles.mechanisms.families.label_account import LabelAccount
from private_ensembles.mechanisms.families.table import TableMechanism
from private_ensembles.pate.gnmax import analytic_epsilon


@dataclass(frozen=True)
class LabelNoise(Parameters):
    """sigma: of the noise on every count, in votes; secure labels are drawn by other means."""

    sigma: float
    labels: int = 1


class ExactGNMax(LabelAccount, GaussianMaximum):
    """Starts from the analytic sigma, which is never less.

    Secure labels of two classes are coins of the table; of more, the largest of counts with noise
    on a lattice so fine that labels differ from those of continuous noise by `fine_distance` only.
    """

    name = "gnmax_exact"
    label = "GNMax, σ by the exact account of the labels"
    source = "PATE section 4.1; σ by DESIGN 5.5, 5.12 and 5.13"
    order = 13
    analysis = "label"
    method, conversion = "exact", "exact"
    proof = "many-labels.md#gaussian-noise-in-any-number-of-classes"

    def together(self, task, labels):
        """Charge labels together, except one of two classes, which the audit covers for odd K."""
        return not self._audited(task, labels)

    @staticmethod
    def _audited(task, labels):
        return labels == 1 and task.n_classes == 2 and task.n_teachers % 2 == 1

    def in_parts(self, task, labels):
        """Find sigma by the audit of one label, or by the analytic condition."""
        budget = task.epsilon, task.delta
        if self._audited(task, labels):
            return LabelNoise(gaussian.sigma_of_one(*budget, self.method, task.n_teachers))
        if labels == 1:
            return LabelNoise(gaussian.sigma_of_one(*budget, "analytic", 1))
        rho = gaussian.rho_within(*budget, self.conversion)
        return LabelNoise(math.sqrt(labels / rho) * (1 + 1e-12), labels)

    def cost_in_parts(self, task, parameters):
        """Return what is proven of sigma, for continuous noise and for coins."""
        if task.secure and task.n_classes > 2:
            return math.inf
        labels, sigma = parameters.labels, parameters.sigma
        if self._audited(task, labels) and sigma >= self.in_parts(task, 1).sigma:
            return task.epsilon
        return analytic_epsilon(sigma, task.delta, labels=labels)

    def for_budget(self, budget, found):
        """Take the sigma found by `search_gnmax_sigma`."""
        task = self.terms(budget)
        if "sigma_exact" not in found:
            return self.calibrate(task)
        return self.proven_of_coins(LabelNoise(found["sigma_exact"]), task)

    def likely_share(self, task):
        """Of more than two classes as for very many labels: such a search is dear."""
        return (
            gaussian.share_of_labels(task.labels)
            if task.n_classes > 2
            else super().likely_share(task)
        )

    def label_pairs(self, task, parameters):
        """Return the table for two classes, else pairs for all leads and all middles."""
        if task.n_classes == 2:
            return super().label_pairs(task, parameters)
        sigma, classes = float(parameters.sigma), task.n_classes
        spare = fine_distance(sigma, classes) if task.secure else 0.0
        return Family(sigma, task.n_teachers, classes, spare)

    def coin_refusal(self, labels, n_classes):
        """Return None: more than two classes have the fine lattice."""
        return super().coin_refusal(labels, 2)

    distribution = TableMechanism.distribution

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Return the error of the table, however labels are drawn, and of the fine lattice."""
        found = gaussian.gaussian_error(n_teachers, n_classes, parameters.sigma)
        if secure and n_classes > 2:
            found["absolute_error"] += fine_distance(parameters.sigma, n_classes)
        return found

    def table(self, n_teachers, parameters):
        return gaussian.label_distribution(both_counts(n_teachers), parameters.sigma)

    def many_classes(self, counts, parameters):
        return gaussian.label_distribution(counts, parameters.sigma)

    def right(self, counts, labels, parameters, secure=False):
        """Return that of continuous noise; the fine lattice's differs by less than is shown."""
        if np.shape(counts)[1] == 2:
            return TableMechanism.right(self, counts, labels, parameters, secure)
        return super().right(counts, labels, parameters)

    draw = GaussianMaximum.sample

    def sample(self, counts, parameters, noise):
        """Draw labels as the class's docstring says."""
        counts = np.asarray(counts)
        if noise.secure and counts.shape[1] > 2:
            return noise.largest(noise.add_fine_gaussian(counts, parameters.sigma))
        return TableMechanism.sample(self, counts, parameters, noise)

    def weaker(self, parameters, factor):
        return GaussianMaximum.weaker(self, parameters, factor)


MECHANISM = ExactGNMax()
