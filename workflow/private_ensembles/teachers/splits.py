"""Splits of trees that were fitted in single precision, for all queries at once."""

import numpy as np


def columns_of(features):
    """Records (Q, d) by column, as a tree compares them: float32 (d, Q)."""
    return np.asarray(features, np.float32).T.copy()


def single_below(thresholds):
    """The largest numbers of single precision that are not above some float64 thresholds.

    A number of single precision is at most a threshold if it is at most that.

    >>> single_below(np.array([0.5, 0.1])) <= np.array([0.5, 0.1])
    array([ True,  True])
    """
    single = thresholds.astype(np.float32)
    return np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
