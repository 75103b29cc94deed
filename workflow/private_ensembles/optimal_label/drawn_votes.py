"""A label of a few votes drawn from many: for ensembles whose histograms cannot be listed.

Of K votes m are drawn without replacement, and the best label of m votes is released. As a vote
that moves is drawn with probability m / K only, that label may spend more (docs/best-label.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.rounding import round_down, sixty_digits
from private_ensembles.audit.histograms import sorted_histograms
from private_ensembles.optimal_label.best_label import BestLabel
from private_ensembles.optimal_label.sorted_histograms import tie_groups

# Relative error of `distribution`: sums of positive products, a few hundred roundings each.
RELATIVE_ERROR = 1e-11
# Table entries that are worked on together.
_CHUNK = 1 << 21
# Larger numbers of samples do not fit a float.
_LARGEST_LOGARITHM = 700.0


def budget_of_the_drawn(
    epsilon: float, delta: float, n_teachers: int, drawn: int
) -> tuple[float, float]:
    """Return what a label of `drawn` of n_teachers votes may spend, (epsilon', delta').

    >>> budget_of_the_drawn(0.02, 0.0, 250, 20)
    (0.22515492740797513, 0.0)

    If it is (epsilon', delta')-DP for each move of a drawn vote, it is (epsilon, delta)-DP for each
    move of any: epsilon' = ln(1 + K / m (e^epsilon - 1)), delta' = delta K / m, rounded down
    (Balle, Barthe and Gaboardi 2018, Theorem 9; proof: docs/best-label.md). delta' is below 1.
    Raises ValueError unless 1 <= drawn <= n_teachers.
    """
    if not 1 <= drawn <= n_teachers:
        raise ValueError(f"drawn = {drawn}: must be in 1..{n_teachers}")
    with sixty_digits(epsilon):
        rate = Decimal(n_teachers) / drawn
        growth = 1 + rate * (Decimal(epsilon).exp() - 1)
        return round_down(growth.ln()), abs(round_down(min(Decimal(delta) * rate, Decimal("0.5"))))


def most_drawn(n_teachers: int, n_classes: int, histograms: int) -> int:
    """Return the most votes with at most that many sorted histograms, and samples that are floats.

    >>> most_drawn(250, 10, 600)
    20

    0 if there is no such number.
    """
    drawn = 0
    while drawn < n_teachers:
        samples = math.log(math.comb(n_teachers, drawn + 1))
        if sorted_histograms(drawn + 1, n_classes) > histograms or samples > _LARGEST_LOGARITHM:
            break
        drawn += 1
    return drawn


def distribution(label: BestLabel, counts: ArrayLike) -> NDArray[np.float64]:
    """Return Pr[label] if `label` is released for some votes of histograms (Q, C), (Q, C).

    Each within RELATIVE_ERROR of itself. The chance that the sample is an arrangement of a sorted
    histogram, one class of which has v votes, is that class' binomial coefficient times those of
    all other classes, summed over arrangements of the rest: one sum for each partition of up to m
    votes, classes added one by one. Raises ValueError unless the counts are whole numbers >= 0 of C
    classes, each row with the same sum, at least m.
    """
    counts = np.asarray(counts)
    m, C = label.histograms.n_teachers, label.histograms.n_classes
    if counts.ndim != 2 or counts.shape[1] != C or counts.dtype.kind not in "iu":
        raise ValueError(f"counts: shape {counts.shape}, must be whole numbers of {C} classes")
    K = int(counts[0].sum())
    if counts.min() < 0 or (counts.sum(axis=1) != K).any() or m > K:
        raise ValueError(f"counts: every row must have the same number of votes, at least {m}")
    order = np.argsort(-counts, axis=1, kind="stable")
    rows, back = np.unique(np.take_along_axis(counts, order, axis=1), axis=0, return_inverse=True)
    ways = np.array([[math.comb(n, v) for v in range(m + 1)] for n in range(K + 1)], dtype=float)
    size = max(1, _CHUNK // _steps(m, C)[0])
    parts = [_of_rows(label, rows[k : k + size], ways) for k in range(0, len(rows), size)]
    probabilities = np.empty(counts.shape)
    chances = np.concatenate(parts) / float(math.comb(K, m))
    np.put_along_axis(probabilities, order, chances[back.ravel()], axis=1)
    return probabilities


def _of_rows(label: BestLabel, rows: NDArray, ways: NDArray) -> NDArray[np.float64]:
    """Ways of drawing the sample times Pr[label], of sorted rows (Q, C)."""
    m, C = label.histograms.n_teachers, label.histograms.n_classes
    size, _, groups = _steps(m, C)
    first = np.zeros((size, len(rows)))
    first[0] = 1.0
    probabilities = np.zeros(rows.shape)
    for column, others in _without_each(first, rows, ways, m, list(range(C))):
        for votes, members, rest in groups:
            inner = label.probabilities[members] @ others[rest]
            probabilities[:, column] += ways[rows[:, column], votes] * inner
    return probabilities


def _without_each(
    sums: NDArray, rows: NDArray, ways: NDArray, m: int, columns: list[int]
) -> Iterator[tuple[int, NDArray]]:
    """Each of the columns, and the sums with all others of them added: by halves."""
    if len(columns) == 1:
        yield columns[0], sums
        return
    half = len(columns) // 2
    for kept, added in ((columns[:half], columns[half:]), (columns[half:], columns[:half])):
        more = sums
        for column in added:
            more = _with(more, rows[:, column], ways, m, rows.shape[1])
        yield from _without_each(more, rows, ways, m, kept)


def _with(sums: NDArray, votes: NDArray, ways: NDArray, m: int, n_classes: int) -> NDArray:
    """The sums with one more class."""
    extended = sums.copy()
    for v, targets, sources in _steps(m, n_classes)[1]:
        if v > votes.max():
            break
        extended[targets] += ways[votes, v] * sums[sources]
    return extended


@lru_cache(maxsize=4)
def _steps(m: int, n_classes: int) -> tuple[int, list, list]:
    """How many partitions of at most m votes there are, and how one becomes another.

    The partitions: sorted histograms of 0, 1, ..., m votes, numbered in that order. Steps: v,
    partitions with a part v, and what they are without it. Groups: v, the tie groups of v votes of
    the histograms of m, and what the histograms are without one of these classes.
    """
    nothing = np.zeros((1, n_classes), dtype=np.int64)
    every = [tie_groups(total, n_classes) if total else None for total in range(m + 1)]
    counts = [nothing if histograms is None else histograms.counts for histograms in every]
    starts = np.cumsum([0] + [len(histograms) for histograms in counts])

    def without(total: int, v: int) -> tuple[NDArray, NDArray]:
        """Tie groups of v votes of histograms of a total, and the partitions without one class."""
        groups = every[total]
        members = np.flatnonzero(groups.votes == v)
        rows = groups.counts[groups.owners[members]]
        rows[np.arange(len(rows)), (rows == v).argmax(axis=1)] = 0
        rows = -np.sort(-rows, axis=1)
        rest = total - v
        places = every[rest].rows(rows) if rest else np.zeros(len(rows), dtype=np.int64)
        return members, starts[rest] + places

    steps = []
    for v in range(1, m + 1):
        targets, sources = [], []
        for total in range(v, m + 1):
            members, rest = without(total, v)
            targets.append(starts[total] + every[total].owners[members])
            sources.append(rest)
        steps.append((v, np.concatenate(targets), np.concatenate(sources)))
    groups = [(v, *without(m, v)) for v in range(m + 1)]
    return int(starts[-1]), steps, groups
