"""Gauss-Legendre nodes, and integrals of a product of one factor for each class.

With counts of very many classes, most of the product is as good as 0: few nodes then do what takes
one node for every second class to do exactly.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles.labels.histograms import MergedHistograms, iterate_blocks

# From so many classes on, integrals leave out what is negligible.
MANY_CLASSES = 256
# What is left out is below e^-40, and so is the error of the nodes.
_NEGLIGIBLE = 40.0


@lru_cache(maxsize=512)
def gauss_legendre(number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes of Gauss-Legendre quadrature in [-1, 1] and their weights, both read-only.

    >>> [part.tolist() for part in gauss_legendre(1)]
    [[0.0], [2.0]]
    """
    nodes, weights = np.polynomial.legendre.leggauss(number)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def leave_one_out_integrals(
    merged: MergedHistograms, probabilities: NDArray[np.float64], wanted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the integral over t in [0, 1] of prod_{i != j} (1 - q_i t), for pairs j.

    Each is within 1e-16 and a relative 1e-12 of the exact one. Why: with S the sum of all q_i, the
    product is at most e^(-(S - 1) t), so that beyond T = min(1, 40 / (S - 1)) less than e^-40 is
    left out. Its derivative of order 2n is at most S^(2n), so that Gauss-Legendre with n nodes on
    [0, T] is off by at most T (T S)^(2n) (n!)^4 / ((2n + 1) (2n)!^3). n is as large as that asks
    for, 30 or less. All terms are positive, and where they matter the logarithm of the product is
    at most 41 or so, of which every factor carries a few round-offs.

    Args:
        merged: The votes, of which each pair counts as often as classes have it.
        probabilities: (pairs,) q of each pair, in [0, 1].
        wanted: (pairs,) bool, the pairs j.

    Returns:
        (pairs,) float64, 0 of the pairs that are not wanted.

    References:
        Davis & Rabinowitz (1984), 2.7.12.

    >>> from private_ensembles.labels.histograms import merge_histograms
    >>> merged, wanted = merge_histograms([[2, 1, 1]]), np.array([True, False])
    >>> leave_one_out_integrals(merged, np.array([1.0, 0.5]), wanted)
    array([0.58333333, 0.        ])
    """
    sums = np.add.reduceat(merged.multiplicity * probabilities, merged.starts)
    reach = np.minimum(1.0, _NEGLIGIBLE / np.maximum(sums - 1, 1e-9))
    x, weights = gauss_legendre(_count_nodes(float((reach * sums).max())))
    result = np.zeros(len(probabilities))
    for rows, pairs, starts in iterate_blocks(merged.starts, len(probabilities), len(x)):
        t = reach[rows, None] * (1 + x) / 2
        factors = np.log1p(
            -probabilities[pairs, None] * np.repeat(t, merged.pairs_per_row[rows], axis=0)
        )
        log_products = np.add.reduceat(merged.multiplicity[pairs, None] * factors, starts, axis=0)
        chosen = np.flatnonzero(wanted[pairs])
        row = np.searchsorted(starts, chosen, side="right") - 1
        others = np.exp(log_products[row] - factors[chosen])
        result[pairs.start + chosen] = others @ (weights / 2) * reach[rows][row]
    return result


def _count_nodes(width: float) -> int:
    """Return how many nodes are enough for an interval that is `width` / S long."""
    n = 1
    while True:
        log_error = 4 * math.lgamma(n + 1) - 3 * math.lgamma(2 * n + 1) - math.log(2 * n + 1)
        if log_error + 2 * n * math.log(max(width, 1.0)) < -_NEGLIGIBLE:
            return n
        n += 1
