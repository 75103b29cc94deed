"""Gaussian noise on vote counts: how much rho a budget allows, as published and exactly.

n thresholds with noise sigma1 and a labels with noise sigma2 cost rho = n / (2 sigma1^2) + a /
sigma2^2 of zero-concentrated differential privacy, zCDP (`labels.noisy_counts`). That holds for
discrete noise as well (Canonne, Kamath & Steinke 2020, Proposition 5). The exact condition for
Gaussians (Balle and Wang 2018) does not: secure noise has a condition of its own
(`accounting.discrete_gaussian`).

If g votes move, counts move by g sqrt(2) at most in place of sqrt(2), which g times the noise makes
up for: exactly if it is continuous, and in rho if it is discrete. The exact condition of discrete
noise is for one vote, from which group privacy follows (docs/many-labels.md, "Groups").
"""

import math
from dataclasses import dataclass, replace

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.accounts.account import CAP, Account
from private_ensembles.labels.gnmax import analytic_epsilon, single_label_sigma
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.noisy_counts import (
    discrete_gaussian_epsilon,
    largest_rho,
    rho_to_epsilon,
)
from private_ensembles.labels.parameters import Cost
from private_ensembles.labels.task import Task


def noisy_counts_sigma(task: Task, labels: int, analysis: str) -> float:
    """Return the sigma with which the noisy counts of all labels keep the task's budget.

    Args:
        task: The budget of all labels together.
        labels: The number of labels.
        analysis: How a budget becomes rho, as in `noisy_counts.largest_rho`.
    """
    return math.sqrt(labels / largest_rho(task.budget.epsilon, task.budget.delta, analysis)) * (
        1 + 1e-12
    )


def label_noise_share(labels: int) -> float:
    """Return about what share of the noise of their noisy counts the labels alone need.

    Fitted to docs/studies/many_labels.csv: 0.848 for 10 labels, 0.808 for 100. The
    limit is sqrt(2 / pi).
    """
    return math.sqrt(2 / math.pi) + 0.2 * labels**-0.6


@dataclass(frozen=True)
class GaussianCounts(Account):
    """GNMax, charged for its noisy counts.

    Both attributes mean the same analysis, except for the grid of orders, which for one label is
    DaRRM's.

    Attributes:
        method: The method of `gnmax_sigma` that calibrates one label.
        conversion: The conversion of rho that calibrates many labels.
    """

    method: str
    conversion: str
    free_parameters = CAP
    covers_groups = True

    @property
    def quantity(self) -> str:
        """The name of one label's sigma, by the method."""
        return f"sigma_{self.method}"

    def find_noise(self, law, task, labels, **free):
        if task.protection.reach > 1:
            if task.secure and self.conversion == "exact":
                return self.find_noise(law, groups.divide_budget(task), labels)
            noise = self.find_noise(law, task.single_vote_task(), labels)
            return law.scale_noise(noise, groups.group_noise_factor(task.protection.reach))
        if labels > 1:
            sigma = noisy_counts_sigma(task, labels, self.conversion)
        else:
            sigma = single_label_sigma(task.budget.epsilon, task.budget.delta, self.method, 1)
        return self.ensure_proven(GaussianNoise(sigma, labels), task)

    def ensure_proven(self, noise, task):
        """Return the noise with sigma raised until discrete noise is proven.

        A sigma by Rényi divergence serves as it is, since it holds for discrete noise as well.
        """
        if self.conversion != "exact":
            return noise
        if not task.secure:
            return replace(noise, continuous=True)
        factor = discrete_gaussian.sufficient_factor(
            noise.discrete_gaussian_counts, task.budget.epsilon, task.budget.delta
        )
        return replace(noise, sigma=noise.sigma * factor)

    def cost(self, law, task, parameters):
        """Return the cost by the analysis, and the exact cost of all noisy counts."""
        if task.protection.reach > 1:
            return self._group_cost(law, task, parameters)
        if task.secure:
            exact = discrete_gaussian_epsilon(
                parameters.discrete_gaussian_counts, task.budget.epsilon, task.budget.delta
            )
            if self.conversion == "exact":
                return Cost(exact, exact)
        else:
            exact = analytic_epsilon(parameters.sigma, task.budget.delta, labels=parameters.labels)
        rho = parameters.labels / parameters.sigma**2 * (1 + 1e-14)
        claimed = rho_to_epsilon(rho, task.budget.delta, self.conversion)
        if parameters.labels == 1:
            enough = single_label_sigma(task.budget.epsilon, task.budget.delta, self.method, 1)
            claimed = min(claimed, task.budget.epsilon) if parameters.sigma >= enough else claimed
        return Cost(claimed, min(claimed, exact))

    def _group_cost(self, law: Law, task: Task, parameters: GaussianNoise) -> Cost:
        """Return the cost of several votes that move, by less noise or by group privacy."""
        divided = law.scale_noise(
            parameters, groups.single_vote_noise_factor(task.protection.reach)
        )
        share = self.cost(law, replace(task.single_vote_task(), secure=False), divided)
        if not task.secure:
            return share
        exact = groups.group_cost(lambda single: self.cost(law, single, parameters).proven, task)
        if self.conversion == "exact":
            return Cost(exact, exact)
        return Cost(share.claimed, min(share.claimed, exact))


paper = GaussianCounts("rdp", "classic")
analytic = GaussianCounts("analytic", "exact")
