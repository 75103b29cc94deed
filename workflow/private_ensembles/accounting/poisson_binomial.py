"""Probability mass functions of sums of independent Bernoulli variables, batched."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks

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

    >>> pmf([0.5, 0.5, 0.9]).round(4).tolist()
    [0.025, 0.275, 0.475, 0.225]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    checks.check_probabilities(probabilities=p)
    if p.ndim == 0:
        raise ValueError("probabilities: must be an array of rank >= 1")
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


def binomial_pmf(size: int, probability: float) -> NDArray[np.float64]:
    """Binomial pmf Bin(s; size, probability), s = 0..size, shape (size + 1,).

    By the ratios of neighbouring terms, outwards from the mode, whose relative errors add up to
    fewer than 4 |s - mode| round-offs: as good as scipy.stats, which takes 0.6 s to import.

    Raises ValueError unless size >= 0 and 0 <= probability <= 1.
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
    """Bin(size, probability) where it exceeds NEGLIGIBLE: (first value, its pmf from there on)."""
    terms = binomial_pmf(size, probability)
    kept = np.nonzero(terms > NEGLIGIBLE)[0]
    return int(kept[0]), terms[kept[0] : kept[-1] + 1]


def grouped_pmf(probabilities: ArrayLike, sizes: ArrayLike) -> NDArray[np.float64]:
    """Pmf of a sum with sizes[g] variables of success probability probabilities[g].

    Returns an array of shape (sum(sizes) + 1,), absolute error below 1e-12; probabilities below
    NEGLIGIBLE may be 0. Raises ValueError for negative sizes or probabilities outside [0, 1].
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
    out = np.zeros(int(n.sum()) + 1)
    out[start : start + len(values)] = values
    return out
