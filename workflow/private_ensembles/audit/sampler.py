"""A lower bound on the privacy loss of a mechanism that can only be run.

The mechanism answers `runs` times on each of two neighbouring inputs. The number of times that an
event happens is binomial, so Clopper and Pearson's (1934) intervals bound its probabilities, and
Bonferroni's correction over all intervals used makes them hold at once. A bound above what is
claimed therefore proves an error of implementation (or of proof), up to the stated error rate; a
bound below proves nothing.

For a mechanism on votes, a first round of runs on many histograms chooses the pair of neighbours
that looks worst. A second round, of fresh runs on that pair alone, bounds its epsilon, so the
choice costs no confidence.
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
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# One call draws so many labels, which bounds the memory.
_BATCH = 1 << 18
# The first round has this share of all runs, and tries at most so many histograms.
_FIRST_ROUND, _MOST_HISTOGRAMS, _LEAST_RUNS, _MOST_RUNS = 0.5, 2_000, 4, 10**9


@dataclass(frozen=True)
class LowerBound:
    """A bound that the true value reaches with probability `confidence` over the runs.

    Attributes:
        value: the bound.
        confidence: the probability that it holds.
        first: 0 or 1, the input on which the event is likelier.
        second: the other input.
        event: the labels for which the bound was found.
        successes: how often the event happened on first and on second.
        runs: of each input.
    """

    value: float
    confidence: float
    first: int
    second: int
    event: tuple[int, ...]
    successes: tuple[int, int]
    runs: int


@upper_bound
@lower_bound
def clopper_pearson(successes: ArrayLike, runs: int, error: float) -> tuple[NDArray, NDArray]:
    """Return one-sided bounds (lower, upper) on binomial probabilities.

    Args:
        successes: integers in 0..runs, any shape.
        runs: how many trials each number of successes is of.
        error: the probability with which each bound may be wrong, in (0, 1).

    Raises:
        ValueError: for runs < 1, and for successes or error out of range.

    References:
        Clopper and Pearson 1934.
    """
    k = np.asarray(successes, dtype=np.float64)
    if runs < 1 or not np.all((k >= 0) & (k <= runs)):
        raise ValueError(f"successes: must be in 0..runs = {runs}, and runs at least 1")
    checks.check_probability(error=error, zero=False, one=False)
    lower = np.where(k > 0, betaincinv(np.maximum(k, 1), runs - k + 1, error), 0.0)
    upper = np.where(k < runs, betaincinv(k + 1, np.maximum(runs - k, 1), 1 - error), 1.0)
    # SciPy's inverse has a relative error of about 1e-12, which the bounds allow for.
    return lower * (1 - 1e-9), np.minimum(1.0, upper * (1 + 1e-9))


@lower_bound
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

    The events are all single labels and all complements of one. The value is max(0, log((lower(P) -
    delta) / upper(P'))).

    Args:
        sample: (histogram, runs, generator) -> ``runs`` independent labels on one input.
        first: one input.
        second: a neighbour of it.
        delta: in [0, 1).
        labels: all that can come out, at least two; -1 stands for no answer.
        runs: of each input, >= 1.
        generator: is handed to sample.
        confidence: with which the bound holds, in (0, 1).

    Raises:
        ValueError: for arguments out of range, and for labels that sample returns though they are
            not listed.
    """
    _check_levels(delta, confidence)

    def bound(lower: float, upper: float) -> float:
        return math.log((lower - delta) / upper) if lower > delta else 0.0

    return _bound(sample, (first, second), bound, labels, runs, generator, confidence)


