"""What LNMax costs: the plurality after Laplace noise on every count (PATE 2017, section 3).

LNMax releases argmax_j n_j + Lap(scale); PATE 2017 writes scale = 1 / gamma. One teacher moves two
counts by 1 each, so a label is (2 / scale)-DP. Costs per label are Rényi bounds at order lambda = l
+ 1, l times which is the paper's moment alpha(l). Data-dependent ones are not for release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import optimal_homogeneous, rdp_to_dp
from private_ensembles.noise.laplace import log_difference_tail
from private_ensembles.pate.lnmax_quadrature import check_scale
from private_ensembles.pate.rdp import check_orders, log_of_union_bound

BOUNDS = ("tight", "paper")
# The moments l = 1..8 of the published analysis; PATE 2017 reports at l = 8 for MNIST and SVHN.
PAPER_ORDERS = np.arange(2.0, 10.0)
ORDERS = np.concatenate([np.arange(1.25, 20, 0.25), np.geomspace(20, 2000, 60)])
_ROUNDOFF = 2.0**-53


def lnmax_log_q(counts: ArrayLike, scale: float) -> NDArray[np.float64]:
    """log of the union bound on Pr[LNMax does not release the plurality], (queries,).

    q = min(1, sum over the other classes of (2 + x) / (4 e^x)), x = gap / scale: each term is the
    exact chance that the difference of two Laplace draws exceeds the gap (PATE 2017, Lemma 4).
    Rounded up; -inf for a single class. counts: (queries, classes); scale in votes.
    Raises ValueError as `check_counts`, `check_scale`.
    """
    scale = check_scale(scale)

    def log_tail(gap: NDArray) -> NDArray[np.float64]:
        return log_difference_tail(gap / scale)

    return log_of_union_bound(counts, log_tail)


def lnmax_independent_rdp(
    scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Rényi cost of one label whatever the votes, (orders,); rounded up.

    ``tight``: the smaller of randomised response at eps = 2 / scale, which no eps-DP mechanism
    exceeds (ln((e^(lambda eps) + e^((1 - lambda) eps)) / (1 + e^eps)) / (lambda - 1); Mironov
    2017, Proposition 5), and twice the Laplace mechanism of sensitivity 1 (Mironov 2017, Table II).
    ``paper``: the smaller of eps^2 lambda / 2 (Bun & Steinke 2016) and eps, as PATE 2017 has them.
    Raises ValueError for scale <= 0, orders <= 1, other bounds.
    """
    scale, orders = check_scale(scale), check_orders(orders)
    eps, less = 2 / scale, orders - 1
    if bounds not in BOUNDS:
        raise ValueError(f"bounds = {bounds!r}: must be one of {', '.join(BOUNDS)}")
    if bounds == "paper":
        first, second = 0.5 * eps**2 * orders, np.full(len(orders), eps)
    else:
        first = (np.logaddexp(orders * eps, -less * eps) - np.logaddexp(0, eps)) / less
        # lambda / (2 lambda - 1) e^(less / scale) + less / (2 lambda - 1) e^(-lambda / scale)
        laplace = np.logaddexp(
            np.log(orders / (2 * orders - 1)) + less / scale,
            np.log(less / (2 * orders - 1)) - orders / scale,
        )
        second = 2 * laplace / less
    # The logarithms' rounding is divided by lambda - 1, too.
    error = 16 * _ROUNDOFF * (1 + (orders * eps + 1) / less)
    return np.minimum(np.maximum(np.minimum(first, second), 0.0) + error, eps)


