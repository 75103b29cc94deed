"""GNMax with the least sigma that the exact audit of one label allows: two classes, odd K.

Few labels are known best by their own distribution (`pate.gnmax.gnmax_sigma`, ``exact``), which
optimal composition takes for any (epsilon, delta)-DP label; many by their Gaussian noise, which
composes exactly. Both prove the budget, so the smaller sigma does.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from private_ensembles.mechanisms.gaussian import rho_cost, rho_within
from private_ensembles.mechanisms.two_classes import LeakyLabels
from private_ensembles.pate.gnmax import gnmax_sigma, label_probability
from private_ensembles.pate.mechanisms import gnmax

_sigma = lru_cache(maxsize=1024)(gnmax_sigma)


class ExactGNMax(LeakyLabels):
    """free: leak, which the exact method needs above 0, and cap."""

    name = "gnmax_exact"
    most_labels = 1000  # every setting that is tried costs an audit
    free = LeakyLabels.free | {"leak": (0.01, 1.0)}

    def further_refusal(self, task):
        """As all of two classes; odd K; a continuous sampler."""
        if task.secure:
            return "its noise is continuous; with noise: secure take gnmax_improved"
        if task.n_teachers % 2 == 0:
            return "for an odd number of teachers"
        return super().further_refusal(task)

    def calibrate(self, task, **free):
        """The smaller sigma of both proofs; label_epsilon, label_delta where it is the label's."""
        found = super().calibrate(task, **free)
        budget = found["label_epsilon"], found["label_delta"]
        by_label = _sigma(*budget, method="exact", n_teachers=task.n_teachers)
        rho = rho_within(task.epsilon, task.delta, "exact")
        by_noise = math.sqrt(found["labels"] / rho) * (1 + 1e-12)
        if by_label < by_noise:
            return found | {"sigma": by_label}
        return {"labels": found["labels"], "sigma": by_noise}

    def epsilon(self, task, parameters):
        """By the proof that gave sigma."""
        if "label_epsilon" in parameters:
            return super().epsilon(task, parameters)
        rho = parameters["labels"] / parameters["sigma"] ** 2 * (1 + 1e-14)
        return rho_cost(rho, task.delta, "exact")

    def distribution(self, counts, parameters):
        """GNMax's own, in closed form; both tails as exact as each other."""
        counts = np.asarray(counts)
        ones = label_probability(int(counts[0].sum()), parameters["sigma"])
        return np.stack([ones[::-1], ones], axis=1)[counts[:, 1]]

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        return gnmax(counts, parameters["sigma"], generator, query_cap=int(parameters["labels"]))


MECHANISM = ExactGNMax()
