"""Gaussian noise on vote counts: how much rho a budget allows, by three analyses.

n thresholds with noise sigma1 and a labels with noise sigma2 cost rho = n / (2 sigma1^2) + a /
sigma2^2 of zero-concentrated differential privacy (`pate.data_independent`).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles.mechanisms.protocol import (
    CAP,
    LabelMechanism,
    Parameters,
    Task,
    largest_within,
    paid,
)
from private_ensembles.pate.data_independent import (
    data_independent_epsilon,
    exact_data_independent_epsilon,
)
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution
from private_ensembles.pate.mechanisms import gnmax

ANALYSES = ("classic", "improved", "exact")


def rho_cost(rho: float, delta: float, analysis: str) -> float:
    """Epsilon of rho at delta, an upper bound: by a Rényi conversion, or exact for Gaussians."""
    if analysis == "exact":
        return exact_data_independent_epsilon(rho, delta)
    return data_independent_epsilon(rho, delta, conversion=analysis)[0]


@lru_cache(maxsize=1024)
def rho_within(epsilon: float, delta: float, analysis: str) -> float:
    """The largest rho found that costs at most epsilon at delta."""
    return largest_within(epsilon, lambda rho: rho_cost(rho, delta, analysis))


class GNMax(LabelMechanism):
    """Every query is answered by GNMax; sigma by one of the analyses."""

    free = CAP

    def __init__(self, name: str, analysis: str):
        self.name, self.analysis = name, analysis

    def further_refusal(self, task: Task) -> str | None:
        """The exact Gaussian condition says nothing about discrete noise."""
        if task.secure and self.analysis == "exact":
            return "its noise is continuous; with noise: secure take gnmax_improved"
        return None

    def calibrate(self, task: Task, **free: float) -> Parameters:
        """Noise for the labels paid for, in votes."""
        rho, labels = rho_within(task.epsilon, task.delta, self.analysis), paid(task, free)
        return {"sigma": math.sqrt(labels / rho) * (1 + 1e-12), "labels": labels}

    def epsilon(self, task: Task, parameters: Parameters) -> float:
        """The cost of so many labels."""
        rho = parameters["labels"] / parameters["sigma"] ** 2 * (1 + 1e-14)
        return rho_cost(rho, task.delta, self.analysis)

    def distribution(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """GNMax's own, by quadrature."""
        return gnmax_distribution(counts, parameters["sigma"])

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        return gnmax(counts, parameters["sigma"], generator, query_cap=int(parameters["labels"]))