def lnmax_rdp_of_log_q(
    log_q: ArrayLike, scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Rényi cost of one label where Pr[it is not the plurality] <= q, (queries, orders).

    The smaller of :func:`lnmax_independent_rdp` and PATE 2017, Theorem 3 (PATE 2018, Theorem 6 with
    mu_1 = mu_2 = infinity): with c = e^(2 / scale) and l = lambda - 1, (1 - q) ((1 - q) / (1 - c
    q))^l + q c^l, which bounds e^(l times the cost) and grows with q up to 1 / (1 + c) (for any
    real l > 0: with r = (1 - q) / (1 - c q) in [1, c] its derivative is l c r^(l+1) - (l+1) r^l +
    c^l, least at r = 1 and there l (c - 1) - 1 + c^l >= 0). The latter only for q < 1 / (1 + c).
    Rounded up. Raises ValueError as :func:`lnmax_independent_rdp`, and for log q > 0.
    """
    independent = lnmax_independent_rdp(scale, orders, bounds=bounds)
    scale, orders = check_scale(scale), check_orders(orders)
    log_q = np.asarray(log_q, dtype=np.float64)[:, None]
    if not (log_q <= 0).all():
        raise ValueError("log_q: must be at most 0")
    eps, less = 2 / scale, orders - 1
    applies = log_q < -np.logaddexp(0, eps)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        stay = np.log1p(-np.exp(log_q))
        first = orders * stay - less * np.log1p(-np.exp(log_q + eps))
        second = log_q + less * eps
        bound = np.logaddexp(first, second) / less
        # 1 - c q is no smaller than (1 - q) / c here, so that its error is c / (1 - q) at most.
        size = (
            1 + np.abs(np.where(np.isfinite(log_q), second, 0)) / less + orders * eps + np.exp(eps)
        )
        bound = bound * (1 + 32 * _ROUNDOFF) + 32 * _ROUNDOFF * size * np.exp(
            np.minimum(0, log_q + eps * orders)
        )
    bound = np.where(log_q == -np.inf, 0.0, bound)
    bound = np.nextafter(np.maximum(bound, 0.0), np.inf)
    return np.where(applies & np.isfinite(bound), np.minimum(bound, independent), independent)


def lnmax_rdp(
    counts: ArrayLike, scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Data-dependent Rényi cost of every query's LNMax label, (queries, orders); not for release.

    Raises ValueError as `lnmax_log_q` and `lnmax_rdp_of_log_q`.
    """
    return lnmax_rdp_of_log_q(lnmax_log_q(counts, scale), scale, orders, bounds=bounds)


@dataclass(frozen=True)
class LnmaxPrivacy:
    """What LNMax costs on some queries.

    Public: label_epsilon = 2 / scale of one label; pure_epsilon of all of them, simply added;
    data_independent_epsilon by Rényi orders; optimal_data_independent_epsilon, the optimal
    composition of two (1 / scale)-DP mechanisms a query: the two counts that one teacher moves by
    1 each are released with noise of their own. Not for release: epsilon, data-dependent, and its
    order.
    """

    queries: int
    delta: float
    conversion: str
    epsilon: float
    order: float
    label_epsilon: float
    pure_epsilon: float
    data_independent_epsilon: float
    optimal_data_independent_epsilon: float


def lnmax_privacy(
    counts: ArrayLike,
    scale: float,
    delta: float,
    *,
    conversion: str = "improved",
    bounds: str = "tight",
    orders: ArrayLike | None = None,
) -> LnmaxPrivacy:
    """Cost of LNMax on all queries; ``classic``, ``paper`` and PAPER_ORDERS are PATE 2017's way.

    There epsilon = min over l of (sum of alpha(l) + log(1/delta)) / l, l = 1..8. counts: (queries,
    classes); scale in votes. Raises ValueError as :func:`lnmax_rdp`, for delta outside (0, 1) and
    an unknown conversion.
    """
    grid = check_orders(ORDERS if orders is None else orders)
    costs = lnmax_rdp(counts, scale, grid, bounds=bounds)
    queries = len(costs)
    sums = np.nextafter(costs.sum(axis=0) * (1 + 1e-12), np.inf)
    epsilon, order = rdp_to_dp(grid, sums, delta, conversion)
    independent, _ = rdp_to_dp(
        grid,
        queries * lnmax_independent_rdp(scale, grid, bounds=bounds) * (1 + 1e-15),
        delta,
        conversion,
    )
    label = math.nextafter(2 / scale, math.inf)
    return LnmaxPrivacy(
        queries=queries,
        delta=delta,
        conversion=conversion,
        epsilon=epsilon,
        order=order,
        label_epsilon=label,
        pure_epsilon=math.nextafter(queries * label, math.inf),
        data_independent_epsilon=independent,
        optimal_data_independent_epsilon=optimal_homogeneous(
            math.nextafter(1 / scale, math.inf), 0.0, 2 * queries, delta
        ).epsilon,
    )
