"""A lower bound on the privacy loss of a mechanism that can only be run.

The mechanism answers `runs` times on each of two neighbouring inputs. For every event the number
of times it happens is binomial, so Clopper and Pearson's (1934) intervals bound its probabilities,
and Bonferroni's correction over all intervals used makes them hold at once. A bound above what is
claimed therefore proves an error of implementation (or of proof), up to the stated error rate; a
bound below proves nothing.

Of anybody's mechanism on votes, a first round of runs on many histograms chooses the pair of
neighbours that looks worst; a second round, of fresh runs on that pair alone, bounds its epsilon.
So the choice costs no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from private_ensembles.audit.histograms import leading_pairs, vote_neighbours
from private_ensembles.base import checks

# One call draws this many labels, so that memory stays bounded.
_BATCH = 1 << 18
# The first round's share of all runs, and how many histograms it looks at at most.
_FIRST_ROUND, _MOST_HISTOGRAMS, _LEAST_RUNS, _MOST_RUNS = 0.5, 2_000, 4, 10**9


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
    checks.check_probability(error=error, zero=False, one=False)
    lower = np.where(k > 0, betaincinv(np.maximum(k, 1), runs - k + 1, error), 0.0)
    upper = np.where(k < runs, betaincinv(k + 1, np.maximum(runs - k, 1), 1 - error), 1.0)
    # SciPy's inverse is good to some 1e-12 relative; a bound gives that much away.
    return lower * (1 - 1e-9), np.minimum(1.0, upper * (1 + 1e-9))


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
    _check_levels(delta, confidence)

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
    checks.check_finite(epsilon=epsilon, at_least=0)

    def bound(lower: float, upper: float) -> float:
        return lower - math.exp(min(epsilon, 700.0)) * upper

    return _bound(sample, (first, second), bound, labels, runs, generator, confidence)


def events(labels: Sequence[int]) -> list[tuple[int, ...]]:
    """All single labels and all complements of one, each once."""
    labels = tuple(sorted(set(labels)))
    single = {(label,) for label in labels}
    return sorted(single | {tuple(x for x in labels if x != label) for label in labels})


def _bound(sample, inputs, bound, labels, runs, generator, confidence) -> LowerBound:
    _check_levels(0.0, confidence)
    if len(set(labels)) < 2:
        raise ValueError(f"labels = {list(labels)}: must hold at least two")
    checks.check_integer(runs=runs, at_least=1)
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


def _check_levels(delta: float, confidence: float) -> None:
    checks.check_probability(delta=delta, one=False)
    checks.check_probability(confidence=confidence, zero=False, one=False)


@dataclass(frozen=True)
class SamplerBound:
    """With probability `confidence` over the runs, epsilon at delta is at least `epsilon`.

    first, second: the histograms between which it was found; labels: the event, likelier on first;
    successes: how often it happened, of `runs` each in the second round. histograms, pairs: how
    many the first round chose among; complete: whether those were all.
    """

    epsilon: float
    delta: float
    confidence: float
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    labels: tuple[int, ...]
    successes: tuple[int, int]
    runs: int
    histograms: int
    pairs: int
    complete: bool


def audit_sampler(
    sample: Callable[[NDArray, np.random.Generator], NDArray],
    n_teachers: int,
    n_classes: int,
    delta: float,
    generator: np.random.Generator,
    *,
    neighbours: str = "moved_vote",
    runs: int = 1_000_000,
    confidence: float = 0.999,
) -> SamplerBound:
    """Bound from below the epsilon at delta of a mechanism that draws labels.

    sample: counts (n, C) and a generator -> (n,) independent labels, 0..C-1, -1 for no answer. A
    sampler that takes its noise from elsewhere may leave the generator alone. runs: labels drawn in
    all, four at least for every histogram. Of more than 2,000 histograms the first round looks at
    those of `leading_pairs` (moved_vote). A bound above a claim refutes it, at the confidence; one
    below proves nothing. Raises ValueError like `epsilon_lower_bound` and `vote_neighbours`.

    >>> def respond(counts, generator):  # one teacher's vote, told rightly 3 times in 4
    ...     return np.where(generator.random(len(counts)) < 0.75, *counts.T[::-1])
    >>> bound = audit_sampler(respond, 1, 2, 0.0, np.random.default_rng(0), runs=100_000)
    >>> 1.0 < bound.epsilon < 1.0986  # ln 3
    True
    """
    rows, pairs, complete = _candidates(n_teachers, n_classes, neighbours)
    least = _LEAST_RUNS * len(rows)
    if isinstance(runs, bool) or int(runs) != runs or not least <= runs <= _MOST_RUNS:
        raise ValueError(
            f"runs = {runs}: must be an integer >= {least}, {_LEAST_RUNS} for each of {len(rows)} "
            f"histograms, and <= {_MOST_RUNS:,}"
        )
    _check_levels(delta, confidence)
    labels = tuple(range(-1, n_classes))

    def draw(counts: NDArray, number: int, source: np.random.Generator) -> NDArray:
        drawn = np.asarray(sample(np.tile(counts, (number, 1)), source))
        if drawn.dtype.kind not in "iu":
            raise ValueError(f"sampler: type {drawn.dtype}: must be labels, an integer type")
        return drawn

    each = int(_FIRST_ROUND * runs) // len(rows)
    shares = _shares(draw, rows, each, labels, generator)
    first, second = pairs[_most_suspect_pair(shares, pairs, each, delta)]
    left = (int(runs) - each * len(rows)) // 2
    bound = epsilon_lower_bound(
        draw,
        rows[first],
        rows[second],
        delta,
        labels=labels,
        runs=left,
        generator=generator,
        confidence=confidence,
    )
    ends = rows[first], rows[second]
    return SamplerBound(
        epsilon=bound.value,
        delta=delta,
        confidence=confidence,
        first=ends[bound.first],
        second=ends[bound.second],
        labels=bound.event,
        successes=bound.successes,
        runs=left,
        histograms=len(rows),
        pairs=len(pairs),
        complete=complete,
    )


def _candidates(n_teachers, n_classes, neighbours) -> tuple[NDArray, NDArray, bool]:
    votes = n_teachers + (neighbours == "missing_vote")
    if math.comb(votes + n_classes - 1, n_classes - 1) > _MOST_HISTOGRAMS:
        if neighbours != "moved_vote":
            raise ValueError(
                f"n_teachers, n_classes = {n_teachers}, {n_classes}: must give at most "
                f"{_MOST_HISTOGRAMS:,} histograms for a sampler and {neighbours}"
            )
        return *leading_pairs(n_teachers, n_classes), False
    return *vote_neighbours(n_teachers, n_classes, neighbours), True


def _shares(draw, rows, runs_per_histogram, labels, generator) -> NDArray[np.float64]:
    """How often each label came out on each histogram, half a run added to every count."""
    shares = np.empty((len(rows), len(labels)))
    for row, counts in enumerate(rows):  # the sampler is asked for one input at a time
        drawn = draw(counts, runs_per_histogram, generator)
        if drawn.shape != (runs_per_histogram,) or not np.isin(drawn, labels).all():
            raise ValueError(
                f"sampler: on counts {counts.tolist()} gives shape {drawn.shape} and labels "
                f"{sorted(set(drawn.ravel().tolist()))[:5]}: must be ({runs_per_histogram},) in {list(labels)}"
            )
        shares[row] = (drawn[:, None] == np.array(labels)).sum(axis=0) + 0.5
    return shares / shares.sum(axis=1, keepdims=True)


def _most_suspect_pair(
    shares: NDArray, pairs: NDArray, runs_per_histogram: int, delta: float
) -> int:
    """The pair with the largest log-ratio of a label's shares, less two of its standard errors."""
    best = np.full(len(pairs), -np.inf)
    for event in (shares, 1 - shares):
        error = np.sqrt((1 / event - 1) / runs_per_histogram)
        for a, b in (pairs.T, pairs.T[::-1]):
            with np.errstate(divide="ignore", invalid="ignore"):
                seen = np.log(np.maximum(event[a] - delta, 0.0) / event[b])
            scores = seen - 2 * np.hypot(error[a], error[b])
            best = np.maximum(best, np.nan_to_num(scores, nan=-np.inf).max(axis=1))
    return int(best.argmax())
