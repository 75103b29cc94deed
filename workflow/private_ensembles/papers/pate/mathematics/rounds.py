"""One round of queries to GNMax: which are answered, and what that costs in expectation.

GNMax, Confident-GNMax and Interactive-GNMax (PATE, 4.1-4.3) differ only in what the noisy threshold
looks at: nothing, the largest count max_j n_j, or max_j (n_j - K p_j) for a student's public scores
p. One teacher's vote changes each of these by at most 1, so their costs are alike.

The expectation over the threshold's outcome is the paper's (Table 2). It is not a guarantee, being
an expectation and of one direction, and what depends on the votes is not for release
(docs/privacy.md, "What a data-dependent guarantee is").
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.composition import check_orders
from private_ensembles.labels.histograms import check_counts
from private_ensembles.labels.noisy_counts import GaussianReleases, exact_data_independent_epsilon
from private_ensembles.labels.thresholds import check_scores, check_threshold, largest_disagreement
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.rdp import gnmax_log_q, gnmax_rdp_of_log_q
from private_ensembles.papers.pate.mathematics.smooth_sensitivity import SensitivityProfile
from private_ensembles.papers.pate.mathematics.tails import tails_of

# So many queries are worked on at a time, which bounds memory and does not change results.
_CHUNK = 1000


@dataclass(frozen=True, eq=False)
class Round:
    """Queries of one round, made by `gnmax_round` and its neighbours, which check them.

    Attributes:
        counts: (queries, classes) int.
        leads: what the threshold looks at, (queries,) in votes; None without a threshold.
        threshold: in votes.
        sigma1: noise of the threshold, in votes.
        sigma2: noise of the labels, in votes.
        noise: as in `papers.pate.mathematics.tails`.
    """

    counts: NDArray[np.int64]
    leads: NDArray[np.float64] | None
    threshold: float | None
    sigma1: float | None
    sigma2: float
    noise: str = "reproducible"

    @property
    def teachers(self) -> int:
        """Number K of teachers."""
        return int(self.counts[0].sum())

    @functools.cached_property
    def answer_probability(self) -> NDArray[np.float64]:
        """Probability that each query is answered, (queries,)."""
        if self.leads is None:
            return np.ones(len(self.counts))
        return tails_of(self.noise, self.sigma1).pass_probability(self.leads - self.threshold)

    @functools.cached_property
    def log_q(self) -> NDArray[np.float64]:
        """Proposition 7's bound for the labels' noise, (queries,)."""
        return gnmax_log_q(self.counts, self.sigma2, noise=self.noise)

    def threshold_rdp(self, orders: ArrayLike) -> NDArray[np.float64]:
        """Return the Rényi cost of all thresholds, lambda / (2 sigma1^2) each, (orders,)."""
        orders = check_orders(orders)
        if self.leads is None:
            return np.zeros(len(orders))
        return len(self.counts) * orders / (2 * self.sigma1**2)

    def label_rdp(self, orders: ArrayLike) -> NDArray[np.float64]:
        """Return the expected Rényi cost of the labels, each times its probability, (orders,)."""
        orders = check_orders(orders)
        total = np.zeros(len(orders))
        for start in range(0, len(self.counts), _CHUNK):
            part = slice(start, start + _CHUNK)
            costs = gnmax_rdp_of_log_q(self.log_q[part], self.sigma2, orders)
            total += self.answer_probability[part] @ costs
        return total

    def max_queries(self, query_cap: int | None = None) -> int:
        """Return how many queries are asked at most; without a cap it is their number."""
        return len(self.counts) if query_cap is None else min(query_cap, len(self.counts))

    def releases(
        self, query_cap: int | None = None, answer_cap: int | None = None
    ) -> GaussianReleases:
        """Return what is released at most; without a cap it is the number of queries."""
        queries = self.max_queries(query_cap)
        answers = queries if answer_cap is None else min(answer_cap, queries)
        return GaussianReleases(
            0 if self.leads is None else queries, self.sigma1, answers, self.sigma2
        )

    def curve(self, order: float) -> CostCurve | None:
        """Return the label's cost curve, or None if it is constant: no votes use Theorem 6."""
        if self.counts.shape[1] == 1:
            return None
        curve = CostCurve(self.sigma2, float(order), self.counts.shape[1], self.noise)
        return curve if curve.is_below_ceiling(self.teachers) else None

    def conditions_violated(self, order: float) -> tuple[str, ...]:
        """Return which of conditions C5, C6 fail for the labels' cost at this order; () if none."""
        curve = self.curve(order)
        return () if curve is None else curve.check_conditions()

    def sensitivity_profile(self, order: float) -> SensitivityProfile | None:
        """Return the sensitivities of the expected label cost; None if the cost is constant."""
        curve = self.curve(order)
        if curve is None:
            return None
        if not self._profiles:
            profile = SensitivityProfile(self.counts, curve, self.answer_probability)
            self._profiles.append(profile)
            return profile
        return self._profiles[0].copy_for_order(order)

    @functools.cached_property
    def _profiles(self) -> list[SensitivityProfile]:
        """The first profile that was made, from which others are copied."""
        return []


