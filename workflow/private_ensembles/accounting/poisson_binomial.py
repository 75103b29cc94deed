"""Probability mass functions of sums of independent Bernoulli variables, batched."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks

# `grouped_pmf` may take smaller probabilities for 0.
NEGLIGIBLE = 1e-20


def pmf(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Return the Poisson-binomial pmf of each row of success probabilities.

    Each step is a convex combination of non-negative numbers, so there is no cancellation.

    Args:
        probabilities: (..., K), values in [0, 1].

    Returns:
        (..., K + 1), Pr[sum = l] for l = 0..K along the last axis, with an absolute error below
        4 K times the unit round-off.

    Raises:
        ValueError: A probability is NaN or outside [0, 1], or the array has no axis.

    >>> pmf([0.5, 0.5, 0.9]).round(4).tolist()
    [0.025, 0.275, 0.475, 0.225]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    checks.check_probabilities(probabilities=p)
    if p.ndim == 0:
        raise ValueError("probabilities: must be an array of rank >= 1")
    n = p.shape[-1]
    masses = np.zeros((*p.shape[:-1], n + 1))
    masses[..., 0] = 1.0
    for k in range(n):  # the recursion is sequential in the teachers, vectorised over the batch
        q = p[..., k, None]
        masses[..., 1 : k + 2] = masses[..., 1 : k + 2] * (1 - q) + masses[..., : k + 1] * q
        masses[..., 0] *= 1 - q[..., 0]
    return masses


def binomial_table(size: int, probability: float, terms: int | None = None) -> NDArray[np.float64]:
    """Return the binomial pmfs Bin(s; n, probability) for n = 0..size at once.

    Args:
        size: The largest number of trials.
        probability: Success probability of each trial.
        terms: How many values s = 0, 1, ... are tabulated; all ``size + 1`` by default.

    Returns:
        (size + 1, terms), whose row n is computed by Pascal's recursion with an absolute error
        below 4 n round-offs.
    """
    width = size + 1 if terms is None else min(terms, size + 1)
    table = np.zeros((size + 1, width))
    table[0, 0] = 1.0
    for n in range(size):  # the recursion is sequential in n
        table[n + 1] = table[n] * (1 - probability)
        table[n + 1, 1:] += table[n, :-1] * probability
    return table


def binomial_pmf(size: int, probability: float) -> NDArray[np.float64]:
    """Return the binomial pmf Bin(s; size, probability), s = 0..size, shape (size + 1,).

    It goes by the ratios of neighbouring terms, outwards from the mode. Their relative errors add
    up to fewer than 4 |s - mode| round-offs, as good as scipy.stats, which takes 0.6 s to import.

    Raises:
        ValueError: Unless size >= 0 and 0 <= probability <= 1.
    """
    checks.check_integer(size=size, at_least=0)
    checks.check_probability(probability=probability)
    if probability in (0, 1):
        certain = np.zeros(size + 1)
        certain[size * int(probability)] = 1.0
        return certain
    mode = min(int((size + 1) * probability), size)
    s = np.arange(size)
    up = (size - s[mode:]) * probability / ((s[mode:] + 1) * (1 - probability))
    below = s[:mode][::-1]
    down = (below + 1) * (1 - probability) / ((size - below) * probability)
    terms = np.concatenate([np.cumprod(down)[::-1], [1.0], np.cumprod(up)])
    return terms / terms.sum()


@functools.lru_cache(maxsize=16384)
def _support(size: int, probability: float) -> tuple[int, NDArray[np.float64]]:
    """Return the first value of Bin(size, probability) above NEGLIGIBLE, and its pmf from there."""
    terms = binomial_pmf(size, probability)
    kept = np.nonzero(terms > NEGLIGIBLE)[0]
    return int(kept[0]), terms[kept[0] : kept[-1] + 1]


def grouped_pmf(probabilities: ArrayLike, sizes: ArrayLike) -> NDArray[np.float64]:
    """Return the pmf of a sum with sizes[g] variables of success probability probabilities[g].

    Args:
        probabilities: (groups,), values in [0, 1].
        sizes: (groups,) int >= 0, how many variables each group has.

    Returns:
        (sum(sizes) + 1,) with an absolute error below 1e-12; probabilities below NEGLIGIBLE may
        be 0.

    Raises:
        ValueError: Negative sizes, or probabilities outside [0, 1].
    """
    p = np.atleast_1d(np.asarray(probabilities, dtype=np.float64))
    n = np.atleast_1d(np.asarray(sizes, dtype=np.int64))
    if p.shape != n.shape or np.any(n < 0):
        raise ValueError(f"sizes: {n.tolist()} must be non-negative, one per probability")
    start, values = 0, np.ones(1)
    for probability, size in zip(p.tolist(), n.tolist(), strict=True):  # at most eight groups
        first, weights = _support(size, probability)
        start += first
        values = np.convolve(values, weights) if len(weights) > 1 else values * weights[0]
    masses = np.zeros(int(n.sum()) + 1)
    masses[start : start + len(values)] = values
    return masses
