"""GNMax's data-dependent Rényi privacy (PATE, Appendix A), as array code over a vote matrix.

Data-dependent costs are themselves private data: not for release before sanitisation (PATE,
Appendix B; docs/privacy.md). Everything runs in log space, so that no vote gap overflows or
underflows.

The paper's costs are forward ones: its f bounds D_lambda(M(D) || M(D')) at the votes D for every
neighbour D'. Nothing in it bounds D_lambda(M(D') || M(D)), which (epsilon, delta) at D needs as
well (docs/pate.md has an example).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from private_ensembles.accounting.composition import check_orders
from private_ensembles.base.rounding import (
    TINY,
    UNIT_ROUNDOFF,
    round_float_down,
    round_float_up,
)
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.gnmax import check_sigma
from private_ensembles.labels.histograms import check_counts
from private_ensembles.papers.pate.mathematics.tails import tails_of


@upper_bound
def log_of_union_bound(
    counts: ArrayLike, log_tail: Callable[[NDArray], NDArray]
) -> NDArray[np.float64]:
    """Return the log of min(1, the tails added up over all other classes), (queries,).

    Rounded up; -inf for a single class. With ties, any of the largest classes serves.

    Args:
        counts: (queries, classes) int.
        log_tail: maps gaps to the largest count, (queries, classes) in votes, >= 0, to the log of
            the probability that noise makes up for each, good to a few round-offs of its size.

    Raises:
        ValueError: as `check_counts` raises it.
    """
    counts = check_counts(counts)
    if counts.shape[1] == 1:
        return np.full(len(counts), -np.inf)
    top = np.argmax(counts, axis=1)
    rows = np.arange(len(counts))
    tails = log_tail(counts[rows, top][:, None] - counts)
    tails[rows, top] = -np.inf
    log_q = logsumexp(tails, axis=1)
    return np.minimum(0.0, log_q + 64 * UNIT_ROUNDOFF * (1 + np.abs(log_q)))


@upper_bound
def gnmax_log_q(
    counts: ArrayLike, sigma: float, *, noise: str = "reproducible"
) -> NDArray[np.float64]:
    """Return the log of the bound q on Pr[GNMax does not release the plurality], (queries,).

    q = min(1, sum over the other classes of Pr[it overtakes the plurality]), which is erfc(gap / (2
    sigma)) / 2 with continuous noise. With `secure` noise it is the lattice's own, half of a tie
    included (of m classes level with the plurality a fair die takes it m / (m + 1) of the time, at
    most m / 2). Rounded as `log_of_union_bound`.

    Args:
        counts: (queries, classes) int.
        sigma: in votes, > 0.
        noise: as in `papers.pate.mathematics.tails`.

    Raises:
        ValueError: as `check_counts` and `tails_of` raise it.

    References:
        PATE 2018, Proposition 7.
    """
    return log_of_union_bound(counts, tails_of(noise, sigma).log_overtake_probability)


@upper_bound
def gnmax_rdp_of_log_q(log_q: ArrayLike, sigma: float, orders: ArrayLike) -> NDArray[np.float64]:
    """Return the Rényi cost of a GNMax label if Pr[it is not the plurality] <= q.

    The smaller of Proposition 8's lambda / sigma^2 and Theorem 6 with Proposition 10's
    mu_2 = sigma sqrt(log 1/q), mu_1 = mu_2 + 1, eps_i = mu_i / sigma^2, the latter only if its
    conditions hold: q < 1, mu_1 >= lambda, mu_2 > 1 and
    q <= e^{(mu_2 - 1) eps_2} / (mu_1 / (mu_1 - 1) * mu_2 / (mu_2 - 1))^{mu_2}. Rounded up; within
    rounding of a condition it counts as violated. Theorem 6's bound grows with q on that range
    (Lemma 9), so an upper bound on q serves.

    With L = log 1/q and r = 1 / mu_2, eps_2 is L r, and all that Theorem 6 needs are x = (q
    e^eps_2)^(1-r) = e^(-L (1-r)^2), x / q = e^(L r (2-r)) and B = e^eps_1 / q^r = e^(L r (2+r)).

    Args:
        log_q: log of q, (queries,), at most 0.
        sigma: in votes, > 0.
        orders: lambda > 1, (orders,).

    Returns:
        Costs, (queries, orders).

    Raises:
        ValueError: sigma <= 0, an order <= 1 or a log q > 0.

    References:
        PATE 2018, Theorem 6, Propositions 8 and 10, Lemma 9.
    """
    sigma, orders = check_sigma(sigma), check_orders(orders)
    log_q = np.asarray(log_q, dtype=np.float64)[:, None]
    if not (log_q <= 0).all():
        raise ValueError("log_q: must be at most 0")
    independent = gnmax_independent_rdp(sigma, orders)
    L = -log_q
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        r = 1 / (sigma * np.sqrt(L))  # 3 roundings
        spread = 1 / (1 - r)
        # The last condition: mu_2 ln((mu_2 + 1) / (mu_2 - 1)) <= L (2 - r), its left side within 18
        # + 4 spread roundings, its right side within 5.
        left_side = round_float_up(np.log1p(2 * r * spread) / r, 24 + 4 * spread)
        applies = (
            (round_float_up(r, 3) < 1)
            & (round_float_down(1 + 1 / r, 5) >= orders)
            & (left_side <= L * (2 - r))
        )
        bound = theorem_6(L, L * (1 - r) ** 2, L * r * (2 - r), L * r * (2 + r), spread, orders)
    # If q = 0 (a single class, or votes further apart than any float tells), nothing is revealed.
    certain = np.isposinf(L)
    bound = np.where(certain, np.nextafter(0, 1), bound)
    return np.where(applies | certain, np.minimum(bound, independent), independent)


@upper_bound
def gnmax_independent_rdp(sigma: float, orders: ArrayLike) -> NDArray[np.float64]:
    """Return Proposition 8's lambda / sigma^2 at ``orders`` (orders,), rounded up."""
    return round_float_up(np.asarray(orders, dtype=np.float64) / sigma**2, 2)


