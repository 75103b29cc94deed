"""Anybody's mechanism on votes that can only be run: a bound from below at a stated confidence.

A first round of runs on many histograms chooses the pair of neighbours that looks worst; a second
round, of fresh runs on that pair alone, bounds its epsilon. So the choice costs no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.histograms import leading_pairs, vote_neighbours
from private_ensembles.audit.sampler import check_levels, epsilon_lower_bound

# The first round's share of all runs, and how many histograms it looks at at most.
_FIRST_ROUND, _MOST_HISTOGRAMS, _LEAST_RUNS, _MOST_RUNS = 0.5, 2_000, 4, 10**9


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
    adjacency: str = "replace_one",
    runs: int = 1_000_000,
    confidence: float = 0.999,
) -> SamplerBound:
    """Bound from below the epsilon at delta of a mechanism that draws labels.

    sample: counts (n, C) and a generator -> (n,) independent labels, 0..C-1, -1 for no answer. A
    sampler that takes its noise from elsewhere may leave the generator alone. runs: labels drawn in
    all, four at least for every histogram. Of more than 2,000 histograms the first round looks at
    those of `leading_pairs` (replace_one). A bound above a claim refutes it, at the confidence; one
    below proves nothing. Raises ValueError like `epsilon_lower_bound` and `vote_neighbours`.

    >>> def respond(counts, generator):  # one teacher's vote, told rightly 3 times in 4
    ...     return np.where(generator.random(len(counts)) < 0.75, *counts.T[::-1])
    >>> bound = audit_sampler(respond, 1, 2, 0.0, np.random.default_rng(0), runs=100_000)
    >>> 1.0 < bound.epsilon < 1.0986  # ln 3
    True
    """
    rows, pairs, complete = _candidates(n_teachers, n_classes, adjacency)
    least = _LEAST_RUNS * len(rows)
    if isinstance(runs, bool) or int(runs) != runs or not least <= runs <= _MOST_RUNS:
        raise ValueError(
            f"runs = {runs}: must be an integer >= {least}, {_LEAST_RUNS} for each of {len(rows)} "
            f"histograms, and <= {_MOST_RUNS:,}"
        )
    check_levels(delta, confidence)
    labels = tuple(range(-1, n_classes))

    def draw(counts: NDArray, number: int, source: np.random.Generator) -> NDArray:
        drawn = np.asarray(sample(np.tile(counts, (number, 1)), source))
        if drawn.dtype.kind not in "iu":
            raise ValueError(f"sampler: type {drawn.dtype}: must be labels, an integer type")
        return drawn

    each = int(_FIRST_ROUND * runs) // len(rows)
    shares = _shares(draw, rows, each, labels, generator)
    first, second = pairs[_most_different(shares, pairs, each, delta)]
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


def _candidates(n_teachers, n_classes, adjacency) -> tuple[NDArray, NDArray, bool]:
    votes = n_teachers + (adjacency == "add_remove")
    if math.comb(votes + n_classes - 1, n_classes - 1) > _MOST_HISTOGRAMS:
        if adjacency != "replace_one":
            raise ValueError(
                f"n_teachers, n_classes = {n_teachers}, {n_classes}: must give at most "
                f"{_MOST_HISTOGRAMS:,} histograms for a sampler and {adjacency}"
            )
        return *leading_pairs(n_teachers, n_classes), False
    return *vote_neighbours(n_teachers, n_classes, adjacency), True


def _shares(draw, rows, each, labels, generator) -> NDArray[np.float64]:
    """How often each label came out on each histogram, half a run added to every count."""
    shares = np.empty((len(rows), len(labels)))
    for row, counts in enumerate(rows):  # the sampler is asked for one input at a time
        drawn = draw(counts, each, generator)
        if drawn.shape != (each,) or not np.isin(drawn, labels).all():
            raise ValueError(
                f"sampler: on counts {counts.tolist()} gives shape {drawn.shape} and labels "
                f"{sorted(set(drawn.ravel().tolist()))[:5]}: must be ({each},) in {list(labels)}"
            )
        shares[row] = (drawn[:, None] == np.array(labels)).sum(axis=0) + 0.5
    return shares / shares.sum(axis=1, keepdims=True)


def _most_different(shares: NDArray, pairs: NDArray, each: int, delta: float) -> int:
    """The pair with the largest log-ratio of a label's shares, less two of its standard errors."""
    best = np.full(len(pairs), -np.inf)
    for event in (shares, 1 - shares):
        error = np.sqrt((1 / event - 1) / each)
        for a, b in (pairs.T, pairs.T[::-1]):
            with np.errstate(divide="ignore", invalid="ignore"):
                seen = np.log(np.maximum(event[a] - delta, 0.0) / event[b])
            scores = seen - 2 * np.hypot(error[a], error[b])
            best = np.maximum(best, np.nan_to_num(scores, nan=-np.inf).max(axis=1))
    return int(best.argmax())
