"""LNMax with Laplace noise found by Rényi bounds, which compose better than pure guarantees."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.mechanisms.composed import composed
from private_ensembles.mechanisms.protocol import CAP, LabelMechanism, Task, largest_within, paid
from private_ensembles.pate.lnmax_accounting import lnmax_independent_rdp
from private_ensembles.pate.lnmax_quadrature import lnmax_distribution
from private_ensembles.pate.mechanisms import lnmax

_ORDERS = 1 + np.geomspace(1e-2, 1e5, 400)
_FEW = 5  # labels, of which the pure guarantees together may cost less than Rényi bounds say


@lru_cache(maxsize=1024)
def scale_cost(scale: float, labels: int, delta: float) -> float:
    """Total epsilon of labels with noise of this scale, whatever the votes: an upper bound.

    By the Rényi bounds of `lnmax_independent_rdp`, added up over labels, and the conversion of
    Canonne, Kamath & Steinke (2020), Proposition 12; for a few labels also by the optimal
    composition of what is (2 / scale, 0)-DP.
    """
    rdp = labels * lnmax_independent_rdp(scale, _ORDERS) * (1 + 1e-15)
    found = rdp_to_dp(_ORDERS, rdp, delta, "improved")[0]
    if labels > _FEW:
        return found
    return min(found, composed(math.nextafter(2 / scale, math.inf), labels, delta))


class LNMaxByRenyi(LabelMechanism):
    """Every query is answered by LNMax; its cost is that of the noisy counts."""

    name = "lnmax_improved"
    free = CAP

    def further_refusal(self, task: Task) -> str | None:
        """Laplace noise has no exact sampler here."""
        return "has no sampler for noise: secure" if task.secure else None

    def calibrate(self, task, **free):
        """Noise for the labels paid for, in votes."""
        labels = paid(task, free)
        rate = largest_within(task.epsilon, lambda x: scale_cost(1 / x, labels, task.delta))
        return {"scale": 1 / rate, "labels": labels}

    def epsilon(self, task, parameters):
        """The cost of so many labels."""
        return scale_cost(parameters["scale"], int(parameters["labels"]), task.delta)

    def distribution(self, counts, parameters):
        """LNMax's own, by quadrature."""
        return lnmax_distribution(counts, parameters["scale"])

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        return lnmax(counts, parameters["scale"], generator, query_cap=int(parameters["labels"]))


MECHANISM = LNMaxByRenyi()
