"""What LNMax's labels cost by the votes: PATE's forward data-dependent analysis, not for release.

Costs per label are Rényi bounds at order lambda = l + 1, l times which is the paper's moment
alpha(l). The paper's bounds are forward ones (`papers.pate.mathematics.rdp`). LNMax itself is in
`labels.lnmax`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import check_orders, optimal_composition, rdp_to_dp
from private_ensembles.base.laplace_tail import log_difference_tail
from private_ensembles.base.rounding import round_float_up, round_sum_up
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.lnmax import lnmax_independent_rdp
from private_ensembles.labels.lnmax_quadrature import check_scale
from private_ensembles.papers.pate.mathematics.guarded_record import GuardedRecord
from private_ensembles.papers.pate.mathematics.rdp import log_of_union_bound, theorem_6

# The published analysis has the moments l = 1..8; PATE 2017 reports at l = 8 for MNIST and SVHN.
PAPER_ORDERS = np.arange(2.0, 10.0)
ORDERS = np.concatenate([np.arange(1.25, 20, 0.25), np.geomspace(20, 2000, 60)])


@upper_bound
def lnmax_log_q(counts: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Return the log of the union bound on Pr[LNMax does not release the plurality], (queries,).

    q = min(1, sum over the other classes of (2 + x) / (4 e^x)), x = gap / scale: each term is the
    exact probability that the difference of two Laplace draws exceeds the gap. Rounded up; -inf for
    a single class.

    Args:
        counts: (queries, classes) int.
        scale: in votes.

    Raises:
        ValueError: as `check_counts` and `check_scale` raise it.

    References:
        PATE 2017, Lemma 4.
    """
    scale = check_scale(scale)

    def log_tail(gap: NDArray) -> NDArray[np.float64]:
        return log_difference_tail(gap / scale)

    return log_of_union_bound(counts, log_tail)


@upper_bound
def lnmax_rdp_of_log_q(
    log_q: ArrayLike, scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Return the Rényi cost of one label if Pr[it is not the plurality] <= q, (queries, orders).

    The smaller of `lnmax_independent_rdp` and PATE 2017, Theorem 3 (PATE 2018, Theorem 6 with mu_1
    = mu_2 = infinity): with c = e^(2 / scale) and l = lambda - 1, (1 - q) ((1 - q) / (1 - c q))^l +
    q c^l, which bounds e^(l times the cost) and grows with q up to 1 / (1 + c). (For any real l >
    0, with r = (1 - q) / (1 - c q) in [1, c], its derivative is l c r^(l+1) - (l+1) r^l + c^l,
    least at r = 1, and there it is l (c - 1) - 1 + c^l >= 0.) Theorem 3 is used only for q < 1 / (1
    + c). Rounded up.

    Args:
        log_q: log of q, (queries,), at most 0.
        scale: in votes.
        orders: lambda > 1, (orders,).
        bounds: as `lnmax_independent_rdp` takes it.

    Raises:
        ValueError: a log q is above 0, or as `lnmax_independent_rdp` raises it.

    References:
        PATE 2017, Theorem 3.
    """
    independent = lnmax_independent_rdp(scale, orders, bounds=bounds)
    scale, orders = check_scale(scale), check_orders(orders)
    log_q = np.asarray(log_q, dtype=np.float64)[:, None]
    if not (log_q <= 0).all():
        raise ValueError("log_q: must be at most 0")
    L, eps = -log_q, np.array(2 / scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        applies = round_float_up(np.logaddexp(0, eps), 20) < L
        bound = theorem_6(L, L - eps, eps, eps, L / (L - eps), orders)
    bound = np.where(np.isposinf(L), np.nextafter(0, 1), bound)
    return np.where(applies & np.isfinite(bound), np.minimum(bound, independent), independent)


def lnmax_rdp(
    counts: ArrayLike, scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Return the forward Rényi cost of every query's LNMax label at its votes, (queries, orders).

    Not for release, and no guarantee.

    Args:
        counts: (queries, classes) int.
        scale: in votes.
        orders: lambda > 1, (orders,).
        bounds: as `lnmax_independent_rdp` takes it.

    Raises:
        ValueError: as `lnmax_log_q` and `lnmax_rdp_of_log_q` raise it.
    """
    return lnmax_rdp_of_log_q(lnmax_log_q(counts, scale), scale, orders, bounds=bounds)


@dataclass(frozen=True, repr=False)
class LnmaxPrivacy(GuardedRecord):
    """What LNMax costs on some queries.

    Public are label_epsilon = 2 / scale of one label; pure_epsilon of all of them, simply added;
    data_independent_epsilon by Rényi orders; and optimal_data_independent_epsilon, the optimal
    composition of two (1 / scale)-DP mechanisms a query: the two counts that one teacher changes by
    1 each are released with noise of their own. Not for release, and no guarantee, are epsilon, the
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
    display_names: ClassVar[dict[str, str]] = {
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
    """Return the cost of LNMax on all queries.

    ``classic``, ``paper`` and PAPER_ORDERS are PATE 2017's way: there epsilon = min over l of (sum
    of alpha(l) + log(1/delta)) / l, l = 1..8.

    Args:
        counts: (queries, classes) int.
        scale: in votes.
        delta: in (0, 1).
        conversion: from Rényi divergence, ``classic`` or ``improved``.
        bounds: as `lnmax_independent_rdp` takes it.
        orders: lambda > 1; by default ORDERS.

    Raises:
        ValueError: delta is outside (0, 1), the conversion is another, or as `lnmax_rdp` raises it.
    """
    grid = check_orders(ORDERS if orders is None else orders)
    costs = lnmax_rdp(counts, scale, grid, bounds=bounds)
    queries = len(costs)
    sums = round_sum_up(costs, axis=0)
    epsilon, order = rdp_to_dp(grid, sums, delta, conversion)
    independent, _ = rdp_to_dp(
        grid,
        round_float_up(queries * lnmax_independent_rdp(scale, grid, bounds=bounds)),
        delta,
        conversion,
    )
    label = round_float_up(2 / scale)
    return LnmaxPrivacy(
        queries=queries,
        delta=delta,
        conversion=conversion,
        epsilon=epsilon,
        order=order,
        label_epsilon=label,
        pure_epsilon=round_float_up(queries * label),
        data_independent_epsilon=independent,
        optimal_data_independent_epsilon=optimal_composition(
            round_float_up(1 / scale), 0.0, 2 * queries, delta
        ).epsilon,
    )
