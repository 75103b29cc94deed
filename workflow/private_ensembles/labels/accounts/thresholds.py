"""Noisy thresholds and the labels of queries that pass them, charged at the caps on both."""

import math
from dataclasses import replace
from functools import lru_cache

from private_ensembles.accounting.adaptive_composition.counts_and_labels import (
    LabelValueBounds,
    NoisyCounts,
    bound_label_values,
    joint_epsilon,
)
from private_ensembles.accounting.adaptive_composition.scales import (
    explain_nothing_provable,
    grid_fineness,
    grid_noise_factor,
    loses_all,
)
from private_ensembles.accounting.discrete_gaussian import sufficient_factor
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.accounts.account import CAP, Account, NothingProven
from private_ensembles.labels.accounts.gaussian_counts import label_noise_share
from private_ensembles.labels.accounts.given_noise import GivenNoise
from private_ensembles.labels.accounts.label import MOST_LABELS
from private_ensembles.labels.laws.checked import CheckedNoise, ThresholdedLaw
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.noisy_counts import (
    discrete_gaussian_epsilon,
    exact_data_independent_epsilon,
    largest_rho,
    paper_epsilon,
    rho_to_epsilon,
)
from private_ensembles.labels.parameters import Cost
from private_ensembles.labels.task import Task

# Both parts come this close to their shares of the budget, unless that takes more than a few
# tries. Near the best share right labels hardly change: a tolerance of 0.1 gives at most 0.03 %
# fewer than one of 0.03.
_TOLERANCE, _ENOUGH_TRIES = 0.06, 3
# sigma2 grows by the factor if it leaves nothing to the thresholds, at most this often.
_GROWTH, _TRIES = 1.03, 12


class CheckedCounts(Account):
    """Thresholds and labels charged for their noisy counts, which move by 1 and by sqrt(2).

    Continuous Gaussian noise on these composes exactly. Secure noise is discrete, on three counts
    that move by 1 each. If g votes move, counts move by at most g times as much, which g times the
    noise makes up for. For discrete noise, group privacy says what g votes cost.

    The free parameters are `share`, the share of the budget that thresholds take; `threshold`, as
    a share of the teachers; and `cap`, the labels that are paid for, as a share of those wanted.
    """

    free_parameters = {"share": (0.02, 0.9), "threshold": (0.0, 1.0)} | CAP
    covers_groups = True

    def find_noise(self, law, task, labels, share=0.3, threshold=0.6):
        """Return both noises, in votes. The defaults suit a pool on which most teachers agree."""
        if task.secure and task.protection.reach > 1:
            return self.find_noise(law, groups.divide_budget(task), labels, share, threshold)
        noise = self.continuous_noise(task, labels, share, threshold)
        if not task.secure:
            return replace(noise, continuous=True)
        # The noise is the same for all thresholds that a search tries, so it is found once.
        discrete = _raise_to_discrete(law, task, replace(noise, threshold=0.0))
        return replace(discrete, threshold=noise.threshold)

    def guess_noise(self, law, task, labels, **free):
        """Return the continuous noise, which discrete noise hardly exceeds."""
        if task.secure and task.protection.reach > 1:
            task = groups.divide_budget(task)
        return self.continuous_noise(task, labels, **free)

    def group_epsilon(self, law: Law, task: Task, parameters: CheckedNoise) -> float:
        """Return the epsilon of several votes that move, by group privacy from that of one."""
        return groups.group_cost(lambda single: self.cost(law, single, parameters).proven, task)

    def continuous_noise(
        self, task: Task, labels: int, share: float = 0.3, threshold: float = 0.6
    ) -> CheckedNoise:
        """Return both noises, in votes, if they are continuous.

        Args:
            task: The budget, and how many teachers, queries and moved votes there are.
            labels: The number of labels that are paid for.
            share: The share of rho that the thresholds take.
            threshold: The threshold as a share of the teachers.

        Raises:
            ValueError: `share` is 0.
        """
        if share == 0:
            raise ValueError("share = 0: must be above 0, because thresholds have noise")
        rho = largest_rho(task.budget.epsilon, task.budget.delta, "exact")
        slack = (1 + 1e-12) * groups.group_noise_factor(task.protection.reach)
        return CheckedNoise(
            threshold=threshold * task.ensemble.teachers,
            sigma1=math.sqrt(task.wanted.queries / (2 * share * rho)) * slack,
            sigma2=math.sqrt(labels / ((1 - share) * rho)) * slack,
            queries=task.wanted.queries,
            labels=labels,
        )

    def cost(self, law, task, parameters):
        """Return the cost of all noisy counts at the caps."""
        if not task.secure:
            proven = _noisy_counts_epsilon(task, parameters)
        elif task.protection.reach > 1:
            proven = self.group_epsilon(law, task, parameters)
        else:
            proven = discrete_gaussian_epsilon(
                parameters.discrete_gaussian_counts, task.budget.epsilon, task.budget.delta
            )
        return Cost(proven, proven)


