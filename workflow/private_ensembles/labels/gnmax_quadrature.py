"""The distribution of GNMax's label, by quadrature with a proven bound on its error.

Pr[label = j] is the integral over y, the winner's noisy count, of the density of class j's noisy
count times the probability that all others stay below:

    Pr[j] = int phi((y - n_j) / sigma) / sigma * prod_{i != j} Phi((y - n_i) / sigma) dy.

One grid of y serves all classes of a histogram, and everything stays in logarithms. What depends
on votes without noise is not for release.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw, log_ndtr

from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.labels.gnmax import check_sigma
from private_ensembles.labels.histograms import (
    MergedHistograms,
    iterate_blocks,
    merge_histograms,
    split_into_chunks,
)
from private_ensembles.labels.product_integrals import MANY_CLASSES

# A class that trails by g standard deviations wins with probability at most Phi(-g / sqrt(2)),
# which no float holds beyond this g.
_UNDERFLOW = 55.0
# The step is chosen for this relative error, or for this absolute one where that is enough.
_DISCRETISATION, _NEARLY = 1e-15, 1e-14
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def gnmax_distribution(counts: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """Return Pr[GNMax releases class j] for every query; rows sum to 1.

    Args:
        counts: (queries, classes) int, votes for each class.
        sigma: Noise, in votes, > 0.

    Returns:
        (queries, classes) float64. Every probability has a relative error below 1e-10, unless it is
        below 1e-300, and below 4e-12 if it is at least 1e-15; `gnmax_log_distribution` gives each
        one's own bound.

    Raises:
        ValueError: As `check_counts` and `check_sigma` do.
    """
    return np.exp(gnmax_log_distribution(counts, sigma)[0])


def gnmax_probability_correct(
    merged: MergedHistograms, labels: ArrayLike, sigma: float
) -> NDArray[np.float64]:
    """Return Pr[GNMax releases its query's label]: entries of `gnmax_distribution`.

    The other classes' integrals, which take most of the time, are left out. From `MANY_CLASSES` on
    it is `gnmax_probability_correct_fast`.

    Args:
        merged: The votes, as `merge_histograms` returns them, which serve every sigma.
        labels: (queries,) int, a class of each query.
        sigma: Noise, in votes, > 0.

    Returns:
        (queries,) float64.

    Raises:
        ValueError: As `check_sigma` does.

    >>> gnmax_probability_correct(merge_histograms([[6, 3, 1], [5, 5, 0]]), [0, 1], 2.0).round(3)
    array([0.837, 0.496])
    """
    if merged.n_classes >= MANY_CLASSES:
        return gnmax_probability_correct_fast(merged, labels, sigma)
    label_pairs, wanted = merged.select_label_pairs(labels)
    return np.exp(_pair_log_probabilities(merged, check_sigma(sigma), wanted)[0][label_pairs])


def gnmax_probability_correct_fast(
    merged: MergedHistograms, labels: ArrayLike, sigma: float
) -> NDArray[np.float64]:
    """Return what `gnmax_probability_correct` does, within 1e-12, in far fewer steps.

    The theorem of `gnmax_log_distribution` holds with another bound M. As |phi(x + is)| = phi(x)
    e^(s^2 / 2), |Phi(x + ib) - Phi(x)| <= a' phi(x) for |b| <= a, where a' = a e^(a^2 / 2). The
    largest Phi(x) + a' phi(x) is at x = 1 / a', and with 1 - Phi(x) >= phi(x) x / (1 + x^2) it is
    at most 1 + phi(x) / (x (1 + x^2)) there. So M = exp(a^2 / 2 + (C - 1) phi(x) / (x (1 + x^2)))
    serves, and a is chosen for the widest step. Outside 8.5 below the largest count, and sqrt(72 +
    2 ln C) above it, no winner is with a probability of 1e-15.

    Args, result and errors are those of `gnmax_probability_correct`.

    >>> merged = merge_histograms([[6, 3, 1], [5, 5, 0]])
    >>> gnmax_probability_correct_fast(merged, [0, 1], 2.0).round(3)
    array([0.837, 0.496])
    """
    sigma = check_sigma(sigma)
    label_pairs, wanted = merged.select_label_pairs(labels)
    step = max(_step(merged.n_classes), _wide_step(merged.n_classes))
    left = np.full(len(merged.starts), 8.5)
    log_probability, _ = _pair_log_probabilities(merged, sigma, wanted, step, left)
    return np.exp(log_probability[label_pairs])


def _step(n_classes: int) -> float:
    """Return the step at which probabilities are off by _DISCRETISATION, relative to themselves."""
    return math.sqrt(2 * math.pi**2 / (n_classes * math.log(2 / _DISCRETISATION)))


def _wide_step(n_classes: int) -> float:
    """Return the step at which probabilities are off by _NEARLY.

    `gnmax_probability_correct_fast` has the reason.
    """
    x = np.linspace(0.5, 8.0, 151)  # 1 / a'
    a = np.sqrt(lambertw(1 / x**2).real)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    log_most = a**2 / 2 + (n_classes - 1) * density / (x * (1 + x**2))
    return float((2 * math.pi * a / np.logaddexp(0.0, log_most + math.log(2 / _NEARLY))).max())


def gnmax_log_distribution(
    counts: ArrayLike, sigma: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log Pr[GNMax releases class j] and a bound on its error.

    Pr[j] lies within exp(log_probability -+ error). The error is the sum of three:

    Discretisation. The trapezoidal rule with step h on the whole line has an error of at most 2 M /
    (e^{2 pi a / h} - 1) where int |f(x + ib)| dx <= M for |b| < a (the theorem below). In units of
    sigma |phi(x + ib)| = phi(x) e^{b^2 / 2}, hence |Phi(x + ib)| <= Phi(x) e^{b^2 / 2}, and so M =
    Pr[j] e^{C a^2 / 2} serves with C factors: a relative error of 2 e^{-2 pi^2 / (C h^2)} / (1 -
    e^{-4 pi^2 / (C h^2)}) at a = 2 pi / (C h).
    Truncation. The integrand is log-concave, so the values beyond either end of the grid fall at
    least as fast as the last two fall: a geometric series.
    Rounding. log_ndtr and the squares are good to a few round-offs of their own size.

    Args:
        counts: (queries, classes) int, votes for each class.
        sigma: Noise, in votes, > 0.

    Returns:
        log_probability and error, each (queries, classes) float64. The logarithm is -inf if the
        class trails by more than 55 sigma, for then the probability is below 1e-323.

    Raises:
        ValueError: As `check_counts` and `check_sigma` do.

    References:
        Trefethen & Weideman (2014), Theorem 5.1.
    """
    sigma = check_sigma(sigma)
    merged = merge_histograms(counts)
    all_pairs = np.ones(len(merged.gap), dtype=bool)
    log_probability, error = _pair_log_probabilities(merged, sigma, all_pairs)
    return log_probability[merged.entry_pairs], error[merged.entry_pairs]


def _pair_log_probabilities(
    merged: MergedHistograms,
    sigma: float,
    wanted: NDArray[np.bool_],
    step: float | None = None,
    left: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log Pr and its error of the pairs that are wanted, (pairs,); -inf and 0 of the others.

    Args:
        merged: The votes.
        sigma: Noise, in votes.
        wanted: (pairs,) bool.
        step: The grid's step. None: the one that the errors are for.
        left: (rows,) how far below the largest count the grid begins. None: as far as the errors
            ask.
    """
    gap = merged.gap / sigma
    if step is None:
        step = _step(merged.n_classes)
    right = math.sqrt(72 + 2 * math.log(merged.n_classes))
    if left is None:
        # A class that trails by g wins, if ever, at y near the middle between both counts.
        largest = np.maximum.reduceat(np.where(gap <= _UNDERFLOW, gap, 0.0), merged.starts)
        left = np.maximum(8.5, largest / 2 + 6.1)
    nodes = np.ceil((left + right) / step).astype(np.int64) + 1
    log_probability = np.full(len(gap), -np.inf)
    error = np.zeros(len(gap))
    order = np.argsort(nodes, kind="stable")  # so rows of about equal grids stand together
    for rows in split_into_chunks(order, (merged.pairs_per_row * (nodes + 1))[order]):
        pairs, first = merged.select_row_pairs(rows)
        grid = -left[rows].max() + step * np.arange(nodes[rows].max() + 1)
        chosen = pairs[wanted[pairs]]
        log_probability[chosen], error[chosen] = _integrate(
            gap[pairs], merged.multiplicity[pairs], first, wanted[pairs], grid
        )
    log_probability[gap > _UNDERFLOW] = -np.inf
    error[gap > _UNDERFLOW] = 0.0
    return log_probability, error


def _integrate(
    gap: NDArray[np.float64],
    multiplicity: NDArray[np.int64],
    first: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    grid: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log of the trapezoidal sums over an even grid, and their error bounds.

    Args:
        gap: (pairs,) gaps in units of sigma, the pairs of a row together.
        multiplicity: (pairs,) how many classes have each gap.
        first: (rows,) where rows start.
        wanted: (pairs,) bool, of which pairs sums are returned.
        grid: Values of y in units of sigma; its zero is the largest count.
    """
    step = grid[1] - grid[0]
    # Many pairs have the same gap, and the functions of it are worked out once.
    unique_gaps, gap_of_pair = np.unique(gap, return_inverse=True)
    z = grid + unique_gaps[:, None]
    log_below = log_ndtr(z)
    half_squares = 0.5 * np.square(z)
    top, total, truncation = np.empty((3, int(wanted.sum())))
    done = 0
    for _, pairs, starts in iterate_blocks(first, len(gap), len(grid)):
        below = log_below[gap_of_pair[pairs]]
        all_below = np.add.reduceat(multiplicity[pairs, None] * below, starts, axis=0)
        chosen = np.flatnonzero(wanted[pairs])
        log_f = all_below[np.searchsorted(starts, chosen, side="right") - 1]
        log_f -= below[chosen]
        log_f -= half_squares[gap_of_pair[pairs][chosen]]
        part = slice(done, done + len(chosen))
        done = part.stop
        top[part] = log_f.max(axis=1)
        log_f -= top[part, None]
        total[part], truncation[part] = _sum_with_truncation(log_f)
    with np.errstate(all="ignore"):
        log_probability = np.minimum(0.0, top + np.log(total) + math.log(step) - _LOG_ROOT)
        error = 2 * _DISCRETISATION + 2 * truncation / total
    # Near the integrand's peak no logarithm is larger than about log Pr[j] + 100, and each term
    # carries a few round-offs of its size.
    error += 64 * UNIT_ROUNDOFF * (256 + np.abs(log_probability))
    return log_probability, error


def _sum_with_truncation(
    log_f: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of exp(log_f) over the grid, (pairs,), and a bound on what it leaves out."""
    truncation = np.zeros(len(log_f))
    # Classes that can never win have their peak outside the grid; the caller discards them.
    with np.errstate(all="ignore"):
        for end, inner in ((0, 1), (-1, -2)):
            fall = np.exp(log_f[:, end] - log_f[:, inner])
            beyond = np.exp(log_f[:, end]) * fall / (1 - fall)
            truncation += np.where(fall < 1, beyond, np.inf)
        return np.exp(log_f, out=log_f).sum(axis=1), truncation
