"""Probability mass functions of sums of independent Bernoulli variables, batched."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

NEGLIGIBLE = 1e-20


def pmf(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Poisson-binomial pmf of each row of success probabilities.

    Parameters
    ----------
    probabilities : array, shape (..., K), values in [0, 1]

    Returns
    -------
    array, shape (..., K + 1): Pr[sum = l] for l = 0..K along the last axis.

    Raises
    ------
    ValueError : a probability is NaN or outside [0, 1].

    Each step is a convex combination of non-negative numbers, so the result has no cancellation:
    its absolute error is below 4 K times the unit round-off.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim == 0 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError("probabilities: every value must lie in [0, 1], in an array of rank >= 1")
    n = p.shape[-1]
    out = np.zeros((*p.shape[:-1], n + 1))
    out[..., 0] = 1.0
    for k in range(n):  # the recursion is sequential in the teachers, vectorised over the batch
        q = p[..., k, None]
        out[..., 1 : k + 2] = out[..., 1 : k + 2] * (1 - q) + out[..., : k + 1] * q
        out[..., 0] *= 1 - q[..., 0]
    return out


def binomial_table(size: int, probability: float, terms: int | None = None) -> NDArray[np.float64]:
    """Binomial pmfs Bin(s; n, probability) for every n at once.

    Returns an array of shape (size + 1, terms): row n holds s = 0..terms-1 (default all,
    ``size + 1``), computed by Pascal's recursion, whose absolute error is below 4 n round-offs.
    """
    width = size + 1 if terms is None else min(terms, size + 1)
    table = np.zeros((size + 1, width))
    table[0, 0] = 1.0
    for n in range(size):  # sequential recursion in n
        table[n + 1] = table[n] * (1 - probability)
        table[n + 1, 1:] += table[n, :-1] * probability
    return table


@functools.lru_cache(maxsize=16384)
def _support(size: int, probability: float) -> tuple[int, NDArray[np.float64]]:
    """Bin(size, probability) where it exceeds NEGLIGIBLE: (first value, its pmf from there on)."""
    if probability in (0.0, 1.0) or size == 0:
        return int(size * probability), np.ones(1)
    factorial = _log_factorials(1 << (size + 1).bit_length())
    k = np.arange(size + 1)
    log_pmf = factorial[size] - factorial[k] - factorial[size - k]
    log_pmf += k * math.log(probability) + (size - k) * math.log1p(-probability)
    kept = np.nonzero(log_pmf > math.log(NEGLIGIBLE))[0]
    return int(kept[0]), np.exp(log_pmf[kept[0] : kept[-1] + 1])


@functools.lru_cache(maxsize=16)
def _log_factorials(count: int) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count)))])


def grouped_pmf(probabilities: ArrayLike, sizes: ArrayLike) -> NDArray[np.float64]:
    """Pmf of a sum with sizes[g] variables of success probability probabilities[g].

    Returns an array of shape (sum(sizes) + 1,), absolute error below 1e-12; probabilities below
    NEGLIGIBLE may be 0. Raises ValueError for negative sizes or probabilities outside [0, 1].
    """
    p = np.atleast_1d(np.asarray(probabilities, dtype=np.float64))
    n = np.atleast_1d(np.asarray(sizes, dtype=np.int64))
    if p.shape != n.shape or np.any(n < 0):
        raise ValueError(f"sizes: {n.tolist()} must be non-negative, one per probability")
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("probabilities: every value must lie in [0, 1]")
    start, values = 0, np.ones(1)
    for probability, size in zip(p.tolist(), n.tolist(), strict=True):  # at most eight groups
        first, weights = _support(size, probability)
        start += first
        values = np.convolve(values, weights) if len(weights) > 1 else values * weights[0]
    out = np.zeros(int(n.sum()) + 1)
    out[start : start + len(values)] = values
    return out
