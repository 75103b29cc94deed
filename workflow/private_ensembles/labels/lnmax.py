"""LNMax: the plurality after Laplace noise on every count, and what it costs.

LNMax (PATE 2017, section 3, and PATE 2018) releases argmax_j n_j + Lap(scale); PATE 2017 writes
scale = 1 / gamma. One moved vote changes two counts by 1 each, so a label is (2 / scale)-DP.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import check_orders, randomised_response_rdp
from private_ensembles.base import checks
from private_ensembles.base.laplace_tail import difference_tail
from private_ensembles.base.rounding import Ball, log_sum, round_float_up
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.lnmax_quadrature import check_scale

BOUNDS = ("tight", "paper")
# `lnmax_matrix` has these errors: an exponent's rounding weighs as much as its size, below 750.
RELATIVE_ERROR, ABSOLUTE_ERROR = 1e-12, 1e-300


@upper_bound
def lnmax_independent_rdp(
    scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Return the Rényi cost of one label at each order, whatever the votes.

    Args:
        scale: Scale of the Laplace noise, in votes, > 0.
        orders: (orders,) float, > 1.
        bounds: ``tight``: the smaller of randomised response at eps = 2 / scale, which no eps-DP
            mechanism exceeds (ln((e^(lambda eps) + e^((1 - lambda) eps)) / (1 + e^eps)) / (lambda -
            1)), and twice the Laplace mechanism of sensitivity 1. ``paper``: the smaller of eps^2
            lambda / 2 and eps, as PATE 2017 has them.

    Returns:
        (orders,) float64, rounded up.

    Raises:
        ValueError: For scale <= 0, orders <= 1, other bounds.

    References:
        ``tight``: Mironov (2017), Proposition 5 and Table II. ``paper``: Bun & Steinke (2016).
    """
    scale, orders = check_scale(scale), check_orders(orders)
    checks.check_choice(BOUNDS, bounds=bounds)
    eps = round_float_up(2 / scale)
    if bounds == "paper":
        return np.minimum(round_float_up(0.5 * eps**2 * orders, 3), eps)
    response = randomised_response_rdp(eps, orders)
    # The cost is twice ln(lambda e^(less / scale) + less e^(-lambda / scale)) - ln(2 lambda - 1).
    # It is computed by logarithms or, for small exponents, as 1 plus what exponentials exceed 1 by.
    rate, less, divisor = 1 / Ball(scale), Ball(orders) - 1, Ball(2 * orders) - 1
    large = log_sum((orders / divisor).log() + rate * less, (less / divisor).log() - rate * orders)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = (rate * less).expm1() * orders + (-rate * orders).expm1() * less
        small = (grown / divisor).log1p()
        laplace = np.minimum((2 * large / less).upper, (2 * small / less).upper)
    return np.minimum(response, laplace)


def lnmax_matrix(
    n_teachers: int, scale: float, votes: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return Pr[LNMax releases 0, 1 | n of K teachers vote 1], for two classes.

    At a lead of x votes the trailing class wins with probability `difference_tail(x / scale)`.
    Small probabilities are as exact as large ones (RELATIVE_ERROR, ABSOLUTE_ERROR).

    Args:
        n_teachers: K.
        scale: Scale of the Laplace noise, in votes, > 0.
        votes: (rows,) int, the numbers n. None: 0..K.

    Returns:
        (rows, 2) float64.

    Raises:
        ValueError: For n_teachers < 1 or scale not a finite number > 0.
    """
    checks.check_integer(n_teachers=n_teachers, at_least=1)
    check_scale(scale)
    votes = np.arange(int(n_teachers) + 1) if votes is None else votes
    leads = 2.0 * votes - n_teachers
    trailing = difference_tail(np.abs(leads) / scale)
    ones = np.where(leads >= 0, 1 - trailing, trailing)
    zeros = np.where(leads >= 0, trailing, 1 - trailing)
    return np.stack([zeros, ones], axis=1)
