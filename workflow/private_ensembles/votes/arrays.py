"""Counts, scores or ballots on findings that somebody has in memory, as votes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.accounting.limits import MOST_PARTS, MOST_TEACHERS
from private_ensembles.votes import foreign_findings
from private_ensembles.votes.ballots import soft_counts
from private_ensembles.votes.cache import Votes
from private_ensembles.votes.findings import names_of_findings
from private_ensembles.votes.foreign import PARTS


def of_arrays(
    counts: ArrayLike | None,
    *,
    scores: ArrayLike | None = None,
    teachers: int | None = None,
    resolution: int | None = None,
    findings: int | str | Sequence[str] | None = None,
    most_ones: int | None = None,
) -> Votes:
    """Return votes from what `private_ensembles.release_labels` takes, which says what each is.

    >>> of_arrays([[4, 1], [2, 3]]).n_teachers
    5

    Counts without scores and findings are those of whole ballots of all teachers; with
    teachers, ballots may be absent; with teachers and a resolution, ballots are split. Raises
    ValueError, in one line, for arrays that are not such a table, and for what does not go
    together.
    """
    if resolution is not None:
        checks.integer(resolution=resolution, at_least=1, at_most=MOST_PARTS)
    split = scores is not None or resolution not in (None, 1)
    if findings is not None:
        if split:
            raise ValueError("findings: must be given without scores, as they are yes or no")
        number = len(names_of_findings(findings))
        return foreign_findings.of_arrays(counts, number, most_ones, teachers)
    if most_ones is not None:
        raise ValueError(f"most_ones = {most_ones}: must be left out without findings")
    if scores is not None:
        if counts is not None:
            raise ValueError("counts, scores: exactly one of them must be given")
        return _of_scores(scores, teachers, PARTS if resolution is None else resolution)
    rows = _rows(counts)
    if split:
        return _of_parts(rows, teachers, resolution)
    return _one_each(rows, teachers)


def _of_scores(scores: ArrayLike, teachers: int | None, parts: int) -> Votes:
    rows = soft_counts(scores, parts)
    number = np.shape(scores)[1]
    if teachers not in (None, number):
        raise ValueError(f"teachers = {teachers}: must be {number}, as in scores")
    return _of_parts(rows, number, parts)


def _of_parts(rows: NDArray[np.int64], teachers: int | None, parts: int) -> Votes:
    """Return counts of ballots that are split into so many votes each."""
    if teachers is None:
        raise ValueError("teachers: must be stated for counts of parts of a vote")
    _require_number(teachers)
    total = teachers * parts
    if (_sums(rows, total) != total).any():
        raise ValueError(f"counts: every row must add up to {total}, parts of a vote of all")
    return _votes(rows, teachers=teachers, resolution=parts)


def _one_each(rows: NDArray[np.int64], teachers: int | None) -> Votes:
    """Return counts of one vote each; if the number of teachers is stated, some may be absent."""
    sums = _sums(rows, MOST_TEACHERS)
    if teachers is not None:
        _require_number(teachers)
        if (sums > teachers).any():
            raise ValueError(f"counts: every row must add up to at most {teachers} teachers")
        return _votes(rows, teachers=teachers, absent=True)
    # Refused by the number of teachers alone, which is public.
    if (sums != sums[0]).any() or not 2 <= sums[0] <= MOST_TEACHERS:
        raise ValueError(
            "counts: every row must add up to the same number of teachers, 2 to "
            f"{MOST_TEACHERS:,}; rows add up to {int(sums.min())} to {int(sums.max())}; if ballots "
            "may be absent say teachers=NUMBER"
        )
    return _votes(rows)


def _votes(rows: NDArray[np.int64], **facts: object) -> Votes:
    return Votes(rows.shape[1], np.full(len(rows), -1), counts=rows, **facts)


def _require_number(teachers: int) -> None:
    checks.integer(teachers=teachers, at_least=2, at_most=MOST_TEACHERS)


def _rows(counts: ArrayLike) -> NDArray[np.int64]:
    rows = np.asarray(counts)
    if rows.ndim != 2 or 0 in rows.shape or rows.shape[1] < 2 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"counts: {rows.dtype} {rows.shape}: must be integers (queries, classes), two "
            "classes at least"
        )
    if rows.min() < 0:
        raise ValueError("counts: must be numbers of votes, at least 0")
    return rows


def _sums(rows: NDArray, most: int) -> NDArray[np.int64]:
    """How many votes each row has, or some number above `most`, as sums might overflow."""
    return np.minimum(rows, most + 1).sum(axis=1, dtype=np.int64)
