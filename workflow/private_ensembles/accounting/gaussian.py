"""The exact privacy of one Gaussian mechanism (Balle and Wang 2018, Theorem 8), rounded up."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr

from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import upper_bound

# SciPy's normal distribution function is granted this relative error (it documents below 4e-14).
_NDTR_ERROR = 1e-12


@upper_bound
def hockey_stick_divergence(
    upper: ArrayLike, lower: ArrayLike, epsilon: ArrayLike
) -> NDArray[np.float64]:
    """Return an upper bound on Phi(upper) - e^epsilon Phi(lower), elementwise.

    Args:
        upper: Argument of the first normal distribution function, any shape.
        lower: Argument of the second one, of the same shape.
        epsilon: Any real numbers, of the same shape or one for all.
    """
    # Arguments and exponents are rounded, too, which weighs as much as their size in the tails.
    log_lower = log_ndtr(lower)
    error = _NDTR_ERROR * (1 + np.abs(log_lower) + np.abs(epsilon))
    return ndtr(upper) * (1 + _NDTR_ERROR * (1 + np.square(upper))) - np.exp(
        epsilon + log_lower
    ) * (1 - error)


@upper_bound
def gaussian_delta(mu: float, epsilon: ArrayLike) -> NDArray[np.float64]:
    """Return the delta of the Gaussian mechanism at each epsilon, rounded up.

    The noise is N(0, 1), and neighbours differ by mu: delta is
    Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu).

    Args:
        mu: Sensitivity over the standard deviation of the noise, > 0.
        epsilon: Any real numbers, any shape.

    Raises:
        ValueError: mu is not finite and > 0.

    References:
        Balle and Wang 2018, Theorem 8.
    """
    checks.check_finite(mu=mu, above=0)
    epsilon = np.asarray(epsilon, dtype=np.float64)
    upper, lower = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    # An argument's rounding weighs nothing right of 0: what the divergence grants it is taken back.
    granted = _NDTR_ERROR * np.square(np.maximum(upper, 0.0)) * ndtr(upper)
    underflow = 1e-300
    return hockey_stick_divergence(upper, lower, epsilon) - granted + underflow
