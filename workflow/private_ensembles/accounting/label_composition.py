"""Composition of (epsilon, delta)-DP labels: what all cost, and what one of them may cost."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from private_ensembles.accounting.composition import (
    delta_slack,
    optimal_composition,
    randomised_response_rdp,
    rdp_to_dp,
    simple_composition,
)
from private_ensembles.base.root_search import find_largest_within
from private_ensembles.base.rounding import round_float_up
from private_ensembles.base.stated_bounds import upper_bound

# Optimal composition of more labels takes long, and Rényi DP comes close to it.
_MOST_OPTIMAL = 300
# These Rényi orders are tried, all > 1.
ORDERS = 1 + np.geomspace(1e-2, 1e5, 400)


@upper_bound
def total_label_epsilon(epsilon: float, labels: int, delta: float, leak: float = 0.0) -> float:
    """Return the total epsilon at `delta` of labels that are (epsilon, leak)-DP each.

    Few labels, or labels that leak, are composed optimally. Many labels without a leak are composed
    simply or by the Rényi divergence of randomised response, which dominates every pure mechanism,
    whichever costs less.

    Args:
        epsilon: Epsilon of one label.
        labels: How many labels are released.
        delta: Delta of all labels together.
        leak: Delta of one label.

    Returns:
        An upper bound; infinite if the leaks alone exceed `delta`.

    References:
        Kairouz, Oh and Viswanath 2015, Theorem 3.3; Canonne, Kamath and Steinke 2020,
        Proposition 12.
    """
    if labels <= _MOST_OPTIMAL or leak > 0:
        return optimal_composition(epsilon, leak, labels, delta).epsilon
    rdp = round_float_up(labels * randomised_response_rdp(epsilon, ORDERS))
    by_rdp = rdp_to_dp(ORDERS, rdp, delta, "improved")[0]
    return min(by_rdp, simple_composition(epsilon, 0.0, labels).epsilon)


@lru_cache(maxsize=1024)
def largest_label_epsilon(total: float, labels: int, delta: float, leak: float = 0.0) -> float:
    """Return the largest epsilon of one label so that all labels cost at most `total`.

    Args:
        total: Epsilon of all labels together.
        labels: How many labels are released.
        delta: Delta of all labels together.
        leak: Delta of one label: each is (epsilon, leak)-DP.
    """
    approximate_cost = None
    if labels <= _MOST_OPTIMAL or leak > 0:
        slack = delta_slack(leak, labels, delta)

        def approximate_cost(epsilon: float) -> float:
            return _approximate_optimal_epsilon(epsilon, labels, slack)

    return find_largest_within(
        lambda epsilon: total_label_epsilon(epsilon, labels, delta, leak), total, approximate_cost
    )


def _approximate_optimal_epsilon(epsilon: float, labels: int, delta_budget: float) -> float:
    """Return about the epsilon of `composition.optimal_composition`, in floats.

    delta_budget: the part of delta that the labels' leaks leave.
    """
    lies = np.arange(labels // 2 + 1)
    ways = gammaln(labels + 1) - gammaln(lies + 1) - gammaln(labels - lies + 1)
    ways -= labels * np.logaddexp(0.0, epsilon)
    log_p = np.logaddexp.accumulate(ways + (labels - lies) * epsilon)
    log_q = np.logaddexp.accumulate(ways + lies * epsilon)
    corners = (labels - 2 * lies[1:]) * epsilon
    piece = int((np.exp(log_p[:-1]) - np.exp(corners + log_q[:-1]) <= delta_budget).sum())
    excess = math.exp(log_p[piece]) - delta_budget
    return min(labels * epsilon, max(0.0, math.log(excess) - log_q[piece])) if excess > 0 else 0.0
