"""PATE's noisy thresholds: Confident-GNMax (Algorithm 1) and Interactive-GNMax (Algorithm 2).

counts: votes per class, integers (queries, classes), every row adding up to the teachers. Labels
are int64, -1 for no answer. Renyi bounds hold for seeded and secure noise, everything else has its
own account (docs/discrete-noise.md).
"""

import numpy as np
from numpy.typing import NDArray

from private_ensembles.mechanisms.checks.checked import CheckedNoise
from private_ensembles.pate.consensus import (
    student_excess,
)


def plurality(counts: NDArray, parameters: CheckedNoise, secure: bool) -> NDArray:
    """Return the votes of the largest class, (queries,)."""
    return counts.max(axis=1)


def student(counts: NDArray, parameters: CheckedNoise, secure: bool) -> NDArray:
    """Return max_j (n_j - K p_j), for a student with the same scores on every query, two classes.

    K p_j is rounded if noise is secure. A label that is reinforced is the student's own, known
    before, so that it says "no answer". Raises ValueError for more classes.
    """
    if counts.shape[1] != 2:
        raise ValueError(f"counts of {counts.shape[1]} classes: a student's score is of two")
    scores = np.array([1 - parameters.score, parameters.score])
    return student_excess(counts, np.broadcast_to(scores, counts.shape), whole=secure)