class CheckedLabels(CheckedCounts):
    """Thresholds charged for their noisy counts, and labels for what they release.

    The search starts at the noise that the noisy counts need. sigma2 shrinks to what the labels
    need (docs/other-labels.md).
    """

    def refusal(self, law, task):
        """Return why too many labels are refused, or a budget that rounding uses up; or None."""
        if task.wanted.labels > MOST_LABELS:
            return f"for at most {MOST_LABELS:,} labels"
        return explain_nothing_provable(
            task.ensemble.classes, task.wanted.labels, task.budget.delta
        )

    def find_noise(self, law, task, labels, share=0.3, threshold=0.6):
        """Return less sigma2 than the noisy counts need, and the sigma1 that it leaves.

        If several votes move, group privacy may find less noise than their own pairs do.
        """
        noises = [self._least_proven_noise(law, task, labels, share, threshold)]
        if task.protection.reach > 1:
            single = groups.divide_budget(task)
            noises.append(self._least_proven_noise(law, single, labels, share, threshold))
        proven = [noise for noise in noises if noise is not None]
        if not proven:
            raise NothingProven
        return max(proven, key=lambda noise: noise.rho)

    def _least_proven_noise(
        self, law: ThresholdedLaw, task: Task, labels: int, share: float, threshold: float
    ) -> CheckedNoise | None:
        """Return the noise by the task's own pairs; None if no secure noise is proven."""
        start = replace(self.continuous_noise(task, labels, share, threshold), continuous=True)
        sigma1, sigma2 = _least_noise(law, task, replace(start, threshold=0.0), share)
        if math.isfinite(sigma1) and (task.secure or sigma2 < start.sigma2):
            return replace(start, sigma1=sigma1, sigma2=sigma2, continuous=not task.secure)
        return None if task.secure else start

    def guess_noise(self, law, task, labels, **free):
        """Return the noise with about the share of sigma2 that labels need: a search asks often."""
        start = replace(self.continuous_noise(task, labels, **free), continuous=True)
        return replace(start, sigma2=label_noise_share(labels) * start.sigma2)

    def cost(self, law, task, parameters):
        """Return the least proven cost, by thresholds and labels or by continuous noisy counts."""
        proven = _joint_cost(law, task, replace(parameters, threshold=0.0))
        if not task.secure:
            proven = min(proven, _noisy_counts_epsilon(task, parameters))
        if task.protection.reach > 1:
            proven = min(proven, self.group_epsilon(law, task, parameters))
        return Cost(proven, proven)


class GivenThresholds(GivenNoise):
    """Thresholds and labels at given noise, charged by the paper's Rényi costs and conversion.

    The proven cost is that of the noisy counts at the caps.
    """

    def cost(self, law, task, parameters):
        rho = parameters.rho
        if task.secure:
            proven = discrete_gaussian_epsilon(
                parameters.discrete_gaussian_counts, task.budget.epsilon, task.budget.delta
            )
        else:
            proven = exact_data_independent_epsilon(rho, task.budget.delta)
        return Cost(paper_epsilon(rho, task.budget.delta), proven)


