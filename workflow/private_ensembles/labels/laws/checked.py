"""A noisy threshold before GNMax: no answer, or the label of the law behind it.

`plurality_votes` is what Confident-GNMax compares with the threshold (PATE, Algorithm 1),
`student_disagreement` what Interactive-GNMax does (Algorithm 2).
"""

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.accounting.discrete_gaussian import (
    MAX_TABULATED_SIGMA,
    tail_probability,
    tail_probability_error,
)
from private_ensembles.base.noise_sources import NoiseSource, SecureNoise
from private_ensembles.base.rounding import normal_error
from private_ensembles.labels.gnmax import check_sigma, noisy_plurality
from private_ensembles.labels.gnmax_quadrature import gnmax_probability_correct_fast
from private_ensembles.labels.histograms import check_counts, merge_histograms
from private_ensembles.labels.laws.gaussian import Gaussian, GaussianNoise
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.thresholds import (
    NO_ANSWER,
    capped_mean_fraction,
    check_cap,
    check_threshold,
    largest_disagreement,
    served_probability,
)

# GNMax's accuracy is tabulated at noise scales whose logarithms are so far apart, and cubics fill
# the gaps.
_LOG_STEP = 0.15


@dataclass(frozen=True)
class CheckedNoise(Parameters):
    """Noise of the threshold and of the label, and the caps at which the mechanism stops.

    Attributes:
        threshold: In votes.
        sigma1: Noise of the threshold, in votes.
        sigma2: Noise of the label, in votes.
        queries: The cap on queries.
        labels: The cap on answers.
        score: What the student gives class 1 on the query at hand, which is public; None: there is
            no student.
    """

    threshold: float
    sigma1: float
    sigma2: float
    queries: int = 1
    labels: int = 1
    score: float | None = None

    def replace_labels(self, labels):
        """Return the same noise for other labels; queries are asked in proportion."""
        queries = max(labels, -(-self.queries * labels // self.labels))
        return replace(self, labels=labels, queries=queries)

    @property
    def rho(self) -> float:
        """rho of zero-concentrated differential privacy at the caps."""
        return self.queries / (2 * self.sigma1**2) + self.labels / self.sigma2**2

    @property
    def noisy_counts(self):
        return (self.queries, 1, self.sigma1), (self.labels, 2, self.sigma2)

    @property
    def label_noise(self) -> GaussianNoise:
        """The noise of the labels."""
        return GaussianNoise(self.sigma2, self.labels)


class Consensus(Protocol):
    """What a threshold looks at: a number for each query, which one teacher moves by at most 1."""

    def __call__(self, counts: NDArray, parameters: CheckedNoise, *, secure: bool) -> NDArray:
        """Return it, (queries,), as whole numbers if noise is secure."""


@dataclass(frozen=True)
class ThresholdedLaw(Law):
    """A law behind a noisy threshold: a query below it gets no answer.

    Attributes:
        consensus: What is compared with the threshold.
        law: The law of the label of a query that is answered.
    """

    consensus: Consensus
    law: Gaussian
    may_abstain = True

    def answer_probabilities(
        self, counts: NDArray, parameters: CheckedNoise, *, secure: bool
    ) -> NDArray[np.float64]:
        """Return Pr[a query gets an answer] and Pr[it gets none].

        Args:
            counts: (queries, classes) int, votes for each class.
            parameters: The noise.
            secure: Whether noise is drawn from the system's entropy.

        Returns:
            (queries, 2) float64.
        """
        lead = self.consensus(counts, parameters, secure=secure) - parameters.threshold
        if not secure:
            lead = lead / parameters.sigma1
            return np.stack([ndtr(lead), ndtr(-lead)], axis=1)
        needed = np.ceil(-lead).astype(np.int64)
        tails = [tail_probability(start, parameters.sigma1) for start in (needed, 1 - needed)]
        return np.stack(tails, axis=1)

    def distribution(self, counts, parameters, *, secure=False):
        """Return Pr[label] of a query at which the mechanism still runs."""
        counts = np.asarray(counts)
        answers = self.answer_probabilities(counts, parameters, secure=secure)[:, :1]
        return answers * self.law.distribution(counts, parameters.label_noise, secure=secure)

    def probability_correct(self, counts, labels, parameters, *, secure=False):
        """Return entries of `distribution`: the mechanism still runs at these queries."""
        counts, labels = np.asarray(counts), np.asarray(labels)
        answers = self.answer_probabilities(counts, parameters, secure=secure)[:, 0]
        return answers * self.law.probability_correct(
            counts, labels, parameters.label_noise, secure=secure
        )

    def outcome_distribution(self, counts, parameters, *, secure=False):
        no_answer = self.answer_probabilities(counts, parameters, secure=secure)[:, 1:]
        return np.hstack([no_answer, self.distribution(counts, parameters, secure=secure)])

    def numerical_error(self, n_teachers, n_classes, parameters, *, secure=False):
        """Return the error of both normal tails, at half the noise too, or of quadrature.

        For secure noise it is that of both sums.
        """
        noise = parameters.label_noise
        if secure:
            label = self.law.numerical_error(n_teachers, n_classes, noise, secure=True)
            relative, absolute = tail_probability_error(parameters.sigma1)
            distance = label["absolute_error"]
            if self.law.secure_sampler == "fine":
                relative += label["relative_error"]
                return {"relative_error": relative, "absolute_error": distance + 4 * absolute}
            distance = distance if noise.sigma > MAX_TABULATED_SIGMA else 0.0
            relative = 2 * (label["relative_error"] + relative)
            return {"relative_error": relative, "absolute_error": 4 * absolute + 2 * distance}
        if n_classes > 2:
            return {"relative_error": 1e-10 + normal_error(math.inf), "absolute_error": 1e-300}
        reach = (n_teachers + abs(parameters.threshold)) / parameters.sigma1
        reach = max(reach, n_teachers / (math.sqrt(2) * parameters.sigma2))
        return {"relative_error": normal_error(2 * reach), "absolute_error": 1e-300}

    def draw(self, counts, parameters, source):
        """Draw labels as if there were no caps."""
        counts = check_counts(counts)
        consensus = self.consensus(counts, parameters, secure=source.secure)
        passed, labels = check_and_label(counts, consensus, parameters, self.law, source)
        return np.where(passed, labels, NO_ANSWER)

    def apply_caps(self, drawn, parameters):
        return apply_caps(drawn, drawn != NO_ANSWER, parameters.queries, parameters.labels)

    def most_queries(self, parameters):
        return int(parameters.queries)

    def scale_noise(self, parameters, factor):
        sigma1, sigma2 = factor * parameters.sigma1, factor * parameters.sigma2
        return replace(parameters, sigma1=sigma1, sigma2=sigma2)

    def expected_answers(self, counts, labels, task, parameters):
        """Return the expected answers and correct ones, exactly, over the pool in random order.

        For a sample of the pool the cap is taken in proportion, as it is for a mechanism that stops
        after fewer queries than the pool has. A share of a label is rounded, so that a little more
        than the cap might come out: there are never more labels.
        """
        correct = self.probability_correct(counts, labels, parameters, secure=task.secure)
        passes = self.answer_probabilities(counts, parameters, secure=task.secure)[:, 0]
        passes = np.minimum(passes, 1.0)  # a sum of probabilities may be above 1 by its rounding
        scale = min(task.wanted.queries, parameters.queries) / len(passes)
        served = served_probability(passes, max(1, round(parameters.labels / scale)))
        n_answers, n_correct = float(scale * (served @ passes)), float(scale * (served @ correct))
        share = min(1.0, parameters.labels / n_answers) if n_answers else 1.0
        return share * n_answers, share * n_correct

    def build_objective(self, counts, labels, task):
        """Look up a table of GNMax's accuracy over sigma2: a search asks hundreds of times.

        The table is of continuous noise, which serves as a guide to secure noise as well.
        """
        scale, merged = task.wanted.queries / len(labels), merge_histograms(counts)
        plurality = check_counts(counts).max(axis=1)

        @cache
        def row(index: int) -> NDArray[np.float64]:
            return gnmax_probability_correct_fast(merged, labels, math.exp(index * _LOG_STEP))

        def score(noise: CheckedNoise) -> float:
            position = math.log(noise.sigma2) / _LOG_STEP
            below = math.floor(position)
            t = position - below
            correct = np.minimum(
                row(below - 1) * (-t * (t - 1) * (t - 2) / 6)
                + row(below) * ((t + 1) * (t - 1) * (t - 2) / 2)
                + row(below + 1) * (-(t + 1) * t * (t - 2) / 2)
                + row(below + 2) * ((t + 1) * t * (t - 1) / 6),
                1.0,
            )
            passes = ndtr((plurality - noise.threshold) / noise.sigma1)
            return (
                scale * capped_mean_fraction(passes, noise.labels / scale) * float(passes @ correct)
            )

        return score


def check_and_label(
    counts: NDArray, consensus: NDArray, noise: CheckedNoise, law: Gaussian, source: NoiseSource
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return whether each query's consensus passes the noisy threshold, and the law's labels.

    Seeded noise is drawn query by query, so that an answer never depends on how many follow.

    Args:
        counts: (queries, classes) int, votes for each class.
        consensus: (queries,) what is compared with the threshold.
        noise: The threshold, and the noise of both.
        law: The law of the labels.
        source: Where the noise comes from.

    Returns:
        (queries,) bool and (queries,) int64, labels whether they pass or not.

    Raises:
        ValueError: For a threshold that is not finite, and a sigma not finite and > 0.
    """
    threshold = check_threshold(noise.threshold)
    sigma1, sigma2 = check_sigma(noise.sigma1), check_sigma(noise.sigma2)
    if isinstance(source, SecureNoise):
        passed = source.add_gaussian(consensus, sigma1) >= threshold
        return passed, law.draw(counts, noise.label_noise, source)
    noise_of_query = source.generator.standard_normal((len(counts), 1 + counts.shape[1]))
    passed = consensus + sigma1 * noise_of_query[:, 0] >= threshold
    return passed, noisy_plurality(counts, sigma2 * noise_of_query[:, 1:]).astype(np.int64)


def apply_caps(
    labels: NDArray, answered: NDArray, query_cap: int | None, answer_cap: int | None
) -> NDArray[np.int64]:
    """Return labels up to the caps, and -1 after them.

    No later query is looked at, whatever the votes, so that the cost at the caps is a bound for
    every data set.

    Args:
        labels: (queries,) int.
        answered: (queries,) bool, which queries got an answer.
        query_cap: At most so many queries; None: all.
        answer_cap: At most so many answers; None: any number.

    Returns:
        (queries,) int64.

    Raises:
        ValueError: For a cap below 0.
    """
    query_cap = check_cap("query_cap", query_cap)
    answer_cap = check_cap("answer_cap", answer_cap)
    running = np.ones(len(labels), dtype=bool)
    if query_cap is not None:
        running[query_cap:] = False
    if answer_cap is not None:
        running &= np.cumsum(answered) - answered < answer_cap
    return np.where(running, labels, NO_ANSWER)


def plurality_votes(counts: NDArray, parameters: CheckedNoise, *, secure: bool) -> NDArray:
    """Return the votes of the largest class, (queries,)."""
    return counts.max(axis=1)


def student_disagreement(counts: NDArray, parameters: CheckedNoise, *, secure: bool) -> NDArray:
    """Return max_j (n_j - K p_j), for a student with the same scores p on every query.

    A label that is reinforced is the student's own, known before, so that it says "no answer".

    Args:
        counts: (queries, 2) int, votes for each class.
        parameters: Its `score` is p_1.
        secure: Whether K p_j is rounded, as secure noise is on whole numbers.

    Returns:
        (queries,).

    Raises:
        ValueError: For more than two classes.
    """
    if counts.shape[1] != 2:
        raise ValueError(f"counts of {counts.shape[1]} classes: a student's score is of two")
    assert parameters.score is not None  # `CheckedNoise` of a student has one
    scores = np.array([1 - parameters.score, parameters.score])
    return largest_disagreement(
        counts, np.broadcast_to(scores, counts.shape), round_expected=secure
    )
