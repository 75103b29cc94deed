"""How likely a class is to win among some teachers who are drawn at random from all."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_table
from private_ensembles.papers.darrm.mathematics.gamma import subsampling_probability

_ROWS = 256  # histograms that are worked on at once
_NEGLIGIBLE = 1e-18  # what this many members together lose is far below rounding


def plurality_probabilities(counts: NDArray, members: int) -> NDArray[np.float64]:
    """Return Pr[class j wins among `members` teachers drawn without replacement], (queries, C).

    counts: (queries, C), each row adding up to the teachers. Ties are broken by lot. Exact up to
    rounding, below 1e-11.

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
    different, place = np.unique(ordered, axis=0, return_inverse=True)
    parts = [
        _hypergeometric_plurality(different[i : i + _ROWS], members)
        for i in range(0, len(different), _ROWS)
    ]
    found = np.empty(counts.shape)
    np.put_along_axis(found, order, np.concatenate(parts)[place.ravel()], axis=1)
    return found


def _hypergeometric_plurality(counts: NDArray, members: int) -> NDArray[np.float64]:
    """Multivariate hypergeometric: independent binomials, given that they add up to `members`.

    Class j wins with s votes if every other one has fewer, or if t others have s as well and the
    lot falls on j, 1 / (t + 1) = the integral of y^t over [0, 1]: polynomials in the votes of the
    others, each equal vote weighed by y, at the nodes of Gauss and Legendre, exact in y.
    """
    K, C = int(counts[0].sum()), counts.shape[1]
    table = binomial_table(K, members / K, members + 1)
    chances = table[counts]  # (rows, C, members + 1)
    won = np.zeros(counts.shape)
    for s in range(-(-members // C), min(members, int(counts.max())) + 1):
        if chances[..., s].max() < _NEGLIGIBLE:
            continue
        left, most = members - s, min(C, members // s)
        nodes, weights = leggauss((most + 1) // 2)
        y, weights = (nodes + 1) / 2, weights / 2
        each = np.repeat(chances[:, :, None, : s + 1], len(y), axis=2)
        each[..., s] *= y
        one = np.zeros((len(counts), len(y), left + 1))
        one[..., 0] = 1.0
        before, after = [one], [one]
        for k in range(C - 1):
            before.append(_multiply_polynomials(before[-1], each[:, k]))
            after.append(_multiply_polynomials(after[-1], each[:, C - 1 - k]))
        for j in range(C):
            others = (before[j] * after[C - 1 - j][..., ::-1]).sum(axis=-1) @ weights
            won[:, j] += chances[:, j, s] * others
    return won / table[K, members]


def _multiply_polynomials(one: NDArray, other: NDArray) -> NDArray[np.float64]:
    """The product of polynomials (..., terms), as many terms as `one` has."""
    out = np.zeros_like(one)
    width = one.shape[-1]
    for i in range(min(other.shape[-1], width)):
        if other[..., i].max() >= _NEGLIGIBLE:
            out[..., i:] += one[..., : width - i] * other[..., i, None]
    return out
