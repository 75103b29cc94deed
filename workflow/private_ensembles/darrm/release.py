"""DaRRM's release of a label (Algorithm 1) and its exact output distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.darrm.gamma import check_gamma
from private_ensembles.noise import secure


def label_probability(gamma: ArrayLike) -> NDArray[np.float64]:
    """Pr[DaRRM releases 1 | l teachers say 1] for l = 0..K, shape (K + 1,).

    gamma(l) times the majority plus (1 - gamma(l)) / 2 (Algorithm 1, lines 5-11).
    """
    gamma = check_gamma(gamma)
    majority = np.arange(len(gamma)) >= len(gamma) / 2
    return gamma * majority + (1 - gamma) / 2


def release(
    counts: ArrayLike, gamma: ArrayLike, generator: np.random.Generator | None
) -> NDArray[np.uint8]:
    """Release one label for every count of teachers that say 1 (Algorithm 1).

    >>> gamma = np.ones(4)  # of 3 teachers, and without any noise
    >>> release([0, 1, 2, 3], gamma, np.random.default_rng(0)).tolist()
    [0, 0, 1, 1]

    counts : integers in 0..K, any shape; generator : drawn from twice per count (the coin, and the
    random answer it may call for); None: exact coins from the system's entropy, whose probabilities
    are these very floats, so that gamma's certificate covers the release. Returns labels 0 or 1 in
    counts' shape. Raises ValueError for counts out of range.
    """
    gamma = check_gamma(gamma)
    counts = np.asarray(counts)
    K = len(gamma) - 1
    if counts.size and not (counts.min() >= 0 and counts.max() <= K):
        raise ValueError(f"counts: must lie in 0..K = {K}")
    if generator is None:
        keep, guess = secure.coins(gamma[counts]), secure.fair_bits(counts.shape)
        return np.where(keep, 2 * counts > K, guess).astype(np.uint8)
    coin = generator.random(counts.shape) < gamma[counts]
    guess = generator.integers(0, 2, counts.shape, dtype=np.uint8)
    return np.where(coin, (2 * counts > K).astype(np.uint8), guess)
