"""GNMax on two classes with discrete Gaussian noise, as `noise: secure` draws it: exact accounts.

Moving one vote changes two counts by 1, and N_Z(0, sigma^2) has the Gaussian's Rényi bound
(Canonne, Kamath & Steinke 2020, Proposition 5): (lambda, lambda / sigma^2) as in PATE, so a sigma
by Rényi bounds serves. One by the analytic Gaussian mechanism does not by itself: see
`sufficient_sigma`.
"""

import math

import numpy as np

from private_ensembles.pate.gnmax import check_sigma

# Relative error granted to each probability below (measured: some 1e-15; the exponents stay below
# 500 in size, and an exponent's rounding weighs as much as its size).
_ERROR = 1e-11
# Standard deviations of the lead that are summed; what lies beyond is below e^-300.
_REACH = 25


def label_probability(n_teachers: int, sigma: float) -> np.ndarray:
    """Return Pr[label 1 | n of K teachers vote 1] for n = 0..K, shape (K+1,)."""
    difference, weights = _noise_of_lead(sigma, n_teachers)
    lead = 2 * np.arange(n_teachers + 1)[:, None] - n_teachers + difference
    return ((lead > 0) @ weights) + ((lead == 0) @ weights) / 2


def sufficient_sigma(sigma: float, epsilon: float, delta: float) -> float:
    """Return the first sigma, from the given one upwards, proven for a label.

    The label depends on the noisy lead only, which one moved vote moves by 2; `lead_delta` bounds
    what that costs exactly. Large sigmas are returned as they are or with a factor of 1 + 1e-6 or
    so: there, discrete and continuous noise hardly differ.
    """
    step, found = 0.0, sigma
    while lead_delta(found, epsilon) > delta:
        step = max(1e-6, 2 * step)
        found = sigma * (1 + step)
    return found


def lead_delta(sigma: float, epsilon: float) -> float:
    """Return an upper bound, tight within 1e-9, on the delta of one GNMax label at epsilon.

    The noise of the lead is the difference D of two N_Z(0, sigma^2), and moving a vote moves the
    lead by 2: delta = sum over d of max(0, Pr[D = d] - e^epsilon Pr[D = d + 2]).
    """
    _, weights = _noise_of_lead(sigma, 2)
    here, there = weights[:-2] * (1 + _ERROR), weights[2:] * (1 - _ERROR)
    with np.errstate(over="ignore"):
        excess = here - math.exp(min(epsilon, 700.0)) * there
    tail = math.exp(-300)
    return float(np.maximum(excess, 0).sum() * (1 + _ERROR) + tail)


def _noise_of_lead(sigma: float, margin: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values d of D, ascending, and Pr[D = d].

    Completing the square in the convolution, Pr[D = d] is proportional to exp(-d^2 / (4 sigma^2))
    times the sum over x of exp(-(x - d/2)^2 / sigma^2), which depends on the parity of d only.
    """
    check_sigma(sigma)
    reach = math.ceil(_REACH * math.sqrt(2) * sigma) + margin + 2
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    parity = [math.fsum(np.exp(-np.square((x - shift) / sigma))) for shift in (0.0, 0.5)]
    weights = np.exp(-np.square(x / (2 * sigma))) * np.where(x % 2 == 0, *parity)
    return x.astype(np.int64), weights / math.fsum(weights)
