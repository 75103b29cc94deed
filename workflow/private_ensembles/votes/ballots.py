"""Ballots that are absent or split, as histograms that laws take.

A law takes rows that all add up to the same public number of votes. Whatever a ballot is becomes
such a row here, by a public map under which neighbours stay neighbours (docs/ballots.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.accounting.limits import MOST_PARTS

# What votes hold where a teacher gave none.
ABSENT = -1
# Votes that are counted at a time, and scores that are rounded.
_PIECE, _SCORES = 1 << 22, 1 << 20


def counted(votes: NDArray, n_classes: int) -> NDArray[np.int64]:
    """Return the histogram of each row of votes, int64 (queries, n_classes); absent ones left out.

    >>> counted(np.array([[2, -1, 2, 0], [1, 1, -1, -1]]), 3).tolist()
    [[1, 0, 2], [0, 2, 0]]

    votes: integers (queries, teachers), -1 to n_classes - 1, which are not checked here
    (`cache.Votes` does).
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


def rounded(scores: ArrayLike, resolution: int) -> NDArray[np.int64]:
    """Return every ballot of scores as so many votes that are split between the classes.

    >>> rounded([[0.625, 0.25, 0.125], [1, 1, 1], [0, 0, 0]], 4).tolist()
    [[3, 1, 0], [2, 1, 1], [2, 1, 1]]

    scores: real numbers (..., classes), one ballot in each row. resolution: S, votes of a ballot, 1
    to MOST_PARTS. Returns whole numbers of the same shape; every ballot adds up to S.

    A ballot is a function of its own row and of nothing else. Negative scores count as 0, and what
    is left is divided by its sum; a ballot without a positive score stands for all classes alike.
    S times that is rounded down, and what is missing from S goes, a vote each, to the classes that
    lost most, of those that lost the same to nine digits to the first ones (largest remainder).
    With S = 1 it is the class of the largest score.

    Raises ValueError for scores that are no finite real numbers, or without two classes, and for a
    resolution out of range. Source: docs/ballots.md, "Soft votes".
    """
    scores = _checked(scores, resolution)
    return _rounded(scores.reshape(-1, scores.shape[-1]), resolution).reshape(scores.shape)


def soft_counts(scores: ArrayLike, resolution: int) -> NDArray[np.int64]:
    """Return the votes of all ballots together, (queries, classes), in parts of 1 / `resolution`.

    >>> soft_counts([[[0.5, 0.5], [1, 0]]], 10).tolist()
    [[15, 5]]

    scores: real numbers (queries, teachers, classes), as `rounded` takes them; each row adds up to
    `resolution` times the teachers. Few queries are looked at at a time, so that memory stays near
    that of the scores. Raises ValueError as `rounded` does, and for another shape.
    """
    scores = _checked(scores, resolution)
    if scores.ndim != 3 or 0 in scores.shape:
        raise ValueError(f"scores has shape {scores.shape}: must be queries x teachers x classes")
    counts = np.empty((scores.shape[0], scores.shape[2]), dtype=np.int64)
    step = max(1, _SCORES // (scores.shape[1] * scores.shape[2]))
    for start in range(0, len(scores), step):
        piece = scores[start : start + step]
        ballots = _rounded(piece.reshape(-1, scores.shape[2]), resolution)
        counts[start : start + step] = ballots.reshape(piece.shape).sum(axis=1)
    return counts


def _checked(scores: ArrayLike, resolution: int) -> NDArray:
    checks.integer(resolution=resolution, at_least=1, at_most=MOST_PARTS)
    scores = np.asarray(scores)
    if scores.dtype.kind not in "fiu" or scores.dtype.itemsize > 8:
        raise ValueError(f"scores has type {scores.dtype}: must be real numbers of 64 bits at most")
    if scores.ndim < 1 or scores.shape[-1] < 2:
        raise ValueError(f"scores has shape {scores.shape}: must have two classes at least")
    if scores.dtype.kind == "f" and not np.isfinite(scores).all():
        where = [int(i) for i in np.argwhere(~np.isfinite(scores))[0]]
        raise ValueError(f"scores{where} = {scores[tuple(where)]}: must be a finite number")
    return scores


def _rounded(rows: NDArray, resolution: int) -> NDArray[np.int64]:
    """Round rows (ballots, classes), in double precision whatever their type."""
    scores = np.maximum(rows.astype(np.float64), 0.0)
    largest = scores.max(axis=1, keepdims=True)
    scores[largest[:, 0] == 0] = 1.0
    scores /= np.where(largest == 0, 1.0, largest)  # before the sum, which might overflow
    exact = scores / scores.sum(axis=1, keepdims=True) * resolution
    # Each is at most its own float, and these add up to less than S + 1: so no sum exceeds S.
    whole = np.floor(exact)
    missing = resolution - whole.sum(axis=1, keepdims=True)
    # To nine digits, so that what is equal stays so although it was divided.
    order = np.argsort(np.round(whole - exact, 9), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(rows.shape[1])[None, :], axis=1)
    return (whole + (rank < missing)).astype(np.int64)