@upper_bound
def theorem_6(
    L: NDArray, minus_log_x: NDArray, gain_a: NDArray, gain_b: NDArray, spread: NDArray, orders
) -> NDArray[np.float64]:
    """Return ln((1 - q) A^(lambda-1) + q B^(lambda-1)) / (lambda - 1), rounded up.

    q = e^-L, A = (1 - q) / (1 - x), x = q e^gain_a < 1, B = e^gain_b. A is 1 + y with y = x (1 -
    e^-gain_a) / (1 - x), so the logarithm is of 1 plus positive numbers, and errors are relative
    throughout. They add up to fewer roundings than `counted`, proven line by line in
    docs/noise.md.

    Args:
        L: log 1/q, (queries, 1), as all but `orders`.
        minus_log_x: L - gain_a, off by 6 spread + 4 roundings at most.
        gain_a, gain_b: >= 0, off by 10 roundings at most.
        spread: >= 1, with spread minus_log_x <= L.
        orders: lambda > 1, (orders,).

    Returns:
        Costs, (queries, orders), infinite or NaN if they overflow.

    References:
        PATE 2018, Theorem 6.
    """
    moments = orders - 1
    y = np.exp(-minus_log_x) * -np.expm1(-gain_a) / -np.expm1(-minus_log_x)
    log_a, log_b = moments * np.log1p(y), moments * gain_b
    first = -np.expm1(-L) * np.expm1(log_a)
    second = np.exp(log_b - L) * -np.expm1(-log_b)
    counted = 14 * ((1 + log_a) * (L + spread + 10) + log_b)
    # The last term makes up for an exponential that underflows and is lost altogether.
    return round_float_up(np.log1p(first + second) / moments, counted) + 4 * TINY * (
        1 + 1 / moments
    )


def gnmax_rdp(
    counts: ArrayLike, sigma: float, orders: ArrayLike, *, noise: str = "reproducible"
) -> NDArray[np.float64]:
    """Return the forward Rényi cost of every query's GNMax label at its votes, (queries, orders).

    >>> gnmax_rdp([[240, 10], [130, 120]], sigma=40, orders=[8.0]).round(6).tolist()
    [[1.2e-05], [0.005]]

    Not for release, and no guarantee.

    Args:
        counts: votes per class, (queries, classes) int.
        sigma: noise, in votes.
        orders: lambda > 1, (orders,).
        noise: as in `papers.pate.mathematics.tails`.

    Raises:
        ValueError: as `gnmax_log_q` and `check_orders` raise it.
    """
    return gnmax_rdp_of_log_q(gnmax_log_q(counts, sigma, noise=noise), sigma, orders)


def log_answer_probability(
    counts: ArrayLike, threshold: float, sigma1: float, *, noise: str = "reproducible"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log Pr[a query passes the noisy threshold] and log Pr[it fails], each (queries,).

    Args:
        counts: (queries, classes) int.
        threshold: in votes.
        sigma1: noise of the threshold, in votes.
        noise: as in `papers.pate.mathematics.tails`.

    References:
        PATE 2018, Algorithm 1: a query is answered if max_j n_j + noise >= threshold.
    """
    tails = tails_of(noise, sigma1)
    margin = check_counts(counts).max(axis=1) - tails.effective_threshold(threshold)
    return tails.log_pass_probability(margin), tails.log_fail_probability(margin)


def threshold_rdp(
    counts: ArrayLike, threshold: float, sigma1: float, orders: ArrayLike
) -> NDArray[np.float64]:
    """Return the forward Rényi cost of each query's noisy threshold, (queries, orders).

    This is what the authors' public code computes, while their text always charges lambda / (2
    sigma1^2): two outcomes, the rarer of which is Theorem 6's q, and counts that change by 1
    instead of sqrt(2). Not for release, and no guarantee, as `gnmax_rdp`.

    Args:
        counts: (queries, classes) int.
        threshold: in votes.
        sigma1: noise of the threshold, in votes.
        orders: lambda > 1, (orders,).

    Raises:
        ValueError: as `log_answer_probability` and `check_orders` raise it.

    >>> threshold_rdp([[240, 10]], 200, 150, [14.0]).round(6).tolist()  # 14 / (2 * 150^2)
    [[0.000311]]
    >>> f"{threshold_rdp([[4500, 500]], 1000, 500, [20.0])[0, 0]:.0e}"
    '4e-14'
    """
    passes, fails = log_answer_probability(counts, threshold, sigma1)
    rarer = np.minimum(np.minimum(passes, fails), 0.0)
    return gnmax_rdp_of_log_q(rarer, np.sqrt(2) * sigma1, orders)
