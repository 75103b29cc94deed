"""Laplace noise on vote counts, as PATE 2017 charges it: each label costs 2 / scale.

One moved vote changes two counts by one. One label spends no delta; with many, composition spends
it. If g votes move, g times the noise costs the same (docs/many-labels.md, "Groups").
"""

from private_ensembles.accounting.labels import composed, label_epsilon
from private_ensembles.base.rounding import above
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.accounts.account import CAP, Account
from private_ensembles.labels.laws.laplace import PureScale
from private_ensembles.labels.parameters import Cost


class PureLaplace(Account):
    """LNMax, charged by pure differential privacy."""

    free = CAP
    groups = True

    def find(self, law, task, labels, **free):
        if task.protection.reach > 1:
            known = self.find(law, task.of_one_vote(), labels)
            return law.less_noise(known, groups.more_noise(task.protection.reach))
        if labels == 1:
            return PureScale(task.budget.epsilon, 1, above(2 / task.budget.epsilon))
        return PureScale(label_epsilon(task.budget.epsilon, labels, task.budget.delta), labels)

    def cost(self, law, task, parameters):
        """Return one label's own epsilon, or the composition of several."""
        if task.protection.reach > 1:
            divided = law.less_noise(parameters, groups.less_noise(task.protection.reach))
            return self.cost(law, task.of_one_vote(), divided)
        if parameters.labels == 1 and parameters.scale >= above(2 / task.budget.epsilon):
            return Cost(task.budget.epsilon, task.budget.epsilon)
        together = composed(parameters.label_epsilon, parameters.labels, task.budget.delta)
        return Cost(together, together)


paper = PureLaplace()
