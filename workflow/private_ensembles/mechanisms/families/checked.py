"""PATE's aggregators with a noisy threshold: whether a query is answered, then GNMax's label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.discrete_gaussian import (
    LISTED,
    Moves,
    chance_at_least,
    chance_error,
)
from private_ensembles.mechanisms.families.audited import normal_error
from private_ensembles.mechanisms.families.base import Cost, Mechanism, Parameters
from private_ensembles.mechanisms.families.gaussian import (
    GaussianMaximum,
    discrete_cost,
    gaussian_error,
    label_distribution,
    label_right,
    paper_epsilon,
)
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.pate.data_independent import Releases, exact_data_independent_epsilon
from private_ensembles.pate.mechanisms import NO_ANSWER


@dataclass(frozen=True)
class CheckedNoise(Parameters):
    """threshold, sigma1 (of the threshold), sigma2 (of the label): in votes.

    queries, labels: caps; the mechanism stops after that many queries or answers. score: what the
    student gives class 1 on the query at hand, which is public; None: there is no student.
    """

    threshold: float
    sigma1: float
    sigma2: float
    queries: int = 1
    labels: int = 1
    score: float | None = None

    def for_labels(self, labels):
        """Return the same noise for other labels; queries are asked in proportion."""
        queries = max(labels, -(-self.queries * labels // self.labels))
        return replace(self, labels=labels, queries=queries)

    @property
    def rho(self) -> float:
        """Return rho of zero-concentrated differential privacy at the caps."""
        return self.queries / (2 * self.sigma1**2) + self.labels / self.sigma2**2

    @property
    def moves(self) -> tuple[Moves, ...]:
        """Return the noisy counts that a neighbour moves, at the caps."""
        return Releases(self.queries, self.sigma1, self.labels, self.sigma2).moves


class CheckedMaximum(Mechanism):
    """One query: consensus against the noisy threshold, then GNMax.

    Claimed at given noise: the paper's Renyi costs of both steps and its conversion. Proven: both
    are functions of Gaussian noise on counts that move by 1 and by sqrt(2), which compose exactly;
    with secure noise of discrete noise on three counts that move by 1 each.
    """

    paper = "PATE"
    proof = GaussianMaximum.proof
    data_dependent = True

    def consensus(self, counts: NDArray, parameters: CheckedNoise, secure: bool) -> NDArray:
        """Return what is compared with the threshold, (queries,); whole with secure noise."""
        return counts.max(axis=1)

    def _answers(self, counts: NDArray, parameters: CheckedNoise, secure: bool) -> NDArray:
        """Pr[a query gets an answer] and Pr[it gets none], (queries, 2)."""
        lead = self.consensus(counts, parameters, secure) - parameters.threshold
        if not secure:
            lead = lead / parameters.sigma1
            return np.stack([ndtr(lead), ndtr(-lead)], axis=1)
        needed = np.ceil(-lead).astype(np.int64)
        both = (chance_at_least(start, parameters.sigma1) for start in (needed, 1 - needed))
        return np.stack(list(both), axis=1)

    def distribution(self, counts, parameters, secure=False):
        """Return Pr[label] of a query at which the mechanism still runs."""
        counts = np.asarray(counts)
        answers = self._answers(counts, parameters, secure)[:, :1]
        return answers * label_distribution(counts, parameters.sigma2, secure)

    def right(self, counts, labels, parameters, secure=False):
        """Of a query at which the mechanism still runs."""
        counts, labels = np.asarray(counts), np.asarray(labels)
        answers = self._answers(counts, parameters, secure)[:, 0]
        return answers * self.label_right(counts, labels, parameters, secure)

    def label_right(
        self, counts: NDArray, labels: NDArray, parameters: CheckedNoise, secure: bool
    ) -> NDArray[np.float64]:
        """Return Pr[the label of a query that is answered is its own], (queries,)."""
        return label_right(counts, labels, parameters.sigma2, secure)

    def outcomes(self, counts, parameters, secure=False):
        """List no answer first, then the labels."""
        silent = self._answers(counts, parameters, secure)[:, 1:]
        return np.hstack([silent, self.distribution(counts, parameters, secure)])

    def outcome_names(self, n_classes):
        """List no answer first, then the labels."""
        return NO_ANSWER, *range(n_classes)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Return the error of both normal tails, at half the noise too; or of quadrature.

        Secure noise: of both sums.
        """
        if secure:
            label = gaussian_error(n_teachers, n_classes, parameters.sigma2, secure=True)
            relative, absolute = chance_error(parameters.sigma1)
            relative = 2 * (label["relative_error"] + relative)
            apart = label["absolute_error"] if parameters.sigma2 > LISTED else 0.0
            return {"relative_error": relative, "absolute_error": 4 * absolute + 2 * apart}
        if n_classes > 2:
            return {"relative_error": 1e-10 + normal_error(math.inf), "absolute_error": 1e-300}
        reach = (n_teachers + abs(parameters.threshold)) / parameters.sigma1
        reach = max(reach, n_teachers / (math.sqrt(2) * parameters.sigma2))
        return {"relative_error": normal_error(2 * reach), "absolute_error": 1e-300}

    def cost(self, task: Task, parameters: CheckedNoise) -> Cost:
        """Return the cost by the paper's conversion, and exactly for the noise at hand."""
        rho = parameters.rho
        if task.secure:
            proven = discrete_cost(parameters.moves, task.epsilon, task.delta)
        else:
            proven = exact_data_independent_epsilon(rho, task.delta)
        return Cost(paper_epsilon(rho, task.delta), proven)

    def weaker(self, parameters, factor):
        sigma1, sigma2 = factor * parameters.sigma1, factor * parameters.sigma2
        return replace(parameters, sigma1=sigma1, sigma2=sigma2)


def rounds_cost(rounds: list[Mapping], delta: float, *, secure: bool = False) -> tuple[int, float]:
    """Return the queries of all rounds, and what they cost if every one is answered."""
    queries = sum(each["queries"] for each in rounds)
    if secure:
        scales = [(each["queries"], each["sigma1"], each["sigma2"]) for each in rounds]
        moves = [one for n, s1, s2 in scales for one in Releases(n, s1, n, s2).moves]
        return queries, discrete_gaussian.epsilon(delta, moves)
    rho = sum(
        each["queries"] * (1 / (2 * each["sigma1"] ** 2) + 1 / each["sigma2"] ** 2)
        for each in rounds
    )
    return queries, exact_data_independent_epsilon(rho, delta)
