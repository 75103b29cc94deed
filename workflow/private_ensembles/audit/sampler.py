"""A lower bound on the privacy loss of a mechanism that can only be run.

The mechanism answers `runs` times on each of two neighbouring inputs. For every event the number
of times it happens is binomial, so Clopper and Pearson's (1934) intervals bound its probabilities,
and Bonferroni's correction over all intervals used makes them hold at once. A bound above what is
claimed therefore proves an error of implementation (or of proof), up to the stated error rate; a
bound below proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from private_ensembles import checks

# One call draws this many labels, so that memory stays bounded.
_BATCH = 1 << 18


@dataclass(frozen=True)
class LowerBound:
    """With probability `confidence` over the runs, the true value is at least `value`.

    first, second: 0 and 1 for the direction in which it was found; event: the labels; successes:
    how often the event happened on first and on second, of `runs` each.
    """

    value: float
    confidence: float
    first: int
    second: int
    event: tuple[int, ...]
    successes: tuple[int, int]
    runs: int


def clopper_pearson(successes: ArrayLike, runs: int, error: float) -> tuple[NDArray, NDArray]:
    """One-sided bounds (lower, upper) on binomial probabilities, each wrong with at most ``error``.

    successes: integers in 0..runs, any shape. Raises ValueError for runs < 1, successes out of
    range, or error outside (0, 1).
    """
    k = np.asarray(successes, dtype=np.float64)
    if runs < 1 or not np.all((k >= 0) & (k <= runs)):
        raise ValueError(f"successes: must be in 0..runs = {runs}, and runs at least 1")
    checks.probability(error=error, zero=False, one=False)
    lower = np.where(k > 0, betaincinv(np.maximum(k, 1), runs - k + 1, error), 0.0)
    upper = np.where(k < runs, betaincinv(k + 1, np.maximum(runs - k, 1), 1 - error), 1.0)
    # SciPy's inverse is good to some 1e-12 relative; a bound gives that much away.
    return lower * (1 - 1e-9), np.minimum(1.0, upper * (1 + 1e-9))


def check_levels(delta: float, confidence: float) -> None:
    """Raise ValueError unless 0 <= delta < 1 and 0 < confidence < 1."""
    checks.probability(delta=delta, one=False)
    checks.probability(confidence=confidence, zero=False, one=False)


def epsilon_lower_bound(
    sample: Callable,
    first: ArrayLike,
    second: ArrayLike,
    delta: float,
    *,
    labels: Sequence[int],
    runs: int,
    generator: np.random.Generator,
    confidence: float = 0.999,
) -> LowerBound:
    """Bound from below the epsilon with which the mechanism can be (epsilon, delta)-DP.

    sample(histogram, runs, generator): ``runs`` independent labels on one input. labels: all that
    can come out (-1, no answer, among them if it can). first, second: two neighbouring inputs. The
    events are all single labels and all complements of one. value = max(0, log((lower(P) - delta) /
    upper(P'))). Raises ValueError for delta outside [0, 1), confidence outside (0, 1), fewer than
    two labels, runs < 1, and for labels that sample returns though they are not listed.
    """
    check_levels(delta, confidence)

    def bound(lower: float, upper: float) -> float:
        return math.log((lower - delta) / upper) if lower > delta else 0.0

    return _bound(sample, (first, second), bound, labels, runs, generator, confidence)


def delta_lower_bound(
    sample: Callable,
    first: ArrayLike,
    second: ArrayLike,
    epsilon: float,
    *,
    labels: Sequence[int],
    runs: int,
    generator: np.random.Generator,
    confidence: float = 0.999,
) -> LowerBound:
    """Bound from below the delta with which the mechanism can be (epsilon, delta)-DP.

    As :func:`epsilon_lower_bound`; value = max(0, lower(P) - e^epsilon upper(P')). Raises
    ValueError for epsilon < 0 or not finite, and as there.
    """
    checks.finite(epsilon=epsilon, at_least=0)

    def bound(lower: float, upper: float) -> float:
        return lower - math.exp(min(epsilon, 700.0)) * upper

    return _bound(sample, (first, second), bound, labels, runs, generator, confidence)


def events(labels: Sequence[int]) -> list[tuple[int, ...]]:
    """All single labels and all complements of one, each once."""
    labels = tuple(sorted(set(labels)))
    single = {(label,) for label in labels}
    return sorted(single | {tuple(x for x in labels if x != label) for label in labels})


def _bound(sample, inputs, bound, labels, runs, generator, confidence) -> LowerBound:
    check_levels(0.0, confidence)
    if len(set(labels)) < 2:
        raise ValueError(f"labels = {list(labels)}: must hold at least two")
    checks.integer(runs=runs, at_least=1)
    counted = [_count(sample, histogram, labels, int(runs), generator) for histogram in inputs]
    tested = events(labels)
    successes = np.zeros((len(counted), len(tested)), dtype=np.int64)
    for i, counts in enumerate(counted):
        for j, event in enumerate(tested):
            successes[i, j] = sum(counts[label] for label in event)
    # Every event has a lower and an upper bound on both inputs.
    lower, upper = clopper_pearson(successes, runs, (1 - confidence) / (4 * len(tested)))
    best = LowerBound(0.0, confidence, 0, 1, (), (0, 0), int(runs))
    for i, event in enumerate(tested):
        for a, b in ((0, 1), (1, 0)):
            value = float(bound(lower[a, i], upper[b, i]))
            if value > best.value:
                seen = (int(successes[a, i]), int(successes[b, i]))
                best = LowerBound(value, confidence, a, b, event, seen, int(runs))
    return best


def _count(sample, histogram, labels, runs, generator) -> dict[int, int]:
    counts = dict.fromkeys(labels, 0)
    for start in range(0, runs, _BATCH):
        size = min(_BATCH, runs - start)
        drawn = np.asarray(sample(np.asarray(histogram), size, generator))
        if drawn.shape != (size,):
            raise ValueError(f"sample: returned shape {drawn.shape}: must be ({size},)")
        for value, number in zip(*np.unique(drawn, return_counts=True), strict=True):
            if int(value) not in counts:
                raise ValueError(f"labels = {list(labels)}: sample also returns {int(value)}")
            counts[int(value)] += int(number)
    return counts
