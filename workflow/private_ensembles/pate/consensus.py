"""What a noisy threshold looks at, and what its arguments must be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks

NO_ANSWER = -1


def student_excess(
    counts: NDArray[np.int64], scores: NDArray[np.float64], *, whole: bool = False
) -> NDArray:
    """max_j (n_j - M p_j), (queries,), of M teachers; whole: with M p_j rounded."""
    expected = counts.sum(axis=1, keepdims=True) * scores
    return (counts - (np.rint(expected).astype(np.int64) if whole else expected)).max(axis=1)


def check_scores(scores: ArrayLike, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """scores as float64; ValueError unless they are distributions, one per query of counts."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != counts.shape:
        raise ValueError(f"scores: shape {scores.shape} must be that of counts, {counts.shape}")
    if not ((scores >= 0).all() and (np.abs(scores.sum(axis=1) - 1) <= 1e-5).all()):
        raise ValueError("scores: every row must be >= 0 and sum to 1")
    return scores


def check_confidence(confidence: float) -> float:
    """Return confidence; ValueError unless it is in [0, 1]."""
    checks.probability(confidence=confidence)
    return float(confidence)


def check_threshold(threshold: float) -> float:
    """Return the threshold as a float; ValueError unless it is finite."""
    checks.finite(threshold=threshold)
    return float(threshold)


def check_cap(name: str, cap: int | None) -> int | None:
    """Return a cap, None for none; ValueError unless it is None or an integer >= 0."""
    if cap is None:
        return None
    checks.integer(at_least=0, **{name: cap})
    return int(cap)
