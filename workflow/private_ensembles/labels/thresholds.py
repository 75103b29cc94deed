"""What a noisy threshold looks at, checks of its arguments, and what a cap on answers leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.base import checks

NO_ANSWER = -1


def largest_disagreement(
    counts: NDArray[np.int64], scores: NDArray[np.float64], *, round_expected: bool = False
) -> NDArray:
    """Return max_j (n_j - M p_j), for M teachers and a student's scores p.

    Args:
        counts: (queries, classes) int, votes n_j for each class.
        scores: (queries, classes) float, p_j.
        round_expected: Whether M p_j is rounded, as secure noise is on whole numbers.

    Returns:
        (queries,).
    """
    expected = counts.sum(axis=1, keepdims=True) * scores
    if round_expected:
        expected = np.rint(expected).astype(np.int64)
    return (counts - expected).max(axis=1)


def check_scores(scores: ArrayLike, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return scores as float64, if they are distributions, one per query of counts.

    A row's sum may be off by 1e-5, as single precision leaves it.

    Args:
        scores: (queries, classes) float.
        counts: (queries, classes) int.

    Raises:
        ValueError: For another shape, and for rows that are no distributions.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != counts.shape:
        raise ValueError(f"scores: shape {scores.shape} must be that of counts, {counts.shape}")
    if not ((scores >= 0).all() and (np.abs(scores.sum(axis=1) - 1) <= 1e-5).all()):
        raise ValueError("scores: must be >= 0 and add up to 1 for every query")
    return scores


def check_confidence(confidence: float) -> float:
    """Return confidence as a float; raise ValueError unless it is in [0, 1]."""
    checks.check_probability(confidence=confidence)
    return float(confidence)


def check_threshold(threshold: float) -> float:
    """Return the threshold as a float; raise ValueError unless it is finite."""
    checks.check_finite(threshold=threshold)
    return float(threshold)


def check_cap(name: str, cap: int | None) -> int | None:
    """Return a cap, None for none; raise ValueError unless it is None or an integer >= 0."""
    if cap is None:
        return None
    named: dict[str, Any] = {name: cap}
    checks.check_integer(at_least=0, **named)
    return int(cap)


def capped_mean_fraction(passes: NDArray, cap: float) -> float:
    """Return E min(N, cap) / E N for N answers, as a guide for a search.

    The normal law of N's mean and variance takes the place of N's own; the plan's own numbers come
    from the exact law (`expected_answers`).

    Args:
        passes: (queries,) Pr[each query passes], independent.
        cap: The cap on answers.
    """
    mean, sd = float(passes.sum()), math.sqrt(float((passes * (1 - passes)).sum())) + 1e-12
    if mean <= 0:
        return 0.0
    z = (cap - mean) / sd
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    excess = sd * density - (cap - mean) * (1 - float(ndtr(z)))  # E max(0, N - cap)
    return max(0.0, mean - excess) / mean


def served_probability(passes: NDArray, cap: int) -> NDArray[np.float64]:
    """Return Pr[a query is among the first `cap` that pass, given that it passes], in random order.

    Given that N' others pass, a query is among the first cap with probability min(1, cap / (N' +
    1)). The law of N' comes from that of all by dividing one query out, from the end from which
    that is stable.

    Args:
        passes: (queries,) Pr[each query passes], independent.
        cap: The cap on answers.

    Returns:
        (queries,) float64.
    """
    n = len(passes)
    if cap >= n:
        return np.ones(n)
    all_pmf = pmf(passes)
    weight = np.minimum(1.0, cap / np.arange(1.0, n + 1))
    served = np.empty(n)
    for rows, forward in ((passes <= 0.5, True), (passes > 0.5, False)):
        p = passes[rows]
        others, total = np.zeros(len(p)), np.zeros(len(p))
        for k in range(n) if forward else range(n - 1, -1, -1):
            mass = all_pmf[k] if forward else all_pmf[k + 1]
            stay, step = (1 - p, p) if forward else (p, 1 - p)
            others = np.maximum((mass - step * others) / stay, 0.0)
            total += weight[k] * others
        served[rows] = total
    return np.minimum(served, 1.0)
