"""Gaussian noise on vote counts: how much rho a budget allows, by three analyses.

n thresholds with noise sigma1 and a labels with noise sigma2 cost rho = n / (2 sigma1^2) + a /
sigma2^2 of zero-concentrated differential privacy (`pate.data_independent`). That holds for
discrete noise as well (Canonne, Kamath & Steinke 2020, Proposition 5). The exact condition for
Gaussians (Balle and Wang 2018) does not: secure noise has a condition of its own
(`accounting.discrete_gaussian`).
"""

import math
from dataclasses import dataclass, replace

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.mechanisms.accounts.account import CAP, Account
from private_ensembles.mechanisms.laws.gaussian import GaussianNoise
from private_ensembles.mechanisms.parameters import Cost
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.data_independent import discrete_cost, rho_cost, rho_within
from private_ensembles.pate.gnmax import analytic_epsilon, sigma_of_one


def sigma_of_many(task: Task, labels: int, analysis: str) -> float:
    """The sigma of so many labels' noisy counts by an analysis of `rho_within`."""
    return math.sqrt(labels / rho_within(task.epsilon, task.delta, analysis)) * (1 + 1e-12)


def share_of_labels(labels: int) -> float:
    """Return about what share of the noise of their noisy counts the labels need.

    Measured (docs/many-labels.md): 0.848 of 10 labels, 0.808 of 100; the limit is sqrt(2 / pi).
    """
    return math.sqrt(2 / math.pi) + 0.2 * labels**-0.6


@dataclass(frozen=True)
class GaussianCounts(Account):
    """GNMax, charged for its noisy counts.

    method: that of `gnmax_sigma`, by which one label is calibrated; conversion: of rho, by which
    many are. Both say the same except for the grid of orders, which for one label is DaRRM's.
    """

    method: str
    conversion: str
    free = CAP

    @property
    def quantity(self) -> str:
        """Return it by the method."""
        return f"sigma_{self.method}"

    def find(self, law, task, labels, **free):
        if labels > 1:
            sigma = sigma_of_many(task, labels, self.conversion)
        else:
            sigma = sigma_of_one(task.epsilon, task.delta, self.method, 1)
        return self.proven(GaussianNoise(sigma, labels), task)

    def proven(self, noise, task):
        """Raise sigma until discrete noise is proven; Rényi's serve as they are."""
        if self.conversion != "exact":
            return noise
        if not task.secure:
            return replace(noise, continuous=True)
        factor = discrete_gaussian.sufficient_factor(noise.moves, task.epsilon, task.delta)
        return replace(noise, sigma=noise.sigma * factor)

    def cost(self, law, task, parameters):
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
            least = sigma_of_one(task.epsilon, task.delta, self.method, 1)
            claimed = min(claimed, task.epsilon) if parameters.sigma >= least else claimed
        return Cost(claimed, min(claimed, exact))


paper = GaussianCounts("rdp", "classic")
improved = GaussianCounts("improved_rdp", "improved")
analytic = GaussianCounts("analytic", "exact")
