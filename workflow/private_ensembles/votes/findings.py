"""Ballots on several yes/no findings at once, and how they become votes of two classes.

Finding j of query i is row i k + j of all votes, so that the k findings of a query are one after
the other: class 0 is no, class 1 yes. Whatever is known of votes of two classes then holds
(docs/multi-label.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.configuration.class_names import read_class_names

# More findings of one query make a plan too long.
MOST_FINDINGS = 1000
_PIECE = 1 << 22  # entries that are looked at at a time
_NUMBER = re.compile(r"[0-9]{1,6}")
# Names of columns of our own in a file of labels.
_TAKEN = ("query", "id", "label", "class_name")


def names_of_findings(findings: str | int | Sequence[str]) -> tuple[str, ...]:
    """Return the names of a query's findings in their order: stated, or finding0, finding1, ....

    findings: their number, two at least; or their names, as `read_class_names` takes those of
    classes. Raises ValueError, in one line, for anything else.

    >>> names_of_findings("3"), names_of_findings("edema,fracture")
    (('finding0', 'finding1', 'finding2'), ('edema', 'fracture'))
    """
    number = findings
    if isinstance(findings, str) and _NUMBER.fullmatch(findings.strip()):
        number = int(findings)
    if isinstance(number, int | np.integer) and not isinstance(number, bool):
        if not 2 <= number <= MOST_FINDINGS:
            raise ValueError(f"findings = {number}: must be 2 to {MOST_FINDINGS:,}")
        return tuple(f"finding{place}" for place in range(number))
    try:
        names = read_class_names(findings)
    except ValueError as error:
        text = str(error).replace("class_names", "findings").replace("classes", "findings")
        raise ValueError(text.replace("every class", "every finding")) from None
    if len(names) > MOST_FINDINGS:
        raise ValueError(f"findings: {len(names)} names: must be 2 to {MOST_FINDINGS:,}")
    if taken := [name for name in names if name in _TAKEN]:
        raise ValueError(f"findings: {taken[0]!r} is a column of labels.csv: use another name")
    return names


def few_ones(votes: NDArray, findings: int, most: int) -> NDArray:
    """Return ballots of at most so many ones: of one with more, the first ones are kept.

    votes: (queries x findings, teachers), 0 or 1. The rule is public and looks at one ballot alone,
    so that one ballot that changes is still one. Nothing is refused, for that would tell something
    about a ballot.

    >>> few_ones(np.array([[1, 0], [0, 1], [1, 0], [1, 0]]), 4, 2).T.tolist()
    [[1, 0, 1, 0], [0, 1, 0, 0]]
    """
    ballots = votes.reshape(-1, findings, votes.shape[1])
    kept = np.empty_like(ballots)
    step = max(1, _PIECE // (findings * votes.shape[1]))
    for start in range(0, len(ballots), step):
        piece = ballots[start : start + step]
        ones = piece == 1
        kept[start : start + step] = np.where(ones & (ones.cumsum(axis=1) > most), 0, piece)
    return kept.reshape(votes.shape)


def one_by_one(ballots: NDArray) -> NDArray:
    """Return ballots (queries, teachers, findings) as votes: (queries x findings, teachers).

    >>> one_by_one(np.array([[[1, 0], [1, 1], [0, 0]]])).tolist()
    [[1, 1, 0], [0, 1, 0]]
    """
    queries, teachers, findings = ballots.shape
    return np.ascontiguousarray(ballots.transpose(0, 2, 1)).reshape(queries * findings, teachers)


def yes_and_no(yes: ArrayLike, teachers: int) -> NDArray[np.int64]:
    """Return how many teachers say no and yes to each finding: (queries x findings, 2).

    yes: (queries, findings), how many say yes, 0 to `teachers`.

    >>> yes_and_no(np.array([[3, 0]]), 3).tolist()
    [[0, 3], [3, 0]]
    """
    flat = np.asarray(yes, dtype=np.int64).reshape(-1)
    return np.stack([teachers - flat, flat], axis=1)


def rows_of(queries: ArrayLike, findings: int) -> NDArray[np.int64]:
    """Return the rows of all findings of some queries.

    >>> rows_of([2, 0], 3).tolist()
    [6, 7, 8, 0, 1, 2]
    """
    first = np.asarray(queries, dtype=np.int64)[:, None] * findings
    return (first + np.arange(findings)).reshape(-1)
