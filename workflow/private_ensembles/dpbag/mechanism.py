"""Labels by noisy votes of bagged teachers: SAA (one partition), DPBag and DPBag- (several)."""

import numpy as np

from private_ensembles import checks
from private_ensembles.noise.laplace import difference_tail


def release(ones, n_shards, k, noise, generator):
    """Labels argmax_c n_c + Lap(1 / noise), uint8 (Q,).

    ones: int (Q,), how many of the k * n_shards teachers vote 1; n_1 = ones / k, n_0 = n_shards -
    n_1. noise: lambda, the inverse scale in votes of one partition. generator:
    numpy.random.Generator; two draws a query, in the order of the queries.

    Raises ValueError for votes outside 0..k * n_shards, or noise that is not above 0.
    """
    ones = np.asarray(ones)
    if ones.ndim != 1 or ones.size == 0 or ones.min() < 0 or ones.max() > k * n_shards:
        raise ValueError(f"ones: must be one list of 0 to k * n_shards = {k * n_shards}")
    checks.finite(noise=noise, above=0)
    draws = generator.laplace(scale=1 / noise, size=(len(ones), 2))
    counts = np.stack([n_shards - ones / k, ones / k], axis=1)
    return (counts + draws).argmax(axis=1).astype(np.uint8)


def ones_probability(gap, noise):
    """Pr[label = 1] at n_1 - n_0 = gap, exact; same shape as gap. noise as in `release`.

    Raises ValueError for noise that is not above 0.
    """
    checks.finite(noise=noise, above=0)
    y = noise * np.asarray(gap, np.float64)
    tail = difference_tail(np.abs(y))  # the smaller of the two probabilities
    return np.where(y >= 0, 1 - tail, tail)
