"""LNMax with the least scale that the exact audit of one label allows: two classes, K teachers."""

from __future__ import annotations

from dataclasses import dataclass

from private_ensembles.mechanisms.families.laplace import LaplaceMaximum, scale_of_one
from private_ensembles.mechanisms.families.leaky import LeakyLabel, LeakyLabels


@dataclass(frozen=True)
class ExactScale(LeakyLabel):
    """scale: the least for one label."""

    scale: float


class ExactLNMax(LaplaceMaximum, LeakyLabels):
    """The label itself is (epsilon, delta)-DP, over all K pairs of neighbouring histograms."""

    name = "lnmax_exact"
    label = "LNMax, scale by the exact audit of the label"
    source = "PATE 2017 (LNMax); closed form on two classes and this number of teachers"
    order = 23
    analysis = "label"
    most_labels = 1000  # every setting that is tried costs an audit
    free = LeakyLabels.free
    cost = LeakyLabels.cost

    def find(self, task, labels, **free):
        one = self.one_label(task, labels, **free)
        budget = one.label_epsilon, one.label_delta
        scale = scale_of_one(*budget, method="exact", n_teachers=task.n_teachers)
        return ExactScale(*budget, labels, scale)


MECHANISM = ExactLNMax()
