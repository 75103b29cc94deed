"""The exponential mechanism and permute-and-flip on vote counts: C classes, exact distributions.

Both choose class j with a preference for large counts n_j, with one parameter, the rate r. Moving
one vote changes every count by at most 1, so both are (2 r, 0)-DP (McSherry & Talwar 2007, Theorem
6; McKenna & Sheldon 2020, Theorem 1). At equal rates permute-and-flip never has more expected
error; it is report-noisy-max with exponential noise of scale 1 / r (Ding et al. 2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.root import least_holding
from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import reduced_histograms
from private_ensembles.mechanisms.families.audited import both_counts
from private_ensembles.mechanisms.families.base import Cost
from private_ensembles.mechanisms.families.ladder_steps import check_budget
from private_ensembles.mechanisms.families.pure import PureLabel, PureLabels

# Of both distributions: an exponent's rounding weighs as much as its size (below 750), and sums
# of C positive terms lose C round-offs.
RELATIVE_ERROR, ABSOLUTE_ERROR = 1e-12, 1e-300


def exponential_distribution(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Pr[label j] = e^(rate n_j) / sum of e^(rate n_i), shape (Q, C).

    counts: (Q, C) integers. Raises ValueError for another rank or rate not a finite number > 0.
    """
    weights = _weights(counts, rate)
    return weights / weights.sum(axis=1, keepdims=True)


