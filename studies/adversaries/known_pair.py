"""What labels tell apart if everything is known but which of two lists of votes they come from.

An adversary knows the votes on every query with one record and with another in its place, and
sees one label for each query. What that tells is exact, because the law of a label is known; what
an attack shows is a lower bound, from runs of the sampler that the release uses. Labels of
different queries are independent, so the most powerful test of all is the sum of their
log-likelihood ratios (Neyman and Pearson 1933).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.privacy_loss_distribution import (
    PrivacyLossDistribution,
    dominating_masses,
)
from private_ensembles.audit.sampler import clopper_pearson
from private_ensembles.base import checks
from private_ensembles.base.rounding import UNIT_ROUNDOFF

# The grid has so many points per largest finite loss of a label; larger losses are not followed.
_POINTS, _MOST_LOSS = 200, 30.0
# This is far above what a sum of positive products of many factors loses by rounding.
_SLACK = 1e-9
# An attack may choose from these thresholds, as shares of its first runs.
_SHARES = 1 - np.geomspace(1e-4, 0.9, 60)


def pair_epsilon(
    first: ArrayLike,
    second: ArrayLike,
    delta: float,
    *,
    relative_error: float = 0.0,
    absolute_error: float = 0.0,
) -> float:
    """Return the epsilon at delta between two known lists of independent labels, in both orders.

    An upper bound in floating point. Each label's pair is replaced by one on a grid of losses that
    dominates it ("connect the dots", Doroshenko et al. 2022), and the pairs' product dominates the
    product (Zhu, Dong and Wang 2022, Theorem 10). Masses are added up directly, without Fourier
    transforms.

    Args:
        first, second: (queries, outcomes), Pr[outcome] on either list, each row adding up to 1.
        delta: in (0, 1): of the grid some 1e-15 per label is lost to rounding.
        relative_error, absolute_error: of the probabilities, as in `audit.divergence`.

    Returns:
        epsilon >= 0, rounded up; infinite if an outcome that is possible on one list only is
        likelier than delta.

    Raises:
        ValueError: for other shapes, probabilities outside [0, 1], and delta out of range.

    >>> label = np.array([[0.75, 0.25]])  # at most ln 3 = 1.0986, and three labels 3 times that
    >>> round(pair_epsilon(label, label[:, ::-1], 1e-9), 3)
    1.099
    >>> three = np.repeat(label, 3, axis=0)
    >>> exact = math.log(27 * (1 - 1e-3 / 0.75**3))  # only three likely outcomes lose so much
    >>> exact <= pair_epsilon(three, three[:, ::-1], 1e-3) <= exact + 1e-4
    True
    """
    first, second = _check_distributions(first, second)
    checks.check_probability(delta=delta, zero=False, one=False)
    errors = relative_error, absolute_error
    return max(
        _one_sided_epsilon(first, second, delta, *errors),
        _one_sided_epsilon(second, first, delta, *errors),
    )


def _one_sided_epsilon(
    first: NDArray, second: NDArray, delta: float, relative: float, absolute: float
) -> float:
    """Return epsilon at delta of Pr[. | first] against Pr[. | second]."""
    different = (first != second).any(axis=1)  # equal labels tell nothing
    first, second = first[different], second[different]
    if not len(first):
        return 0.0
    slack = 8 * UNIT_ROUNDOFF
    above = (first * (1 + relative) + absolute) * (1 + slack)
    below = np.maximum(second * (1 - relative) - absolute, 0.0) * (1 - slack)
    with np.errstate(divide="ignore"):
        losses = np.abs(np.log(above) - np.log(below))
    finite = losses[np.isfinite(losses) & (losses <= _MOST_LOSS)]
    interval = max(float(finite.max(initial=0.0)), 1e-9) / _POINTS
    grid = np.arange(-_POINTS - 1, _POINTS + 2) * interval
    masses, leaks, whole = np.ones(1), [], 1.0
    for p, q in zip(above, below, strict=True):  # each widens the grid of all before it
        # Rounding e^x down lowers no delta; the sum is of few positive terms.
        growth = np.exp(grid) * (1 - slack)
        deltas = np.maximum(p - growth[:, None] * q, 0.0).sum(axis=1) * (1 + slack * len(p))
        deltas = np.minimum.accumulate(np.minimum(deltas, 1.0))
        label_masses, leak = dominating_masses(deltas, interval)
        masses = np.convolve(masses, label_masses)
        leaks.append(leak)
        whole *= max(1.0, math.fsum(label_masses) + leak)
    total = PrivacyLossDistribution(
        masses * (1 + _SLACK),
        -(len(masses) // 2),
        interval,
        math.fsum(leaks) * whole * (1 + _SLACK),
    )
    return total.epsilon(delta, interval / 100)


@dataclass(frozen=True)
class AttackResult:
    """What one attack showed of epsilon at delta, at a confidence that holds for all together.

    All bounds are 0 if no event was likelier on either list.

    Attributes:
        lower: epsilon is at least this, with that confidence.
        point: what the shares themselves say.
        upper: with that confidence this event shows no more (another event may).
        successes: how often the labels were beyond the threshold, on the list on which that is
            likelier and on the other.
        runs: on each list.
        confidence: of `lower` and of `upper`, each.
    """

    lower: float
    point: float
    upper: float
    successes: tuple[int, int]
    runs: int
    confidence: float


def attack(
    on_first: ArrayLike,
    on_second: ArrayLike,
    delta: float,
    *,
    threshold: float | None = None,
    confidence: float = 0.95,
) -> AttackResult:
    """Return what a test by scores shows of epsilon: labels' scores beyond a threshold.

    The first half of the runs chooses the threshold and the direction, the second half counts what
    is beyond it, and Clopper and Pearson's bounds of both probabilities hold at once. So the choice
    costs no confidence, whatever the scores are; log-likelihood ratios are the best ones.

    Args:
        on_first, on_second: (runs,) scores of independent runs on either list, high if the first
            is likelier; as many of each, at least 4.
        delta: in [0, 1).
        threshold: fixed before any run was seen, so that all runs count; the first list is taken
            to be likelier beyond it.
        confidence: in (0, 1); of `lower` and of `upper`, each.

    Raises:
        ValueError: for unequal or too few runs, scores that are NaN, and numbers out of range.

    >>> generator = np.random.default_rng(0)
    >>> first, second = (generator.random(20_000) < probability for probability in (0.75, 0.25))
    >>> result = attack(first, second, 0.0)
    >>> 1.0 < result.lower < math.log(3) < result.upper < 1.2
    True
    """
    scores = np.stack([np.asarray(on_first, dtype=float), np.asarray(on_second, dtype=float)])
    if scores.ndim != 2 or scores.shape[1] < 4:
        raise ValueError(
            f"on_first, on_second: shape {scores.shape[1:]}: must be (runs,), 4 or more"
        )
    if np.isnan(scores).any():
        raise ValueError("on_first, on_second: NaN: must be numbers")
    checks.check_probability(delta=delta, one=False)
    checks.check_probability(confidence=confidence, zero=False, one=False)
    if threshold is not None:
        event, counted = (0, threshold), scores
    else:
        half = scores.shape[1] // 2
        event, counted = _best_event(scores[:, :half], delta), scores[:, -half:]
    runs = counted.shape[1]
    if event is None:
        return AttackResult(0.0, 0.0, 0.0, (0, 0), runs, confidence)
    likelier, threshold = event
    beyond = counted >= threshold if likelier == 0 else counted < threshold
    hits = [int(beyond[side].sum()) for side in (likelier, 1 - likelier)]
    low, high = clopper_pearson(hits, runs, (1 - confidence) / 2)
    shares = np.array(hits) / runs
    return AttackResult(
        _observed_epsilon(low[0], high[1], delta),
        _observed_epsilon(shares[0], shares[1], delta),
        _observed_epsilon(high[0], low[1], delta),
        (hits[0], hits[1]),
        runs,
        confidence,
    )


def _best_event(scores: NDArray, delta: float) -> tuple[int, float] | None:
    """Return the side that is likelier and the threshold with the largest lower bound."""
    runs = scores.shape[1]
    thresholds = np.unique(np.quantile(scores, _SHARES, method="inverted_cdf"))
    best, event = 0.0, None
    for likelier in (0, 1):
        beyond = (scores[:, None, :] >= thresholds[:, None]).sum(axis=2)
        counts = beyond if likelier == 0 else runs - beyond
        low, high = clopper_pearson(counts, runs, 0.05)
        for index in range(len(thresholds)):
            epsilon = _observed_epsilon(low[likelier, index], high[1 - likelier, index], delta)
            if epsilon > best:
                best, event = epsilon, (likelier, float(thresholds[index]))
    return event


def _observed_epsilon(probability: float, other_probability: float, delta: float) -> float:
    if probability <= delta:
        return 0.0
    return (
        max(0.0, math.log((probability - delta) / other_probability))
        if other_probability > 0
        else math.inf
    )


def _check_distributions(first: ArrayLike, second: ArrayLike) -> tuple[NDArray, NDArray]:
    pair = [np.asarray(rows, dtype=np.float64) for rows in (first, second)]
    if pair[0].ndim != 2 or pair[0].shape != pair[1].shape or pair[0].shape[1] < 2:
        raise ValueError(
            f"first, second: shapes {pair[0].shape}, {pair[1].shape}: must be one, "
            "(queries, outcomes)"
        )
    for name, rows in zip(("first", "second"), pair, strict=True):
        if (
            not ((rows >= 0) & (rows <= 1 + 1e-9)).all()
            or (np.abs(rows.sum(axis=1) - 1) > 1e-6).any()
        ):
            raise ValueError(f"{name}: every row must be a distribution")
    return pair[0], pair[1]
