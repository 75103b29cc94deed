"""Laplace noise on vote counts: what both proofs of one label and of several have in common."""

from abc import abstractmethod

from private_ensembles.mechanisms.accounts.account import CAP, Account
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.mechanisms.parameters import Cost, Parameters
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.lnmax import scale_of_one


class LaplaceCounts(Account):
    """LNMax, charged for its noisy counts; a subclass says how much noise several labels need.

    method: that of `lnmax_scale`, by which one label is calibrated.
    """

    free = CAP

    def find(self, law, task, labels, **free):
        """Find the scale of one label by the method, of many as they compose."""
        if labels == 1:
            return self.of_one(task)
        return self.of_many(task, labels)

    def of_one(self, task: Task) -> Parameters:
        """Return the noise of one label."""
        return LaplaceNoise(scale_of_one(task.epsilon, task.delta, method=self.method))

    @abstractmethod
    def of_many(self, task: Task, labels: int) -> Parameters:
        """Return the noise of several labels that keep the budget together."""

    def cost(self, law, task, parameters):
        """Return the budget if the method allows this noise for one label, else the composition."""
        one = parameters.labels == 1
        if one and parameters.scale >= scale_of_one(task.epsilon, task.delta, method=self.method):
            return Cost(task.epsilon, task.epsilon)
        together = self.composition(task, parameters)
        return Cost(together, together)

    @abstractmethod
    def composition(self, task: Task, parameters: Parameters) -> float:
        """Return what the labels cost together."""
