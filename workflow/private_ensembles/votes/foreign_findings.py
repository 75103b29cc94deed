"""Ballots on several findings in somebody's file, as votes of two classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.accounting.limits import MOST_TEACHERS
from private_ensembles.votes.ballots import ABSENT
from private_ensembles.votes.cache import Votes
from private_ensembles.votes.findings import one_by_one, yes_and_no
from private_ensembles.votes.foreign_columns import SAY_ABSENT, Stated, Table, short

_ARRAY = "queries x teachers x findings of votes"
_HEADER = "must name every column TEACHER.FINDING, each finding of each teacher once"


def of_findings(table: Table, stated: Stated) -> Votes:
    """Return what a file holds of the findings that `stated` names.

    Arrays: votes (queries, teachers, findings) of 0 and 1, or counts of yes (queries, findings)
    beside the number of teachers. Tables: a column TEACHER.FINDING for each. Raises ValueError, in
    one line, for anything else. Ballots with more ones than may be are not among it.
    """
    names = stated.findings
    facts = {
        "ids": table.ids,
        "absent": stated.absent,
        "findings": len(names),
        "most_ones": stated.most_ones,
        "teachers": stated.teachers,
    }
    matrix = np.asarray(table.matrix)
    if matrix.dtype.kind not in "iu":
        raise ValueError(f"has type {matrix.dtype}: must be whole numbers (an integer type)")
    if table.kind == "counts":
        counts, labels = _counts(matrix, stated), _labels(table, len(matrix), len(names))
        return Votes(2, labels, counts=counts, **facts)
    if table.columns is not None:
        matrix = _of_columns(matrix, table.columns, names)
    if matrix.ndim != 3 or 0 in matrix.shape or matrix.shape[2] != len(names):
        hint = "" if matrix.ndim == 3 else f"; of a table, a header {_HEADER}"
        raise ValueError(f"has shape {matrix.shape}: must be {_ARRAY} ({len(names)}){hint}")
    least = ABSENT if stated.absent else 0
    if matrix.min() < least or matrix.max() > 1:
        at = tuple(int(i) for i in np.argwhere((matrix < least) | (matrix > 1))[0])
        hint = f"; {SAY_ABSENT}" if matrix[at] == ABSENT else ""
        raise ValueError(f"vote {list(at)} is {matrix[at]}: must be 0 or 1{hint}")
    labels = _labels(table, len(matrix), len(names))
    votes = Votes(2, labels, one_by_one(matrix), **facts)
    if votes.n_teachers < 2:
        raise ValueError(f"has votes of {votes.n_teachers} teacher: must be at least 2")
    return votes


def of_arrays(
    counts: ArrayLike,
    findings: int,
    most_ones: int | None,
    teachers: int | None,
    *,
    absent: bool = False,
) -> Votes:
    """Return votes on findings that somebody has in memory.

    counts: ballots of 0 and 1, (queries, teachers, findings), or how many of `teachers` say yes,
    (queries, findings). absent: ballots may have -1 where a vote is missing. Raises ValueError, in
    one line, for anything else.
    """
    table = np.asarray(counts)
    facts = {"findings": findings, "most_ones": most_ones}
    if table.ndim not in (2, 3) or 0 in table.shape or table.dtype.kind not in "biu":
        raise ValueError(
            f"counts: {table.dtype} {table.shape}: must be integers (queries, teachers, findings) "
            "of 0 and 1, or (queries, findings) of how many say yes"
        )
    if table.shape[-1] != findings:
        raise ValueError(f"counts: {table.shape[-1]} findings: must be {findings}")
    if table.ndim == 2 and teachers is None:
        raise ValueError("teachers = None: must be stated beside counts of yes")
    number = table.shape[1] if table.ndim == 3 else teachers
    checks.integer(teachers=number, at_least=2, at_most=MOST_TEACHERS)
    if teachers not in (None, number):
        raise ValueError(f"teachers = {number} in the ballots: must be {teachers}")
    most = 1 if table.ndim == 3 else number
    least = ABSENT if absent and table.ndim == 3 else 0
    if table.min() < least or table.max() > most:
        raise ValueError(f"counts: must be numbers from {least} to {most}")
    table, unknown = table.astype(np.int64), np.full(len(table) * findings, -1)
    if table.ndim == 3:
        return Votes(2, unknown, one_by_one(table), absent=absent, **facts)
    return Votes(2, unknown, counts=yes_and_no(table, number), **facts)


def _counts(matrix: NDArray, stated: Stated) -> NDArray[np.int64]:
    """Counts of no and yes, by the number of teachers that is stated."""
    if stated.absent:
        raise ValueError("absent: must be no for counts of yes, which do not tell who said no")
    if stated.teachers is None:
        raise ValueError("teachers = None: must be stated beside counts of yes")
    if matrix.ndim != 2 or matrix.shape[1] != len(stated.findings) or not len(matrix):
        shape = f"must be queries x findings ({len(stated.findings)}) of counts of yes"
        raise ValueError(f"has shape {matrix.shape}: {shape}")
    if matrix.min() < 0 or matrix.max() > stated.teachers:
        at = tuple(int(i) for i in np.argwhere((matrix < 0) | (matrix > stated.teachers))[0])
        raise ValueError(f"count {list(at)} is {matrix[at]}: must be 0 to {stated.teachers}")
    return yes_and_no(matrix, stated.teachers)


def _of_columns(matrix: NDArray, columns: Sequence[str], names: Sequence[str]) -> NDArray:
    """Return the columns of a table as ballots; names that are not stated come as they do there."""
    at: dict[tuple[str, str], int] = {}
    for place, column in enumerate(columns):
        teacher, point, finding = column.strip().rpartition(".")
        if not point or not teacher or not finding or (teacher, finding) in at:
            raise ValueError(f"has a column called {short(column)!r}: a header {_HEADER}")
        at[teacher, finding] = place
    teachers = list(dict.fromkeys(teacher for teacher, _ in at))
    there = list(dict.fromkeys(finding for _, finding in at))
    if set(there) != set(names):
        numbered = all(name == f"finding{place}" for place, name in enumerate(names))
        if not numbered or len(there) != len(names):
            raise ValueError(
                f"has columns for the findings {short(', '.join(there))}: must be for "
                f"{short(', '.join(names))}"
            )
        names = there
    missing = [f"{one}.{name}" for one in teachers for name in names if (one, name) not in at]
    if missing:
        raise ValueError(f"has no column called {short(missing[0])!r}: a header {_HEADER}")
    places = [[at[teacher, name] for name in names] for teacher in teachers]
    return matrix[:, np.array(places)]


def _labels(table: Table, queries: int, findings: int) -> NDArray[np.int64]:
    """Return the truth of all findings, one after the other, -1 where it is not known."""
    if table.labels is None:
        return np.full(queries * findings, -1, np.int64)
    labels = np.asarray(table.labels)
    if labels.dtype.kind not in "iu" or labels.shape != (queries, findings):
        raise ValueError(
            f"labels is {labels.dtype} {labels.shape}: must be whole numbers (queries, findings) = "
            f"({queries}, {findings})"
        )
    return labels.astype(np.int64).reshape(-1)
