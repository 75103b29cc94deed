"""LNMax with the least scale that its labels need together: two classes, K teachers."""

from private_ensembles.mechanisms.families.label_account import LabelAccount
from private_ensembles.mechanisms.families.laplace import LaplaceNoise, scale_of_one
from private_ensembles.mechanisms.lnmax_analytic import LNMaxByNoisyCounts


class ExactLNMax(LabelAccount, LNMaxByNoisyCounts):
    """One label by the exact audit over all K pairs of neighbours, several by their account.

    The search starts from the scale that the noisy counts need.
    """

    name = "lnmax_exact"
    label = "LNMax, scale by the exact account of the labels"
    source = "PATE 2017 (LNMax); closed form on two classes and this number of teachers"
    order = 23
    analysis = "label"
    n_classes = 2

    def in_parts(self, task, labels):
        """By the audit of one label, or by the noisy counts."""
        if labels > 1:
            return self.find_many(task, labels)
        return LaplaceNoise(self._of_one(task))

    def cost_in_parts(self, task, parameters):
        """What is proven of the scale."""
        if parameters.labels == 1 and parameters.scale >= self._of_one(task):
            return task.epsilon
        return self.cost_of_many(task, parameters)

    @staticmethod
    def _of_one(task):
        budget = task.epsilon, task.delta
        return scale_of_one(*budget, method="exact", n_teachers=task.n_teachers)


MECHANISM = ExactLNMax()
