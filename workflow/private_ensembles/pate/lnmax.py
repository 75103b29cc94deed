"""LNMax on two classes in closed form, and how much Laplace noise one label of a budget needs.

LNMax (PATE 2017; called LNMax in PATE 2018) adds independent Laplace noise of scale b to each
class's count and releases the class of the largest. One moved vote changes two counts by 1 each.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.accounting.labels import ORDERS
from private_ensembles.accounting.root import least, least_holding
from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import two_class_pairs
from private_ensembles.noise.laplace import difference_tail
from private_ensembles.pate.lnmax_accounting import lnmax_independent_rdp
from private_ensembles.pate.lnmax_quadrature import check_scale

METHODS = ("pure", "improved_rdp", "noisy_counts", "exact")
# Of `lnmax_matrix`: an exponent's rounding weighs as much as its size, which is below 750.
RELATIVE_ERROR, ABSOLUTE_ERROR = 1e-12, 1e-300
# Leads in units of the scale at which `difference_tail` is 0 as a float.
_UNDERFLOW = 800


def lnmax_matrix(n_teachers: int, scale: float) -> NDArray[np.float64]:
    """prob_matrix (K + 1, 2): Pr[LNMax releases 0, 1 | n of K teachers vote 1], n = 0..K.

    At a lead of x votes the trailing class wins with probability `difference_tail(x / scale)`.
    Small probabilities are as exact as large ones (RELATIVE_ERROR, ABSOLUTE_ERROR). Raises
    ValueError for n_teachers < 1 or scale not a finite number > 0.
    """
    checks.integer(n_teachers=n_teachers, at_least=1)
    check_scale(scale)
    leads = 2.0 * np.arange(int(n_teachers) + 1) - n_teachers
    trailing = difference_tail(np.abs(leads) / scale)
    ones = np.where(leads >= 0, 1 - trailing, trailing)
    zeros = np.where(leads >= 0, trailing, 1 - trailing)
    return np.stack([zeros, ones], axis=1)


def lnmax_noisy_counts_delta(scale: float, epsilon: float) -> float:
    """Least delta of the vector of noisy counts at ``epsilon``, rounded up: any K and C.

    The label is a function of that vector, so the label is (epsilon, delta)-DP as well. Theorem:
    delta = 1 - e^(-w/2) (1 + w/4) with w = 2/scale - epsilon >= 0, else 0. Proof: each of the two
    counts that move has privacy loss t = 1/scale with probability 1/2, -t with e^-t / 2, and
    density e^(-(t - l)/2) / 4 at l in (-t, t); so E max(0, 1 - e^(s - loss)) = 1 - e^((s - t)/2)
    for |s| <= t, and taking the expectation of that at s = epsilon - (the other count's loss)
    gives the formula. Raises ValueError for scale not finite and > 0, or epsilon < 0.
    """
    check_scale(scale)
    if not epsilon >= 0:
        raise ValueError(f"epsilon = {epsilon}: must be a number >= 0")
    half = (2 / scale - epsilon) / 2
    if half <= 0:
        return 0.0 if epsilon >= 2 / scale * (1 + 2**-50) else 2.0**-48 / scale
    # 1 - e^-h - (h/2) e^-h; both parts are exact to a few units, as is h to 1/scale's.
    value = -math.expm1(-half) - half / 2 * math.exp(-half)
    return min(1.0, value + 2.0**-48 * (half + 1 / scale))


def lnmax_scale(
    epsilon: float, delta: float, *, method: str, n_teachers: int | None = None
) -> float:
    """Least scale with which one LNMax label is proven (epsilon, delta)-DP, rounded up.

    ``pure``: 2 / epsilon, PATE 2017's guarantee, which needs no delta. ``improved_rdp``: by the
    Rényi bounds of `pate.lnmax_accounting.lnmax_independent_rdp` and the conversion of Canonne,
    Kamath & Steinke (2020), Proposition 12. ``noisy_counts``: by :func:`lnmax_noisy_counts_delta`,
    exactly for what is added to the counts. These three serve any number of teachers and classes.
    ``exact``: two classes and ``n_teachers`` = K: by the audit of :func:`lnmax_matrix` (up to a
    grid of relative step 1 % or so, then bisection). Raises ValueError for an unknown method,
    epsilon not finite and > 0, delta outside [0, 1), and ``exact`` without n_teachers.
    """
    checks.finite(epsilon=epsilon, above=0)
    checks.probability(delta=delta)
    if method not in METHODS:
        raise ValueError(f"method = {method!r}: must be one of {', '.join(METHODS)}")
    if delta == 1:
        raise ValueError("delta = 1: must be in [0, 1)")
    pure = math.nextafter(2 / epsilon, math.inf)
    if method == "pure" or (method in ("improved_rdp", "noisy_counts") and delta == 0):
        return pure
    if method == "improved_rdp":
        # No worse than the pure guarantee, from which the search starts.
        return min(pure, least(lambda b: _rdp_epsilon(b, delta) <= epsilon, 2 * pure))
    if method == "noisy_counts":
        high = pure * (1 + 2**-40)  # from where delta is proven to be 0
        return least(lambda b: lnmax_noisy_counts_delta(b, epsilon) <= delta, high)
    if n_teachers is None:
        raise ValueError("n_teachers = None: method 'exact' needs the number of teachers")

    def holds(scale: float, K: int) -> bool:
        errors = {"relative_error": RELATIVE_ERROR, "absolute_error": ABSOLUTE_ERROR}
        # Further leads have 0 and 1 as floats before and after a move, as the last ones here do.
        listed = min(K, K % 2 + 2 * math.ceil(_UNDERFLOW * scale))
        matrix = lnmax_matrix(listed, scale)
        return exact_delta(matrix, two_class_pairs(listed), epsilon, **errors) <= delta

    # The narrowest majority alone is monotone in the scale; below its least scale nothing holds.
    high = pure * (1 + 1e-9)
    while not holds(high, n_teachers):  # delta = 0 and underflow: a proof needs a little more
        if high > 1e6 * pure:
            raise ValueError(f"delta = {delta}: no scale is proven; probabilities underflow")
        high *= 2
    low = least(lambda scale: holds(scale, 2 - n_teachers % 2), high)
    return least_holding(lambda scale: holds(scale, n_teachers), low * (1 - 1e-9), high)


def _rdp_epsilon(scale: float, delta: float) -> float:
    return rdp_to_dp(ORDERS, lnmax_independent_rdp(scale, ORDERS), delta, "improved")[0]


scale_of_one = lru_cache(maxsize=1024)(lnmax_scale)
