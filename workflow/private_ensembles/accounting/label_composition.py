"""Labels known by what one costs: how much that may be for all of them together."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from private_ensembles.accounting.composition import (
    optimal_homogeneous,
    randomised_response_rdp,
    rdp_to_dp,
    simple,
    spare_delta,
)
from private_ensembles.base.root import largest_within
from private_ensembles.base.rounding import above

# Beyond this many labels optimal composition takes long, and Rényi DP comes close to it.
_FEW = 300
# Rényi orders that are tried.
ORDERS = 1 + np.geomspace(1e-2, 1e5, 400)


def composed(epsilon: float, labels: int, delta: float, leak: float = 0.0) -> float:
    """Total epsilon at `delta` of labels that are (epsilon, leak)-DP each, an upper bound.

    The optimal composition of Kairouz, Oh and Viswanath 2015 for a few labels. For many, and
    leak = 0: simple composition, or that of the Rényi divergence of randomised response, which
    dominates every pure mechanism (their Theorem 3.3's pair; Canonne, Kamath and Steinke's
    conversion), whichever is less.
    """
    if labels <= _FEW or leak > 0:
        return optimal_homogeneous(epsilon, leak, labels, delta).epsilon
    rdp = above(labels * randomised_response_rdp(epsilon, ORDERS))
    by_rdp = rdp_to_dp(ORDERS, rdp, delta, "improved")[0]
    return min(by_rdp, simple(epsilon, 0.0, labels).epsilon)


@lru_cache(maxsize=1024)
def label_epsilon(total: float, labels: int, delta: float, leak: float = 0.0) -> float:
    """Largest epsilon of one (epsilon, leak)-DP label so that all cost at most `total`."""
    about = None
    if labels <= _FEW or leak > 0:
        spare = spare_delta(leak, labels, delta)

        def about(epsilon: float) -> float:
            return _about_homogeneous(epsilon, labels, spare)

    return largest_within(lambda epsilon: composed(epsilon, labels, delta, leak), total, about)


def _about_homogeneous(epsilon: float, labels: int, spare: float) -> float:
    """About `composition.optimal_homogeneous`, in floats; spare: the delta that leaks leave."""
    lies = np.arange(labels // 2 + 1)
    ways = gammaln(labels + 1) - gammaln(lies + 1) - gammaln(labels - lies + 1)
    ways -= labels * np.logaddexp(0.0, epsilon)
    log_p = np.logaddexp.accumulate(ways + (labels - lies) * epsilon)
    log_q = np.logaddexp.accumulate(ways + lies * epsilon)
    corners = (labels - 2 * lies[1:]) * epsilon
    piece = int((np.exp(log_p[:-1]) - np.exp(corners + log_q[:-1]) <= spare).sum())
    left = math.exp(log_p[piece]) - spare
    return min(labels * epsilon, max(0.0, math.log(left) - log_q[piece])) if left > 0 else 0.0
