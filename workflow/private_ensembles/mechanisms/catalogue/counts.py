"""Mechanisms on the votes of plain teachers as the audit sees them, two classes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.mechanisms import ladder_steps as ladder
from private_ensembles.mechanisms import laplace
from private_ensembles.mechanisms import selection as exponential
from private_ensembles.mechanisms.catalogue.entry import (
    Entry,
    OnCounts,
    Setting,
    both_counts,
    counted,
    normal_error,
)
from private_ensembles.nzc import mechanism as nzc
from private_ensembles.nzc.claims import claimed_readings
from private_ensembles.nzc.truth import proven_epsilon
from private_ensembles.pate import gnmax

# The paper's parameters, read as Table 1 needs them read.
_CONSTANT, _GAMMA = 1e100, 1e10


def gaussian(name: str, setting: Setting, method: str) -> Entry:
    """GNMax with the least sigma that `method` of `gnmax_sigma` finds for the budget."""
    budget = setting.epsilon, setting.delta
    # The paper's grid of orders ends at 500; a small budget needs larger ones.
    order_max = max(500.0, 4 * gnmax.least_order(*budget))
    sigma = gnmax.gnmax_sigma(*budget, method=method, n_teachers=setting.K, order_max=order_max)
    # Any sigma is a Gaussian mechanism on the counts; only the label itself can cost less.
    proven = setting.epsilon if method == "exact" else gnmax.analytic_epsilon(sigma, budget[1])
    proven = min(proven, setting.epsilon)
    return counted(name, setting.K, budget, _gnmax(setting.K, sigma), proven=proven)


def laplacian(name: str, setting: Setting, method: str) -> Entry:
    """LNMax with the least scale that `method` of `lnmax_scale` finds for the budget."""
    budget = setting.epsilon, setting.delta
    scale = laplace.lnmax_scale(*budget, method=method, n_teachers=setting.K)
    return counted(name, setting.K, budget, laplace_on_counts(setting.K, scale))


def selection(name: str, setting: Setting, distribution, choose) -> Entry:
    """The exponential mechanism or permute-and-flip at the largest rate that the audit allows."""
    K, budget = setting.K, (setting.epsilon, setting.delta)
    rate = exponential.selection_rate(*budget, distribution, method="exact", n_teachers=K)

    def matrix(noise: float) -> NDArray:
        return distribution(both_counts(np.arange(K + 1), K), rate / noise)

    def release(noise, counts, generator):
        return choose(both_counts(counts, K), generator, rate=rate / noise)

    mechanism = OnCounts(matrix, release, exponential.RELATIVE_ERROR)
    return counted(name, K, budget, mechanism)


def optimal(setting: Setting) -> Entry:
    """The ladder; its twin flips half as often."""
    K, budget = setting.K, (setting.epsilon, setting.delta)
    exact = ladder.ladder_matrix(K, *budget)

    def matrix(noise: float) -> NDArray:
        flips = noise * exact.min(axis=1)
        majority = np.argmax(exact, axis=1)[:, None] == np.arange(2)
        return np.where(majority, 1 - flips[:, None], flips[:, None])

    def release(noise, counts, generator):
        if noise == 1:
            return ladder.release(counts, K, generator, epsilon=budget[0], delta=budget[1])
        return (generator.random(counts.shape) < matrix(noise)[counts, 1]).astype(np.uint8)

    return counted("ladder", K, budget, OnCounts(matrix, release, 2.0**-52))


def immutable(setting: Setting, constant: float = _CONSTANT, gamma: float = _GAMMA) -> Entry:
    """NZC. Claimed: Theorem 4 for one query, gamma = 1e10 read as a scale."""

    def matrix(noise: float) -> NDArray:
        counts = both_counts(np.arange(setting.K + 1), setting.K)
        return nzc.label_distribution(counts, constant=constant, noise_scale=noise * gamma)[0]

    def release(noise, counts, generator):
        votes = both_counts(counts, setting.K)
        return nzc.immutable_noisy_argmax(
            votes, generator, constant=constant, noise_scale=noise * gamma
        )

    claim = claimed_readings(gamma, 1, setting.delta)["scale"], setting.delta
    mechanism = OnCounts(matrix, release, nzc.RELATIVE_ERROR)
    proven = proven_epsilon(constant, gamma)
    return counted("nzc", setting.K, claim, mechanism, proven=proven)


def _gnmax(K: int, sigma: float) -> OnCounts:
    def matrix(noise: float) -> NDArray:
        ones = gnmax.label_probability(K, noise * sigma)
        return np.stack([ones[::-1], ones], axis=1)  # both tails as exact as each other

    def release(noise, counts, generator):
        return gnmax.release(counts, K, noise * sigma, generator)

    # Half the noise doubles the arguments.
    return OnCounts(matrix, release, normal_error(2 * K / (math.sqrt(2) * sigma)))


def laplace_on_counts(K: int, scale: float) -> OnCounts:
    """LNMax; half the noise is half the scale."""

    def release(noise, counts, generator):
        return laplace.release(counts, K, generator, scale=noise * scale)

    def matrix(noise: float) -> NDArray:
        return laplace.lnmax_matrix(K, noise * scale)

    return OnCounts(matrix, release, laplace.RELATIVE_ERROR)
