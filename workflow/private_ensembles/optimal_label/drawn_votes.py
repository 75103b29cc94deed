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
# Table entries that are worked on together, as fit a processor's cache.
_CHUNK = 1 << 17
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
    counts, K = _checked(label, counts)
    order = np.argsort(-counts, axis=1, kind="stable")
    rows, back = np.unique(np.take_along_axis(counts, order, axis=1), axis=0, return_inverse=True)
    probabilities = np.empty(counts.shape)
    chances = _in_parts(label, rows, np.arange(counts.shape[1])[None].repeat(len(rows), axis=0), K)
    np.put_along_axis(probabilities, order, chances[back.ravel()], axis=1)
    return probabilities


def right(label: BestLabel, counts: ArrayLike, labels: ArrayLike) -> NDArray[np.float64]:
    """Return Pr[its label] of each query, (Q,): entries of `distribution`, the others left out.

    labels: (Q,) classes. Arguments and errors else as there.
    """
    counts, K = _checked(label, counts)
    order = np.argsort(-counts, axis=1, kind="stable")
    column = (order == np.asarray(labels)[:, None]).argmax(axis=1)
    rows = np.take_along_axis(counts, order, axis=1)
    some, back = np.unique(np.column_stack([rows, column]), axis=0, return_inverse=True)
    return _in_parts(label, some[:, :-1], some[:, -1:], K)[back.ravel(), 0]


def _checked(label: BestLabel, counts: ArrayLike) -> tuple[NDArray, int]:
    """Counts as an array, and how many votes each row has."""
    counts = np.asarray(counts)
    m, C = label.histograms.n_teachers, label.histograms.n_classes
    if counts.ndim != 2 or counts.shape[1] != C or counts.dtype.kind not in "iu":
        raise ValueError(f"counts: shape {counts.shape}, must be whole numbers of {C} classes")
    K = int(counts[0].sum())
    if counts.min() < 0 or (counts.sum(axis=1) != K).any() or m > K:
        raise ValueError(f"counts: every row must have the same number of votes, at least {m}")
    return counts, K


def _in_parts(label: BestLabel, rows: NDArray, wanted: NDArray, K: int) -> NDArray[np.float64]:
    """Pr[label] of some columns of sorted rows (Q, C), wanted: (Q, columns)."""
    m = label.histograms.n_teachers
    ways = np.array([[math.comb(n, v) for v in range(m + 1)] for n in range(K + 1)], dtype=float)
    size = max(1, _CHUNK // _steps(m, rows.shape[1])[0])
    parts = [
        _of_rows(label, rows[k : k + size], wanted[k : k + size], ways)
        for k in range(0, len(rows), size)
    ]
    return np.concatenate(parts) / float(math.comb(K, m))


def _of_rows(
    label: BestLabel, rows: NDArray, wanted: NDArray, ways: NDArray
) -> NDArray[np.float64]:
    """Ways of drawing the sample times Pr[label], of the columns wanted of sorted rows."""
    m, C = label.histograms.n_teachers, label.histograms.n_classes
    size, _, groups = _steps(m, C)
    first = np.zeros((size, len(rows)))
    first[0] = 1.0
    chances = np.zeros(wanted.shape)
    every = list(range(C))
    for column, some, others in _without_each(
        first, np.arange(len(rows)), rows, wanted, ways, m, every
    ):
        mine = np.zeros(len(some))
        for votes, members, rest in groups:
            inner = label.probabilities[members] @ others[rest]
            mine += ways[rows[some, column], votes] * inner
        at = wanted[some] == column
        chances[some] += np.where(at, mine[:, None], 0.0)
    return chances


def _without_each(
    sums: NDArray,
    some: NDArray,
    rows: NDArray,
    wanted: NDArray,
    ways: NDArray,
    m: int,
    columns: list[int],
) -> Iterator[tuple[int, NDArray, NDArray]]:
    """Each column, the rows that want it, and their sums with all others added: by halves.

    some: the rows that sums are of.
    """
    if len(columns) == 1:
        yield columns[0], some, sums
        return
    half = len(columns) // 2
    for kept, added in ((columns[:half], columns[half:]), (columns[half:], columns[:half])):
        mine = np.isin(wanted[some], kept).any(axis=1)
        if not mine.any():
            continue
        of = some[mine]
        more = sums if mine.all() else sums[:, mine]
        for column in added:
            if rows[of, column].any():  # else nothing is drawn from it
                more = _with(more, rows[of, column], ways, m, rows.shape[1])
        yield from _without_each(more, of, rows, wanted, ways, m, kept)


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
