"""Labels known by what one costs: how much that may be for all of them together."""

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

# Beyond this many labels optimal composition takes long, and Rényi DP comes close to it.
_FEW = 300
# Rényi orders that are tried.
ORDERS = 1 + np.geomspace(1e-2, 1e5, 400)


def total_label_epsilon(epsilon: float, labels: int, delta: float, leak: float = 0.0) -> float:
    """Total epsilon at `delta` of labels that are (epsilon, leak)-DP each, an upper bound.

    The optimal composition of Kairouz, Oh and Viswanath 2015 for a few labels. For many, and
    leak = 0: simple composition, or that of the Rényi divergence of randomised response, which
    dominates every pure mechanism (their Theorem 3.3's pair; Canonne, Kamath and Steinke's
    conversion), whichever is less.
    """
    if labels <= _FEW or leak > 0:
        return optimal_composition(epsilon, leak, labels, delta).epsilon
    rdp = round_float_up(labels * randomised_response_rdp(epsilon, ORDERS))
    by_rdp = rdp_to_dp(ORDERS, rdp, delta, "improved")[0]
    return min(by_rdp, simple_composition(epsilon, 0.0, labels).epsilon)


@lru_cache(maxsize=1024)
def largest_label_epsilon(total: float, labels: int, delta: float, leak: float = 0.0) -> float:
    """Largest epsilon of one (epsilon, leak)-DP label so that all cost at most `total`."""
    about = None
    if labels <= _FEW or leak > 0:
        spare = delta_slack(leak, labels, delta)

        def about(epsilon: float) -> float:
            return _approximate_optimal_epsilon(epsilon, labels, spare)

    return find_largest_within(
        lambda epsilon: total_label_epsilon(epsilon, labels, delta, leak), total, about
    )


def _approximate_optimal_epsilon(epsilon: float, labels: int, delta_budget: float) -> float:
    """About `composition.optimal_composition`, in floats; spare: the delta that leaks leave."""
    lies = np.arange(labels // 2 + 1)
    ways = gammaln(labels + 1) - gammaln(lies + 1) - gammaln(labels - lies + 1)
    ways -= labels * np.logaddexp(0.0, epsilon)
    log_p = np.logaddexp.accumulate(ways + (labels - lies) * epsilon)
    log_q = np.logaddexp.accumulate(ways + lies * epsilon)
    corners = (labels - 2 * lies[1:]) * epsilon
    piece = int((np.exp(log_p[:-1]) - np.exp(corners + log_q[:-1]) <= delta_budget).sum())
    left = math.exp(log_p[piece]) - delta_budget
    return min(labels * epsilon, max(0.0, math.log(left) - log_q[piece])) if left > 0 else 0.0
