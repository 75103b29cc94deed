"""The inputs of a mechanism on votes: histograms of K teachers over C classes, and neighbours.

Two histograms are neighbours if one teacher moves its vote: one count falls by 1, another rises by
1. That is what changes if training data are split into disjoint shards and one record changes,
appears or disappears in one shard. `vote_neighbours` also knows the other relation, in which a vote
appears or disappears.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, triu

from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import lower_bound

_MOST = 5_000_000  # With more histograms, memory or time run out before there is an answer.


def enumerate_histograms(n_teachers: int, n_classes: int) -> NDArray[np.int64]:
    """Return all histograms of K votes over C classes, in lexicographic order.

    Returns:
        (comb(K + C - 1, C - 1), C) int.

    Raises:
        ValueError: for n_teachers < 1, n_classes < 2 or more than five million histograms.
    """
    _check(n_teachers, n_classes)
    count = math.comb(n_teachers + n_classes - 1, n_classes - 1)
    if count > _MOST:
        raise ValueError(
            f"n_teachers, n_classes = {n_teachers}, {n_classes}: must give at most {_MOST:,} "
            f"histograms, not {count:,}"
        )
    return _extend(n_teachers, n_classes, descending=False)


def neighbour_pairs(histograms: ArrayLike, group_size: int = 1) -> NDArray[np.int64]:
    """Return the pairs of histograms between which votes move, each pair once.

    Args:
        histograms: (H, C), all that `enumerate_histograms` returns.
        group_size: how many votes may move at most, >= 1, from any classes to any.

    Returns:
        (P, 2) int, rows of the histograms.

    Raises:
        ValueError: if the rows are not all histograms in lexicographic order.
    """
    rows = np.asarray(histograms)
    if rows.ndim != 2 or not np.array_equal(
        rows, enumerate_histograms(int(rows[0].sum()), rows.shape[1])
    ):
        raise ValueError("histograms: must be all of them, in the order of enumerate_histograms")
    n_classes = rows.shape[1]
    pairs = []
    for source in range(n_classes):
        for target in range(source + 1, n_classes):
            first = np.nonzero(rows[:, source])[0]
            after = rows[first]
            after[:, source] -= 1
            after[:, target] += 1
            pairs.append(np.stack([first, _rank(after)], axis=1))
    single_moves = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
    if group_size == 1:
        return single_moves
    return _pairs_within_steps(single_moves, len(rows), group_size)


def _pairs_within_steps(pairs: NDArray, count: int, steps: int) -> NDArray[np.int64]:
    """Return the pairs of rows below `count` that up to `steps` of the given pairs join, once."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    near = csr_array((np.ones(len(ends), dtype=bool), tuple(ends.T)), shape=(count, count))
    reached = near
    for _ in range(steps - 1):
        reached = reached + reached @ near
    return np.stack(triu(reached, 1).nonzero(), axis=1).astype(np.int64)


# A relation of votes is called neighbours here; an adjacency is one of records (docs/privacy.md).
NEIGHBOURS = ("moved_vote", "missing_vote")


