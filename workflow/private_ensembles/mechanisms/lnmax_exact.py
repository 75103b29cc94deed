"""LNMax with the least scale that its labels need together, in any number of classes."""

from private_ensembles.accounting.adaptive.laplace_cover import laplace_cover
from private_ensembles.mechanisms.families.label_account import CoveredAccount
from private_ensembles.mechanisms.families.laplace import LaplaceNoise, scale_of_one
from private_ensembles.mechanisms.lnmax_analytic import LNMaxByNoisyCounts


class ExactLNMax(CoveredAccount, LNMaxByNoisyCounts):
    """One label of two classes by the exact audit over all K pairs of neighbours.

    Several labels by their account, for which the search starts from the scale that the noisy
    counts need. One label of more classes needs that.
    """

    name = "lnmax_exact"
    label = "LNMax, scale by the exact account of the labels"
    source = "PATE 2017 (LNMax); docs/many-labels.md, for this number of teachers"
    order = 23
    analysis = "label"
    proof = "many-labels.md#laplace-noise-in-any-number-of-classes"

    def in_parts(self, task, labels):
        """Find the scale by the audit of one label of two classes, or by the noisy counts."""
        if labels == 1 and task.n_classes == 2:
            return LaplaceNoise(self._of_one(task))
        return LNMaxByNoisyCounts.find(self, task, labels)

    def cost_in_parts(self, task, parameters):
        """Return what is proven of the scale."""
        audited = parameters.labels == 1 and task.n_classes == 2
        if audited and parameters.scale >= self._of_one(task):
            return task.epsilon
        return LNMaxByNoisyCounts.cost(self, task, parameters).proven

    def cover(self, task, parameters):
        return laplace_cover(parameters.scale, task.n_teachers)

    @staticmethod
    def _of_one(task):
        budget = task.epsilon, task.delta
        return scale_of_one(*budget, method="exact", n_teachers=task.n_teachers)


MECHANISM = ExactLNMax()