def permute_and_flip_distribution(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Pr[label j] of permute-and-flip (McKenna & Sheldon 2020, Algorithm 1), shape (Q, C).

    Visit the classes in random order and take class j with probability q_j = e^(rate (n_j - max)),
    until one is taken. With uniform arrival times Pr[j] = q_j times the integral over t in [0, 1]
    of the product over i != j of (1 - q_i t), a polynomial of degree C - 1 that Gauss-Legendre
    quadrature with ceil(C / 2) nodes integrates exactly, all terms positive. Raises ValueError as
    :func:`exponential_distribution`.
    """
    weights = _weights(counts, rate)
    n_classes = weights.shape[1]
    nodes, shares = np.polynomial.legendre.leggauss(-(-n_classes // 2))
    out = np.zeros_like(weights)
    for t, share in zip((nodes + 1) / 2, shares / 2, strict=True):  # C / 2 nodes, all inside (0, 1)
        refusals = 1 - t * weights
        out += share * weights * (refusals.prod(axis=1, keepdims=True) / refusals)
    return out


def exponential_release(
    counts: ArrayLike, generator: np.random.Generator, *, rate: float
) -> NDArray[np.int64]:
    """One label per row of counts (Q, C): the largest of rate n_j plus Gumbel noise."""
    scores = rate * _checked(counts, rate)
    return np.argmax(scores + generator.gumbel(size=scores.shape), axis=1)


def permute_and_flip_release(
    counts: ArrayLike, generator: np.random.Generator, *, rate: float
) -> NDArray[np.int64]:
    """One label per row of counts (Q, C), by McKenna & Sheldon's Algorithm 1 as it is written."""
    weights = _weights(counts, rate)
    arrival = generator.random(weights.shape)
    accepted = generator.random(weights.shape) < weights  # the largest always is: its weight is 1
    return np.argmin(np.where(accepted, arrival, np.inf), axis=1)


def selection_rate(
    epsilon: float,
    delta: float,
    distribution: Callable[[ArrayLike, float], NDArray],
    *,
    method: str = "pure",
    n_teachers: int | None = None,
    n_classes: int = 2,
) -> float:
    """Largest rate with which one label is proven (epsilon, delta)-DP.

    ``pure``: epsilon / 2, any K and C, no delta needed. ``exact``: by the audit of ``distribution``
    over all histograms of ``n_teachers`` = K votes on ``n_classes`` (classes may be renamed, so the
    reduced ones suffice). distribution: one of the two above. Raises ValueError for an unknown
    method, epsilon not finite and > 0, delta outside [0, 1], too many histograms, ``exact`` without
    n_teachers.
    """
    check_budget(epsilon, delta)
    if method == "pure":
        return epsilon / 2
    if method != "exact":
        raise ValueError(f"method = {method!r}: must be 'pure' or 'exact'")
    if n_teachers is None:
        raise ValueError("n_teachers = None: method 'exact' needs the number of teachers")
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

    # Noise is 1 / rate; a lead grows by 2, so no budget lets the rate exceed pure DP's by much
    # unless delta is large: the range covers four hundred times.
    high = 2 / epsilon * (1 + 1e-9)
    if not holds(high):
        return epsilon / 2
    return 1 / least_holding(holds, high / 400, high)  # the very float that was audited


def _checked(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape or counts.dtype.kind not in "iu":
        raise ValueError(
            f"counts: {counts.dtype} {counts.shape} must be integers (queries, classes)"
        )
    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"rate = {rate}: must be a finite number > 0")
    return counts.astype(np.float64)


def _weights(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    counts = _checked(counts, rate)
    return np.exp(rate * (counts - counts.max(axis=1, keepdims=True)))


_rate_of_one = lru_cache(maxsize=256)(selection_rate)


@dataclass(frozen=True)
class SelectionRate(PureLabel):
    """rate: where it was found by the audit of one label; None: half of label_epsilon."""

    rate: float | None = None
    leak: float | None = None


class Selection(PureLabels):
    """Chooses a class with a preference for large counts.

    One label of two classes: the largest rate that the exact audit allows, which spends the whole
    of delta as well (`leak`). Else label_epsilon / 2, and labels compose by their epsilon.
    """

    paper = "tight baselines"
    color = "yellow"
    proof = "audit.md#choosing-a-class-by-its-count"

    @staticmethod
    def weigh(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
        """Return Pr[label], (queries, classes)."""
        raise NotImplementedError

    @staticmethod
    def choose(counts: ArrayLike, generator: np.random.Generator, *, rate: float) -> NDArray:
        """Draw one label per query."""
        raise NotImplementedError

    def rate(self, parameters: SelectionRate) -> float:
        """Return the rate that the parameters stand for."""
        return parameters.label_epsilon / 2 if parameters.rate is None else parameters.rate

    def find(self, task, labels, **free):
        """One label of two classes by the audit, all else by composition."""
        if labels == 1 and task.n_classes == 2:
            rate = _rate_of_one(
                task.epsilon, task.delta, self.weigh, method="exact", n_teachers=task.n_teachers
            )
            return SelectionRate(task.epsilon, 1, rate, task.delta)
        return SelectionRate(self.epsilon_of_one(task, labels), labels)

    def epsilon_of_one(self, task, labels: int) -> float:
        """Return what one of so many labels may cost."""
        return super().find(task, labels).label_epsilon

    def cost(self, task, parameters):
        """The audited label's own epsilon, or composition."""
        if parameters.leak is not None and parameters.leak <= task.delta:
            return Cost(parameters.label_epsilon, parameters.label_epsilon)
        return self.composition(task, parameters)

    def composition(self, task, parameters) -> Cost:
        """Return the cost of labels known by their epsilon."""
        return super().cost(task, parameters)

    def table(self, n_teachers, parameters):
        """Its own, exact."""
        return self.weigh(both_counts(n_teachers), self.rate(parameters))

    def many_classes(self, counts, parameters):
        """Its own, exact."""
        return self.weigh(counts, self.rate(parameters))

    def error(self, n_teachers, n_classes, parameters):
        """Of exponents, as far as floats hold them."""
        return {"relative_error": RELATIVE_ERROR, "absolute_error": ABSOLUTE_ERROR}

    def draw(self, counts, parameters, generator):
        """By its own sampler."""
        return self.choose(counts, generator, rate=self.rate(parameters))

    def weaker(self, parameters, factor):
        """A larger rate."""
        return replace(parameters, rate=self.rate(parameters) / factor)

    def score_sensitivity(self, task, parameters):
        """As pure labels; the audited one may leak, too."""
        return super().score_sensitivity(task, parameters) + (parameters.leak or 0.0)
