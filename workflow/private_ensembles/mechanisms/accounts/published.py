"""What the papers prove: PATE's Rényi sigma for GNMax, and 2 / epsilon for LNMax."""

from private_ensembles.accounting.labels import composed, label_epsilon
from private_ensembles.mechanisms.accounts.gaussian_counts import GaussianCounts
from private_ensembles.mechanisms.accounts.laplace_counts import LaplaceCounts
from private_ensembles.mechanisms.laws.laplace import PureScale
from private_ensembles.pate.lnmax import scale_of_one


class PureLaplace(LaplaceCounts):
    """One moved vote changes two counts by one.

    One label spends no delta, as in PATE 2017; with many, composition spends it.
    """

    method = "pure"

    def of_one(self, task):
        scale = scale_of_one(task.epsilon, task.delta, method=self.method)
        return PureScale(task.epsilon, 1, scale)

    def of_many(self, task, labels):
        return PureScale(label_epsilon(task.epsilon, labels, task.delta), labels)

    def composition(self, task, parameters):
        return composed(parameters.label_epsilon, parameters.labels, task.delta)


gaussian = GaussianCounts("rdp", "classic")
laplace = PureLaplace()
