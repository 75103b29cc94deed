"""The cost of Confident-GNMax whatever the votes, at the caps on queries and answers.

Every query tried pays the threshold, every label given pays GNMax: the largest count moves by at
most 1 when one teacher changes its vote, the vector of counts by sqrt(2). Both are Gaussian
mechanisms, so n thresholds and a labels cost lambda rho at every order, rho = n / (2 sigma1^2) + a
/ sigma2^2, and exactly one Gaussian mechanism of mu = sqrt(2 rho). Which queries are answered may
depend on everything released before, as long as the caps are fixed beforehand: they are filters
(Feldman & Zrnic 2021 for Rényi costs, Smith & Thakurta 2022 for Gaussian ones). Discrete Gaussian
noise has the same Rényi costs, but another exact account: `accounting.discrete_gaussian`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.composition import conversion_cost, rdp_to_dp
from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts
from private_ensembles.base import checks
from private_ensembles.base.root_search import find_largest_within
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.gnmax import analytic_epsilon, check_sigma

# For budgets below this one, rho is searched for in units of epsilon squared.
_TINY = 1e-4
# The paper turns Rényi costs of its aggregators into epsilon at these orders.
_PAPER_ORDERS = 1 + 0.5 * np.arange(1, 2000)


@dataclass(frozen=True)
class GaussianReleases:
    """Numbers of noisy thresholds and of noisy labels, with the noise of each.

    Attributes:
        thresholds: How many queries are compared with the threshold.
        sigma1: Noise of the threshold, in votes; None: there is no threshold.
        labels: How many labels are released.
        sigma2: Noise of a label, in votes.

    Raises:
        ValueError: For a negative number or noise <= 0.
    """

    thresholds: int
    sigma1: float | None
    labels: int
    sigma2: float

    def __post_init__(self) -> None:
        checks.check_integer(thresholds=self.thresholds, labels=self.labels, at_least=0)
        check_sigma(self.sigma2)
        if self.sigma1 is not None:
            check_sigma(self.sigma1)

    @property
    @upper_bound
    def rho(self) -> float:
        """rho of zero-concentrated differential privacy, the Rényi cost per order, rounded up."""
        threshold = 0.0 if self.sigma1 is None else self.thresholds / (2 * self.sigma1**2)
        return (threshold + self.labels / self.sigma2**2) * (1 + 1e-15)

    @property
    def discrete_gaussian_counts(self) -> tuple[DiscreteGaussianCounts, ...]:
        """All noisy counts of sensitivity 1: one of a threshold, two of a label."""
        labels = DiscreteGaussianCounts(2 * self.labels, self.sigma2)
        if self.sigma1 is None:
            return (labels,)
        return DiscreteGaussianCounts(self.thresholds, self.sigma1), labels


@upper_bound
def data_independent_epsilon(
    rho: float, delta: float, *, conversion: str = "improved"
) -> tuple[float, float]:
    """Return the least epsilon over all orders of a Rényi cost of lambda rho, and its order.

    Args:
        rho: >= 0; 0 costs nothing.
        delta: In (0, 1).
        conversion: ``classic``: at lambda = 1 + sqrt(log(1/delta) / rho), where it is least.
            ``improved``: the least of a fine grid about there; any order is valid.

    Returns:
        epsilon, rounded up, and the order.

    Raises:
        ValueError: For rho < 0, delta outside (0, 1), an unknown conversion.
    """
    checks.check_finite(rho=rho, at_least=0)
    conversion_cost(np.array([2.0]), delta, conversion)  # checks delta and conversion
    if rho == 0:
        return 0.0, math.inf
    best = 1 + math.sqrt(-math.log(delta) / rho)
    if conversion == "classic":
        orders = np.array([best])
    else:
        orders = 1 + (best - 1) * np.geomspace(0.1, 2, 2000)
    return rdp_to_dp(orders, np.nextafter(orders * rho, np.inf), delta, conversion)


@upper_bound
def exact_data_independent_epsilon(rho: float, delta: float) -> float:
    """Return the least epsilon of one Gaussian mechanism of mu = sqrt(2 rho), rounded up.

    Args:
        rho: >= 0.
        delta: In (0, 1).

    Raises:
        ValueError: For rho < 0, delta outside (0, 1).

    References:
        Balle & Wang (2018), Theorem 8; Dong, Roth & Su (2022), Corollary 3.3 for the composition.
    """
    checks.check_finite(rho=rho, at_least=0)
    # One GNMax label at this noise is a Gaussian mechanism of mu = sqrt(2) / sigma.
    return 0.0 if rho == 0 else analytic_epsilon(math.sqrt(1 / rho) * (1 - 1e-15), delta)


def paper_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon of rho at delta as PATE claims it: classic conversion, grid of orders."""
    return rdp_to_dp(_PAPER_ORDERS, rho * _PAPER_ORDERS, delta, "classic")[0]


@upper_bound
def rho_to_epsilon(rho: float, delta: float, analysis: str) -> float:
    """Return an upper bound on the epsilon of rho at delta.

    Args:
        rho: >= 0.
        delta: In (0, 1).
        analysis: A Rényi conversion, or ``exact`` for Gaussian noise.
    """
    if analysis == "exact":
        return exact_data_independent_epsilon(rho, delta)
    return data_independent_epsilon(rho, delta, conversion=analysis)[0]


@lru_cache(maxsize=1024)
def largest_rho(epsilon: float, delta: float, analysis: str) -> float:
    """Return the largest rho that a search finds to cost at most epsilon at delta."""
    # The search ends at 1e-12, and rho is about epsilon^2 if epsilon is small.
    unit = epsilon**2 if epsilon < _TINY else 1.0
    return unit * find_largest_within(
        lambda rho: rho_to_epsilon(unit * rho, delta, analysis), epsilon
    )


@lru_cache(maxsize=4096)
def discrete_gaussian_epsilon(
    count_groups: tuple[DiscreteGaussianCounts, ...], epsilon: float, delta: float
) -> float:
    """Return what noisy counts cost at delta with discrete noise.

    Args:
        count_groups: The counts, in groups of one noise each.
        epsilon: A budget. If the counts keep it, no more than it is returned.
        delta: In (0, 1).
    """
    if discrete_gaussian.delta(epsilon, count_groups) <= delta:
        return min(epsilon, discrete_gaussian.epsilon(delta, count_groups))
    return discrete_gaussian.epsilon(delta, count_groups)
