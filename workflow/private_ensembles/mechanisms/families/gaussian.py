"""Gaussian noise on vote counts: how much rho a budget allows, by three analyses.

n thresholds with noise sigma1 and a labels with noise sigma2 cost rho = n / (2 sigma1^2) + a /
sigma2^2 of zero-concentrated differential privacy (`pate.data_independent`). That holds for
discrete noise as well (Canonne, Kamath & Steinke 2020, Proposition 5). The exact condition for
Gaussians does not: secure noise has a condition of its own (`accounting.discrete_gaussian`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.accounting.discrete_gaussian import LISTED, Moves, whole_distance
from private_ensembles.mechanisms.families.audited import normal_error
from private_ensembles.mechanisms.families.base import CAP, Cost, Mechanism, Parameters
from private_ensembles.mechanisms.families.composed import largest_within
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.pate.data_independent import (
    data_independent_epsilon,
    exact_data_independent_epsilon,
)
from private_ensembles.pate.gnmax import (
    analytic_epsilon,
    gnmax_sigma,
    label_probability,
    least_order,
)
from private_ensembles.pate.gnmax_lattice import lattice_distribution, lattice_error, lattice_right
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution, gnmax_right
from private_ensembles.pate.histograms import merge
from private_ensembles.pate.mechanisms import gnmax

# Budgets below which rho is looked for in units of epsilon squared.
_TINY = 1e-4
# Renyi orders that are tried at most; the least ones are half an order apart.
_MOST_ORDERS = 100_000


def rho_cost(rho: float, delta: float, analysis: str) -> float:
    """Epsilon of rho at delta, an upper bound: by a Rényi conversion, or exact for Gaussians."""
    if analysis == "exact":
        return exact_data_independent_epsilon(rho, delta)
    return data_independent_epsilon(rho, delta, conversion=analysis)[0]


@lru_cache(maxsize=1024)
def rho_within(epsilon: float, delta: float, analysis: str) -> float:
    """The largest rho found that costs at most epsilon at delta."""
    # About epsilon^2 if delta is small: the search ends at 1e-12.
    unit = epsilon**2 if epsilon < _TINY else 1.0
    return unit * largest_within(epsilon, lambda rho: rho_cost(unit * rho, delta, analysis))


@lru_cache(maxsize=4096)
def discrete_cost(moves: tuple[Moves, ...], epsilon: float, delta: float) -> float:
    """Return what noisy counts cost at delta with discrete noise; at most epsilon if it is kept."""
    if discrete_gaussian.delta(epsilon, moves) <= delta:
        return min(epsilon, discrete_gaussian.epsilon(delta, moves))
    return discrete_gaussian.epsilon(delta, moves)


# The paper's orders, with which it turns Renyi costs of its aggregators into epsilon.
_PAPER_ORDERS = 1 + 0.5 * np.arange(1, 2000)


def paper_epsilon(rho: float, delta: float) -> float:
    """Epsilon of rho at delta as PATE claims it: the classic conversion over its grid of orders."""
    return rdp_to_dp(_PAPER_ORDERS, rho * _PAPER_ORDERS, delta, "classic")[0]


def gaussian_error(
    n_teachers: int, n_classes: int, sigma: float, secure: bool = False
) -> dict[str, float]:
    """Errors of GNMax's distribution: of normal tails, and of quadrature beyond two classes.

    Secure noise so large that its law is not listed adds its distance from continuous noise.
    """
    if secure and sigma <= LISTED:
        return lattice_error(sigma, n_classes)
    apart = whole_distance(sigma, n_classes) if secure else 1e-300
    if n_classes > 2:
        return {"relative_error": 1e-10 + normal_error(math.inf), "absolute_error": apart}
    # Twice the reach: half the noise doubles the arguments.
    reach = 2 * n_teachers / (math.sqrt(2) * sigma)
    return {"relative_error": normal_error(reach), "absolute_error": apart}


def label_distribution(counts: NDArray, sigma: float, secure: bool = False) -> NDArray[np.float64]:
    """Pr[label], (queries, classes): in closed form for two classes, else by quadrature.

    Secure noise: summed over the lattice, as far as that is listed.
    """
    if secure and sigma <= LISTED:
        return lattice_distribution(counts, sigma)
    if counts.shape[1] > 2:
        return gnmax_distribution(counts, sigma)
    ones = label_probability(int(counts[0].sum()), sigma)
    both = np.stack([ones[::-1], ones], axis=1)  # both tails as exact as each other
    return both[counts[:, 1]]


def label_right(
    counts: NDArray, labels: NDArray, sigma: float, secure: bool = False
) -> NDArray[np.float64]:
    """Pr[a query is answered with its label], (queries,): entries of `label_distribution`."""
    if counts.shape[1] == 2:
        return label_distribution(counts, sigma, secure)[np.arange(len(labels)), labels]
    listed = secure and sigma <= LISTED
    return (lattice_right if listed else gnmax_right)(merge(counts), labels, sigma)


@lru_cache(maxsize=1024)
def sigma_of_one(epsilon: float, delta: float, method: str, n_teachers: int) -> float:
    """The least sigma of one label by a method of `gnmax_sigma`."""
    # The paper's grid of orders ends at 500; a small budget needs larger ones.
    orders = {"order_max": max(500.0, 4 * least_order(epsilon, delta))}
    orders["order_step"] = max(0.5, orders["order_max"] / _MOST_ORDERS)
    return gnmax_sigma(epsilon, delta, method=method, n_teachers=n_teachers, **orders)


def share_of_labels(labels: int) -> float:
    """Return about what share of the noise of their noisy counts the labels need.

    Measured (docs/many-labels.md): 0.848 of 10 labels, 0.808 of 100; the limit is sqrt(2 / pi).
    """
    return math.sqrt(2 / math.pi) + 0.2 * labels**-0.6


@dataclass(frozen=True)
class GaussianNoise(Parameters):
    """sigma: of the noise on every count, in votes."""

    sigma: float
    labels: int = 1

    @property
    def moves(self) -> tuple[Moves, ...]:
        """Return the noisy counts that a neighbour moves."""
        return (Moves(2 * self.labels, self.sigma),)


class GaussianMaximum(Mechanism):
    """Every query is answered by GNMax; sigma by one analysis of the noisy counts.

    method: that of `gnmax_sigma`, by which one label is calibrated; conversion: of rho, by which
    many are. Both say the same except for the grid of orders, which for one label is DaRRM's.
    """

    paper = "PATE"
    color = "purple"
    proof = "audit.md#gaussian-noise-on-the-counts"
    family = "Gaussian noise on the counts"
    free = CAP
    method: str
    conversion: str

    def find(self, task: Task, labels: int, **free: float) -> Parameters:
        if labels > 1:
            rho = rho_within(task.epsilon, task.delta, self.conversion)
            return self._proven(GaussianNoise(math.sqrt(labels / rho) * (1 + 1e-12), labels), task)
        sigma = sigma_of_one(task.epsilon, task.delta, self.method, 1)
        return self._proven(GaussianNoise(sigma, labels), task)

    def _proven(self, found: GaussianNoise, task: Task) -> GaussianNoise:
        """Raise sigma until discrete noise is proven; Rényi's serve as they are."""
        if self.conversion != "exact":
            return found
        if not task.secure:
            return replace(found, continuous=True)
        budget = task.epsilon, task.delta
        factor = discrete_gaussian.sufficient_factor(found.moves, *budget)
        return replace(found, sigma=found.sigma * factor)

    def for_budget(self, budget, found: Mapping) -> Parameters:
        """Take the sigma found by `search_gnmax_sigma`, whose grid of orders is configured."""
        quantity = f"sigma_{self.method}"
        if quantity not in found:
            return super().for_budget(budget, found)
        return self._proven(GaussianNoise(found[quantity]), self.terms(budget))

    def cost(self, task: Task, parameters: Parameters) -> Cost:
        """Return the cost by the analysis, and exactly for the noise, by which labels compose."""
        if task.secure:
            exact = discrete_cost(parameters.moves, task.epsilon, task.delta)
            if self.conversion == "exact":
                return Cost(exact, exact)
        else:
            exact = analytic_epsilon(parameters.sigma, task.delta, labels=parameters.labels)
        rho = parameters.labels / parameters.sigma**2 * (1 + 1e-14)
        claimed = rho_cost(rho, task.delta, self.conversion)
        if parameters.labels == 1:
            one = sigma_of_one(task.epsilon, task.delta, self.method, 1)
            claimed = min(claimed, task.epsilon) if parameters.sigma >= one else claimed
        return Cost(claimed, min(claimed, exact))

    def distribution(self, counts, parameters, secure=False):
        return label_distribution(np.asarray(counts), parameters.sigma, secure)

    def right(self, counts, labels, parameters, secure=False):
        return label_right(np.asarray(counts), np.asarray(labels), parameters.sigma, secure)

    def search_score(self, counts, labels, task):
        """Of continuous noise, which serves as a guide to secure noise as well."""
        if task.n_classes == 2:
            return super().search_score(counts, labels, task)
        merged = merge(counts)
        return lambda one: float(one.labels * gnmax_right(merged, labels, one.sigma).mean())

    def error(self, n_teachers, n_classes, parameters, secure=False):
        return gaussian_error(n_teachers, n_classes, parameters.sigma, secure)

    def law(self, parameters):
        return "gaussian", parameters.sigma

    def sample(self, counts, parameters, noise):
        return gnmax(counts, parameters.sigma, noise)

    def weaker(self, parameters, factor):
        return replace(parameters, sigma=factor * parameters.sigma)
