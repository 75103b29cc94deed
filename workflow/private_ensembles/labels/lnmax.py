"""LNMax: the plurality after Laplace noise on every count, and what it costs.

LNMax (PATE 2017, section 3, and PATE 2018) releases argmax_j n_j + Lap(scale); PATE 2017 writes
scale = 1 / gamma. One moved vote changes two counts by 1 each, so a label is (2 / scale)-DP. Costs
per label are Rényi bounds at order lambda = l + 1, l times which is the paper's moment alpha(l).
Data-dependent ones are not for release, and the paper's are forward (:mod:`.rdp`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import (
    optimal_homogeneous,
    randomised_response_rdp,
    rdp_to_dp,
)
from private_ensembles.base import checks
from private_ensembles.base.laplace_tail import difference_tail, log_difference_tail
from private_ensembles.base.rounding import (
    Ball,
    above,
    log_sum,
    sum_above,
)
from private_ensembles.labels.lnmax_quadrature import check_scale
from private_ensembles.papers.pate.mathematics.rdp import (
    check_orders,
    log_of_union_bound,
    theorem_6,
)
from private_ensembles.papers.pate.mathematics.records import Guarded

BOUNDS = ("tight", "paper")
# The moments l = 1..8 of the published analysis; PATE 2017 reports at l = 8 for MNIST and SVHN.
PAPER_ORDERS = np.arange(2.0, 10.0)
ORDERS = np.concatenate([np.arange(1.25, 20, 0.25), np.geomspace(20, 2000, 60)])
# Of `lnmax_matrix`: an exponent's rounding weighs as much as its size, which is below 750.
RELATIVE_ERROR, ABSOLUTE_ERROR = 1e-12, 1e-300


def lnmax_log_q(counts: ArrayLike, scale: float) -> NDArray[np.float64]:
    """log of the union bound on Pr[LNMax does not release the plurality], (queries,).

    q = min(1, sum over the other classes of (2 + x) / (4 e^x)), x = gap / scale: each term is the
    exact chance that the difference of two Laplace draws exceeds the gap (PATE 2017, Lemma 4).
    Rounded up; -inf for a single class. counts: (queries, classes); scale in votes.
    Raises ValueError like `check_counts`, `check_scale`.
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
    checks.one_of(BOUNDS, bounds=bounds)
    eps = above(2 / scale)
    if bounds == "paper":
        return np.minimum(above(0.5 * eps**2 * orders, 3), eps)
    response = randomised_response_rdp(eps, orders)
    # Twice ln(lambda e^(less / scale) + less e^(-lambda / scale)) - ln(2 lambda - 1), by logarithms
    # or, for small exponents, as 1 plus what the exponentials exceed 1 by.
    rate, less, whole = 1 / Ball(scale), Ball(orders) - 1, Ball(2 * orders) - 1
    large = log_sum((orders / whole).log() + rate * less, (less / whole).log() - rate * orders)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = (rate * less).expm1() * orders + (-rate * orders).expm1() * less
        small = (grown / whole).log1p()
        laplace = np.minimum((2 * large / less).upper, (2 * small / less).upper)
    return np.minimum(response, laplace)


