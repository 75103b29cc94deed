"""PATE's aggregators at given noise, as the audit sees one query of two classes.

The outcome of a confident aggregator is no answer (-1), or a label of the teachers; a label that
Interactive-GNMax reinforces is the student's own, known before, so that it says "no answer".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.mechanisms.catalogue.counts import laplace_on_counts
from private_ensembles.mechanisms.catalogue.entry import (
    ConfidentNoise,
    Entry,
    OnCounts,
    both_counts,
    counted,
    normal_error,
)
from private_ensembles.pate import gnmax
from private_ensembles.pate.data_independent import exact_data_independent_epsilon
from private_ensembles.pate.mechanisms import (
    NO_ANSWER,
    confident_gnmax,
    interactive_gnmax,
    student_excess,
)

_ORDERS = 1 + 0.5 * np.arange(1, 2000)


def laplacian(n_teachers: int, delta: float, noise: ConfidentNoise) -> Entry:
    """LNMax at the scale given: (2 / scale, 0)-DP, hence at delta as well."""
    mechanism = laplace_on_counts(n_teachers, noise.scale)
    return counted("lnmax", n_teachers, (2 / noise.scale, delta), mechanism)


def confident(n_teachers: int, delta: float, noise: ConfidentNoise) -> Entry:
    """Confident-GNMax (Algorithm 1)."""

    def release(factor: float, ones: NDArray, generator) -> NDArray:
        scaled = factor * noise.sigma1, factor * noise.sigma2
        return confident_gnmax(both_counts(ones, n_teachers), noise.threshold, *scaled, generator)

    counts = both_counts(np.arange(n_teachers + 1), n_teachers)
    return _checked("confident_gnmax", (n_teachers, delta, noise), counts.max(axis=1), release)


def interactive(n_teachers: int, delta: float, noise: ConfidentNoise) -> Entry:
    """Interactive-GNMax (Algorithm 2) with a student's scores that are the same everywhere."""
    score = np.array([1 - noise.score, noise.score])

    def release(factor: float, ones: NDArray, generator) -> NDArray:
        scores = np.broadcast_to(score, (len(ones), 2))
        scaled = factor * noise.sigma1, factor * noise.sigma2
        labels, reinforced = interactive_gnmax(
            both_counts(ones, n_teachers), scores, 0.5, noise.threshold, *scaled, generator
        )
        return np.where(reinforced, NO_ANSWER, labels)

    counts = both_counts(np.arange(n_teachers + 1), n_teachers)
    excess = student_excess(counts, np.broadcast_to(score, counts.shape))
    return _checked("interactive_gnmax", (n_teachers, delta, noise), excess, release)


def _checked(name: str, given: tuple, consensus: NDArray, release) -> Entry:
    """One query: consensus (K + 1,) against the noisy threshold, then GNMax.

    Claimed: the paper's Renyi costs of both steps and its conversion. Proven: both are functions of
    Gaussian noise on counts that move by 1 and by sqrt(2), which compose exactly.
    """
    n_teachers, delta, noise = given

    def matrix(factor: float) -> NDArray:
        lead = (consensus - noise.threshold) / (factor * noise.sigma1)
        ones = gnmax.label_probability(n_teachers, factor * noise.sigma2)
        return np.stack([ndtr(-lead), ndtr(lead) * ones[::-1], ndtr(lead) * ones], axis=1)

    rho = 1 / (2 * noise.sigma1**2) + 1 / noise.sigma2**2
    claimed, _ = rdp_to_dp(_ORDERS, rho * _ORDERS, delta, "classic")
    return counted(
        name,
        n_teachers,
        (claimed, delta),
        OnCounts(matrix, release, _error(n_teachers, noise)),
        proven=exact_data_independent_epsilon(rho, delta),
        labels=(NO_ANSWER, 0, 1),
    )


def _error(n_teachers: int, noise: ConfidentNoise) -> float:
    """Relative error of the matrix, at half the noise as well."""
    reach = (n_teachers + abs(noise.threshold)) / noise.sigma1
    return normal_error(2 * max(reach, n_teachers / (math.sqrt(2) * noise.sigma2)))
