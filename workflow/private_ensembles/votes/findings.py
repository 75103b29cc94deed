"""Ballots on several yes/no findings at once, and how they become votes of two classes.

Finding j of query i is row i k + j of all votes, so that the k findings of a query are one after
the other: class 0 is no, class 1 yes. Whatever is known of votes of two classes then holds
(docs/multi-label.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 22  # entries that are looked at at a time


def few_ones(ballots: NDArray, most: int) -> NDArray:
    """Return ballots of at most so many ones: of one with more, the first ones are kept.

    ballots: (queries, teachers, findings), 0 or 1. The rule is public and looks at one ballot
    alone, so that one ballot that changes is still one. Nothing is refused, for that would tell
    something about a ballot.

    >>> few_ones(np.array([[[1, 0, 1, 1], [0, 1, 0, 0]]]), 2).tolist()
    [[[1, 0, 1, 0], [0, 1, 0, 0]]]
    """
    kept = np.empty_like(ballots)
    step = max(1, _PIECE // max(1, ballots.shape[1] * ballots.shape[2]))
    for start in range(0, len(ballots), step):
        piece = ballots[start : start + step]
        ones = piece == 1
        kept[start : start + step] = np.where(ones & (ones.cumsum(axis=2) > most), 0, piece)
    return kept


def one_by_one(ballots: NDArray) -> NDArray:
    """Return ballots as votes on each finding: (queries x findings, teachers).

    >>> one_by_one(np.array([[[1, 0], [1, 1], [0, 0]]])).tolist()
    [[1, 1, 0], [0, 1, 0]]
    """
    queries, teachers, findings = ballots.shape
    return np.ascontiguousarray(ballots.transpose(0, 2, 1)).reshape(queries * findings, teachers)


def yes_and_no(yes: NDArray, teachers: int) -> NDArray[np.int64]:
    """Return how many teachers say no and yes to each finding: (queries x findings, 2).

    yes: (queries, findings), how many say yes, 0 to `teachers`.

    >>> yes_and_no(np.array([[3, 0]]), 3).tolist()
    [[0, 3], [3, 0]]
    """
    flat = np.asarray(yes, dtype=np.int64).reshape(-1)
    return np.stack([teachers - flat, flat], axis=1)
