"""The tail of the difference of two Laplace variables, which decides between two noisy counts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def difference_tail(gap: ArrayLike) -> NDArray[np.float64]:
    """Pr[the difference of two standard Laplace variables exceeds gap >= 0]: (2 + x) / (4 e^x).

    gap: in units of the scale, any shape; its shape is returned. PATE 2017, Lemma 4.
    """
    gap = np.asarray(gap, dtype=np.float64)
    with np.errstate(under="ignore"):
        return (2 + gap) * np.exp(-gap) / 4


def log_difference_tail(gap: ArrayLike) -> NDArray[np.float64]:
    """log of :func:`difference_tail`, also if that underflows."""
    gap = np.asarray(gap, dtype=np.float64)
    return np.log((2 + gap) / 4) - gap
