"""DPBag's noisy vote of bagged teachers, two classes; SAA: one partition.

Counts are of all k n teachers, averaged over the k partitions, and get Laplace noise.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.labels.laws.table import TableLaw
from private_ensembles.labels.parameters import Parameters
from private_ensembles.papers.dpbag.mathematics.label_loss import ones_probability


@dataclass(frozen=True)
class BaggingNoise(Parameters):
    """DPBag's parameters.

    Attributes:
        n_shards: shards, and teachers, of one partition.
        k: partitions; 1 is SAA.
        rate: lambda, the inverse scale of the noise per averaged vote.
        share: m(x; u), the larger share of the record's k teachers that agree; 1 serves every
            record.
        labels: how many labels are released.
    """

    n_shards: int
    k: int
    rate: float
    share: float = 1.0
    labels: int = 1


def release(
    ones: ArrayLike, n_shards: int, k: int, noise: float, generator: np.random.Generator
) -> NDArray[np.uint8]:
    """Release labels argmax_c n_c + Lap(1 / noise).

    Args:
        ones: (queries,) int, how many of the k * n_shards teachers vote 1. Then n_1 = ones / k and
            n_0 = n_shards - n_1.
        n_shards: shards of one partition.
        k: partitions.
        noise: lambda, the inverse scale in votes of one partition.
        generator: drawn from twice a query, in the order of the queries.

    Returns:
        Labels, (queries,) uint8.

    Raises:
        ValueError: a vote is outside 0..k * n_shards, or the noise is not above 0.
    """
    ones = np.asarray(ones)
    if ones.ndim != 1 or ones.size == 0 or ones.min() < 0 or ones.max() > k * n_shards:
        raise ValueError(f"ones: must be one list of 0 to k * n_shards = {k * n_shards}")
    checks.check_finite(noise=noise, above=0)
    draws = generator.laplace(scale=1 / noise, size=(len(ones), 2))
    counts = np.stack([n_shards - ones / k, ones / k], axis=1)
    return (counts + draws).argmax(axis=1).astype(np.uint8)


class Bagging(TableLaw):
    """Only the record's k teachers vote differently on a neighbouring data set.

    Those of them that agree change a count by `share` at most.
    """

    n_classes = 2

    def probabilities(self, counts, parameters):
        """Return Pr[label] in closed form, (queries, 2); counts are those of k n teachers."""
        gap = 2 * np.arange(int(counts[0].sum()) + 1) / parameters.k - parameters.n_shards
        ones = ones_probability(gap, parameters.rate)
        return np.stack([ones[::-1], ones], axis=1)[counts[:, 1]]

    def numerical_error(self, n_teachers, n_classes, parameters, *, secure=False):
        """Count an exponent's rounding as much as its size, at half the noise too; e^-750 is 0."""
        size = min(2 * parameters.rate * parameters.n_shards, 750.0)
        return {"relative_error": 1e-14 * (1 + size), "absolute_error": 1e-300}

    def draw_seeded(self, counts, parameters, generator):
        return release(counts[:, 1], parameters.n_shards, parameters.k, parameters.rate, generator)

    def scale_noise(self, parameters, factor):
        return replace(parameters, rate=parameters.rate / factor)

    def build_audit(self, task, parameters):
        """Return the audit in which all of the record's teachers that agree change their votes.

        Neighbours differ by k share of them: the probability of a label grows with its votes, so
        that changing fewer votes costs less.
        """
        # A share such as 15/22 is a float, and so is its product: 22 times it must not be 14.99...
        share = parameters.share * (1 + 4 * UNIT_ROUNDOFF)
        changed_votes = math.floor(share * parameters.k)
        first = np.arange(task.ensemble.teachers + 1 - changed_votes)
        audited = super().build_audit(task, parameters)
        audited.pairs = np.stack([first, first + changed_votes], 1)
        return audited


LAW = Bagging()
