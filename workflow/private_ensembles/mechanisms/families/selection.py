"""Mechanisms that choose a class with a preference for large vote counts; exact for C classes.

Both choose class j of count n_j with one parameter, the rate r. Moving one vote changes every count
by at most 1, so both are (2 r, 0)-DP (McSherry & Talwar 2007, Theorem 6; McKenna & Sheldon 2020,
Theorem 1). At equal rates permute-and-flip never has more expected error; it is report-noisy-max
with exponential noise of scale 1 / r (Ding et al. 2021).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.accounting.root import least_holding
from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import reduced_histograms
from private_ensembles.mechanisms.families.audited import both_counts
from private_ensembles.mechanisms.families.base import Parameters
from private_ensembles.mechanisms.families.composed import composed, label_epsilon
from private_ensembles.mechanisms.families.label_account import CoveredAccount
from private_ensembles.mechanisms.families.ladder_steps import check_budget
from private_ensembles.mechanisms.families.table import TableMechanism
from private_ensembles.mechanisms.families.task import Task

# Of both distributions: an exponent's rounding weighs as much as its size (below 750), and sums
# of C positive terms lose C round-offs.
RELATIVE_ERROR, ABSOLUTE_ERROR = 1e-12, 1e-300
# Leads in units of the noise, 1 / rate, at which preferences are 0 as floats.
_UNDERFLOW = 800


def selection_rate(
    epsilon: float,
    delta: float,
    distribution: Callable[[ArrayLike, float], NDArray],
    n_teachers: int,
    n_classes: int = 2,
) -> float:
    """Largest rate with which the exact audit proves one label (epsilon, delta)-DP.

    Over all histograms of n_teachers = K votes on n_classes (classes may be renamed, so the reduced
    ones suffice); epsilon / 2, which serves any K and C, if nothing larger does. distribution:
    `Selection.weigh`. Raises ValueError for epsilon not finite and > 0, delta outside [0, 1], and
    too many histograms.
    """
    check_budget(epsilon, delta)
    # Noise is 1 / rate; a lead grows by 2, so no budget lets the rate exceed pure DP's by much
    # unless delta is large: the range covers four hundred times.
    high = 2 / epsilon * (1 + 1e-9)
    if n_classes == 2:  # further leads have 0 and 1 as floats before and after a move
        n_teachers = min(n_teachers, n_teachers % 2 + 2 * math.ceil(_UNDERFLOW * high))
    histograms, pairs = reduced_histograms(n_teachers, n_classes)

    def holds(noise: float) -> bool:
        found = exact_delta(
            distribution(histograms, 1 / noise),
            pairs,
            epsilon,
            relative_error=RELATIVE_ERROR,
            absolute_error=ABSOLUTE_ERROR,
        )
        return found <= delta

    if not holds(high):
        return epsilon / 2
    return 1 / least_holding(holds, high / 400, high)  # the very float that was audited


def checked(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Return counts (queries, classes) as floats; ValueError for other counts, or rate <= 0."""
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape or counts.dtype.kind not in "iu":
        raise ValueError(
            f"counts: {counts.dtype} {counts.shape} must be integers (queries, classes)"
        )
    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"rate = {rate}: must be a finite number > 0")
    return counts.astype(np.float64)


def preferences(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """e^(rate (n_j - max)), (queries, classes); ValueError as `checked`."""
    counts = checked(counts, rate)
    return np.exp(rate * (counts - counts.max(axis=1, keepdims=True)))


_rate_of_one = lru_cache(maxsize=256)(selection_rate)


@dataclass(frozen=True)
class SelectionRate(Parameters):
    """label_epsilon: of one label by its rate alone, twice that, unless an audit found the rate.

    rate: if the audit of one label found it, which spends leak; None: half of
    label_epsilon.
    """

    label_epsilon: float
    labels: int
    rate: float | None = None
    leak: float | None = None


class Selection(CoveredAccount):
    """Chooses a class with a preference for large counts.

    One label of two classes: the largest rate that the exact audit allows, which spends the whole
    of delta as well (`leak`); several of them, or of more classes: the largest that all together
    allow. Else label_epsilon / 2, and labels compose by their epsilon.
    """

    paper = "tight baselines"
    proof = "audit.md#choosing-a-class-by-its-count"

    @staticmethod
    @abstractmethod
    def weigh(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
        """Return Pr[label], (queries, classes); ValueError as `checked`."""

    @staticmethod
    @abstractmethod
    def choose(counts: ArrayLike, generator: np.random.Generator, *, rate: float) -> NDArray:
        """Draw one label per query."""

    @staticmethod
    @abstractmethod
    def dominating(rate: float) -> Pairs:
        """Return pairs that dominate one label's, in any number of classes."""

    def cover(self, task, parameters):
        return self.dominating(self.rate(parameters))

    def rate(self, parameters: SelectionRate) -> float:
        """Return the rate that the parameters describe."""
        return parameters.label_epsilon / 2 if parameters.rate is None else parameters.rate

    def law(self, parameters):
        return self.name, 1 / Fraction(self.rate(parameters))

    def together(self, task, labels):
        """Charge labels together as far as time allows; more compose by their epsilon."""
        return super().together(task, labels) and labels <= self.most_labels[task.n_classes > 2]

    def further_refusal(self, task):
        return TableMechanism.further_refusal(self, task)

    def in_parts(self, task, labels):
        """Find the rate of one label of two classes by the audit, else by composition."""
        if labels == 1 and task.n_classes == 2:
            rate = _rate_of_one(task.epsilon, task.delta, self.weigh, task.n_teachers)
            return SelectionRate(task.epsilon, 1, rate, task.delta)
        return SelectionRate(self.epsilon_of_one(task, labels), labels)

    def epsilon_of_one(self, task: Task, labels: int) -> float:
        """Return what one of that many labels may cost."""
        return label_epsilon(task.epsilon, labels, task.delta)

    def cost_in_parts(self, task, parameters):
        """Return the audited label's own epsilon, or the composition."""
        if parameters.leak is not None and parameters.leak <= task.delta:
            return parameters.label_epsilon
        return self.composition(task, parameters)

    def composition(self, task: Task, parameters: SelectionRate) -> float:
        """Return the cost of labels known by their epsilon."""
        return composed(parameters.label_epsilon, parameters.labels, task.delta)

    def table(self, n_teachers, parameters):
        return self.weigh(both_counts(n_teachers), self.rate(parameters))

    def many_classes(self, counts, parameters):
        return self.weigh(counts, self.rate(parameters))

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Return the error of exponents, as far as floats hold them."""
        return {"relative_error": RELATIVE_ERROR, "absolute_error": ABSOLUTE_ERROR}

    def draw(self, counts, parameters, noise):
        return self.choose(counts, noise.generator, rate=self.rate(parameters))

    def weaker(self, parameters, factor):
        if parameters.rate is None:
            return replace(parameters, label_epsilon=parameters.label_epsilon / factor)
        return replace(parameters, rate=parameters.rate / factor)
