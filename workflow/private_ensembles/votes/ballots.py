"""Ballots that are absent, or count for several votes, as histograms that laws take.

A law takes rows that all add up to the same public number of votes. Whatever a ballot is becomes
such a row here, by a public map under which neighbours stay neighbours (docs/ballots.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.accounting.limits import MOST_TEACHERS

# What votes hold where a teacher gave none.
ABSENT = -1
# Votes that are counted at a time.
_PIECE = 1 << 22


def counted(
    votes: NDArray, n_classes: int, weights: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """Return the histogram of each row of votes, int64 (queries, n_classes); absent ones left out.

    >>> counted(np.array([[2, -1, 2, 0], [1, 1, -1, -1]]), 3).tolist()
    [[1, 0, 2], [0, 2, 0]]
    >>> counted(np.array([[2, -1, 2, 0]]), 3, weights=[5, 1, 1, 1]).tolist()
    [[1, 0, 6]]

    votes: integers (queries, teachers), -1 to n_classes - 1. weights: how many votes each teacher
    casts; None: one. They are not checked here (`cache.Votes` does).
    """
    each = None if weights is None else np.asarray(weights, dtype=np.float64)  # exact below 2^53
    histograms = np.empty((len(votes), n_classes), np.int64)
    step = max(1, _PIECE // max(1, votes.shape[1]))
    for start in range(0, len(votes), step):
        piece = votes[start : start + step].astype(np.int64)
        # The first place of each row takes the absent votes.
        places = np.arange(len(piece), dtype=np.int64)[:, None] * (n_classes + 1) + 1
        weighed = None if each is None else np.broadcast_to(each, piece.shape).ravel()
        flat = np.bincount((piece + places).ravel(), weighed, len(piece) * (n_classes + 1))
        histograms[start : start + step] = flat.reshape(-1, n_classes + 1)[:, 1:]
    return histograms


def reduced(weights: ArrayLike) -> tuple[int, ...] | None:
    """Return weights without a common factor; None if all are alike, which is one vote each.

    >>> reduced([6, 2, 2]), reduced([5, 5])
    ((3, 1, 1), None)

    weights: how many votes each teacher casts, whole numbers >= 1. A factor that all share changes
    no plurality. Raises ValueError for others.
    """
    found = np.asarray(weights)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise ValueError("weights: must be one whole number for each teacher")
    if found.min() < 1:
        place = int(np.argmin(found))
        raise ValueError(f"weights[{place}] = {found[place]}: must be at least 1")
    if int(found.max()) > MOST_TEACHERS:
        raise ValueError(f"weights: the largest is {found.max()}: must be at most {MOST_TEACHERS}")
    found = found // np.gcd.reduce(found)
    return None if found.max() == 1 else tuple(found.tolist())


def of_weights(weights: Sequence[int] | None, teachers: int) -> dict[str, object]:
    """Return what a task says of teachers with these weights: its fields, in `Task`'s names.

    >>> of_weights((3, 1, 1), 3), of_weights((2, 2), 2), of_weights(None, 3)
    ({'weights': (3, 1, 1), 'ballot': 3, 'n_votes': 5}, {}, {})

    Raises ValueError as `reduced` does, and unless there is one for each teacher.
    """
    if weights is None:
        return {}
    known = reduced(weights)
    if len(weights) != teachers:
        raise ValueError(f"weights: {len(weights)} of them: must be {teachers}, one per teacher")
    if known is None:
        return {}
    return {"weights": known, "ballot": max(known), "n_votes": sum(known)}


def read_weights(stated: str | Sequence[int] | None) -> tuple[int, ...] | None:
    """Return weights that are listed, "3,1,1", or in a file of that name, one for each teacher.

    Numbers, or None, are returned as they are.

    >>> read_weights("3, 1, 1")
    (3, 1, 1)

    Raises ValueError, one line, for what is no whole number; OSError for a file that cannot be
    read.
    """
    if stated is None or not isinstance(stated, str):
        return None if stated is None else tuple(stated)
    listed, where = stated, "weights"
    if not re.fullmatch(r"[\s,+\-.\d]*", stated):
        listed, where = Path(stated).read_text(encoding="utf-8"), f"weights: {stated}"
    words = listed.replace(",", " ").split()
    for place, word in enumerate(words):
        if not (word.isascii() and word.isdecimal() and len(word) <= 7 and int(word) >= 1):
            raise ValueError(f"{where}: number {place + 1} is {word[:20]!r}: must be 1, 2, 3, ...")
    if not words:
        raise ValueError(f"{where}: is empty: must be a whole number for each teacher")
    return tuple(map(int, words))


def dealt(counts: ArrayLike, total: int) -> NDArray[np.int64]:
    """Return counts with the missing votes dealt out to the classes in turn, class 0 first.

    >>> dealt([[4, 0, 1], [0, 3, 0], [2, 2, 4]], total=8).tolist()
    [[5, 1, 2], [2, 5, 1], [2, 2, 4]]

    counts: whole numbers (..., classes), rows of which add up to at most `total`. Every row that is
    returned adds up to `total`. Of a row that lacks k votes the j-th missing one, j = 0, ..., k-1,
    counts for class j mod C, whatever the row. So if one vote changes its class, vanishes or
    appears, the rows that are returned differ by one vote that moved from one class to another, or
    not at all: docs/ballots.md#dealing, where the proof is.

    Raises ValueError for a row that adds up to more.
    """
    checks.integer(total=total, at_least=1)
    counts = np.asarray(counts, dtype=np.int64)
    n_classes = counts.shape[-1]
    missing = total - counts.sum(axis=-1, keepdims=True)
    if (missing < 0).any():
        raise ValueError(f"counts: every row must add up to at most {total} votes")
    rounds, left = np.divmod(missing, n_classes)
    return counts + rounds + (np.arange(n_classes) < left)
