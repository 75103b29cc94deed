"""Ballots, of which some may be absent, as histograms that laws take.

A law takes rows that all add up to the same public number of votes. Whatever a ballot is becomes
such a row here, by a public map under which neighbours stay neighbours (docs/ballots.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks

# What votes hold where a teacher gave none.
ABSENT = -1
# Votes that are counted at a time.
_PIECE = 1 << 22


def count_votes(votes: NDArray, n_classes: int) -> NDArray[np.int64]:
    """Return the histogram of each row of votes, int64 (queries, n_classes); absent ones left out.

    >>> count_votes(np.array([[2, -1, 2, 0], [1, 1, -1, -1]]), 3).tolist()
    [[1, 0, 2], [0, 2, 0]]

    votes: integers (queries, teachers), -1 to n_classes - 1, which are not checked here
    (`votes.Votes` does).
    """
    histograms = np.empty((len(votes), n_classes), np.int64)
    step = max(1, _PIECE // max(1, votes.shape[1], n_classes))
    for start in range(0, len(votes), step):
        piece = votes[start : start + step].astype(np.int64)
        # The first place of each row takes the absent votes.
        places = np.arange(len(piece), dtype=np.int64)[:, None] * (n_classes + 1) + 1
        flat = np.bincount((piece + places).ravel(), minlength=len(piece) * (n_classes + 1))
        histograms[start : start + step] = flat.reshape(-1, n_classes + 1)[:, 1:]
    return histograms


def limit_ones(votes: NDArray, most_ones: int) -> NDArray:
    """Return votes with at most so many ones of each teacher: the first ones, later ones become 0.

    votes: (queries, teachers), 0 or 1. The rule is public and looks at one teacher's votes alone,
    so that one teacher whose votes change is still one. Nothing is refused, for that would tell
    something about a teacher's votes.

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

    >>> deal_absent_ballots([[4, 0, 1], [0, 3, 0], [2, 2, 4]], total=8).tolist()
    [[5, 1, 2], [2, 5, 1], [2, 2, 4]]

    counts: whole numbers (..., classes), rows of which add up to at most `total`. Every row that is
    returned adds up to `total`. Of a row that lacks k votes the j-th missing one, j = 0, ..., k-1,
    counts for class j mod C, whatever the row. So if one vote changes its class, vanishes or
    appears, the rows that are returned differ by one vote that moved from one class to another, or
    not at all: docs/ballots.md#dealing, where the proof is.

    Raises ValueError for a row that adds up to more.
    """
    checks.check_integer(total=total, at_least=1)
    counts = np.asarray(counts, dtype=np.int64)
    n_classes = counts.shape[-1]
    missing = total - counts.sum(axis=-1, keepdims=True)
    if (missing < 0).any():
        raise ValueError(f"counts: every row must add up to at most {total} votes")
    rounds, left = np.divmod(missing, n_classes)
    return counts + rounds + (np.arange(n_classes) < left)
