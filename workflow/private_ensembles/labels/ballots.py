"""Ballots, some of which may be absent, as the histograms that laws take.

A law takes rows that all add up to the same public number of votes. Whatever a ballot is becomes
such a row here, by a public map under which neighbours stay neighbours (docs/method.md,
"Absent ballots").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks

# Votes hold this number where a teacher gave no ballot.
ABSENT = -1
# So many votes are counted at a time, to bound memory.
_PIECE = 1 << 20


def count_votes(votes: NDArray, n_classes: int) -> NDArray[np.int64]:
    """Return the histogram of each row of votes, without the absent ones.

    Args:
        votes: (queries, teachers) int, -1 to n_classes - 1, which is not checked here
            (`votes.Votes` does).
        n_classes: The number of classes.

    Returns:
        (queries, n_classes) int64, votes for each class.

    >>> count_votes(np.array([[2, -1, 2, 0], [1, 1, -1, -1]]), 3).tolist()
    [[1, 0, 2], [0, 2, 0]]
    """
    histograms = np.empty((len(votes), n_classes), np.int64)
    step = max(1, _PIECE // max(1, votes.shape[1], n_classes))
    for start in range(0, len(votes), step):
        piece = votes[start : start + step].astype(np.int64)
        # Each row has one bin more than classes, the first one, which takes the absent votes.
        offsets = np.arange(len(piece), dtype=np.int64)[:, None] * (n_classes + 1) + 1
        flat = np.bincount((piece + offsets).ravel(), minlength=len(piece) * (n_classes + 1))
        histograms[start : start + step] = flat.reshape(-1, n_classes + 1)[:, 1:]
    return histograms


def limit_ones(votes: NDArray, most_ones: int) -> NDArray:
    """Return votes with at most `most_ones` ones of each teacher: the first ones stay, later ones
    become 0.

    The rule is public and looks at one teacher's votes alone, so that neighbours that differ in one
    teacher's votes still do so. No votes are refused, for that would tell something about a
    teacher's votes.

    Args:
        votes: (queries, teachers) int, 0 or 1.
        most_ones: How many ones of a teacher stay at most.

    Returns:
        (queries, teachers), of the type of `votes`.

    >>> limit_ones(np.array([[1, 0], [0, 1], [1, 0], [1, 0]]), 2).T.tolist()
    [[1, 0, 1, 0], [0, 1, 0, 0]]
    """
    kept = np.empty_like(votes)
    step = max(1, _PIECE // len(votes))
    for start in range(0, votes.shape[1], step):
        piece = votes[:, start : start + step]
        ones = piece == 1
        kept[:, start : start + step] = ones & (ones.cumsum(axis=0) <= most_ones)
    return kept


def deal_absent_ballots(counts: ArrayLike, total: int) -> NDArray[np.int64]:
    """Return counts with the missing votes dealt out to the classes in turn, class 0 first.

    If a row lacks k votes, the j-th missing one, j = 0, ..., k - 1, counts for class j mod C,
    whatever the row. So if one vote changes its class, vanishes or appears, the rows that are
    returned differ by one vote that moved from one class to another, or not at all.

    Args:
        counts: (..., classes) int, rows of which add up to at most `total`.
        total: The number of teachers.

    Returns:
        (..., classes) int64; every row adds up to `total`.

    Raises:
        ValueError: If a row adds up to more than `total`, or total < 1.

    References:
        docs/method.md#absent-ballots has the proof.

    >>> deal_absent_ballots([[4, 0, 1], [0, 3, 0], [2, 2, 4]], total=8).tolist()
    [[5, 1, 2], [2, 5, 1], [2, 2, 4]]
    """
    checks.check_integer(total=total, at_least=1)
    counts = np.asarray(counts, dtype=np.int64)
    n_classes = counts.shape[-1]
    missing = total - counts.sum(axis=-1, keepdims=True)
    if (missing < 0).any():
        raise ValueError(f"counts: every row must add up to at most {total} votes")
    rounds, remainder = np.divmod(missing, n_classes)
    return counts + rounds + (np.arange(n_classes) < remainder)
