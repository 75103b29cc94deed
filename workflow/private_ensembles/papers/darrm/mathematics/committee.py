"""How likely a class is to win among some teachers who are drawn at random from all."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_table
from private_ensembles.papers.darrm.mathematics.gamma import subsampling_probability

# So many histograms are worked on at once.
_ROWS = 256
# Probabilities below this are left out: what they add up to is far below rounding.
_NEGLIGIBLE = 1e-18


def plurality_probabilities(counts: NDArray, members: int) -> NDArray[np.float64]:
    """Return Pr[class j wins among `members` teachers drawn without replacement].

    Ties are broken by lot. The result is exact up to rounding, below 1e-11.

    Args:
        counts: (queries, classes) int, each row adding up to the number of teachers.
        members: how many teachers are drawn.

    Returns:
        (queries, classes) probabilities.

    >>> plurality_probabilities(np.array([[2, 1, 0], [1, 1, 1]]), 2).round(4).tolist()
    [[0.6667, 0.3333, 0.0], [0.3333, 0.3333, 0.3333]]
    """
    counts = np.asarray(counts)
    if counts.shape[1] == 2:
        ones = subsampling_probability(int(counts[0].sum()), members)[counts[:, 1]]
        return np.stack([1 - ones, ones], axis=1)
    # Which class is which does not matter: equal histograms are worked out once.
    order = np.argsort(-counts, axis=1, kind="stable")
    ordered = np.take_along_axis(counts, order, axis=1)
    different, index = np.unique(ordered, axis=0, return_inverse=True)
    blocks = [
        _plurality_of_distinct_histograms(different[i : i + _ROWS], members)
        for i in range(0, len(different), _ROWS)
    ]
    probabilities = np.empty(counts.shape)
    np.put_along_axis(probabilities, order, np.concatenate(blocks)[index.ravel()], axis=1)
    return probabilities


def _plurality_of_distinct_histograms(counts: NDArray, members: int) -> NDArray[np.float64]:
    """Return `plurality_probabilities` of different histograms, for any number of classes.

    A multivariate hypergeometric distribution is that of independent binomials, given that they add
    up to `members`. Class j wins with s votes if every other one has fewer, or if t others have s
    as well and the lot falls on j, with probability 1 / (t + 1), the integral of y^t over [0, 1].
    So the votes of the others make polynomials, with each equal vote weighed by y, at the nodes of
    Gauss and Legendre, which are exact in y.
    """
    K, C = int(counts[0].sum()), counts.shape[1]
    table = binomial_table(K, members / K, members + 1)
    binomials = table[counts]  # (rows, C, members + 1)
    winning = np.zeros(counts.shape)
    for s in range(-(-members // C), min(members, int(counts.max())) + 1):
        if binomials[..., s].max() < _NEGLIGIBLE:
            continue
        remaining, most_equal = members - s, min(C, members // s)
        nodes, weights = leggauss((most_equal + 1) // 2)
        y, weights = (nodes + 1) / 2, weights / 2
        weighed = np.repeat(binomials[:, :, None, : s + 1], len(y), axis=2)
        weighed[..., s] *= y
        unit = np.zeros((len(counts), len(y), remaining + 1))
        unit[..., 0] = 1.0
        before, after = [unit], [unit]
        for k in range(C - 1):
            before.append(_multiply_polynomials(before[-1], weighed[:, k]))
            after.append(_multiply_polynomials(after[-1], weighed[:, C - 1 - k]))
        for j in range(C):
            others_below = (before[j] * after[C - 1 - j][..., ::-1]).sum(axis=-1) @ weights
            winning[:, j] += binomials[:, j, s] * others_below
    return winning / table[K, members]


def _multiply_polynomials(first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """Return the product of polynomials (..., terms), cut off at as many terms as `first` has."""
    product = np.zeros_like(first)
    width = first.shape[-1]
    for i in range(min(second.shape[-1], width)):
        if second[..., i].max() >= _NEGLIGIBLE:
            product[..., i:] += first[..., : width - i] * second[..., i, None]
    return product
