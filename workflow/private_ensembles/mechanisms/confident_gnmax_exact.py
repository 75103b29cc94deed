"""Confident-GNMax with the least noise that its thresholds and its labels need together.

A threshold is charged by its noisy count, a label by what it releases (docs/confident-labels.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from private_ensembles.accounting.adaptive.counts_and_labels import (
    LabelsAlone,
    NoisyCounts,
    joint_epsilon,
    labels_alone,
)
from private_ensembles.accounting.adaptive.families import Family
from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.discrete_gaussian import chance_error, fine_distance
from private_ensembles.mechanisms.confident_gnmax import ConfidentGNMax
from private_ensembles.mechanisms.families.audited import both_counts
from private_ensembles.mechanisms.families.base import Cost
from private_ensembles.mechanisms.families.checked import CheckedNoise
from private_ensembles.mechanisms.families.gaussian import (
    gaussian_error,
    label_distribution,
    label_right,
    rho_cost,
    rho_within,
    share_of_labels,
)
from private_ensembles.mechanisms.families.label_account import (
    LabelAccount,
    grid_fineness,
    of_a_small_delta,
    of_two_classes,
    too_many_for_delta,
)
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.pate.mechanisms import NO_ANSWER

# Both parts come so close to their shares of the budget, unless that takes more than a few tries.
_NEAR, _FEW = 0.03, 3
# sigma2 grows by the factor if it leaves nothing to the thresholds, at most this often.
_MORE, _TRIES = 1.03, 12


class ExactConfidentGNMax(ConfidentGNMax):
    """Starts from what the noisy counts need; sigma2 shrinks to what the labels release.

    Secure noise: thresholds on whole numbers, as published; labels on a lattice so fine that they
    are those of continuous noise except for `fine_distance`.
    """

    name = "confident_gnmax_exact"
    label = "Confident-GNMax, σ by the account of thresholds and labels"
    source = "PATE Algorithm 1; σ by DESIGN 5.12 and 5.13"
    analysis = "label"
    aggregator = None
    proof = "confident-labels.md#thresholds-first-labels-afterwards"

    def further_refusal(self, task):
        """Refuse very many labels, which take too long."""
        most = LabelAccount.most_labels[task.n_classes > 2]
        if task.labels > most:
            return f"for at most {most:,} labels"
        return too_many_for_delta(task) or super().further_refusal(task)

    def find(self, task, labels, share=0.3, threshold=0.6):
        """Start from what the noisy counts need; find less sigma2, and the sigma1 it leaves."""
        start = super().find(replace(task, secure=False), labels, share, threshold)
        sigma1, sigma2 = _least_noise(self, task, replace(start, threshold=0.0), share)
        if math.isfinite(sigma1) and (task.secure or sigma2 < start.sigma2):
            return replace(start, sigma1=sigma1, sigma2=sigma2, continuous=not task.secure)
        if task.secure:
            raise ValueError(f"noise = secure: no noise of {self.name} is proven for the budget")
        return start

    def guess(self, task, **free):
        """Guess by about what share of the noise the labels need: a search asks often."""
        labels, free = self.given(task, free)
        start = super().find(replace(task, secure=False), labels, **free)
        return replace(start, sigma2=share_of_labels(labels) * start.sigma2)

    def at_noise(self, noise, n_classes):
        """Return None: at given noise it is plain Confident-GNMax."""

    def printed_totals(self, task, secure=False):
        """Return no totals, as there is none at given noise."""
        return {}

    def cost(self, task, parameters):
        """Return the least proven cost: of thresholds and labels, or of continuous noisy counts."""
        found = _cost_together(self, task, replace(parameters, threshold=0.0))
        if not task.secure:
            found = min(found, rho_cost(parameters.rho * (1 + 1e-14), task.delta, "exact"))
        return Cost(found, found)

    cost_at_noise = cost

    def label_pairs(self, task: Task, sigma: float) -> Family:
        """Return what a moved vote does to one label."""
        K, classes = task.n_teachers, task.n_classes
        spare = fine_distance(sigma, classes) if task.secure else 0.0
        if classes > 2:
            return GaussianMaximum(sigma, K, classes, spare)
        table, errors = label_distribution(both_counts(K), sigma), gaussian_error(K, 2, sigma)
        spare += errors["absolute_error"]
        return of_two_classes(table, errors["relative_error"], spare, task)

    def distribution(self, counts, parameters, secure=False):
        """Return Pr[outcome] of a query at which the mechanism still runs."""
        counts = np.asarray(counts)
        answers = self._answers(counts, parameters, secure)[:, :1]
        return answers * label_distribution(counts, parameters.sigma2)

    def label_right(self, counts, labels, parameters, secure):
        """Return that of continuous noise; the fine lattice's differs by less than is shown."""
        return label_right(counts, labels, parameters.sigma2)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Return the error; secure noise adds lattice tails and the fine lattice's distance."""
        if not secure:
            return super().error(n_teachers, n_classes, parameters)
        found = gaussian_error(n_teachers, n_classes, parameters.sigma2)
        relative, absolute = chance_error(parameters.sigma1)
        found["relative_error"] += relative
        found["absolute_error"] += fine_distance(parameters.sigma2, n_classes) + 4 * absolute
        return found

    def sample(self, counts, parameters, noise):
        """Draw labels as if there were no caps."""
        if not noise.secure:
            return super().sample(counts, parameters, noise)
        counts = np.asarray(counts)
        passed = noise.add_gaussian(counts.max(axis=1), parameters.sigma1) >= parameters.threshold
        labels = noise.largest(noise.add_fine_gaussian(counts, parameters.sigma2))
        return np.where(passed, labels, NO_ANSWER)

    def capped(self, counts, parameters, noise):
        if not noise.secure:
            return super().capped(counts, parameters, noise)
        labels = self.sample(counts, parameters, noise)
        answered = labels != NO_ANSWER
        running = np.cumsum(answered) - answered < parameters.labels
        running[parameters.queries :] = False
        return np.where(running, labels, NO_ANSWER)


