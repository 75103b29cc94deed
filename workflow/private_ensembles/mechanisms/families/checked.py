"""PATE's aggregators with a noisy threshold: whether a query is answered, then GNMax's label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.mechanisms.families.audited import normal_error
from private_ensembles.mechanisms.families.base import Cost, Mechanism, Parameters
from private_ensembles.mechanisms.families.gaussian import (
    GaussianMaximum,
    gaussian_distance,
    label_distribution,
    paper_epsilon,
)
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.pate.data_independent import exact_data_independent_epsilon
from private_ensembles.pate.mechanisms import NO_ANSWER


@dataclass(frozen=True)
class CheckedNoise(Parameters):
    """threshold, sigma1 (of the threshold), sigma2 (of the label): in votes.

    queries, labels: caps; the mechanism stops after so many queries or answers. score: what the
    student gives class 1 on the query at hand, which is public; None: there is no student.
    """

    threshold: float
    sigma1: float
    sigma2: float
    queries: int = 1
    labels: int = 1
    score: float | None = None

    @property
    def rho(self) -> float:
        """Zero-concentrated differential privacy at the caps."""
        return self.queries / (2 * self.sigma1**2) + self.labels / self.sigma2**2


class CheckedMaximum(Mechanism):
    """One query: consensus against the noisy threshold, then GNMax.

    Claimed at given noise: the paper's Renyi costs of both steps and its conversion. Proven: both
    are functions of Gaussian noise on counts that move by 1 and by sqrt(2), which compose exactly.
    """

    paper = "PATE"
    proof = GaussianMaximum.proof
    data_dependent = True

    def consensus(self, counts: NDArray, parameters: CheckedNoise) -> NDArray:
        """Return what is compared with the threshold, (queries,)."""
        return counts.max(axis=1)

    def _lead(self, counts: NDArray, parameters: CheckedNoise) -> NDArray[np.float64]:
        top = self.consensus(counts, parameters)
        return ((top - parameters.threshold) / parameters.sigma1)[:, None]

    def distribution(self, counts, parameters, noise=None):
        """Of a query at which the mechanism still runs; continuous noise."""
        counts = np.asarray(counts)
        return ndtr(self._lead(counts, parameters)) * label_distribution(counts, parameters.sigma2)

    def outcomes(self, counts, parameters):
        """No answer, then the labels."""
        silent = ndtr(-self._lead(counts, parameters))
        return np.hstack([silent, self.distribution(counts, parameters)])

    def outcome_names(self, n_classes):
        """No answer, then the labels."""
        return NO_ANSWER, *range(n_classes)

    def error(self, n_teachers, n_classes, parameters):
        """Of both normal tails, at half the noise as well; beyond two classes of quadrature."""
        if n_classes > 2:
            return {"relative_error": 1e-10 + normal_error(math.inf), "absolute_error": 1e-300}
        reach = (n_teachers + abs(parameters.threshold)) / parameters.sigma1
        reach = max(reach, n_teachers / (math.sqrt(2) * parameters.sigma2))
        return {"relative_error": normal_error(2 * reach), "absolute_error": 1e-300}

    def cost(self, task: Task, parameters: CheckedNoise) -> Cost:
        """By the paper's conversion, and exactly for Gaussians."""
        rho = parameters.rho
        proven = exact_data_independent_epsilon(rho, task.delta)
        return Cost(paper_epsilon(rho, task.delta), proven)

    def weaker(self, parameters, factor):
        sigma1, sigma2 = factor * parameters.sigma1, factor * parameters.sigma2
        return replace(parameters, sigma1=sigma1, sigma2=sigma2)

    def score_sensitivity(self, task, parameters):
        """2 Phi(mu / 2) - 1 for each query of the pool: threshold and label together."""
        mu = math.sqrt(1 / parameters.sigma1**2 + 2 / parameters.sigma2**2)
        return task.queries * gaussian_distance(mu)


def rounds_cost(rounds: list[Mapping], delta: float) -> tuple[int, float]:
    """Queries of all rounds, and what they cost at most, every one answered."""
    rho = sum(
        each["queries"] * (1 / (2 * each["sigma1"] ** 2) + 1 / each["sigma2"] ** 2)
        for each in rounds
    )
    queries = sum(each["queries"] for each in rounds)
    return queries, exact_data_independent_epsilon(rho, delta)
