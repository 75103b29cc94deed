"""The tail of the difference of two Laplace variables, which decides between two noisy counts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def difference_tail(gap: ArrayLike) -> NDArray[np.float64]:
    """Return Pr[the difference of two standard Laplace variables exceeds a gap].

    It is (2 + x) / (4 e^x) for a gap x >= 0.

    Args:
        gap: in units of the noise's scale, >= 0, any shape.

    Returns:
        The probabilities, of the same shape.

    References:
        PATE 2017, Lemma 4.
    """
    gap = np.asarray(gap, dtype=np.float64)
    with np.errstate(under="ignore"):
        return (2 + gap) * np.exp(-gap) / 4


def log_difference_tail(gap: ArrayLike) -> NDArray[np.float64]:
    """Return the logarithm of :func:`difference_tail`, also where that underflows."""
    gap = np.asarray(gap, dtype=np.float64)
    return np.log((2 + gap) / 4) - gap