def lnmax_rdp_of_log_q(
    log_q: ArrayLike, scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Rényi cost of one label if Pr[it is not the plurality] <= q, (queries, orders).

    The smaller of :func:`lnmax_independent_rdp` and PATE 2017, Theorem 3 (PATE 2018, Theorem 6 with
    mu_1 = mu_2 = infinity): with c = e^(2 / scale) and l = lambda - 1, (1 - q) ((1 - q) / (1 - c
    q))^l + q c^l, which bounds e^(l times the cost) and grows with q up to 1 / (1 + c) (for any
    real l > 0: with r = (1 - q) / (1 - c q) in [1, c] its derivative is l c r^(l+1) - (l+1) r^l +
    c^l, least at r = 1 and there l (c - 1) - 1 + c^l >= 0). The latter only for q < 1 / (1 + c).
    Rounded up. Raises ValueError like :func:`lnmax_independent_rdp`, and for log q > 0.
    """
    independent = lnmax_independent_rdp(scale, orders, bounds=bounds)
    scale, orders = check_scale(scale), check_orders(orders)
    log_q = np.asarray(log_q, dtype=np.float64)[:, None]
    if not (log_q <= 0).all():
        raise ValueError("log_q: must be at most 0")
    L, eps = -log_q, np.array(2 / scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        applies = above(np.logaddexp(0, eps), 20) < L
        bound = theorem_6(L, L - eps, eps, eps, L / (L - eps), orders)
    bound = np.where(np.isposinf(L), np.nextafter(0, 1), bound)
    return np.where(applies & np.isfinite(bound), np.minimum(bound, independent), independent)


def lnmax_rdp(
    counts: ArrayLike, scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Forward Rényi cost of every query's LNMax label at its votes, (queries, orders).

    Not for release, and no guarantee. Raises ValueError like `lnmax_log_q` and
    `lnmax_rdp_of_log_q`.
    """
    return lnmax_rdp_of_log_q(lnmax_log_q(counts, scale), scale, orders, bounds=bounds)


@dataclass(frozen=True, repr=False)
class LnmaxPrivacy(Guarded):
    """What LNMax costs on some queries.

    Public: label_epsilon = 2 / scale of one label; pure_epsilon of all of them, simply added;
    data_independent_epsilon by Rényi orders; optimal_data_independent_epsilon, the optimal
    composition of two (1 / scale)-DP mechanisms a query: the two counts that one teacher moves by
    1 each are released with noise of their own. Not for release, and no guarantee: epsilon, the
    forward data-dependent one that the paper states, and its order.
    """

    public: ClassVar[tuple[str, ...]] = (
        "optimal_data_independent_epsilon",
        "data_independent_epsilon",
        "pure_epsilon",
        "label_epsilon",
        "delta",
        "conversion",
        "queries",
    )
    called: ClassVar[dict[str, str]] = {
        "epsilon": "forward_epsilon",
        "order": "forward_epsilon_order",
    }

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
    classes); scale in votes. Raises ValueError like :func:`lnmax_rdp`, for delta outside (0, 1) and
    an unknown conversion.
    """
    grid = check_orders(ORDERS if orders is None else orders)
    costs = lnmax_rdp(counts, scale, grid, bounds=bounds)
    queries = len(costs)
    sums = sum_above(costs, axis=0)
    epsilon, order = rdp_to_dp(grid, sums, delta, conversion)
    independent, _ = rdp_to_dp(
        grid,
        above(queries * lnmax_independent_rdp(scale, grid, bounds=bounds)),
        delta,
        conversion,
    )
    label = above(2 / scale)
    return LnmaxPrivacy(
        queries=queries,
        delta=delta,
        conversion=conversion,
        epsilon=epsilon,
        order=order,
        label_epsilon=label,
        pure_epsilon=above(queries * label),
        data_independent_epsilon=independent,
        optimal_data_independent_epsilon=optimal_homogeneous(
            above(1 / scale), 0.0, 2 * queries, delta
        ).epsilon,
    )


def lnmax_matrix(
    n_teachers: int, scale: float, votes: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """prob_matrix (K + 1, 2): Pr[LNMax releases 0, 1 | n of K teachers vote 1], n = 0..K.

    votes: the n of which rows are returned; all unless given. At a lead of x votes the trailing
    class wins with probability `difference_tail(x / scale)`. Small probabilities are as exact as
    large ones (RELATIVE_ERROR, ABSOLUTE_ERROR). Raises
    ValueError for n_teachers < 1 or scale not a finite number > 0.
    """
    checks.integer(n_teachers=n_teachers, at_least=1)
    check_scale(scale)
    votes = np.arange(int(n_teachers) + 1) if votes is None else votes
    leads = 2.0 * votes - n_teachers
    trailing = difference_tail(np.abs(leads) / scale)
    ones = np.where(leads >= 0, 1 - trailing, trailing)
    zeros = np.where(leads >= 0, trailing, 1 - trailing)
    return np.stack([zeros, ones], axis=1)