def vote_neighbours(
    n_teachers: int, n_classes: int, neighbours: str = "moved_vote"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all inputs of K teachers over C classes, and all pairs of neighbours.

    Args:
        n_teachers: K.
        n_classes: C.
        neighbours: ``moved_vote`` lists the histograms of K votes, one of which moves. A record of
            disjoint shards that is replaced, added or removed can do no more, as a teacher always
            votes. ``missing_vote`` lists the histograms of K votes beside those of K - 1 and of
            K + 1, as a teacher comes or goes with its vote.

    Returns:
        The histograms (H, C) and the pairs (P, 2), rows of the histograms.

    Raises:
        ValueError: as for `enumerate_histograms`, for other neighbours, and for missing_vote with
            one teacher.

    >>> rows, pairs = vote_neighbours(2, 2, "missing_vote")
    >>> [(rows[a].tolist(), rows[b].tolist()) for a, b in pairs[:2]]
    [([0, 1], [1, 1]), ([1, 0], [2, 0])]
    """
    checks.check_choice(NEIGHBOURS, neighbours=neighbours)
    if neighbours == "moved_vote":
        rows = enumerate_histograms(n_teachers, n_classes)
        return rows, neighbour_pairs(rows)
    _check(n_teachers, n_classes)
    if n_teachers < 2:
        raise ValueError(f"n_teachers = {n_teachers}: must be an integer >= 2 for missing_vote")
    sizes = [enumerate_histograms(n_teachers + i, n_classes) for i in (-1, 0, 1)]
    start, pairs = 0, []
    for fewer in sizes[:2]:
        for chosen in range(n_classes):
            added = fewer.copy()
            added[:, chosen] += 1
            first = start + np.arange(len(fewer))
            pairs.append(np.stack([first, start + len(fewer) + _rank(added)], axis=1))
        start += len(fewer)
    return np.concatenate(sizes), np.concatenate(pairs)


def reduced_histograms(n_teachers: int, n_classes: int) -> tuple[NDArray, NDArray]:
    """Return histograms and pairs that suffice for a label-symmetric mechanism.

    If renaming the classes renames the labels and changes nothing else, every pair of neighbours
    has the same divergence as one whose first histogram is sorted in descending order and where,
    among equal counts, the last one loses the vote and the first one gains it. So every maximum
    over `neighbour_pairs` is one over these pairs, which are about C! times fewer.

    Returns:
        The histograms (H, C) and the pairs (P, 2), rows of the histograms.

    Raises:
        ValueError: as for `enumerate_histograms`; the limit applies to sorted histograms times
            moves.
    """
    return _add_moved_histograms(enumerate_sorted_histograms(n_teachers, n_classes))


def enumerate_sorted_histograms(n_teachers: int, n_classes: int) -> NDArray[np.int64]:
    """Return all histograms up to renaming the classes.

    Returns:
        (H, C) int; counts descend in each row, and rows are in lexicographic order.

    Raises:
        ValueError: as for `enumerate_histograms`; the limit applies to these histograms.
    """
    _check(n_teachers, n_classes)
    return _extend(n_teachers, n_classes, descending=True)


def count_sorted_histograms(n_teachers: int, n_classes: int) -> int:
    """Return the number of histograms up to renaming the classes.

    These are the partitions of K into at most C parts.

    Raises:
        ValueError: for n_teachers < 1 or n_classes < 2.

    >>> count_sorted_histograms(250, 3)
    5334
    """
    _check(n_teachers, n_classes)
    ways = [1] + [0] * int(n_teachers)  # to write each number with parts up to the size so far
    for part in range(1, min(int(n_classes), int(n_teachers)) + 1):
        for total in range(part, int(n_teachers) + 1):
            ways[total] += ways[total - part]
    return ways[-1]


@lower_bound
def leading_pairs(n_teachers: int, n_classes: int, most: int = 500) -> tuple[NDArray, NDArray]:
    """Return a few histograms and pairs for lower bounds if there are too many of them.

    With a votes for the first class and b for the second, a >= b, the rest goes to the third class,
    or is spread evenly over the others; b is as large as it can be, or as equal as it can be to the
    others. Any subset of pairs proves a lower bound on epsilon, and noisy maxima are most fragile
    at pairs like these.

    Args:
        n_teachers: how many votes a histogram has.
        n_classes: how many classes there are.
        most: at most so many values of a, evenly spaced.

    Returns:
        O(most) histograms (H, C) and the pairs (P, 2), rows of the histograms.
    """
    _check(n_teachers, n_classes)
    rows = []
    least = -(-n_teachers // n_classes)
    size = min(most, n_teachers + 1 - least)
    for top in np.linspace(least, n_teachers, size).round().astype(int).tolist():
        for second in {min(top, n_teachers - top), -(-(n_teachers - top) // (n_classes - 1))}:
            rest, width = n_teachers - top - second, n_classes - 2
            tails = {tuple(_split_evenly(rest, width))} if width else {()}
            if width and rest <= second:
                tails.add((rest, *[0] * (width - 1)))
            rows.extend((top, second, *tail) for tail in tails)
    kept = [row for row in rows if row[0] >= row[1] >= max(row[2:], default=0)]
    return _add_moved_histograms(np.unique(np.array(kept, dtype=np.int64), axis=0))


def two_class_matrix(probability_of_one: ArrayLike) -> NDArray[np.float64]:
    """Return the (K + 1, 2) matrix of label probabilities for `exact_delta`.

    Where a probability is near 1, the other column is exact only to 1e-16. Pass both columns to the
    audit if small probabilities matter.

    Args:
        probability_of_one: (K + 1,), Pr[release 1 | n of K teachers say 1], n = 0..K.
    """
    ones = np.asarray(probability_of_one, dtype=np.float64)
    if ones.ndim != 1 or len(ones) < 2:
        raise ValueError(f"probability_of_one: shape {ones.shape} must be (K + 1,)")
    return np.stack([1 - ones, ones], axis=1)


def two_class_pairs(n_teachers: int, group_size: int = 1) -> NDArray[np.int64]:
    """Return the pairs of neighbouring numbers of ones: (0, 1), (1, 2), ..., (K - 1, K).

    Args:
        n_teachers: K.
        group_size: how many votes may move at most, 1 to K. With two, (0, 2), ..., (K - 2, K)
            follow, and so on.

    Returns:
        (P, 2) int.
    """
    _check(n_teachers, 2)
    steps = [
        np.stack([np.arange(n_teachers + 1 - step), np.arange(step, n_teachers + 1)], axis=1)
        for step in range(1, group_size + 1)
    ]
    return np.concatenate(steps)


def check_two_class(probability_of_one: ArrayLike) -> NDArray[np.float64]:
    """Return Pr[release 1 | n of K teachers say 1], n = 0..K, as float64 (K + 1,).

    Raises:
        ValueError: for another shape, fewer than two numbers and numbers outside [0, 1].

    >>> check_two_class([0, 0.5, 1])
    array([0. , 0.5, 1. ])
    """
    ones = np.asarray(probability_of_one, dtype=np.float64)
    if ones.ndim != 1 or len(ones) < 2:
        raise ValueError("probability_of_one: must be K + 1 probabilities")
    checks.check_probabilities(probability_of_one=ones)
    return ones


def _check(n_teachers: int, n_classes: int) -> None:
    checks.check_integer(n_teachers=n_teachers, at_least=1)
    checks.check_integer(n_classes=n_classes, at_least=2)


def _split_evenly(votes: int, classes: int) -> list[int]:
    return [votes // classes + (i < votes % classes) for i in range(classes)]


def _extend(n_teachers: int, n_classes: int, *, descending: bool) -> NDArray[np.int64]:
    """Build histograms column by column: every row splits into its possible next counts."""
    rows = np.zeros((1, 0), dtype=np.int64)
    rest = np.array([n_teachers], dtype=np.int64)
    # If counts descend, no more of them than there are teachers can be above 0.
    columns = min(n_classes - 1, n_teachers) if descending else n_classes - 1
    for column in range(columns):
        low, high = np.zeros_like(rest), rest
        if descending:
            low = -(-rest // (n_classes - column))
            high = np.minimum(rest, rows[:, -1]) if column else rest
        sizes = high - low + 1
        if sizes.sum() > _MOST:
            raise ValueError(
                f"n_teachers, n_classes = {n_teachers}, {n_classes}: must give at most {_MOST:,} "
                "histograms"
            )
        index = np.repeat(np.arange(len(rows)), sizes)
        start = np.repeat(np.cumsum(sizes) - sizes, sizes)
        value = low[index] + np.arange(len(index)) - start
        rows = np.concatenate([rows[index], value[:, None]], axis=1)
        rest = rest[index] - value
    zeros = np.zeros((len(rows), n_classes - 1 - columns), dtype=np.int64)
    return np.concatenate([rows, rest[:, None], zeros], axis=1)


def _rank(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each histogram in lexicographic order.

    The histograms that agree up to column c and have less in it number N(r, m) - N(r - n_c, m),
    with r votes and m classes left and N(r, m) = comb(r + m - 1, m - 1).
    """
    n_classes, n_teachers = rows.shape[1], int(rows[0].sum()) if len(rows) else 0
    rank = np.zeros(len(rows), dtype=np.int64)
    rest = np.full(len(rows), n_teachers)
    for column in range(n_classes - 1):
        m = n_classes - column
        ways = np.array([math.comb(r + m - 1, m - 1) for r in range(n_teachers + 1)])
        rank += ways[rest] - ways[rest - rows[:, column]]
        rest = rest - rows[:, column]
    return rank


def _add_moved_histograms(rows: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Return sorted histograms with their neighbours by every inequivalent move, and the pairs."""
    n_classes = rows.shape[1]
    distinct = rows[:, 1:] != rows[:, :-1]
    edge = np.ones((len(rows), 1), dtype=bool)
    may_lose = np.concatenate([distinct, edge], axis=1) & (rows > 0)
    may_gain = np.concatenate([edge, distinct], axis=1)
    first, second = [], []
    for source in range(n_classes):
        for target in range(n_classes):
            if source == target:
                continue
            chosen = np.nonzero(may_lose[:, source] & may_gain[:, target])[0]
            moved = rows[chosen]
            moved[:, source] -= 1
            moved[:, target] += 1
            first.append(chosen)
            second.append(moved)
    everything, index = np.unique(np.concatenate([rows, *second]), axis=0, return_inverse=True)
    index = index.ravel()
    pairs = np.stack([index[np.concatenate(first)], index[len(rows) :]], axis=1)
    return everything, np.unique(np.sort(pairs, axis=1), axis=0)


def both_counts(n_teachers: int) -> NDArray[np.int64]:
    """Return the votes for 0 and for 1 if 0, 1, ... K of the teachers vote 1, (K + 1, 2)."""
    ones = np.arange(n_teachers + 1)
    return np.stack([n_teachers - ones, ones], axis=1)
