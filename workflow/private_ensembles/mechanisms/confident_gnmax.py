"""Confident-GNMax (PATE, Algorithm 1): only queries on which the teachers agree are answered."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.mechanisms.gaussian import rho_cost, rho_within
from private_ensembles.mechanisms.protocol import CAP, LabelMechanism, Parameters, Task, paid
from private_ensembles.pate import mechanisms
from private_ensembles.pate.expectation import answer_probability
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution


class ConfidentGNMax(LabelMechanism):
    """The noisy threshold looks at every query of the pool, at most `labels` are answered.

    The cost is that of the caps, fixed beforehand: one Gaussian mechanism, exactly (with secure,
    discrete noise: by its Rényi bound). free: share of the budget that thresholds take; threshold
    as a share of the teachers; cap: labels that are paid for, as a share of those wanted.
    """

    name = "confident_gnmax"
    free = {"share": (0.02, 0.9), "threshold": (0.0, 1.2)} | CAP

    def calibrate(self, task: Task, **free: float) -> Parameters:
        """Both noises, in votes; without `free`, what suits a pool that mostly agrees."""
        share = free.get("share", 0.3)
        labels = paid(task, free)
        rho = rho_within(task.epsilon, task.delta, self._analysis(task))
        slack = 1 + 1e-12
        return {
            "threshold": free.get("threshold", 0.6) * task.n_teachers,
            "sigma1": math.sqrt(task.queries / (2 * share * rho)) * slack,
            "sigma2": math.sqrt(labels / ((1 - share) * rho)) * slack,
            "queries": task.queries,
            "labels": labels,
        }

    @staticmethod
    def _analysis(task: Task) -> str:
        return "improved" if task.secure else "exact"

    def epsilon(self, task: Task, parameters: Parameters) -> float:
        """The cost at the caps."""
        rho = parameters["queries"] / (2 * parameters["sigma1"] ** 2)
        rho += parameters["labels"] / parameters["sigma2"] ** 2
        return rho_cost(rho * (1 + 1e-14), task.delta, self._analysis(task))

    def distribution(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """Of a query at which the mechanism still runs."""
        passes = answer_probability(counts, parameters["threshold"], parameters["sigma1"])
        return passes[:, None] * gnmax_distribution(counts, parameters["sigma2"])

    def release(self, counts, parameters, generator):
        """Labels up to the caps."""
        return mechanisms.confident_gnmax(
            counts,
            parameters["threshold"],
            parameters["sigma1"],
            parameters["sigma2"],
            generator,
            query_cap=int(parameters["queries"]),
            answer_cap=int(parameters["labels"]),
        )

    def expected(self, counts, labels, task: Task, parameters: Parameters) -> tuple[float, float]:
        """Expected answers and right ones over the pool in random order, exact.

        For a sample of the pool the cap is taken in proportion.
        """
        answered = self.distribution(counts, parameters)
        right = answered[np.arange(len(labels)), labels]
        passes = np.clip(answered.sum(axis=1), 0, 1)
        scale = task.queries / len(passes)
        served = served_probability(passes, max(1, round(parameters["labels"] / scale)))
        return float(scale * (served @ passes)), float(scale * (served @ right))


def served_probability(passes: NDArray, cap: int) -> NDArray[np.float64]:
    """Pr[a query is among the first `cap` that pass, given that it passes], in random order.

    passes: Pr[each passes], independent. Given that N' others pass, a query is among the first cap
    with probability min(1, cap / (N' + 1)). The law of N' comes from that of all by dividing one
    query out, from the end from which that is stable.
    """
    n = len(passes)
    if cap >= n:
        return np.ones(n)
    whole = pmf(passes)
    weight = np.minimum(1.0, cap / np.arange(1.0, n + 1))
    served = np.empty(n)
    for rows, forward in ((passes <= 0.5, True), (passes > 0.5, False)):
        p = passes[rows]
        others, total = np.zeros(len(p)), np.zeros(len(p))
        for k in range(n) if forward else range(n - 1, -1, -1):
            known = whole[k] if forward else whole[k + 1]
            keep, move = (1 - p, p) if forward else (p, 1 - p)
            others = np.maximum((known - move * others) / keep, 0.0)
            total += weight[k] * others
        served[rows] = total
    return np.minimum(served, 1.0)


MECHANISM = ConfidentGNMax()
