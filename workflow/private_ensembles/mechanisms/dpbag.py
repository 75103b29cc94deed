"""DPBag's noisy vote of bagged teachers, one query of two classes; SAA: one partition.

Claimed: what the moments accountant starts from, 2 lambda m(x; u) and no delta. Only the record's k
teachers vote differently on a neighbouring data set, and of them those that agree move a count by
`share` at most. Counts are of all k n teachers; neighbours differ by k share of them: the
probability of a label grows with its votes, so that smaller moves cost less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.dpbag import mechanism
from private_ensembles.dpbag.plain import plain_epsilon
from private_ensembles.mechanisms.families.base import Cost, Parameters
from private_ensembles.mechanisms.families.table import TableMechanism

# Larger exponentials overflow; nothing but the claim itself is proven there.
_LARGEST_EPSILON = 700.0


@dataclass(frozen=True)
class BaggingNoise(Parameters):
    """n_shards shards in each of k partitions (1: SAA), lambda = rate per averaged vote.

    share: m(x; u), the larger share of the record's k teachers that agree; 1 serves every record.
    """

    n_shards: int
    k: int
    rate: float
    share: float = 1.0
    labels: int = 1


class DPBag(TableMechanism):
    """One label at given noise."""

    name = "dpbag"
    label = "DPBag and SAA, noisy vote of bagged teachers"
    paper = "DPBag"
    source = "DPBag section 3 (SAA: one partition); one record moves averaged counts by 1 at most"
    order = 60
    proof = "dpbag.md#what-the-numbers-promise"
    color = "orange"
    n_classes = 2
    data_dependent = True
    keeps_budget = False

    def cost(self, task, parameters):
        """Return the cost; proven for a share of 1, from the noisy difference of counts."""
        claimed = 2 * parameters.rate * parameters.share
        if parameters.share < 1 or claimed >= _LARGEST_EPSILON:
            return Cost(claimed, claimed)
        return Cost(claimed, min(claimed, plain_epsilon(1, parameters.rate, task.delta)))

    def table(self, n_teachers, parameters):
        """Return Pr[label] in closed form; n_teachers: k n."""
        gap = 2 * np.arange(n_teachers + 1) / parameters.k - parameters.n_shards
        ones = mechanism.ones_probability(gap, parameters.rate)
        return np.stack([ones[::-1], ones], axis=1)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Count an exponent's rounding as much as its size, at half the noise too; e^-750 is 0."""
        size = min(2 * parameters.rate * parameters.n_shards, 750.0)
        return {"relative_error": 1e-14 * (1 + size), "absolute_error": 1e-300}

    def neighbours(self, n_teachers, parameters):
        """Let all of the record's teachers that agree move their votes."""
        moved = math.floor(parameters.share * parameters.k)
        first = np.arange(n_teachers + 1 - moved)
        return np.stack([first, first + moved], axis=1)

    def draw(self, counts, parameters, noise):
        size = parameters.n_shards, parameters.k
        return mechanism.release(counts[:, 1], *size, parameters.rate, noise.generator)

    def weaker(self, parameters, factor):
        return replace(parameters, rate=parameters.rate / factor)


MECHANISM = DPBag()