@lower_bound
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

    The value is max(0, lower(P) - e^epsilon upper(P')).

    Args:
        sample: as for :func:`epsilon_lower_bound`, and so are the other arguments.
        first: one input.
        second: a neighbour of it.
        epsilon: in nats, finite and >= 0.
        labels: all that can come out.
        runs: of each input.
        generator: is handed to sample.
        confidence: with which the bound holds.

    Raises:
        ValueError: for another epsilon, and as for :func:`epsilon_lower_bound`.
    """
    checks.check_finite(epsilon=epsilon, at_least=0)

    def bound(lower: float, upper: float) -> float:
        return lower - math.exp(min(epsilon, 700.0)) * upper

    return _bound(sample, (first, second), bound, labels, runs, generator, confidence)


def events(labels: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all single labels and all complements of one, each once."""
    labels = tuple(sorted(set(labels)))
    single = {(label,) for label in labels}
    complements = {tuple(other for other in labels if other != label) for label in labels}
    return sorted(single | complements)


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
    """A bound that epsilon at delta reaches with probability `confidence` over the runs.

    Attributes:
        epsilon: the bound.
        delta: as it was asked for.
        confidence: the probability that the bound holds.
        first: the histogram on which the event is likelier.
        second: its neighbour.
        labels: the event.
        successes: how often the event happened on first and on second in the second round.
        runs: of each histogram in the second round.
        histograms: how many the first round chose among.
        pairs: how many pairs of neighbours it chose among.
        complete: whether those were all.
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

    A bound above a claim refutes it, at the confidence; one below proves nothing.

    Args:
        sample: counts (n, C) and a generator -> (n,) independent labels, 0..C-1, -1 for no answer.
            A sampler that takes its noise from elsewhere may ignore the generator.
        n_teachers: how many votes a histogram has.
        n_classes: C.
        delta: in [0, 1).
        generator: is handed to sample.
        neighbours: as for `vote_neighbours`. If there are more than 2,000 histograms, the first
            round tries those of `leading_pairs`, which needs moved_vote.
        runs: labels drawn in all, at least four for every histogram.
        confidence: with which the bound holds, in (0, 1).

    Raises:
        ValueError: as for `epsilon_lower_bound` and `vote_neighbours`.

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

    runs_per_histogram = int(_FIRST_ROUND * runs) // len(rows)
    shares = _shares(draw, rows, runs_per_histogram, labels, generator)
    first, second = pairs[_most_suspect_pair(shares, pairs, runs_per_histogram, delta)]
    second_round = (int(runs) - runs_per_histogram * len(rows)) // 2
    bound = epsilon_lower_bound(
        draw,
        rows[first],
        rows[second],
        delta,
        labels=labels,
        runs=second_round,
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
        runs=second_round,
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
    """Return each label's share of the runs on each histogram, half a run added to each count."""
    shares = np.empty((len(rows), len(labels)))
    for row, counts in enumerate(rows):  # the sampler takes one input at a time
        drawn = draw(counts, runs_per_histogram, generator)
        if drawn.shape != (runs_per_histogram,) or not np.isin(drawn, labels).all():
            raise ValueError(
                f"sampler: on counts {counts.tolist()} gives shape {drawn.shape} and labels "
                f"{sorted(set(drawn.ravel().tolist()))[:5]}: must be ({runs_per_histogram},) in "
                f"{list(labels)}"
            )
        shares[row] = (drawn[:, None] == np.array(labels)).sum(axis=0) + 0.5
    return shares / shares.sum(axis=1, keepdims=True)


def _most_suspect_pair(
    shares: NDArray, pairs: NDArray, runs_per_histogram: int, delta: float
) -> int:
    """Return the pair with the largest log-ratio of a label's shares, less two standard errors."""
    best = np.full(len(pairs), -np.inf)
    for event in (shares, 1 - shares):
        error = np.sqrt((1 / event - 1) / runs_per_histogram)
        for a, b in (pairs.T, pairs.T[::-1]):
            with np.errstate(divide="ignore", invalid="ignore"):
                seen = np.log(np.maximum(event[a] - delta, 0.0) / event[b])
            scores = seen - 2 * np.hypot(error[a], error[b])
            best = np.maximum(best, np.nan_to_num(scores, nan=-np.inf).max(axis=1))
    return int(best.argmax())
