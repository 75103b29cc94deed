"""Immutable noisy ArgMax (NZC, section 3.2): add c to the largest count, then noise, then ArgMax.

The label is not private (docs/nzc.md) and must not leave the workflow for real data.

The paper's c = 1e100 absorbs, as a float, what it is added to. 1e100 + 250 and 1e100 + 1e10 are
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
# One of several largest counts gets c. The paper does not say which; NumPy's argmax takes the
# first.
TIES = ("first", "last", "random")
# These are the errors of `label_distribution`: an exponent's rounding weighs as much as its size.
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
    """Draw one label per query; not for release.

    Args:
        counts: votes, (queries, classes) int.
        generator: the source of noise. A query's label does not depend on the queries after it.
        constant: c, in votes.
        noise_scale: scale of the Laplace noise (1 / gamma of section 3.2; the tables write gamma =
            1e10), or the Gaussian's standard deviation.
        noise: ``laplace`` or ``gaussian``.
        ties: which of several largest counts gets c, one of TIES.

    Returns:
        Labels, (queries,) int.

    Raises:
        ValueError: counts are not integers (queries, classes), the constant is negative,
            noise_scale is not finite and > 0, or noise or ties is another.

    References:
        NZC, section 3.2.
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
    """Return Pr[label] of each query, and a bound on the absolute error of its entries.

    Two classes: exact up to rounding (RELATIVE_ERROR) and underflow. More: all probability is with
    the class that gets c, and the error is that of any other: at most C - 1 times the probability
    that noise makes up for c.

    Args:
        counts: votes, (queries, classes) int.
        constant: c, in votes.
        noise_scale: scale of the Laplace noise, or the Gaussian's standard deviation.
        noise: ``laplace`` or ``gaussian``.
        ties: which of several largest counts gets c, one of TIES.

    Returns:
        Probabilities, (queries, classes), and the bound.

    Raises:
        ValueError: as `immutable_noisy_argmax` raises it.
    """
    counts = _check(counts, constant, noise_scale, noise, ties)
    largest = counts == counts.max(axis=1, keepdims=True)
    if ties == "random":
        chosen = largest / largest.sum(axis=1, keepdims=True)
    else:
        chosen = np.zeros(counts.shape)
        chosen[np.arange(len(counts)), _raised_class(counts, ties, None)] = 1.0
    if counts.shape[1] > 2:
        overtaken = float(_overtake_probability(np.array(constant / noise_scale), noise))
        return chosen, min(1.0, (counts.shape[1] - 1) * overtaken * (1 + 1e-12) + UNDERFLOW)
    lead = np.abs(counts[:, 0] - counts[:, 1])
    overtaken_by_lead = _overtake_probability((constant + lead) / noise_scale, noise)[:, None]
    return chosen * (1 - overtaken_by_lead) + chosen[:, ::-1] * overtaken_by_lead, UNDERFLOW


def check_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """Return counts as int64 (queries, classes).

    Raises:
        ValueError: they are not integers of that shape with two classes at least.
    """
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
    """Return Pr[the difference of two standard noises exceeds leads >= 0]."""
    if noise == "gaussian":
        return ndtr(-leads / math.sqrt(2))
    return difference_tail(leads)
