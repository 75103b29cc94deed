"""How likely a label of bagged teachers is: SAA (one partition), DPBag and DPBag- (several)."""

import numpy as np

from private_ensembles import checks
from private_ensembles.noise.laplace import difference_tail


def ones_probability(gap, noise):
    """Pr[label = 1] at n_1 - n_0 = gap, exact; same shape as gap. noise: lambda, the inverse
    scale of the Laplace noise on both counts, in votes of one partition.

    Raises ValueError for noise that is not above 0.
    """
    checks.finite(noise=noise, above=0)
    y = noise * np.asarray(gap, np.float64)
    tail = difference_tail(np.abs(y))  # the smaller of the two probabilities
    return np.where(y >= 0, 1 - tail, tail)
