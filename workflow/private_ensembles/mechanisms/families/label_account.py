"""Labels that are charged together for what they release: `accounting.adaptive` finds the noise.

What is proven of parts of a label (its noisy counts, its own epsilon, composed) is where the search
starts, and what is kept if that is less.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive import hockey_sticks
from private_ensembles.accounting.adaptive.account import FINE, adaptive_epsilon, curve
from private_ensembles.accounting.adaptive.curves import Curve
from private_ensembles.accounting.adaptive.families import Covered, Family, Pairs, of_table
from private_ensembles.accounting.adaptive.gaussian_maximum import OUTSIDE
from private_ensembles.accounting.adaptive.scales import (
    least_scale_of_curves,
    lost_delta,
    share_of_scale,
)
from private_ensembles.mechanisms.families.base import CAP, Cost, Parameters
from private_ensembles.mechanisms.families.table import TableMechanism
from private_ensembles.mechanisms.families.task import Task

# Points of the grid for more than two classes: sigma is 0.3 % more than at FINE, in half the time.
_COARSER = 4.0
# With more delta for each label, rounding does not matter.
_PLENTY = 1e-9
# Of very many teachers, labels of at most this probability count as one.
_NEGLIGIBLE = 1e-21
# What labels cost is looked for from this share of the budget on.
_LEAST = 0.9
# Histograms of which an adversary against more than two classes is known to choose.
_MOST_PLAYED = 128


class LabelAccount(TableMechanism):
    """Noise from `in_parts`, shrunk to what all labels together need.

    most_labels: of more, time grows too long; of two classes and of more. For two classes the
    account is of the table, so that secure labels, coins of it, are as private, however many.
    """

    proof = "many-labels.md#two-classes"
    free = CAP
    most_labels = 10_000, 10_000

    @abstractmethod
    def in_parts(self, task: Task, labels: int, **free: float) -> Parameters:
        """Return parameters with which that many labels keep the budget by another proof."""

    @abstractmethod
    def cost_in_parts(self, task: Task, parameters: Parameters) -> float:
        """Return what the labels cost by that proof."""

    def together(self, task: Task, labels: int) -> bool:
        """Return whether that many labels are charged together; one has an audit of its own."""
        return task.n_classes == 2 and labels > 1

    def likely_share(self, task: Task) -> float:
        """Return a share of the noise from `in_parts` that labels are likely to need at least."""
        return 0.4

    def label_pairs(self, task: Task, parameters: Parameters) -> Family:
        """Return what a moved vote does to one label."""
        K = task.n_teachers
        table, errors = self.table(K, parameters), self.error(K, 2, parameters, secure=False)
        return of_two_classes(table, errors["relative_error"], errors["absolute_error"], task)

    def further_refusal(self, task):
        """Refuse very many labels, which take too long."""
        most = self.most_labels[task.n_classes > 2]
        if self.n_classes in (None, task.n_classes) and task.labels > most:
            return f"for at most {most:,} labels"
        alone = self.analysis == "label" and self.together(task, task.labels)
        return (too_many_for_delta(task) if alone else None) or super().further_refusal(task)

    def coin_refusal(self, labels, n_classes):
        """Return None for two classes: the account is that of the table, whose coins are drawn."""
        most = self.most_labels[0]
        if n_classes == 2 and labels <= most:
            return None
        return f"has no sampler for noise: secure beyond two classes and {most:,} labels"

    def find(self, task, labels, **free):
        start = self.in_parts(task, labels, **free)
        if not self.together(task, labels):
            return start
        share = least_share(self, task, start)
        if share < 1 or (task.secure and math.isfinite(share)):
            continuous = task.n_classes > 2 and not task.secure
            return replace(self.weaker(start, share), continuous=continuous)
        return self.where_parts_cost_less(task, start)

    def where_parts_cost_less(self, task: Task, start: Parameters) -> Parameters:
        """Return what is left if the account proves no less noise; for coins, nothing is."""
        if task.secure:
            raise ValueError(f"noise = secure: no noise of {self.name} is proven for the budget")
        return replace(start, continuous=True)

    def guess(self, task, **free):
        """Guess by the share of noise that all labels wanted need: a search asks often."""
        labels, free = self.given(task, free)
        start = self.in_parts(task, labels, **free)
        if not self.together(task, labels):
            return start
        share = least_share(self, task, self.in_parts(task, task.labels))
        return self.weaker(start, share) if math.isfinite(share) else start

    def cost(self, task, parameters):
        """Return the least that is proven."""
        found = self.cost_in_parts(task, parameters)
        if self.together(task, int(parameters.labels)):
            found = min(found, cost_together(self, task, parameters))
        return Cost(found, found)


class CoveredAccount(LabelAccount):
    """Noise of which few pairs dominate a label, in any number of classes."""

    @abstractmethod
    def cover(self, task: Task, parameters: Parameters) -> Pairs:
        """Return pairs whose mixtures dominate all that a moved vote does to one label."""

    def together(self, task, labels):
        """Charge several labels together, whatever the number of classes."""
        return labels > 1

    def label_pairs(self, task, parameters):
        """Return the table of two classes; for more, what dominates, and votes for two alone."""
        if task.n_classes == 2:
            return super().label_pairs(task, parameters)
        K = task.n_teachers
        moved = np.unique(np.linspace(1, K, _MOST_PLAYED).astype(np.int64))
        counts = np.zeros((2, moved.size, task.n_classes), dtype=np.int64)
        counts[0, :, 0], counts[1, :, 0] = moved, moved - 1
        counts[:, :, 1] = K - counts[:, :, 0]
        errors = self.error(K, task.n_classes, parameters, secure=False)
        laws = [self.many_classes(rows, parameters) for rows in counts]
        played = Pairs(*laws, errors["relative_error"], errors["absolute_error"])
        return Covered(self.cover(task, parameters), played)


def of_two_classes(table: NDArray, error: float, spare: float, task: Task) -> Family:
    """Return the family of a table of two classes; what is negligible takes 2e-9 of delta."""
    negligible = min(_NEGLIGIBLE, 1e-9 * task.delta / task.labels)
    return of_table(table, error, spare, negligible=negligible)


def too_many_for_delta(task: Task) -> str | None:
    """Return why the account can prove nothing of so many labels at the task's delta, or None.

    Decided by what each label loses for certain, before any work; a little above it `least_share`
    decides, by what it loses on the grid.
    """
    least = hockey_sticks.LEAST_LOST + (OUTSIDE if task.n_classes > 2 else 0.0)
    if task.delta > task.labels * least:
        return None
    return (
        f"its account of {task.labels:,} labels proves nothing for a delta of "
        f"{task.labels * least:.2g} or less, which its rounding takes"
    )


def of_a_small_delta(task: Task, family: Family, labels: int) -> bool:
    """Return whether the account proves no noise at such a small delta, without a search for it.

    family: at the noise of another proof.
    """
    if task.delta > labels * _PLENTY:
        return False
    given = labels, task.epsilon, task.delta
    lost = lost_delta(family, *given, fineness=grid_fineness(task.n_classes, labels))
    return lost >= task.delta


def grid_fineness(n_classes: int, labels: int) -> float:
    """Return the fineness: few labels' curves have corners, and more than two classes take long."""
    if n_classes == 2:
        return FINE * min(8.0, max(1.0, 100 / labels))
    return _COARSER * min(2.0, max(1.0, 10 / labels))


