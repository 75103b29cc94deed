"""The distribution of GNMax's label with discrete Gaussian noise, summed over the lattice.

Every count gets N_Z(0, sigma^2), and a fair die decides among the largest that tie. Given that
class j gets the value y, the others stay below it or tie, and of t that tie j wins one time in
t + 1. That is the integral over u in [0, 1] of u^t, so that

    Pr[j] = sum over y of Pr[n_j + Z = y] times the integral over u of
            prod_{i != j} (Pr[n_i + Z < y] + u Pr[n_i + Z = y]),

a polynomial of degree C - 1 in u, which Gauss-Legendre quadrature with ceil(C / 2) nodes
integrates exactly, all terms positive.

If sigma is large, every h-th y is enough, counted h times. As a function of a real y the summand
is a product of C sums of Gaussian weights, each of which grows by e^{b^2 / (2 sigma^2)} at most at
y + ib. So both sums, over all y and over every h-th one, are trapezoidal rules of the same
integral, with the relative error that `gnmax_quadrature` proves at steps 1 / sigma and h / sigma.

A node for every second class is exact, and far more than a plan's expected accuracy needs:
:func:`lattice_probability_correct` takes as many as its own bound on the error asks for.

What depends on votes without noise is not for release.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.discrete_gaussian import (
    TRUNCATED_MASS,
    law,
    log_mass,
    log_tail,
)
from private_ensembles.labels.gnmax import check_sigma
from private_ensembles.labels.histograms import (
    MergedHistograms,
    check_counts,
    iterate_blocks,
    split_into_chunks,
)
from private_ensembles.labels.product_integrals import gauss_legendre

# Sums reach so many standard deviations about the counts; beyond, terms are below e^-60 of the
# whole.
_REACH = 11
# The stride h is chosen for this relative error.
_DISCRETISATION = 1e-15
# The nodes of `lattice_probability_correct` are chosen for this absolute error.
_ENOUGH = 1e-13


def lattice_error(sigma: float, n_classes: int) -> dict[str, float]:
    """Return bounds on the error of `lattice_distribution`, for the audit.

    Args:
        sigma: Noise, in votes.
        n_classes: C.

    Returns:
        relative_error and absolute_error.
    """
    if n_classes == 2:
        return {"relative_error": 2 * law(sigma, 2).error, "absolute_error": 2 * TRUNCATED_MASS}
    # Every class's logarithm is off by at most 1e-12 of 1 and its size, and all sizes together are
    # below 750.
    return {"relative_error": 1e-12 * (2 * n_classes + 1500), "absolute_error": 1e-300}


def lattice_distribution(counts: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """Return Pr[GNMax with discrete noise releases class j] for every query.

    Args:
        counts: (queries, classes) int, votes for each class.
        sigma: Noise, in votes, > 0.

    Returns:
        (queries, classes) float64, with the errors of `lattice_error`.

    Raises:
        ValueError: As `check_counts` and `check_sigma` do.
    """
    counts, sigma = check_counts(counts), check_sigma(sigma)
    if counts.shape[1] == 1:
        return np.ones(counts.shape)
    if counts.shape[1] == 2:
        return _two_classes(counts, sigma)
    # The order of classes does not matter: equal histograms are worked out once.
    class_order = np.argsort(-counts, axis=1, kind="stable")
    ordered, row_of_query = np.unique(
        np.take_along_axis(counts, class_order, axis=1), axis=0, return_inverse=True
    )
    probabilities = np.empty(ordered.shape)
    gaps = ordered[:, :1] - ordered
    width = (gaps.max(axis=1) + 2 * math.ceil(_REACH * sigma)) // _stride(
        sigma, counts.shape[1]
    ) + 1
    order = np.argsort(width, kind="stable")
    for rows in split_into_chunks(order, (counts.shape[1] * width)[order]):
        probabilities[rows] = _sum_over_lattice(gaps[rows], sigma)
    distribution = np.empty(counts.shape)
    np.put_along_axis(distribution, class_order, probabilities[row_of_query.ravel()], axis=1)
    return distribution


def _two_classes(counts: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """Return Pr[label] by the law of the lead's noise; the trailing class's is summed directly."""
    lead = counts[:, 1] - counts[:, 0]
    noise, behind = law(sigma, 2), np.abs(lead)
    trailing = noise.tail_probability(behind + 1) + noise.probability(behind) / 2
    ones = np.where(lead > 0, 1 - trailing, trailing)
    zeros = np.where(lead > 0, trailing, 1 - trailing)
    return np.stack([zeros, ones], axis=1)


def _stride(sigma: float, n_classes: int) -> int:
    step = math.sqrt(2 * math.pi**2 / (n_classes * math.log(2 / _DISCRETISATION)))
    return max(1, math.floor(step * sigma))


def _sum_over_lattice(gaps: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """Return Pr[label] of rows of similar width.

    Args:
        gaps: (rows, classes) votes by which each class trails the largest count.
        sigma: Noise, in votes.
    """
    n_classes, reach = gaps.shape[1], math.ceil(_REACH * sigma)
    deepest, stride = int(gaps.max()), _stride(sigma, n_classes)
    y = np.arange(-deepest - reach, reach + 1, stride)
    noise = np.arange(y[0], y[-1] + deepest + 1)  # a class that trails needs y + gap
    log_here, log_below = log_mass(noise, sigma), log_tail(1 - noise, sigma)
    index = y - noise[0] + gaps[:, :, None]
    sums = np.zeros(gaps.shape)
    nodes, shares = gauss_legendre(-(-n_classes // 2))
    for u, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        stays = np.logaddexp(log_below, math.log(u) + log_here)
        terms = log_here[index]
        terms -= stays[index]
        terms += stays[index].sum(axis=1, keepdims=True)
        sums += stride * share * np.exp(terms).sum(axis=2)
    return sums


def lattice_probability_correct(
    merged: MergedHistograms, labels: ArrayLike, sigma: float
) -> NDArray[np.float64]:
    """Return Pr[GNMax with discrete noise releases its query's label], within 1e-11.

    The other classes' sums are left out, and the integral over u takes n nodes. With b_i and h_i
    the probabilities that class i stays below y and equals it, f(u) = prod (b_i + u h_i) has f^(2n)
    = f times (2n)! times the 2n-th elementary symmetric polynomial of h_i / (b_i + u h_i), at most
    f(1) S^(2n), S = sum h_i / b_i. So Gauss-Legendre is off by at most f(1) S^(2n) (n!)^4 / ((2n +
    1) (2n)!^3). n doubles until that, summed over y, is below 1e-13, or n is ceil(C / 2), which is
    exact.

    Args:
        merged: The votes, as `merge_histograms` returns them, of three classes at least.
        labels: (queries,) int, a class of each query.
        sigma: Noise, in votes, > 0.

    Returns:
        (queries,) float64.

    Raises:
        ValueError: As `check_sigma` does.

    References:
        Davis & Rabinowitz (1984), 2.7.12.

    >>> from private_ensembles.labels.histograms import merge_histograms
    >>> lattice_probability_correct(merge_histograms([[6, 3, 1], [5, 5, 0]]), [0, 1], 2.0).round(3)
    array([0.833, 0.496])
    """
    sigma = check_sigma(sigma)
    label_pairs, wanted = merged.select_label_pairs(labels)
    probabilities = np.zeros(len(merged.gap))
    stride, reach = _stride(sigma, merged.n_classes), math.ceil(_REACH * sigma)
    # y is seen from the largest count: its own noise is hardly outside, nor is the winner's value.
    y = np.arange(-reach, reach + 1, stride)
    gap = np.minimum(merged.gap, 2 * reach)  # who trails by more neither wins nor ties
    noise = np.arange(-reach, 3 * reach + 1)
    log_here, log_below = log_mass(noise, sigma), log_tail(1 - noise, sigma)  # h and b
    ratio = np.exp(np.minimum(log_here - log_below, 600.0))
    at_most = np.logaddexp(log_below, log_here)
    for _, pairs, starts in iterate_blocks(merged.starts, len(gap), len(y)):
        # `index` says where in these laws each pair's value of y is.
        index, times = y + reach + gap[pairs][:, None], merged.multiplicity[pairs][:, None]
        chosen = np.flatnonzero(wanted[pairs])
        row = np.searchsorted(starts, chosen, side="right") - 1
        sums = np.add.reduceat(times * ratio[index], starts, axis=0)  # S
        with np.errstate(divide="ignore"):  # S underflows where there is hardly any noise
            log_ends = 2 * np.log(sums)
        log_most = np.add.reduceat(times * at_most[index], starts, axis=0)[row]
        log_most += log_here[index[chosen]] - at_most[index[chosen]]
        n, most = 1, -(-merged.n_classes // 2)
        while n < most:
            log_error = 4 * math.lgamma(n + 1) - 3 * math.lgamma(2 * n + 1) - math.log(2 * n + 1)
            log_error += math.log(stride * len(y))  # so many terms at most
            if (log_most + n * log_ends[row]).max() + log_error < math.log(_ENOUGH):
                break
            n = min(2 * n, most)
        nodes, shares = gauss_legendre(n)
        sums = np.zeros(len(chosen))
        for u, share in zip((nodes + 1) / 2, shares / 2, strict=True):
            stays = np.logaddexp(log_below, math.log(u) + log_here)
            terms = np.add.reduceat(times * stays[index], starts, axis=0)[row]
            terms += (log_here - stays)[index[chosen]]
            sums += share * np.exp(terms).sum(axis=1)
        probabilities[pairs.start + chosen] = stride * sums
    return probabilities[label_pairs]
