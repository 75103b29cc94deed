"""How likely Confident-GNMax answers a query, exactly: no simulation.

Computed from votes without noise: not for release. Noise is the continuous Gaussian.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from private_ensembles.pate.gnmax import check_sigma
from private_ensembles.pate.mechanisms import check_threshold
from private_ensembles.pate.rdp import check_counts


def answer_probability(counts: ArrayLike, threshold: float, sigma1: float) -> NDArray[np.float64]:
    """Pr[a query passes the noisy threshold], (queries,): Phi((max_j n_j - threshold) / sigma1).

    Raises ValueError as the sampler `mechanisms.confident_gnmax`.
    """
    counts, sigma1 = check_counts(counts), check_sigma(sigma1)
    return ndtr((counts.max(axis=1) - check_threshold(threshold)) / sigma1)
