"""Publishing a data-dependent cost: noise in proportion to its smooth sensitivity (PATE, B.5-B.6).

docs/pate.md proves the costs stated here and shows where Theorem 23 as printed fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from private_ensembles.accounting.composition import check_orders
from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.gnmax import check_sigma

FORMULAS = ("exact", "paper")
# The authors' public code searches beta times the order here (smooth_sensitivity_table.py).
SEARCHED_BETAS = tuple(0.01 * k for k in range(30, 50))
# This keeps sigma_SS finite if every query's cost is too small for a float.
_LEAST_SENSITIVITY = 1e-290


@upper_bound
def gnss_rdp(order: float, beta: float, sigma: float, *, formula: str = "exact") -> float:
    """Return the Rényi cost of publishing f + SS_beta * N(0, sigma^2), which is GNSS.

    ``exact`` is lambda e^(-2 beta) / (2 sigma^2 r) + (ln(r) / 2 + lambda beta) / (1 - lambda), with
    r = 1 - lambda + lambda e^(-2 beta) > 0, that is beta < ln(lambda / (lambda - 1)) / 2.
    It is attained if SS(D') = e^(-beta) SS(D) and |f(D) - f(D')| = SS(D'), so it cannot be
    improved (docs/pate.md). ``paper`` is Theorem 23 as printed, which fails for lambda beta > 1/4;
    for comparison only.

    Args:
        order: lambda > 1.
        beta: smoothness, > 0.
        sigma: noise in units of SS, > 0.
        formula: ``exact`` or ``paper``.

    Returns:
        The cost, infinite if beta is too large for the order.

    Raises:
        ValueError: an argument is outside its range.

    References:
        PATE 2018, Definition 22 and Theorem 23; docs/pate.md for the exact cost.
    """
    sigma = check_sigma(sigma)
    slope, constant = gnss_terms(order, beta, formula=formula)
    if formula == "paper" or not math.isfinite(slope):
        return slope / sigma**2 + constant
    return (slope / sigma**2 + constant) * (1 + 1e-12) + 1e-15


def gnss_terms(order: float, beta: float, *, formula: str = "exact") -> tuple[float, float]:
    """Return A and B of `gnss_rdp` = A / sigma^2 + B; (inf, inf) if beta is too large.

    Args:
        order: lambda > 1.
        beta: smoothness, > 0.
        formula: ``exact`` or ``paper``.

    Raises:
        ValueError: an argument is outside its range.
    """
    order = float(check_orders(order)[0])
    checks.check_number(beta=beta, above=0)
    checks.check_choice(FORMULAS, formula=formula)
    if formula == "paper":
        if 2 * order * beta >= 1:
            return math.inf, math.inf
        spread = beta * order - 0.5 * math.log1p(-2 * order * beta)
        return order * math.exp(2 * beta), spread / (order - 1)
    r = 1 + order * math.expm1(-2 * beta)
    if r <= 0:
        return math.inf, math.inf
    slope = order * math.exp(-2 * beta) / (2 * r)
    return slope, -(0.5 * math.log(r) + order * beta) / (order - 1)


def largest_beta(order: float, *, formula: str = "exact") -> float:
    """Return the beta from which on GNSS costs infinitely much at this order.

    It is ln(lambda / (lambda - 1)) / 2 exactly, and 1 / (2 lambda) by Theorem 23.

    Args:
        order: lambda > 1.
        formula: ``exact`` or ``paper``.
    """
    order = float(check_orders(order)[0])
    checks.check_choice(FORMULAS, formula=formula)
    return 0.5 / order if formula == "paper" else -0.5 * math.log1p(-1 / order)


def tune_sigma(order: float, beta: float, sensitivity: float, *, formula: str = "exact") -> float:
    """Return the sigma_SS that minimises A / sigma^2 + B + 2 sigma SS: (A / SS)^(1/3).

    This is the cost plus two standard deviations of the noise; every printed sigma_SS of Table 2
    follows from it. It looks at private data (SS is a function of the votes).

    Args:
        order: lambda > 1.
        beta: smoothness, > 0.
        sensitivity: SS at beta.
        formula: ``exact`` or ``paper``.

    References:
        PATE 2018, appendix B.6.
    """
    slope, _ = gnss_terms(order, beta, formula=formula)
    return (slope / max(sensitivity, _LEAST_SENSITIVITY)) ** (1 / 3)


def tune_beta(
    order: float,
    smooth: Callable[[float], float],
    *,
    smooth_lower_bound: Callable[[float], float] | None = None,
    formula: str = "exact",
) -> float:
    """Return the beta of the least cost plus two standard deviations of the noise.

    sigma_SS is then that of `tune_sigma`. Not for release: what is chosen depends on the votes, and
    nothing here bounds how much the choice reveals about them (`rule_of_thumb` does not look at
    them).

    Args:
        order: lambda > 1.
        smooth: SS as a function of beta.
        smooth_lower_bound: a bound on SS from below that is quick, and may grow with every SS that
            is worked out. Only how long this takes depends on it.
        formula: ``paper`` takes beta from the 20 points (0.30, 0.31, ..., 0.49) / lambda, which
            every printed beta of Table 2 is one of; ``exact`` from (0.05, 0.07, ..., 0.95) times
            the largest beta.

    References:
        PATE 2018, appendix B.6.
    """

    def objective(beta: float, sensitivity: float) -> float:
        slope, constant = gnss_terms(order, beta, formula=formula)
        if not math.isfinite(slope):
            return math.inf
        return 3 * slope ** (1 / 3) * sensitivity ** (2 / 3) + constant

    if formula == "paper":
        betas = [product / order for product in SEARCHED_BETAS]
    else:
        betas = largest_beta(order) * np.linspace(0.95, 0.05, 46)
    if smooth_lower_bound is None:
        return float(min(betas, key=lambda beta: objective(beta, smooth(beta))))
    # One in the middle comes first: its distances bound SS well at the others. The next beta is the
    # one that promises the least, as the objective grows with SS. Betas that promise more than the
    # least known objective are never tried.
    middle = betas[len(betas) // 2]
    objectives = {middle: objective(middle, smooth(middle))}
    untried = [beta for beta in betas if beta != middle]
    while untried:
        promises = [objective(beta, smooth_lower_bound(beta) * (1 - 1e-12)) for beta in untried]
        most_promising = int(np.argmin(promises))
        if promises[most_promising] > min(objectives.values()):
            break
        beta = untried.pop(most_promising)
        objectives[beta] = objective(beta, smooth(beta))
    # Of equal objectives the first beta is taken.
    return float(min((beta for beta in betas if beta in objectives), key=objectives.__getitem__))


def rule_of_thumb(
    order: float,
    delta: float,
    *,
    beta: float | None = None,
    sigma_ss: float | None = None,
    formula: str = "exact",
) -> tuple[float, float]:
    """Return a beta and a sigma_SS that do not look at votes.

    ``exact``: beta is 0.65 of the largest; ``paper``: 0.4 / lambda, as Table 2 nearly has
    throughout. sigma_SS makes the part A / sigma^2 of the cost 0.15 of log(1/delta) / (lambda - 1),
    what the conversion to (epsilon, delta) costs anyway. (Both constants did well on synthetic
    votes of the sizes of Table 2's first three rows; any would be valid.)

    Args:
        order: lambda > 1.
        delta: in (0, 1).
        beta: is returned as it is if given.
        sigma_ss: is returned as it is if given.
        formula: ``exact`` or ``paper``.

    Raises:
        ValueError: delta is outside (0, 1), or beta is too large for the order.
    """
    checks.check_probability(delta=delta, zero=False, one=False)
    if beta is None:
        beta = 0.4 / order if formula == "paper" else 0.65 * largest_beta(order)
    slope, _ = gnss_terms(order, beta, formula=formula)
    if not math.isfinite(slope):
        limit = largest_beta(order, formula=formula)
        raise ValueError(f"beta = {beta}: must be below {limit:g} at order {order:g}")
    if sigma_ss is None:
        sigma_ss = math.sqrt(slope * (order - 1) / (-0.15 * math.log(delta)))
    return beta, sigma_ss


def order_for_target(delta: float, target_epsilon: float) -> float:
    """Return the order at which the conversion takes half of a budget guessed beforehand.

    There log(1/delta) = (lambda - 1) epsilon / 2.

    Args:
        delta: in (0, 1).
        target_epsilon: the guess, finite and > 0.

    Raises:
        ValueError: an argument is outside its range.

    References:
        PATE 2018, appendix B.6.
    """
    checks.check_probability(delta=delta, zero=False, one=False)
    checks.check_finite(target_epsilon=target_epsilon, above=0)
    return 1 - 2 * math.log(delta) / target_epsilon


def appendix_b6(delta: float, target_epsilon: float) -> tuple[float, float]:
    """Return beta and sigma_SS by the paper's rules of thumb, which do not look at votes.

    For a target epsilon guessed beforehand, at `order_for_target`: beta = 0.4 / lambda; sigma_SS
    = factor sqrt((lambda + 1) / epsilon) with factor = 3, of the paper's 2 to 4, which put (lambda
    + 1) / sigma_SS^2, to the paper the dominant part of the cost, between epsilon / 16 and epsilon
    / 4.

    Args:
        delta: in (0, 1).
        target_epsilon: the guess, finite and > 0.

    Raises:
        ValueError: as `order_for_target` raises it.

    References:
        PATE 2018, appendix B.6.
    """
    order = order_for_target(delta, target_epsilon)
    return 0.4 / order, 3 * math.sqrt((order + 1) / target_epsilon)