@lru_cache(maxsize=512)
def _least_noise(
    mechanism: ExactConfidentGNMax, task: Task, start: CheckedNoise, share: float
) -> tuple[float, float]:
    """sigma1 and sigma2: thresholds take about their share, and sigma1 is the least beside sigma2.

    start: what the noisy counts need. sigma1 is infinite if nothing is found.
    """
    budget = task.epsilon, task.delta
    rho, labels = rho_within(*budget, "exact"), start.labels
    family = mechanism.label_pairs(task, start.sigma2)
    if of_a_small_delta(task, family, labels):
        return math.inf, math.inf
    sigma2, proven = share_of_labels(labels) * start.sigma2, (math.inf, math.inf)
    for count in range(_TRIES):
        alone = _labels_alone(mechanism, task, labels, sigma2)
        sigma1 = alone.least_sigma(start.queries, *budget, start.sigma1, lattice=task.secure)
        if math.isinf(sigma1):
            sigma2 *= _MORE
            continue
        proven = sigma1, sigma2
        # What the labels take of their share of rho, which falls with sigma2 squared, about.
        taken = (rho - start.queries / (2 * sigma1**2)) / ((1 - share) * rho)
        off = max(abs(sigma1 / start.sigma1 - 1), abs(taken - 1))
        if off < _NEAR or count >= _FEW:
            break
        sigma2 *= math.sqrt(min(1.5, max(0.5, taken)))
    return proven


@lru_cache(maxsize=64)
def _labels_alone(
    mechanism: ExactConfidentGNMax, task: Task, labels: int, sigma2: float
) -> LabelsAlone:
    """Return what the labels cost, on a grid for the task's budget."""
    width = math.sqrt(2 * rho_within(task.epsilon, task.delta, "exact"))
    family, budget = mechanism.label_pairs(task, sigma2), (task.epsilon, task.delta)
    points = grid_fineness(task.n_classes, labels)
    return labels_alone(family, labels, *budget, width=width, fineness=points)


@lru_cache(maxsize=512)
def _cost_together(mechanism: ExactConfidentGNMax, task: Task, parameters: CheckedNoise) -> float:
    """Return what thresholds and labels cost at the task's delta; at most epsilon if it is kept."""
    labels, sigma2 = parameters.labels, parameters.sigma2
    counts = NoisyCounts(parameters.queries, parameters.sigma1, task.secure)
    found = _labels_alone(mechanism, task, labels, sigma2).beside(counts, task.delta)
    if found.delta(task.epsilon) <= task.delta:
        return min(task.epsilon, found.epsilon(task.delta))
    family, points = mechanism.label_pairs(task, sigma2), grid_fineness(task.n_classes, labels)
    return joint_epsilon(family, labels, counts, task.delta, fineness=points)


MECHANISM = ExactConfidentGNMax()
