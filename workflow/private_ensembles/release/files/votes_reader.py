"""Reading votes that somebody else's teachers cast: what is accepted, and one line for what is not.

docs/your-own-votes.md describes the formats. Whatever comes in leaves as a `votes.Votes`; a large
file is looked at in pieces, so memory stays near that of the votes in their smallest type.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from private_ensembles.labels.ballots import ABSENT
from private_ensembles.labels.votes import Votes
from private_ensembles.release.files.cells import (
    INVALID,
    explain_invalid_vote,
    is_value,
    parse_classes,
    parse_vote_counts,
    parse_whole_number,
)
from private_ensembles.release.files.columns import (
    SAY_VOTES_KIND,
    FileDescription,
    missing_teachers_message,
    shorten,
)
from private_ensembles.release.files.formats import READERS
from private_ensembles.release.files.tables import Cells, MemoryCheck, Table

# Memory that one count takes on its way to a label, with exact noise (measured).
_BYTES_OF_A_COUNT = 150


def read_own_votes(path: str | Path, **stated: object) -> Votes:
    """Return the votes, or counts, in a file, with labels if it has them (else -1).

    stated: what the owner says of the file, the fields of `columns.FileDescription`; all of it is
    public. Raises ValueError, one line that names the file, for anything that is not as stated;
    OSError if it cannot be opened.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("image,anna,ben,cleo,label\\nx.png,cat,dog,dog,dog\\n")
    ...     _ = file.write("y.png,cat,cat,dog,\\n")
    ...     _ = file.seek(0)
    ...     stated = {"teachers": 3, "class_names": ("cat", "dog", "bird"), "id_column": "image"}
    ...     votes = read_own_votes(file.name, **stated)
    >>> votes.histogram().tolist(), votes.labels.tolist(), votes.ids
    ([[1, 2, 0], [2, 1, 0]], [1, -1], ('x.png', 'y.png'))
    """
    path, said = Path(path), FileDescription(**stated)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: must end in {', '.join(READERS)}")
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would wait for ever
        raise ValueError(f"{path}: must be a file")
    fits = partial(_require_memory, said.n_classes)
    module, _, function = reader.rpartition(".")
    read = getattr(import_module(f"private_ensembles.{module}"), function)
    try:
        return _votes(read(path, said, fits), said, fits)
    except ValueError as error:
        text = " ".join(str(error).split())
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def _require_memory(n_classes: int, n_queries: int, n_bytes: int) -> None:
    """ValueError, before any work, if this machine lacks the memory for that many counts.

    n_bytes: of the file's own arrays, of which there is a second copy in their smallest type.
    """
    needed = n_queries * n_classes * _BYTES_OF_A_COUNT + 2 * n_bytes
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise ValueError(
            f"{n_queries} queries x {n_classes} classes need about {needed / 2**30:.0f} GiB of "
            f"memory, and this machine has {there / 2**30:.0f}: split the queries"
        )


def _votes(table: Table, stated: FileDescription, require_memory: MemoryCheck) -> Votes:
    """Return what a table holds; ValueError where it is not as stated."""
    if table.n_classes not in (None, stated.n_classes):
        raise ValueError(f"has n_classes = {table.n_classes}, and {stated.n_classes} is asked for")
    kind, turned = _kind(table, stated)
    matrix = _interpret_cells(table, kind, stated)
    matrix = matrix.T if turned else matrix
    ids = None if table.id is None else table.id.to_list()
    if table.worker is not None:
        matrix, ids = _pivot_long_votes(table, matrix[:, 0], stated, require_memory)
    elif ids is not None:
        _require_distinct_ids(ids, table.first_row)
    unknown = np.full(len(matrix), ABSENT)
    labels = unknown if table.label is None else _labels(table.label, stated)
    facts = {name: getattr(stated, name) for name in ("absent", "teachers", "most_ones")}
    facts |= {kind: matrix, "ids": None if ids is None else tuple(ids)}
    result = Votes(stated.n_classes, labels, **facts)
    if result.n_teachers < 2:
        raise ValueError(f"has votes of {result.n_teachers} teacher: must be at least 2")
    return result


def _kind(table: Table, stated: FileDescription) -> tuple[str, bool]:
    """Return what a table holds, and whether teachers are in its rows, by its shape and names.

    A refusal must not depend on votes.
    """
    rows, width = table.matrix.codes.shape
    n_classes, teachers, kind = stated.n_classes, stated.teachers, table.kind
    if kind == "auto" and not all(map(is_value, table.matrix.texts)):
        kind = "votes"
    if table.worker is not None:
        return "votes", False
    for option in ("id_column", "truth_column", "ignore_columns", "long_columns"):
        if table.columns is None and (value := getattr(stated, option)):
            raise ValueError(f"has no names of columns, so none called {value!r} ({option})")
    if (
        kind == "auto"
        and width == n_classes
        and (teachers in (None, n_classes) or (table.columns is None and width != teachers))
    ):
        raise ValueError(f"has {width} columns, as many as classes: {SAY_VOTES_KIND}")
    if kind == "counts" and width != n_classes:
        raise ValueError(f"counts have {width} columns: must be {n_classes}")
    if teachers is None and not stated.public:
        raise ValueError(missing_teachers_message(kind, f"{rows} x {width} votes"))
    if kind == "counts" or teachers is None or table.columns is not None:
        return "votes" if kind == "auto" else kind, False
    if teachers not in (rows, width):
        raise ValueError(
            f"has {rows} rows and {width} columns, and n_teachers = {teachers}: must be queries x "
            "teachers, or teachers x queries"
        )
    if rows == width and stated.kind != "votes":
        raise ValueError(
            f"has {rows} rows and columns: if every column is a teacher say votes_kind=votes"
        )
    return "votes", width != teachers


def _interpret_cells(table: Table, kind: str, stated: FileDescription) -> NDArray:
    """Return classes from 0, or numbers of votes; ValueError for the first cell that is none."""
    places, texts = table.matrix
    if kind == "counts":
        values = parse_vote_counts(texts)
    else:
        values = parse_classes(texts, stated)
        words = [name for name in stated.class_names or () if parse_whole_number(name) is None]
        numbers = [text for text in texts if parse_whole_number(text) is not None]
        if numbers and not set(words).isdisjoint(texts):
            raise ValueError(
                f"holds names of classes and numbers, such as {shorten(numbers[0])!r}: must be either"
            )
    if (values == INVALID).any() and (wrong := (values == INVALID)[places]).any():
        row, column = map(int, np.argwhere(wrong)[0])
        text = texts[places[row, column]]
        name = None if table.columns is None else table.columns[column]
        why = f"{shorten(text)!r} is no number of votes"
        if kind == "votes":
            why = explain_invalid_vote(text, texts, stated, name)
        raise ValueError(f"{table.describe_position(row, column)}: {why}")
    ends = np.min_scalar_type(values.min()), np.min_scalar_type(values.max())
    return values.astype(np.result_type(*ends))[places]


def _labels(label: Cells, stated: FileDescription) -> NDArray:
    """Return the labels with classes from 0, -1 where they are unknown."""
    values = parse_classes(label.texts, replace(stated, absent=True, absent_as=None))[label.codes]
    if (values == INVALID).any():
        row = int(np.argmax(values == INVALID))
        text = label.texts[label.codes[row]]
        raise ValueError(
            f"label of row {row} is {shorten(text)!r}: must be a class, or -1 if unknown"
        )
    return values


def _pivot_long_votes(
    table: Table, votes: NDArray, stated: FileDescription, require_memory: MemoryCheck
) -> tuple[NDArray, list[str]]:
    """Return votes, one of which each row of a table holds, as queries x teachers, and the queries.

    Both in the order of their names: in that of the rows, whose vote is missing might decide it.
    """
    row, column = (
        pd.Categorical.from_codes(places, texts).reorder_categories(sorted(texts))
        for places, texts in (table.id, table.worker)
    )
    queries, teachers = list(row.categories), list(column.categories)
    number = len(teachers) if stated.teachers is None else stated.teachers
    if len(teachers) > number or (len(teachers) < number and not stated.absent):
        raise ValueError(f"has votes of {len(teachers)} teachers, and n_teachers = {number}")
    if "" in (*queries[:1], *teachers[:1]):
        raise ValueError("has a vote without a query or a teacher: every line names both")
    require_memory(len(queries), len(queries) * number + 16 * len(votes))
    if lines := _find_duplicate(
        row.codes.astype(np.int64) * number + column.codes, table.first_row
    ):
        two, again = lines
        teacher, query = shorten(column[again]), shorten(row[again])
        raise ValueError(f"{two} hold two votes of {teacher!r} on {query!r}")
    matrix = np.full((len(queries), number), ABSENT, np.result_type(votes.dtype, np.int8))
    matrix[row.codes, column.codes] = votes
    if not stated.absent and len(votes) < matrix.size:
        at, teacher = map(int, np.argwhere(matrix == ABSENT)[0])
        raise ValueError(
            f"has no vote of {shorten(teachers[teacher])!r} on {shorten(queries[at])!r}: if ballots "
            "may be absent say absent=yes"
        )
    return matrix, queries


def _require_distinct_ids(ids: Sequence[str], first: tuple[str, int]) -> None:
    """ValueError for an empty identifier, or one that two queries have; they are public."""
    word, start = first
    if "" in ids:
        raise ValueError(f"{word} {start + ids.index('')} has no identifier: every query needs one")
    if rows := _find_duplicate(ids, first):
        two, again = rows
        raise ValueError(f"{two} have the identifier {shorten(ids[again])!r}: must be different")


def _find_duplicate(values: Sequence, first: tuple[str, int]) -> tuple[str, int] | None:
    """Return in words which two rows have the same value, and the second's place; None if none."""
    column = pd.Series(values)
    if not (again := column.duplicated()).any():
        return None
    second, (word, start) = int(again.argmax()), first
    earlier = int((column == column[second]).argmax())
    return f"{word}s {start + earlier} and {start + second}", second
