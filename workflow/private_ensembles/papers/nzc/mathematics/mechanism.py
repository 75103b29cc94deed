"""Immutable noisy ArgMax (NZC, section 3.2): add c to the largest count, then noise, then ArgMax.

The label is not private (docs/nzc.md) and must not leave the workflow for real data.

About floats: the paper's c = 1e100 absorbs what it is added to. 1e100 + 250 and 1e100 + 1e10 are
1e100, so that in doubles the released label is exactly the plurality, whatever the noise. With real
numbers it would differ with probability below exp(-1e90). The sampler subtracts c from noise before
it compares with votes, so that for moderate c no vote is lost to rounding either.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from private_ensembles.base import checks
from private_ensembles.base.laplace_tail import difference_tail

NOISES = ("laplace", "gaussian")
# Which of several largest counts gets c; the paper does not say, NumPy's argmax takes the first.
TIES = ("first", "last", "random")
# Errors of `label_distribution`: an exponent's rounding weighs as much as its size.
RELATIVE_ERROR, UNDERFLOW = 1e-12, 1e-300


def immutable_noisy_argmax(
    counts: ArrayLike,
    generator: np.random.Generator,
    *,
    constant: float = 1e100,
    noise_scale: float = 1e10,
    noise: str = "laplace",
    ties: str = "first",
) -> NDArray[np.int64]:
    """One label per row of counts (Q, C) of votes; not for release.

    constant: c, in votes. noise_scale: of the Laplace noise (1 / gamma of section 3.2; the tables
    write gamma = 1e10) or the Gaussian's standard deviation. ties: `TIES`. A query's label does not
    depend on the queries after it. Raises ValueError for counts that are not integers (Q, C), a
    negative constant, a noise_scale not finite and > 0, an unknown noise or tie rule.
    """
    counts = _check(counts, constant, noise_scale, noise, ties)
    n_queries, n_classes = counts.shape
    # One row of uniforms per query: noise first, then what breaks ties. Never 0, never 1.
    uniform = generator.random((n_queries, 2 * n_classes)) * (1 - 2.0**-52) + 2.0**-54
    drawn = uniform[:, :n_classes]  # standard noise by inversion
    if noise == "gaussian":
        drawn = ndtri(drawn) * noise_scale
    else:
        drawn = -np.sign(drawn - 0.5) * np.log1p(-2 * np.abs(drawn - 0.5)) * noise_scale
    top = _raised_class(counts, ties, uniform[:, n_classes:])
    at_top = (np.arange(n_queries), top)
    gain = drawn - drawn[at_top][:, None] - constant
    gain -= counts[at_top][:, None] - counts
    gain[at_top] = 0.0  # a rival wins if it gains more on the chosen class than it lacks
    return np.argmax(gain, axis=1)


def label_distribution(
    counts: ArrayLike,
    *,
    constant: float = 1e100,
    noise_scale: float = 1e10,
    noise: str = "laplace",
    ties: str = "first",
) -> tuple[NDArray[np.float64], float]:
    """Pr[label] (Q, C) and a bound on the absolute error of its entries.

    Two classes: exact up to rounding (RELATIVE_ERROR) and underflow. More: the class that gets c,
    with the probability of any other as the error: at most C - 1 times that noise makes up for c.
    Arguments as
    :func:`immutable_noisy_argmax`.
    """
    counts = _check(counts, constant, noise_scale, noise, ties)
    largest = counts == counts.max(axis=1, keepdims=True)
    if ties == "random":
        chosen = largest / largest.sum(axis=1, keepdims=True)
    else:
        chosen = np.zeros(counts.shape)
        chosen[np.arange(len(counts)), _raised_class(counts, ties, None)] = 1.0
    if counts.shape[1] > 2:
        reach = float(_overtake_probability(np.array(constant / noise_scale), noise))
        return chosen, min(1.0, (counts.shape[1] - 1) * reach * (1 + 1e-12) + UNDERFLOW)
    lead = np.abs(counts[:, 0] - counts[:, 1])
    lost = _overtake_probability((constant + lead) / noise_scale, noise)[:, None]
    return chosen * (1 - lost) + chosen[:, ::-1] * lost, UNDERFLOW


def check_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """counts as int64 (queries, classes), two classes at least; raises ValueError otherwise."""
    counts = np.asarray(counts)
    if counts.ndim != 2 or counts.shape[1] < 2 or counts.dtype.kind not in "iu":
        raise ValueError(
            f"counts: {counts.dtype} {counts.shape} must be integers (queries, classes)"
        )
    return counts.astype(np.int64)


def _check(counts, constant, noise_scale, noise, ties) -> NDArray[np.int64]:
    counts = check_counts(counts)
    checks.check_finite(constant=constant, at_least=0)
    checks.check_finite(noise_scale=noise_scale, above=0)
    checks.check_choice(NOISES, noise=noise)
    checks.check_choice(TIES, ties=ties)
    return counts


def _raised_class(counts: NDArray, ties: str, uniform: NDArray | None) -> NDArray[np.int64]:
    largest = counts == counts.max(axis=1, keepdims=True)
    if ties == "first":
        return np.argmax(largest, axis=1)
    if ties == "last":
        return counts.shape[1] - 1 - np.argmax(largest[:, ::-1], axis=1)
    return np.argmax(np.where(largest, uniform, -1.0), axis=1)


def _overtake_probability(leads: NDArray, noise: str) -> NDArray[np.float64]:
    """Pr[the difference of two standard noises exceeds leads >= 0]."""
    if noise == "gaussian":
        return ndtr(-leads / math.sqrt(2))
    return difference_tail(leads)
