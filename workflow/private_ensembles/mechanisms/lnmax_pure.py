"""LNMax (PATE 2017): Laplace noise of scale 2 / epsilon makes one label epsilon-DP."""

from dataclasses import dataclass, replace

from private_ensembles.accounting.rounding import above
from private_ensembles.mechanisms.families.base import Parameters
from private_ensembles.mechanisms.families.composed import composed, label_epsilon
from private_ensembles.mechanisms.families.laplace import WithinBudget, scale_of_one


@dataclass(frozen=True)
class PureScale(Parameters):
    """label_epsilon: what one label costs, from which the noise follows.

    own_scale: that of one label; None: 2 / label_epsilon. Both are rounded up.
    """

    label_epsilon: float
    labels: int
    own_scale: float | None = None

    @property
    def scale(self) -> float:
        """Return the scale of the noise on every count, in votes."""
        return above(2 / self.label_epsilon) if self.own_scale is None else self.own_scale


class PureLNMax(WithinBudget):
    """One moved vote changes two counts by one.

    One label spends no delta, as in PATE 2017; with many, composition spends it.
    """

    name = "lnmax_pure"
    label = "LNMax, scale 2/ε"
    source = "PATE 2017 (LNMax); one moved vote changes two counts by one"
    order = 20
    method = "pure"

    def find(self, task, labels, **free):
        if labels == 1:
            scale = scale_of_one(task.epsilon, task.delta, method=self.method)
            return PureScale(task.epsilon, labels, scale)
        return self.find_many(task, labels)

    def find_many(self, task, labels):
        return PureScale(label_epsilon(task.epsilon, labels, task.delta), labels)

    def cost_of_many(self, task, parameters):
        return composed(parameters.label_epsilon, parameters.labels, task.delta)

    def weaker(self, parameters, factor):
        return replace(parameters, own_scale=factor * parameters.scale)


MECHANISM = PureLNMax()
