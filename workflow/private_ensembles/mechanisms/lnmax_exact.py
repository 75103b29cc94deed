"""LNMax with the least scale that the exact audit of one label allows: two classes, K teachers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from private_ensembles.mechanisms.laplace import lnmax_matrix, lnmax_scale
from private_ensembles.mechanisms.two_classes import LeakyLabels
from private_ensembles.pate.mechanisms import lnmax

_scale = lru_cache(maxsize=1024)(lnmax_scale)


class ExactLNMax(LeakyLabels):
    """The label itself is (epsilon, delta)-DP, over all K pairs of neighbouring histograms."""

    name = "lnmax_exact"
    most_labels = 1000  # every setting that is tried costs an audit

    def further_refusal(self, task):
        """As all of two classes; a continuous sampler."""
        if task.secure:
            return "has no sampler for noise: secure"
        return super().further_refusal(task)

    def calibrate(self, task, **free):
        """Epsilon and delta of one label, and the scale for them."""
        found = super().calibrate(task, **free)
        budget = found["label_epsilon"], found["label_delta"]
        return found | {"scale": _scale(*budget, method="exact", n_teachers=task.n_teachers)}

    def distribution(self, counts, parameters):
        """LNMax's own, in closed form."""
        counts = np.asarray(counts)
        return lnmax_matrix(int(counts[0].sum()), parameters["scale"])[counts[:, 1]]

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        return lnmax(counts, parameters["scale"], generator, query_cap=int(parameters["labels"]))


MECHANISM = ExactLNMax()
