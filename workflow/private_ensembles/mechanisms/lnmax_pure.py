"""LNMax (PATE 2017): Laplace noise of scale 2 / epsilon makes one label epsilon-DP."""

from private_ensembles.mechanisms.composed import PureLabels
from private_ensembles.pate.lnmax_quadrature import lnmax_distribution
from private_ensembles.pate.mechanisms import lnmax


class LNMax(PureLabels):
    """One moved vote changes two counts by one."""

    name = "lnmax_pure"

    def distribution(self, counts, parameters):
        """LNMax's own, by quadrature."""
        return lnmax_distribution(counts, 2 / parameters["label_epsilon"])

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        scale = 2 / parameters["label_epsilon"]
        return lnmax(counts, scale, generator, query_cap=int(parameters["labels"]))


MECHANISM = LNMax()
