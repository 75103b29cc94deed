"""Confident-GNMax (PATE, Algorithm 1): only queries on which the teachers agree are answered."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.accounting.discrete_gaussian import sufficient_factor
from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.mechanisms.families.base import CAP, Cost
from private_ensembles.mechanisms.families.checked import (
    CheckedMaximum,
    CheckedNoise,
    rounds_cost,
)
from private_ensembles.mechanisms.families.gaussian import discrete_cost, rho_cost, rho_within
from private_ensembles.pate import mechanisms
from private_ensembles.pate.gnmax_quadrature import gnmax_right
from private_ensembles.pate.histograms import merge
from private_ensembles.pate.rounds import answer_probability

# Noise scales at which GNMax's accuracy is tabulated for a search.
_SIGMAS = 32


class ConfidentGNMax(CheckedMaximum):
    """The noisy threshold looks at every query of the pool, at most `labels` are answered.

    The cost is that of the caps, fixed beforehand: one Gaussian mechanism, exactly, or with secure
    noise the sum over its lattice. free: share of the budget that thresholds take; threshold
    as a share of the teachers; cap: labels that are paid for, as a share of those wanted.
    """

    name = "confident_gnmax"
    label = "Confident-GNMax"
    source = "PATE Algorithm 1"
    order = 62
    color = "sky"
    aggregator = 2
    family = "Confident-GNMax"
    cost_at_noise = CheckedMaximum.cost
    free = {"share": (0.02, 0.9), "threshold": (0.0, 1.2)} | CAP

    def find(self, task, labels, share=0.3, threshold=0.6):
        """Find both noises, in votes; without `free`, those that suit a pool that mostly agrees."""
        if share == 0:
            raise ValueError("share = 0: must be above 0, because thresholds have noise")
        rho = rho_within(task.epsilon, task.delta, "exact")
        slack = 1 + 1e-12
        found = CheckedNoise(
            threshold=threshold * task.n_teachers,
            sigma1=math.sqrt(task.queries / (2 * share * rho)) * slack,
            sigma2=math.sqrt(labels / ((1 - share) * rho)) * slack,
            queries=task.queries,
            labels=labels,
        )
        if not task.secure:
            return replace(found, continuous=True)
        factor = sufficient_factor(found.moves, task.epsilon, task.delta)
        return self.weaker(found, factor)  # more noise, as the factor is at least 1

    def at_noise(self, noise, n_classes):
        given = noise["confident"]
        return CheckedNoise(given["threshold"], given["sigma1"], given["sigma2"])

    def printed_totals(self, task, secure=False):
        """Return totals as if every query were answered."""
        return {"confident": rounds_cost([task["confident"]], task["delta"], secure=secure)}

    def cost(self, task, parameters):
        """Return the cost at the caps."""
        if task.secure:
            found = discrete_cost(parameters.moves, task.epsilon, task.delta)
        else:
            found = rho_cost(parameters.rho * (1 + 1e-14), task.delta, "exact")
        return Cost(found, found)

    def sample(self, counts, parameters, noise):
        """Draw labels as if there were no caps."""
        given = parameters.threshold, parameters.sigma1, parameters.sigma2
        return mechanisms.confident_gnmax(counts, *given, noise.generator)

    def capped(self, counts, parameters, noise):
        given = parameters.threshold, parameters.sigma1, parameters.sigma2
        caps = {"query_cap": parameters.queries, "answer_cap": parameters.labels}
        return mechanisms.confident_gnmax(counts, *given, noise.generator, **caps)

    def expected(self, counts, labels, task, parameters):
        """Return the expected answers and right ones, exactly, over the pool in random order.

        For a sample of the pool the cap is taken in proportion, as it is for a mechanism that stops
        after fewer queries than the pool has.
        """
        right = self.right(counts, labels, parameters, task.secure)
        passes = self._answers(counts, parameters, task.secure)[:, 0]
        scale = min(task.queries, parameters.queries) / len(passes)
        served = served_probability(passes, max(1, round(parameters.labels / scale)))
        return float(scale * (served @ passes)), float(scale * (served @ right))

    def search_score(self, counts, labels, task):
        """Look up a table of GNMax's accuracy over sigma2: a search asks hundreds of times.

        Of continuous noise, which serves as a guide to secure noise as well.
        """
        ends = [
            self.guess(task, share=share, cap=cap).sigma2
            for share, cap in ((0.02, 0.02), (0.9, 1.0))
        ]
        log_sigmas = np.linspace(np.log(min(ends) * 0.999), np.log(max(ends) * 1.001), _SIGMAS)
        scale, merged = task.queries / len(labels), merge(counts)
        table = np.array([gnmax_right(merged, labels, s) for s in np.exp(log_sigmas)])

        def score(one: CheckedNoise) -> float:
            place = (np.log(one.sigma2) - log_sigmas[0]) / (log_sigmas[1] - log_sigmas[0])
            below = min(int(place), _SIGMAS - 2)
            right = table[below] + (place - below) * (table[below + 1] - table[below])
            passes = answer_probability(counts, one.threshold, one.sigma1)
            return scale * _capped_mean(passes, one.labels / scale) * float(passes @ right)

        return score


def _capped_mean(passes: NDArray, cap: float) -> float:
    """E min(N, cap) / E N of N answers, by the normal law of that mean and variance: a guide only.

    The plan's own numbers come from the exact law (`expected`).
    """
    mean, sd = float(passes.sum()), math.sqrt(float((passes * (1 - passes)).sum())) + 1e-12
    if mean <= 0:
        return 0.0
    z = (cap - mean) / sd
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    over = sd * density - (cap - mean) * (1 - float(ndtr(z)))  # E max(0, N - cap)
    return max(0.0, mean - over) / mean


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
