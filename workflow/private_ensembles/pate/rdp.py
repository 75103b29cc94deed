"""GNMax's data-dependent Rényi privacy (PATE, Appendix A), as array code over a vote matrix.

Data-dependent costs are themselves private data: not for release before sanitisation (PATE,
Appendix B; DESIGN 5.8). Everything runs in log space, so that no vote gap overflows or underflows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp

from private_ensembles.pate.gnmax import check_sigma

_ROUNDOFF = 2.0**-53


def check_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """counts as int64 (queries, classes).

    Raises ValueError for another rank, non-integers, negative counts, or rows that do not add up
    to the same positive number of teachers.
    """
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape:
        raise ValueError(f"counts: shape {counts.shape} must be (queries, classes)")
    if counts.dtype.kind not in "iu":
        raise ValueError(f"counts: type {counts.dtype} must be whole numbers")
    counts = counts.astype(np.int64)
    if counts.min() < 0:
        raise ValueError(f"counts: {counts.min()} must be at least 0")
    teachers = counts.sum(axis=1)
    if teachers[0] < 1 or (teachers != teachers[0]).any():
        row = int(np.argmax(teachers != teachers[0]))
        raise ValueError(
            f"counts of query {row} add up to {teachers[row]}, those of query 0 to {teachers[0]}: "
            "must be the same positive number of teachers"
        )
    return counts


def check_orders(orders: ArrayLike) -> NDArray[np.float64]:
    """orders as float64 (orders,), each finite and > 1; raises ValueError otherwise."""
    orders = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if orders.ndim != 1 or not (np.isfinite(orders) & (orders > 1)).all():
        raise ValueError("orders: must be a list of finite numbers > 1")
    return orders


def log_of_union_bound(
    counts: ArrayLike, log_tail: Callable[[NDArray], NDArray]
) -> NDArray[np.float64]:
    """log of min(1, the tails added up over all other classes), (queries,).

    log_tail: gaps to the largest count, (queries, classes) in votes, >= 0 -> log of the chance that
    noise makes up for each, good to a few round-offs of its size. Rounded up; -inf for a single
    class. With ties, any of the largest classes serves. Raises ValueError as `check_counts`.
    """
    counts = check_counts(counts)
    if counts.shape[1] == 1:
        return np.full(len(counts), -np.inf)
    top = np.argmax(counts, axis=1)
    rows = np.arange(len(counts))
    tails = log_tail(counts[rows, top][:, None] - counts)
    tails[rows, top] = -np.inf
    log_q = logsumexp(tails, axis=1)
    return np.minimum(0.0, log_q + 64 * _ROUNDOFF * (1 + np.abs(log_q)))


def gnmax_log_q(counts: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """log of Proposition 7's bound q on Pr[GNMax does not release the plurality], (queries,).

    q = min(1, sum over the other classes of erfc(gap / (2 sigma)) / 2), as
    :func:`log_of_union_bound`. counts: (queries, classes); sigma in votes, > 0. Raises ValueError
    as `check_counts`, `check_sigma`.
    """
    sigma = check_sigma(sigma)
    return log_of_union_bound(counts, lambda gap: log_ndtr(-gap / (np.sqrt(2) * sigma)))


def gnmax_rdp_of_log_q(log_q: ArrayLike, sigma: float, orders: ArrayLike) -> NDArray[np.float64]:
    """Rényi cost of one GNMax label where Pr[it is not the plurality] <= q, (queries, orders).

    The smaller of Proposition 8's lambda / sigma^2 and Theorem 6 with Proposition 10's
    mu_2 = sigma sqrt(log 1/q), mu_1 = mu_2 + 1, eps_i = mu_i / sigma^2, the latter only where its
    conditions hold: q < 1, mu_1 >= lambda, mu_2 > 1 and
    q <= e^{(mu_2 - 1) eps_2} / (mu_1 / (mu_1 - 1) * mu_2 / (mu_2 - 1))^{mu_2}. Rounded up.

    Theorem 6's bound grows with q on that range (Lemma 9), so an upper bound on q serves.
    Raises ValueError for sigma <= 0, an order <= 1 or log q > 0.
    """
    sigma, orders = check_sigma(sigma), check_orders(orders)
    log_q = np.asarray(log_q, dtype=np.float64)[:, None]
    if not (log_q <= 0).all():
        raise ValueError("log_q: must be at most 0")
    independent = orders / sigma**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mu2 = sigma * np.sqrt(-log_q)
        mu1 = mu2 + 1
        eps1, eps2 = mu1 / sigma**2, mu2 / sigma**2
        limit = (mu2 - 1) * eps2 - mu2 * np.log(mu1 / (mu2 - 1))  # mu1 - 1 = mu2 cancels
        applies = (log_q < 0) & (mu2 > 1) & (mu1 >= orders) & (log_q <= limit)
        # (1 - q) A^(lambda-1) + q B^(lambda-1), A = (1 - q) / (1 - (q e^eps2)^((mu2-1)/mu2)).
        stay = np.log1p(-np.exp(log_q))
        log_a = stay - np.log1p(-np.exp((log_q + eps2) * (mu2 - 1) / mu2))
        first = stay + (orders - 1) * log_a
        second = log_q + (orders - 1) * (eps1 - log_q / (mu1 - 1))
        bound = np.logaddexp(first, second) / (orders - 1)
        size = 1 + np.abs(second) + orders * (eps1 + eps2 - log_q)
        bound = bound * (1 + 32 * _ROUNDOFF * size)
    # q = 0 (a single class, or votes further apart than any float tells): nothing is revealed.
    certain = log_q == -np.inf
    bound = np.where(certain, 0.0, bound)
    applies = (applies & np.isfinite(bound)) | certain
    bound = np.nextafter(np.maximum(bound, 0.0), np.inf)
    return np.where(applies, np.minimum(bound, independent), independent)


def gnmax_rdp(counts: ArrayLike, sigma: float, orders: ArrayLike) -> NDArray[np.float64]:
    """Data-dependent Rényi cost of every query's GNMax label, (queries, orders); not for release.

    counts: votes per class, (queries, classes); sigma: noise in votes; orders: lambda > 1.
    Raises ValueError as `check_counts`, `check_orders` and for sigma <= 0.

    >>> gnmax_rdp([[240, 10], [130, 120]], sigma=40, orders=[8.0]).round(6).tolist()
    [[1.2e-05], [0.005]]
    """
    return gnmax_rdp_of_log_q(gnmax_log_q(counts, sigma), sigma, orders)


def log_answer_probability(
    counts: ArrayLike, threshold: float, sigma1: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log Pr[a query passes the noisy threshold] and log Pr[it fails], each (queries,).

    Algorithm 1 answers where max_j n_j + N(0, sigma1^2) >= threshold (in votes).
    """
    counts, sigma1 = check_counts(counts), check_sigma(sigma1)
    lead = (counts.max(axis=1) - threshold) / sigma1
    return log_ndtr(lead), log_ndtr(-lead)