def worst_case_epsilon(
    rounds: Sequence[Round],
    delta: float,
    *,
    query_cap: int | None = None,
    answer_cap: int | None = None,
) -> float:
    """Return what the rounds cost together whatever the votes, exactly, at these caps of each.

    Continuous noise is one Gaussian mechanism. `secure` noise has the lattice's own sums, a
    threshold changing one count and a label two.

    Args:
        rounds: all with the same noise.
        delta: in (0, 1).
        query_cap: limit of the queries of each round; by default all of them.
        answer_cap: limit of the answers of each round; by default all queries.

    Raises:
        ValueError: delta is outside (0, 1), a cap < 0, or there are rounds of both kinds of noise.
    """
    noises = {each_round.noise for each_round in rounds}
    if len(noises) > 1:
        raise ValueError(f"noise = {', '.join(sorted(noises))}: must be the same in all rounds")
    releases = [each_round.releases(query_cap, answer_cap) for each_round in rounds]
    if noises == {"reproducible"}:
        return exact_data_independent_epsilon(sum(part.rho for part in releases), delta)
    return discrete_gaussian.epsilon(
        delta, [move for part in releases for move in part.discrete_gaussian_counts]
    )


def gnmax_round(counts: ArrayLike, sigma: float, *, noise: str = "reproducible") -> Round:
    """Return the round in which GNMax answers every query.

    Args:
        counts: (queries, classes) int.
        sigma: noise of the labels, in votes.
        noise: as in `papers.pate.mathematics.tails`.

    Raises:
        ValueError: as `check_counts` and `tails_of` raise it.
    """
    tails_of(noise, sigma)  # checks both
    return Round(check_counts(counts), None, None, None, float(sigma), noise)


def confident_round(
    counts: ArrayLike,
    threshold: float,
    sigma1: float,
    sigma2: float,
    *,
    noise: str = "reproducible",
) -> Round:
    """Return the round of Algorithm 1, which answers if max_j n_j + noise >= threshold.

    Args:
        counts: (queries, classes) int.
        threshold: in votes.
        sigma1: noise of the threshold, in votes.
        sigma2: noise of the labels, in votes.
        noise: as in `papers.pate.mathematics.tails`.

    Raises:
        ValueError: the threshold is not finite, or as `check_counts` and `tails_of` raise it.

    References:
        PATE 2018, Algorithm 1.
    """
    counts = check_counts(counts)
    tails_of(noise, sigma2)  # checks both
    threshold = tails_of(noise, sigma1).effective_threshold(check_threshold(threshold))
    leads = counts.max(axis=1).astype(float)
    return Round(counts, leads, threshold, float(sigma1), float(sigma2), noise)


def interactive_round(
    counts: ArrayLike,
    scores: ArrayLike,
    threshold: float,
    sigma1: float,
    sigma2: float,
    *,
    noise: str = "reproducible",
) -> Round:
    """Return the round of Algorithm 2, which answers if max_j (n_j - K p_j) + noise >= threshold.

    K p_j is rounded with `secure` noise, as the sampler does. A label that only confirms a
    confident student costs nothing more.

    Args:
        counts: (queries, classes) int.
        scores: the student's p, (queries, classes), each in [0, 1], rows adding up to 1 within
            1e-5. They are public, as the student was trained on released labels only.
        threshold: in votes.
        sigma1: noise of the threshold, in votes.
        sigma2: noise of the labels, in votes.
        noise: as in `papers.pate.mathematics.tails`.

    Raises:
        ValueError: the scores are others, or as `confident_round` raises it.

    References:
        PATE 2018, Algorithm 2.
    """
    confident = confident_round(counts, threshold, sigma1, sigma2, noise=noise)
    scores = check_scores(scores, confident.counts)
    leads = largest_disagreement(confident.counts, scores, round_expected=noise == "secure").astype(
        float
    )
    return replace(confident, leads=leads)
