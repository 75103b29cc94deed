"""Sources of a mechanism's noise: a seeded stream, or the operating system's entropy.

A sampler asks its source and does not care which one it is. Draws of `SeededNoise` can be repeated
from the seed. Draws of `SecureNoise` can be repeated by nobody, and use no floating-point samplers
(see `secure`).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import secure as exact


@dataclass(frozen=True)
class SeededNoise:
    """Noise from a NumPy generator.

    Attributes:
        generator: what is drawn from.
        by_class: whether Gaussian noise is drawn class by class, not query by query, as the labels
            of DaRRM's tables were. Fewer queries then have different draws.
        secure: False for this source.
    """

    generator: np.random.Generator
    by_class: bool = False
    secure = False

    def add_gaussian(self, counts: NDArray, sigma: float) -> NDArray:
        """Return counts (queries, classes) plus independent N(0, sigma^2) noise."""
        if self.by_class:
            return counts + sigma * self.generator.standard_normal(counts.shape[::-1]).T
        return counts + sigma * self.generator.standard_normal(counts.shape)

    def argmax_gaussian(self, counts: NDArray, sigma: float) -> NDArray[np.int64]:
        """Draw argmax_j n_j + N(0, sigma^2) of each row."""
        return np.argmax(self.add_gaussian(counts, sigma), axis=1)

    argmax_whole_gaussian = argmax_gaussian

    def argmax_fair_ties(self, counts: NDArray) -> NDArray[np.int64]:
        """Return the index of each row's largest integer; ties are broken uniformly."""
        return np.argmax(counts + self.generator.random(np.shape(counts)), axis=1)

    def bits(self, number: int) -> int:
        """Return a uniform integer below 2^number."""
        drawn = int.from_bytes(self.generator.bytes(-(-number // 8)), "little")
        return drawn & ((1 << number) - 1)

    def subsets(self, number: int, size: int, most: int) -> NDArray[np.int64]:
        """Return independent uniform subsets of 0..size-1, `most` members each: (number, most)."""
        return self.generator.permuted(np.tile(np.arange(size), (number, 1)), axis=1)[:, :most]


@dataclass(frozen=True)
class SecureNoise:
    """Exact discrete noise from the operating system's entropy; `secure` is True."""

    secure = True

    def add_gaussian(self, counts: NDArray, sigma: float) -> NDArray:
        """Return counts (queries, classes) plus independent discrete Gaussian N_Z(0, sigma^2)."""
        return exact.add_discrete_gaussian(counts, sigma)

    def argmax_gaussian(self, counts: NDArray, sigma: float) -> NDArray[np.int64]:
        """Draw argmax_j n_j + N(0, sigma^2) of each row."""
        return exact.argmax_gaussian(counts, sigma)

    def argmax_whole_gaussian(self, counts: NDArray, sigma: float) -> NDArray[np.int64]:
        """Draw the class of each row's largest count plus N_Z(0, sigma^2), ties uniformly."""
        return exact.argmax_discrete_gaussian(counts, sigma)

    def argmax_fair_ties(self, counts: NDArray) -> NDArray[np.int64]:
        """Return the index of each row's largest integer; ties are broken uniformly."""
        return exact.argmax_fair_ties(counts)

    def bits(self, number: int) -> int:
        """Return a uniform integer below 2^number."""
        return secrets.randbits(number)

    def subsets(self, number: int, size: int, most: int) -> NDArray[np.int64]:
        """Return independent uniform subsets of 0..size-1, `most` members each: (number, most)."""
        return exact.subsets(number, size, most)


NoiseSource = SeededNoise | SecureNoise