def _noisy_counts_epsilon(task: Task, parameters: CheckedNoise) -> float:
    """Return the epsilon of continuous noise on all counts at the caps."""
    rho = task.protection.reach**2 * parameters.rho * (1 + 1e-14)
    return rho_to_epsilon(rho, task.budget.delta, "exact")


@lru_cache(maxsize=512)
def _raise_to_discrete(law: ThresholdedLaw, task: Task, noise: CheckedNoise) -> CheckedNoise:
    """Return continuous noise raised until discrete noise is proven; the factor is at least 1."""
    factor = sufficient_factor(
        noise.discrete_gaussian_counts, task.budget.epsilon, task.budget.delta
    )
    return law.scale_noise(noise, factor)


@lru_cache(maxsize=512)
def _least_noise(
    law: ThresholdedLaw, task: Task, start: CheckedNoise, share: float
) -> tuple[float, float]:
    """Return sigma1 and sigma2 with which thresholds take about their share of the budget.

    sigma1 is the least that keeps the budget beside sigma2, and infinite if none is found. The
    search begins at `start`, the noise that the noisy counts need.
    """
    epsilon, delta, labels = task.budget.epsilon, task.budget.delta, start.labels
    rho = largest_rho(epsilon, delta, "exact") / task.protection.reach**2
    pairs = law.law.dominating_pairs(task, start.label_noise)
    if loses_all(pairs, labels, epsilon, delta, task.ensemble.classes):
        return math.inf, math.inf
    grid = grid_noise_factor(grid_fineness(task.ensemble.classes, labels))
    sigma2 = label_noise_share(labels) * grid * start.sigma2
    proven = (math.inf, math.inf)
    for trial in range(_TRIES):
        label_bounds = _bound_labels(law, task, GaussianNoise(sigma2, labels))
        counts = NoisyCounts(start.queries, start.sigma1, task.secure, task.protection.reach)
        sigma1 = label_bounds.least_sigma(counts, epsilon, delta)
        if math.isinf(sigma1):
            sigma2 *= _GROWTH
            continue
        proven = sigma1, sigma2
        # The labels take so much of their share of rho, which falls about as sigma2 squared grows.
        taken = (rho - start.queries / (2 * sigma1**2)) / ((1 - share) * rho)
        distance = max(abs(sigma1 / start.sigma1 - 1), abs(taken - 1))
        if distance < _TOLERANCE or trial >= _ENOUGH_TRIES:
            break
        sigma2 *= math.sqrt(min(1.5, max(0.5, taken)))
    return proven


@lru_cache(maxsize=64)
def _bound_labels(law: ThresholdedLaw, task: Task, noise: GaussianNoise) -> LabelValueBounds:
    """Return bounds on what the labels alone release, on a grid for the task's budget."""
    return bound_label_values(
        law.law.dominating_pairs(task, noise),
        noise.labels,
        task.budget.epsilon,
        task.budget.delta,
        width=math.sqrt(2 * largest_rho(task.budget.epsilon, task.budget.delta, "exact")),
        fineness=grid_fineness(task.ensemble.classes, noise.labels),
    )


@lru_cache(maxsize=512)
def _joint_cost(law: ThresholdedLaw, task: Task, parameters: CheckedNoise) -> float:
    """Return the epsilon of thresholds and labels together, at the task's delta.

    It is at most the task's epsilon if the budget is kept.
    """
    labels = parameters.labels
    counts = NoisyCounts(parameters.queries, parameters.sigma1, task.secure, task.protection.reach)
    label_bounds = _bound_labels(law, task, parameters.label_noise)
    spent = label_bounds.epsilon(counts, task.budget.delta, task.budget.epsilon)
    if math.isfinite(spent):
        return min(task.budget.epsilon, spent)
    pairs = law.law.dominating_pairs(task, parameters.label_noise)
    fineness = grid_fineness(task.ensemble.classes, labels)
    return joint_epsilon(pairs, labels, counts, task.budget.delta, fineness=fineness)


counts = CheckedCounts()
labels = CheckedLabels()
given = GivenThresholds()
