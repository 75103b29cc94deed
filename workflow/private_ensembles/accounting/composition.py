"""What several differentially private releases cost together, and what a Rényi bound is worth.

Every function returns an upper bound *in floating point*: arithmetic runs with 60 significant
decimal digits on the exact values of the floats given, and only the last step rounds, upwards
(`base.rounding`). Terms of sums are positive and fewer than 1e6, so what 60 digits lose is
far below that last step.

The adjacency does not matter here: the whole is proven for the adjacency that its parts are
proven for.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.base.rounding import (
    SLACK,
    Ball,
    log_sum,
    round_down,
    round_multiple_up,
    round_up,
    sixty_digits,
)
from private_ensembles.base.stated_bounds import lower_bound, upper_bound


@dataclass(frozen=True)
class Composition:
    """Total privacy loss (epsilon, delta) of several releases."""

    epsilon: float
    delta: float


def check_orders(orders: ArrayLike) -> NDArray[np.float64]:
    """Return Rényi orders as float64 (orders,).

    Raises:
        ValueError: An order is not finite and > 1, or the orders are not a list.
    """
    orders = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    checks.check_finite_values(orders=orders, above=1)
    if orders.ndim != 1:
        raise ValueError("orders: must be a list")
    return orders


def _check(epsilon: float, delta: float, k: int) -> None:
    """Raise ValueError that names the first argument out of range."""
    checks.check_finite(epsilon=epsilon, at_least=0)
    checks.check_probability(delta=delta)
    checks.check_integer(k=k, at_least=1)


@upper_bound
def simple_composition(epsilon: float, delta: float, k: int) -> Composition:
    """Compose k mechanisms, each (epsilon, delta)-DP: (k epsilon, min(1, k delta)), rounded up.

    The mechanisms may be chosen adaptively.

    Raises:
        ValueError: epsilon < 0 or not finite, delta outside [0, 1], or k not an integer >= 1.

    References:
        DaRRM, Theorem 2.2 (Dwork et al. 2014).

    >>> simple_composition(0.5, 1e-5, 3).epsilon
    1.5
    """
    _check(epsilon, delta, k)
    # Products are exact and rational: 5 * 1.0 is 5.0, not the float above it.
    return Composition(round_multiple_up(epsilon, k), min(1.0, round_multiple_up(delta, k)))


@upper_bound
def replace_one_from_add_remove(epsilon: float, delta: float) -> Composition:
    """Return what an (epsilon, delta)-DP claim for add_remove says about replace_one, rounded up.

    A record that changes is one removed and one added, so Pr[S] <= e^epsilon (e^epsilon Pr'[S] +
    delta) + delta: (2 epsilon, (1 + e^epsilon) delta)-DP.

    Raises:
        ValueError: As `simple_composition`.

    References:
        Group privacy of two: Dwork and Roth 2014, Theorem 2.2; Vadhan 2017, Lemma 2.2.
    """
    _check(epsilon, delta, 1)
    with sixty_digits():
        pair_delta = (1 + Decimal(epsilon).exp()) * Decimal(delta)
    return Composition(round_multiple_up(epsilon, 2), min(1.0, round_up(pair_delta)))


@upper_bound
def general_composition(epsilon: float, delta: float, k: int, delta_prime: float) -> Composition:
    """Compose k mechanisms, each (epsilon, delta)-DP, as DaRRM's tables do.

    The mechanisms may be chosen adaptively. The total is (epsilon', 1 - (1 - delta)^k (1 -
    delta')) with epsilon' the least of k epsilon, b + epsilon sqrt(2k log(e + sqrt(k epsilon^2) /
    delta')) and b + epsilon sqrt(2k log(1 / delta')), where b = k epsilon (e^epsilon - 1) /
    (e^epsilon + 1).

    Args:
        epsilon: Epsilon of one mechanism.
        delta: Delta of one mechanism.
        k: How many mechanisms are composed.
        delta_prime: What composition itself may add to delta, in (0, 1].

    Returns:
        The total, both parts rounded up.

    Raises:
        ValueError: As `simple_composition`, and for delta_prime outside (0, 1].

    References:
        DaRRM, Theorem 2.3, which is Kairouz, Oh and Viswanath 2015, Theorem 3.4.

    >>> total = general_composition(0.2676, 3e-4, 100, 1e-4)
    >>> round(total.epsilon, 3)  # DaRRM's Table 2 prints 15.044
    15.044
    """
    _check(epsilon, delta, k)
    checks.check_probability(delta_prime=delta_prime, zero=False)
    with sixty_digits(epsilon, delta, delta_prime):
        k, e, slack = int(k), Decimal(epsilon), Decimal(delta_prime)
        growth = e.exp()
        drift = (growth - 1) * e * k / (growth + 1)
        logs = (Decimal(1).exp() + (k * e * e).sqrt() / slack).ln(), (1 / slack).ln()
        total = min(drift + e * (2 * k * log).sqrt() for log in logs)
        leak = 1 - (1 - Decimal(delta)) ** k * (1 - slack)
    total_epsilon = min(round_multiple_up(epsilon, k), round_up(total))
    return Composition(total_epsilon, min(1.0, round_up(leak)))


@upper_bound
def optimal_composition(epsilon: float, delta: float, k: int, delta_total: float) -> Composition:
    """Return the least total epsilon that k (epsilon, delta)-DP mechanisms can be promised.

    The mechanisms may be chosen adaptively, and no smaller total holds for every choice of them.
    k-fold randomised response dominates: outcome l (of 0..k lies) has the probabilities
    P_l = C(k,l) e^((k-l) epsilon) / (1 + e^epsilon)^k and Q_l = P_(k-l), so its exact delta(x) is
    the sum of the positive parts of P_l - e^x Q_l. The theorem's points x = (k - 2i) epsilon are
    where a term enters; between them delta is linear in e^x, which is solved for exactly. Leaks
    add up to delta_total = 1 - (1 - delta)^k (1 - delta(x)). Time is O(k) big-number operations.

    Args:
        epsilon: Epsilon of one mechanism.
        delta: Delta of one mechanism.
        k: How many mechanisms are composed.
        delta_total: Delta of all mechanisms together, in [0, 1].

    Returns:
        epsilon rounded up, and ``delta_total`` as given; epsilon is infinite if the leaks alone
        exceed ``delta_total``.

    Raises:
        ValueError: As `simple_composition`, and for delta_total outside [0, 1].

    References:
        Kairouz, Oh and Viswanath 2015, Theorem 3.3.

    >>> round(optimal_composition(0.2676, 3e-4, 100, 0.0301).epsilon, 2)
    11.4
    """
    _check(epsilon, delta, k)
    checks.check_probability(delta_total=delta_total)
    with sixty_digits(epsilon, delta, delta_total):
        k, e = int(k), Decimal(epsilon)
        kept = (1 - Decimal(delta)) ** k
        slack = Decimal(1) if kept == 0 else 1 - (1 - Decimal(delta_total)) / kept
        if delta_total == 1:
            return Composition(0.0, 1.0)
        if kept == 0 or slack < 0:
            return Composition(math.inf, float(delta_total))
        total = _randomised_response_epsilon(e, k, slack)
    total_epsilon = min(round_multiple_up(epsilon, k), round_up(total))
    return Composition(total_epsilon, float(delta_total))


def _randomised_response_epsilon(e: Decimal, k: int, delta_budget: Decimal) -> Decimal:
    """Return the least x >= 0 at which k-fold randomised response has delta(x) <= delta_budget."""
    growth = e.exp()
    p = (growth / (1 + growth)) ** k
    q = 1 / (1 + growth) ** k
    sum_p = sum_q = Decimal(0)
    # e^((k - 2 lies) epsilon) only decides which piece is solved, so a product is exact enough.
    corner, square = (k * e).exp(), growth * growth
    for lies in range(k // 2 + 1):
        # Outcomes 0..lies have P_l > e^x Q_l exactly for x < (k - 2 lies) epsilon.
        sum_p, sum_q = sum_p + p, sum_q + q
        if lies < k // 2:
            corner /= square
            next_delta = sum_p - corner * sum_q
            if next_delta <= delta_budget:
                p = p * (k - lies) / (lies + 1) / growth
                q = q * (k - lies) / (lies + 1) * growth
                continue
        # delta(x) = sum_p - e^x sum_q on this piece; the headroom covers what the sums lost.
        ratio = (sum_p * (1 + SLACK) - delta_budget) / sum_q
        return max(Decimal(0), ratio.ln()) if ratio > 0 else Decimal(0)
    return Decimal(0)


@lower_bound
def delta_slack(delta: float, k: int, delta_total: float) -> float:
    """Return what k leaks of delta leave of delta_total, rounded down; 0 if they leave nothing.

    It is 1 - (1 - delta_total) / (1 - delta)^k, what general composition may spend besides.
    """
    with sixty_digits(delta, delta_total):
        kept = (1 - Decimal(delta)) ** int(k)
        slack = 1 - (1 - Decimal(delta_total)) / kept if kept else Decimal(0)
        return math.nextafter(round_down(slack), 0.0) if slack > 0 else 0.0


@upper_bound
def rdp_to_dp(
    orders: ArrayLike, rdp: ArrayLike, delta: float, conversion: str = "improved"
) -> tuple[float, float]:
    """Convert Rényi bounds to (epsilon, delta)-DP at the order that gives the least epsilon.

    ``classic`` is epsilon = rdp + log(1/delta) / (order - 1). ``improved`` is epsilon = rdp +
    log(1 - 1/order) - log(delta order) / (order - 1).

    Args:
        orders: Rényi orders (A,), each > 1.
        rdp: Rényi divergences (A,) >= 0 in nats, infinite where nothing is known.
        delta: In (0, 1).
        conversion: ``improved`` or ``classic``.

    Returns:
        epsilon, at least 0 and rounded up, and the order that gives it.

    Raises:
        ValueError: Arrays of unequal length, orders <= 1, negative rdp, delta outside (0, 1), or an
            unknown conversion.

    References:
        ``classic``: Mironov 2017, Proposition 3; PATE, Theorem 5; DaRRM, Theorem D.1.
        ``improved``: Canonne, Kamath and Steinke 2020, Proposition 12.

    >>> epsilon, order = rdp_to_dp([2.0, 4.0, 8.0, 16.0], [0.1, 0.2, 0.4, 0.8], delta=1e-5)
    >>> round(epsilon, 2), order
    (1.32, 16.0)
    """
    orders, rdp = np.asarray(orders, dtype=float), np.asarray(rdp, dtype=float)
    if orders.ndim != 1 or orders.shape != rdp.shape or orders.size == 0:
        raise ValueError(
            f"orders and rdp have shapes {orders.shape} and {rdp.shape}: must be (A,), A >= 1"
        )
    if not np.all(orders > 1):
        raise ValueError(f"orders: {orders[~(orders > 1)][0]} is not > 1")
    if not np.all(rdp >= 0):
        raise ValueError(f"rdp: {rdp[~(rdp >= 0)][0]} is not >= 0")
    epsilons = rdp + conversion_cost(orders, delta, conversion)
    best = int(np.argmin(epsilons))
    if not math.isfinite(epsilons[best]):
        return math.inf, float(orders[best])
    with sixty_digits():
        order = float(orders[best])
        exact = Decimal(float(rdp[best])) + exact_conversion_cost(order, delta, conversion)
    return max(0.0, round_up(exact)), order


@upper_bound
def randomised_response_rdp(epsilon: float, orders: ArrayLike) -> NDArray[np.float64]:
    """Return the Rényi divergence of randomised response at each order, rounded up.

    No (epsilon, 0)-DP mechanism has more. With h = epsilon / 2, it is

        D_a = ln(1 + 2 sinh(a h) sinh((a - 1) h) / cosh(h)) / (a - 1),

    which takes no difference of numbers that are nearly equal. So small epsilons lose nothing, nor
    do large ones, for which e^((a-1) epsilon) overflows.

    Args:
        epsilon: Of randomised response, finite and >= 0.
        orders: (A,), each finite and > 1.

    Returns:
        (A,) in nats.

    Raises:
        ValueError: epsilon < 0 or not finite, or orders that are not finite and > 1.

    References:
        docs/noise.md; Mironov 2017, Proposition 5; the dominating pair of Kairouz, Oh and
        Viswanath 2015, Theorem 3.3.
    """
    _check(epsilon, 0.0, 1)
    orders = np.asarray(orders, dtype=np.float64)
    checks.check_finite_values(orders=orders, above=1)
    if epsilon == 0:
        return np.zeros(orders.shape)
    order_less_one = Ball(orders) - 1
    rate = Ball(epsilon)
    # 2 sinh(X) sinh(Y) / cosh(h) = e^(X+Y-h) (1 - e^-2X) (1 - e^-2Y) / (1 + e^-2h), X + Y - h =
    # (a - 1) epsilon.
    parts = -(-rate * orders).expm1() * -(-rate * order_less_one).expm1() / (1 + (-rate).exp())
    with np.errstate(over="ignore", invalid="ignore"):
        grown = (rate * order_less_one + parts.log()).exp()
        small = (grown.log1p() / order_less_one).upper
    large = (log_sum(Ball(0.0), rate * order_less_one + parts.log()) / order_less_one).upper
    return np.minimum(np.minimum(small, large), epsilon)


def conversion_cost(
    orders: NDArray[np.float64], delta: float, conversion: str
) -> NDArray[np.float64]:
    """Return what `rdp_to_dp` adds to a Rényi bound at each of ``orders`` (A,), in floats."""
    _check_conversion(delta, conversion)
    if conversion == "classic":
        return -math.log(delta) / (orders - 1)
    return np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)


@upper_bound
def exact_conversion_cost(order: float, delta: float, conversion: str) -> Decimal:
    """Return `conversion_cost` at one ``order``, to 60 digits of its terms, rounded up."""
    _check_conversion(delta, conversion)
    with sixty_digits():
        a, d = Decimal(order), Decimal(delta)
        first, second = Decimal(0), -d.ln() / (a - 1)
        if conversion == "improved":
            first, second = (1 - 1 / a).ln(), -(d * a).ln() / (a - 1)
        return first + second + SLACK * (abs(first) + abs(second))


def _check_conversion(delta: float, conversion: str) -> None:
    checks.check_probability(delta=delta, zero=False, one=False)
    checks.check_choice(("classic", "improved"), conversion=conversion)
