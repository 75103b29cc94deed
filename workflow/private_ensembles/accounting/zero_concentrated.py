"""The least rho of zero-concentrated differential privacy: every real Rényi order is covered."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import checks
from private_ensembles.base.rounding import round_float_up
from private_ensembles.base.stated_bounds import upper_bound

# Orders are 1 + sinh(y / 2)^2. Intervals start this wide in y and are halved if that helps, in at
# most so many rounds and up to so many orders.
_WIDTH, _ROUNDS, _MOST = 0.25, 24, 10_000
# No order beyond e^60 is tried.
_FARTHEST = 60.0


@upper_bound
def least_rho(
    renyi: Callable[[NDArray], NDArray], pure_epsilon: float, *, tolerance: float = 1e-4
) -> float:
    """Return an upper bound on the least rho of zCDP: D_a <= rho a at all orders a > 1.

    Between orders a < b nothing exceeds max(D_a / a, D_b / b) / (1 - (b - a)^2 / (4 a (a - 1))),
    since (a - 1) D_a is convex and D_a does not fall. Below the first order b nothing exceeds D_b,
    and beyond the last order a nothing exceeds pure_epsilon / a. Everywhere pure_epsilon^2 / 2 is
    a bound, too.

    Args:
        renyi: Maps orders (A,) > 1 to upper bounds (A,) on the largest Rényi divergence of
            neighbours, in nats (`audit.renyi_curve`).
        pure_epsilon: The epsilon with which the mechanism is purely private: an upper bound on the
            divergence of infinite order, in both orders of the neighbours.
        tolerance: The result exceeds the largest D_a / a that `renyi` gives by this share of it at
            most, if rounding allows.

    Returns:
        rho, infinite if pure_epsilon is.

    Raises:
        ValueError: A negative pure_epsilon, or a tolerance that is not > 0.

    References:
        docs/method.md; Bun and Steinke 2016, Proposition 3.3.

    >>> round(least_rho(lambda orders: np.minimum(orders / 2, 40.0), 40.0), 3)
    0.5
    """
    checks.check_number(pure_epsilon=pure_epsilon, at_least=0)
    checks.check_number(tolerance=tolerance, above=0)
    if pure_epsilon in (0.0, math.inf):
        return pure_epsilon

    def cost(orders: NDArray) -> NDArray[np.float64]:
        return np.minimum(renyi(orders), pure_epsilon)

    marks = np.zeros(1)  # values of y; the order 1 itself comes first and is never evaluated
    costs = np.zeros(1)  # upper bounds on D_a at them
    marks, costs = _add_marks(cost, marks, costs, _WIDTH * np.arange(1.0, 17.0))
    while pure_epsilon / _orders(marks[-1]) > _attained_rho(marks, costs) and marks[-1] < _FARTHEST:
        further_marks = marks[-1] + _WIDTH * np.arange(1.0, 9.0)
        marks, costs = _add_marks(cost, marks, costs, further_marks)
    beyond = round_float_up(pure_epsilon / float(_orders(marks[-1])), 4)
    for _ in range(_ROUNDS):
        target = max(_attained_rho(marks, costs) * (1 + tolerance), beyond)
        loose = np.flatnonzero(_bound_between_orders(marks, costs) > target)
        if not len(loose) or len(marks) > _MOST:
            break
        middles = (marks[loose] + marks[loose + 1]) / 2
        middles = middles[_orders(middles) > 1]
        marks, costs = _add_marks(cost, marks, costs, middles)
    # Rounding near order 1 may leave a bound that is looser than what purity itself gives.
    rho = max(_bound_between_orders(marks, costs).max(), beyond)
    return float(min(rho, round_float_up(pure_epsilon * pure_epsilon / 2, 4)))


def _orders(marks: NDArray) -> NDArray[np.float64]:
    """Return the orders at the marks."""
    return 1 + np.sinh(marks / 2) ** 2


def _add_marks(
    cost: Callable[[NDArray], NDArray[np.float64]],
    marks: NDArray[np.float64],
    costs: NDArray[np.float64],
    new_marks: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all marks in ascending order, the new ones included, and their costs.

    No order costs more than a larger one, however much rounding weighs near 1.
    """
    new_costs = np.asarray(cost(_orders(new_marks)), dtype=np.float64)
    order = np.argsort(np.concatenate([marks, new_marks]), kind="stable")
    costs = np.concatenate([costs, new_costs])[order]
    return np.concatenate([marks, new_marks])[order], np.minimum.accumulate(costs[::-1])[::-1]


def _attained_rho(marks: NDArray, costs: NDArray) -> float:
    """Return the largest D_a / a that is attained at the marks."""
    return float((costs[1:] / _orders(marks[1:])).max())


def _bound_between_orders(marks: NDArray, costs: NDArray) -> NDArray[np.float64]:
    """Return a bound on D_a / a between each order and the next."""
    orders = _orders(marks)
    a, b = orders[1:-1], orders[2:]
    ends = np.maximum(costs[1:-1] / a, costs[2:] / b)
    # An order may be so near 1, or the next so far, that the theorem says nothing.
    bent = (b - a) ** 2 / (4 * a * (a - 1))
    with np.errstate(divide="ignore"):
        bounds = np.where(bent < 0.5, ends / (1 - np.minimum(bent, 0.5)), np.inf)
    # D_b alone bounds all orders from a to b.
    bounds = np.minimum(bounds, costs[2:] / a)
    return round_float_up(np.concatenate([costs[1:2], bounds]), 24)
