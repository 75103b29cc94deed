"""DPBag's noisy vote as the audit sees one query of two classes; SAA's is that of one partition."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.dpbag import mechanism
from private_ensembles.dpbag.plain import plain_epsilon
from private_ensembles.mechanisms.catalogue.entry import BaggingNoise, Entry, OnCounts, counted

# Larger exponentials overflow; nothing but the claim itself is proven there.
_LARGEST_EPSILON = 700.0


def vote(delta: float, noise: BaggingNoise) -> Entry:
    """One label. Claimed: what the moments accountant starts from, 2 lambda m(x; u) and no delta.

    Only the record's k teachers vote differently on a neighbouring data set, and of them those that
    agree move a count by `share` at most. Inputs are votes for 1 of all k n teachers; neighbours
    differ by k share of them: the probability of a label grows with its votes, so that smaller
    moves cost less. Proven for a share of 1: the label as a function of the noisy difference of the
    counts, whatever they are (`dpbag.plain`).
    """
    n, k = noise.n_shards, noise.k
    moved = math.floor(noise.share * k)

    def matrix(factor: float) -> NDArray:
        gap = 2 * np.arange(k * n + 1) / k - n
        ones = mechanism.ones_probability(gap, noise.rate / factor)
        return np.stack([ones[::-1], ones], axis=1)

    def release(factor: float, ones: NDArray, generator) -> NDArray:
        return mechanism.release(ones, n, k, noise.rate / factor, generator)

    first = np.arange(k * n + 1 - moved)
    claimed = 2 * noise.rate * noise.share
    proven = claimed
    if noise.share == 1 and claimed < _LARGEST_EPSILON:
        proven = min(claimed, plain_epsilon(1, noise.rate, delta))
    # An exponent's rounding weighs as much as its size, also at half the noise; e^-750 is 0.
    error = 1e-14 * (1 + min(2 * noise.rate * n, 750.0))
    return counted(
        "dpbag",
        k * n,
        (claimed, delta),
        OnCounts(matrix, release, error),
        proven=proven,
        pairs=np.stack([first, first + moved], axis=1),
    )
