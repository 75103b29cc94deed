"""One round of queries to GNMax: which are answered, and what that costs in expectation.

GNMax, Confident-GNMax and Interactive-GNMax (PATE, 4.1-4.3) differ only in what the noisy threshold
looks at: nothing, the largest count max_j n_j, or max_j (n_j - K p_j) for a student's public scores
p. One teacher's vote moves each of these by at most 1, so their costs are alike.

The expectation over the threshold's outcome is the paper's (Table 2). It is not a guarantee, and
what depends on the votes is not for release (DESIGN 5.11).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.data_independent import Releases
from private_ensembles.pate.gnmax import check_sigma
from private_ensembles.pate.mechanisms import check_threshold
from private_ensembles.pate.rdp import check_counts, check_orders, gnmax_log_q, gnmax_rdp_of_log_q
from private_ensembles.pate.smooth_sensitivity import SensitivityProfile

# Queries worked on at a time: bounds memory, not results.
_CHUNK = 1000


@dataclass(frozen=True, eq=False)
class Round:
    """Queries of one round, made by :func:`gnmax_round` and its neighbours, which check them.

    counts: (queries, classes); leads: (queries,), what the threshold looks at, None without a
    threshold; sigma1: its noise; sigma2: the labels' noise; all in votes.
    """

    counts: NDArray[np.int64]
    leads: NDArray[np.float64] | None
    threshold: float | None
    sigma1: float | None
    sigma2: float

    @property
    def teachers(self) -> int:
        """K."""
        return int(self.counts[0].sum())

    @functools.cached_property
    def answer_probability(self) -> NDArray[np.float64]:
        """Chance that each query is answered, (queries,)."""
        if self.leads is None:
            return np.ones(len(self.counts))
        return ndtr((self.leads - self.threshold) / self.sigma1)

    def threshold_rdp(self, orders: ArrayLike) -> NDArray[np.float64]:
        """Rényi cost of all thresholds, lambda / (2 sigma1^2) each, (orders,)."""
        orders = check_orders(orders)
        if self.leads is None:
            return np.zeros(len(orders))
        return len(self.counts) * orders / (2 * self.sigma1**2)

    def label_rdp(self, orders: ArrayLike) -> NDArray[np.float64]:
        """Expected Rényi cost of the labels: each times its chance of an answer, (orders,)."""
        orders = check_orders(orders)
        log_q = gnmax_log_q(self.counts, self.sigma2)
        total = np.zeros(len(orders))
        for start in range(0, len(log_q), _CHUNK):
            part = slice(start, start + _CHUNK)
            costs = gnmax_rdp_of_log_q(log_q[part], self.sigma2, orders)
            total += self.answer_probability[part] @ costs
        return total

    def tried(self, query_cap: int | None = None) -> int:
        """How many queries are asked at most; a cap left out is their number."""
        return len(self.counts) if query_cap is None else min(query_cap, len(self.counts))

    def releases(self, query_cap: int | None = None, answer_cap: int | None = None) -> Releases:
        """What is released at most; a cap left out is the number of queries."""
        tried = self.tried(query_cap)
        answered = tried if answer_cap is None else min(answer_cap, tried)
        return Releases(0 if self.leads is None else tried, self.sigma1, answered, self.sigma2)

    def curve(self, order: float) -> CostCurve | None:
        """The label's cost curve, or None where it is constant: no votes use Theorem 6."""
        if self.counts.shape[1] == 1:
            return None
        curve = CostCurve(self.sigma2, float(order), self.counts.shape[1])
        return curve if curve.helps(self.teachers) else None

    def conditions_violated(self, order: float) -> list[str]:
        """Conditions C5, C6 that fail for the labels' cost at this order; [] if none does."""
        curve = self.curve(order)
        return [] if curve is None else curve.check_conditions()

    def profile(self, order: float) -> SensitivityProfile | None:
        """Sensitivities of the expected label cost; None where it is constant."""
        curve = self.curve(order)
        if curve is None:
            return None
        return SensitivityProfile(self.counts, curve, self.answer_probability)


def answer_probability(counts: ArrayLike, threshold: float, sigma1: float) -> NDArray[np.float64]:
    """Pr[a query passes the noisy threshold], (queries,): Phi((max_j n_j - threshold) / sigma1).

    The noise is the continuous Gaussian; exact, and computed from votes without noise: not for
    release. Raises ValueError as the sampler `mechanisms.confident_gnmax`.
    """
    counts, sigma1 = check_counts(counts), check_sigma(sigma1)
    return ndtr((counts.max(axis=1) - check_threshold(threshold)) / sigma1)


def gnmax_round(counts: ArrayLike, sigma: float) -> Round:
    """Every query is answered by GNMax. Raises ValueError as `check_counts`, `check_sigma`."""
    return Round(check_counts(counts), None, None, None, check_sigma(sigma))


def confident_round(counts: ArrayLike, threshold: float, sigma1: float, sigma2: float) -> Round:
    """Algorithm 1: answered where max_j n_j + N(0, sigma1^2) >= threshold.

    Raises ValueError as `check_counts`, for noise <= 0 and a threshold that is not finite.
    """
    counts = check_counts(counts)
    return _thresholded(counts, counts.max(axis=1).astype(float), threshold, sigma1, sigma2)


def interactive_round(
    counts: ArrayLike, scores: ArrayLike, threshold: float, sigma1: float, sigma2: float
) -> Round:
    """Algorithm 2: answered where max_j (n_j - K p_j) + N(0, sigma1^2) >= threshold.

    scores: the student's p, (queries, classes), each in [0, 1], rows adding up to 1; public, as the
    student was trained on released labels only. What a confident student reinforces costs nothing
    more. Raises ValueError as :func:`confident_round`, and for other scores.
    """
    counts = check_counts(counts)
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != counts.shape:
        raise ValueError(f"scores: shape {scores.shape} must be that of counts, {counts.shape}")
    if not ((scores >= 0).all() and np.allclose(scores.sum(axis=1), 1, atol=1e-4)):
        raise ValueError("scores: must be >= 0 and add up to 1 for every query")
    leads = (counts - counts[0].sum() * scores).max(axis=1)
    return _thresholded(counts, leads, threshold, sigma1, sigma2)


def _thresholded(
    counts: NDArray[np.int64],
    leads: NDArray[np.float64],
    threshold: float,
    sigma1: float,
    sigma2: float,
) -> Round:
    threshold = check_threshold(threshold)
    return Round(counts, leads, threshold, check_sigma(sigma1), check_sigma(sigma2))
