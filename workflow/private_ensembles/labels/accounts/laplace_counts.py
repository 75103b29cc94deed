"""Laplace noise on vote counts, as PATE 2017 charges it: each label costs 2 / scale.

One moved vote changes two counts by one. One label spends no delta, and the composition of many
labels does. If g votes move, g times the noise costs the same (docs/many-labels.md, "Groups").
"""

from private_ensembles.accounting.label_composition import (
    largest_label_epsilon,
    total_label_epsilon,
)
from private_ensembles.base.rounding import round_float_up
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.accounts.account import CAP, Account
from private_ensembles.labels.laws.laplace import PureScale
from private_ensembles.labels.parameters import Cost


class PureLaplace(Account):
    """LNMax, charged by pure differential privacy."""

    free_parameters = CAP
    covers_groups = True

    def find_noise(self, law, task, labels, **free):
        if task.protection.reach > 1:
            noise = self.find_noise(law, task.single_vote_task(), labels)
            return law.scale_noise(noise, groups.group_noise_factor(task.protection.reach))
        if labels == 1:
            return PureScale(task.budget.epsilon, 1, round_float_up(2 / task.budget.epsilon))
        return PureScale(
            largest_label_epsilon(task.budget.epsilon, labels, task.budget.delta), labels
        )

    def cost(self, law, task, parameters):
        """Return one label's own epsilon, or the composition of several."""
        if task.protection.reach > 1:
            divided = law.scale_noise(
                parameters, groups.single_vote_noise_factor(task.protection.reach)
            )
            return self.cost(law, task.single_vote_task(), divided)
        if parameters.labels == 1 and parameters.scale >= round_float_up(2 / task.budget.epsilon):
            return Cost(task.budget.epsilon, task.budget.epsilon)
        total = total_label_epsilon(parameters.label_epsilon, parameters.labels, task.budget.delta)
        return Cost(total, total)


paper = PureLaplace()