@lru_cache(maxsize=512)
def least_share(mechanism: LabelAccount, task: Task, start: Parameters) -> float:
    """The least share of the noise of `start` that the account proves; infinite if it finds none.

    `adaptive.least_scale` finds it; a share may exceed 1. Where rounding takes all of delta, it is
    not looked for.
    """
    budget = int(start.labels), task.epsilon, task.delta
    fineness = grid_fineness(task.n_classes, int(start.labels))

    def curve_of(share: float, points: float) -> Curve:
        return _curve(mechanism, task, mechanism.weaker(start, share), points)

    try:
        family = mechanism.label_pairs(task, start)
        if of_a_small_delta(task, family, int(start.labels)):
            return math.inf
        about = share_of_scale(family, *budget)
        about = min(max(about, mechanism.likely_share(task)), 1.0)
        return least_scale_of_curves(curve_of, *budget, about, fineness=fineness)
    except ValueError:
        return math.inf


@lru_cache(maxsize=512)
def cost_together(mechanism: LabelAccount, task: Task, parameters: Parameters) -> float:
    """Return what the labels cost together at the task's delta; at most epsilon if it is kept."""
    labels = int(parameters.labels)
    fineness = grid_fineness(task.n_classes, labels)
    found = _curve(mechanism, task, replace(parameters, continuous=False), fineness)
    kept = found.delta(task.epsilon) <= task.delta
    if kept:
        spent = found.epsilon(task.delta)
        if spent > _LEAST * task.epsilon:
            return min(task.epsilon, spent)
    family = mechanism.label_pairs(task, parameters)
    upper = adaptive_epsilon(family, labels, task.delta, fineness=fineness).upper
    return min(task.epsilon, upper) if kept else upper  # both are proven


@lru_cache(maxsize=64)
def _curve(mechanism: LabelAccount, task: Task, parameters: Parameters, fineness: float) -> Curve:
    """Upper bounds around the task's budget: of a scale that was sought the cost is asked, too."""
    family, labels = mechanism.label_pairs(task, parameters), int(parameters.labels)
    given = {"fineness": fineness, "lower": False, "least": _LEAST * task.epsilon}
    return curve(family, labels, task.epsilon, task.delta, **given)
