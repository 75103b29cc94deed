"""Confident-GNMax (PATE, Algorithm 1): only queries on which the teachers agree are answered."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.mechanisms.gaussian import rho_cost, rho_within
from private_ensembles.mechanisms.protocol import CAP, LabelMechanism, Parameters, Task, paid
from private_ensembles.pate import mechanisms
from private_ensembles.pate.expectation import answer_probability, reach_probability
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
        """Expected answers and right ones; a sample of the pool stands for all of it.

        Exact for the whole pool in its order. For a sample of it the cap is taken in proportion.
        """
        answered = self.distribution(counts, parameters)
        right = answered[np.arange(len(labels)), labels]
        return self.capped(answered.sum(axis=1), right, task, parameters)

    @staticmethod
    def capped(passes, right, task: Task, parameters: Parameters) -> tuple[float, float]:
        """Sum the chances (queries,) of an answer and of a right one up to the cap on answers."""
        scale = task.queries / len(passes)
        cap = max(1, round(parameters["labels"] / scale))
        reach = reach_probability(np.clip(passes, 0, 1), cap)
        return float(scale * (reach @ passes)), float(scale * (reach @ right))


MECHANISM = ConfidentGNMax()
