"""The exact privacy of one Gaussian mechanism (Balle & Wang 2018, Theorem 8), rounded up."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr

from private_ensembles.base import checks

# Relative error granted to SciPy's normal distribution function (documented: below 4e-14).
_NDTR_ERROR = 1e-12


def hockey_stick_divergence(
    upper: ArrayLike, lower: ArrayLike, epsilon: ArrayLike
) -> NDArray[np.float64]:
    """Return an upper bound on Phi(upper) - e^epsilon Phi(lower), elementwise."""
    # Arguments and exponents are rounded, too: in the tails that weighs as much as their size.
    log_lower = log_ndtr(lower)
    error = _NDTR_ERROR * (1 + np.abs(log_lower) + np.abs(epsilon))
    return ndtr(upper) * (1 + _NDTR_ERROR * (1 + np.square(upper))) - np.exp(
        epsilon + log_lower
    ) * (1 - error)


def gaussian_delta(mu: float, epsilon: ArrayLike) -> NDArray[np.float64]:
    """Return the delta at each epsilon, any real numbers, of noise N(0, 1) on what moves by mu > 0.

    Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu), rounded up. Raises
    ValueError for mu not finite and > 0.
    """
    checks.check_finite(mu=mu, above=0)
    epsilon = np.asarray(epsilon, dtype=np.float64)
    upper, lower = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    # Right of 0 an argument's rounding weighs nothing, whatever `excess` grants it there.
    granted = _NDTR_ERROR * np.square(np.maximum(upper, 0.0)) * ndtr(upper)
    underflow = 1e-300
    return hockey_stick_divergence(upper, lower, epsilon) - granted + underflow
