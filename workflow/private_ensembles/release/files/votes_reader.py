"""Reading votes that somebody else's teachers cast: what is accepted, and one line for what is not.

docs/own-votes.md describes the formats. Whatever comes in leaves as a `votes.Votes`; a large
file is looked at in pieces, so memory stays near that of the votes in their smallest type.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

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
from private_ensembles.release.files.tables import EncodedCells, MemoryCheck, Table

# So many cells are worked on at a time, to bound memory.
_PIECE = 1 << 20
# One count takes this much memory on its way to a label, with exact noise (measured).
_BYTES_OF_A_COUNT = 150


def read_own_votes(path: str | Path, **stated: Any) -> Votes:
    """Return the votes, or counts, in a file, with labels if it has them (else -1).

    Args:
        path: The file; its ending says how it is read (`formats.READERS`).
        **stated: What the owner says of the file, the fields of `columns.FileDescription`; all of
            it is public.

    Raises:
        ValueError: If anything is not as stated; the message is one line that names the file.
        OSError: If the file cannot be opened.

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
    path, description = Path(path), FileDescription(**stated)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: must end in {', '.join(READERS)}")
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would wait for ever
        raise ValueError(f"{path}: must be a file")
    require_memory = partial(_require_memory, description.classes)
    module, _, function = reader.rpartition(".")
    read = getattr(import_module(f"private_ensembles.{module}"), function)
    try:
        return _votes(read(path, description, require_memory), description, require_memory)
    except ValueError as error:
        text = " ".join(str(error).split())
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def _require_memory(n_classes: int, n_queries: int, n_bytes: int) -> None:
    """Raise ValueError, before any work, if this machine lacks the memory for that many counts.

    n_bytes: of the file's own arrays, of which there is a second copy in their smallest type.
    """
    needed = n_queries * n_classes * _BYTES_OF_A_COUNT + 2 * n_bytes
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        raise ValueError(
            f"{n_queries} queries x {n_classes} classes need about {needed / 2**30:.0f} GiB of "
            f"memory, and this machine has {memory / 2**30:.0f}: split the queries"
        )


def _votes(table: Table, stated: FileDescription, require_memory: MemoryCheck) -> Votes:
    """Return what a table holds; ValueError if it is not as stated."""
    if table.n_classes not in (None, stated.classes):
        raise ValueError(f"has n_classes = {table.n_classes}, and {stated.classes} is asked for")
    kind, transposed = _kind(table, stated)
    matrix = _interpret_cells(table, kind, stated)
    matrix = matrix.T if transposed else matrix
    ids = None
    if table.worker is not None:
        matrix, ids = _pivot_long_votes(table, matrix[:, 0], stated, require_memory)
    elif table.id is not None:
        _require_distinct_ids(table.id, table.first_row)
        ids = table.id.to_list()
    unknown = np.full(len(matrix), ABSENT)
    labels = unknown if table.label is None else _labels(table.label, stated)
    facts = {name: getattr(stated, name) for name in ("absent", "teachers", "most_ones")}
    facts |= {kind: matrix, "ids": None if ids is None else tuple(ids)}
    votes = Votes(stated.classes, labels, **facts)
    if votes.n_teachers < 2:
        raise ValueError(f"has votes of {votes.n_teachers} teacher: must be at least 2")
    return votes


def _kind(table: Table, stated: FileDescription) -> tuple[str, bool]:
    """Return what a table holds, and whether its rows are teachers.

    Only the shape and the names decide, because a refusal must not depend on votes.
    """
    rows, width = table.matrix.codes.shape
    n_classes, teachers, kind = stated.classes, stated.teachers, table.kind
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
    """Return classes from 0, or counts, in the matrix's shape; ValueError for the first other.

    They take the place of the table's codes if these have room for them.
    """
    codes, texts = table.matrix
    if kind == "counts":
        values = parse_vote_counts(texts)
    else:
        values = parse_classes(texts, stated)
        words = [name for name in stated.class_names or () if parse_whole_number(name) is None]
        is_number = np.array([parse_whole_number(text) is not None for text in texts])
        if is_number.any() and not set(words).isdisjoint(texts):
            number = texts[codes[_find_first(codes, is_number)]]
            raise ValueError(
                f"holds names of classes and numbers, such as {shorten(number)!r}: must be either"
            )
    if (invalid := values == INVALID).any():
        row, column = _find_first(codes, invalid)
        text = texts[codes[row, column]]
        name = None if table.columns is None else table.columns[column]
        why = f"{shorten(text)!r} is no number of votes"
        if kind == "votes":
            why = explain_invalid_vote(text, texts, stated, name)
        raise ValueError(f"{table.describe_position(row, column)}: {why}")
    low, high = int(values.min()), int(values.max())
    values = values.astype(np.min_scalar_type(high if low >= 0 else min(low, -high - 1)))
    fits = values.dtype.itemsize == codes.dtype.itemsize
    matrix = codes.view(values.dtype) if fits else np.empty_like(codes, values.dtype)
    cells, votes = codes.ravel(order="K"), matrix.ravel(order="K")  # views, in the memory's order
    for start in range(0, len(cells), _PIECE):
        votes[start : start + _PIECE] = values[cells[start : start + _PIECE]]
    return matrix


def _find_first(codes: NDArray, wanted: NDArray[np.bool_]) -> tuple[int, int]:
    """Return row and column of the first cell, row by row, whose code is wanted; there is one."""
    step = max(1, _PIECE // codes.shape[1])
    for start in range(0, len(codes), step):
        hits = wanted[codes[start : start + step]]
        if hits.any():
            row, column = divmod(int(hits.argmax()), codes.shape[1])
            return start + row, column
    raise AssertionError("every code is of a cell")


def _labels(label: EncodedCells, stated: FileDescription) -> NDArray:
    """Return the right labels, classes from 0; -1 for an unknown one."""
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
    """Return the votes of a table with one vote in each row, (queries, teachers), and the queries.

    Queries and teachers are sorted by name. In the order of the rows, a missing vote might decide
    which comes first. A query that nobody voted on may have a row without a teacher, as in an
    export of Label Studio.
    """
    assert table.id is not None  # long_columns names both
    assert table.worker is not None
    rows, columns = table.id.codes, table.worker.codes
    queries, row_of = _sort(table.id)
    teachers, column_of = _sort(table.worker)
    nobody = np.zeros(len(votes), dtype=bool)
    if stated.absent and teachers[:1] == [""]:
        nobody = (column_of[columns] == 0) & (votes == ABSENT)
        if nobody.sum() == (column_of[columns] == 0).sum():
            teachers, column_of = teachers[1:], column_of - 1
    if "" in (*queries[:1], *teachers[:1]):
        raise ValueError("has a vote without a query or a teacher: every vote names both")
    number = len(teachers) if stated.teachers is None else stated.teachers
    if len(teachers) > number or (len(teachers) < number and not stated.absent):
        raise ValueError(f"has votes of {len(teachers)} teachers, and n_teachers = {number}")
    require_memory(len(queries), len(queries) * number + 16 * len(votes))

    def places(lines: slice) -> NDArray[np.int64]:
        """Return where the votes of some lines stand in the matrix, row by row."""
        return row_of[rows[lines]] * number + column_of[columns[lines]]

    matrix = np.full(len(queries) * number, ABSENT, np.result_type(votes.dtype, np.int8))
    known = np.zeros(len(matrix), dtype=bool)
    for start in range(0, len(votes), _PIECE):
        lines = slice(start, start + _PIECE)
        voted = ~nobody[lines]
        here = places(lines)[voted]
        if known[here].any() or _find_duplicate(here, table.first_row):
            everywhere = places(slice(None))
            everywhere[nobody] = -1 - np.flatnonzero(nobody)  # none of them the place of another
            found = _find_duplicate(everywhere, table.first_row)
            assert found is not None
            both, second = found
            row, column = divmod(int(places(slice(second, second + 1))[0]), number)
            teacher, query = shorten(teachers[column]), shorten(queries[row])
            raise ValueError(f"{both} hold two votes of {teacher!r} on {query!r}")
        known[here], matrix[here] = True, votes[lines][voted]
    if not stated.absent and not known.all():
        row, column = divmod(int(known.argmin()), number)
        raise ValueError(
            f"has no vote of {shorten(teachers[column])!r} on {shorten(queries[row])!r}: if "
            "ballots may be absent say absent=yes"
        )
    return matrix.reshape(-1, number), queries


def _sort(names: EncodedCells) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different names, sorted, and the place of each code's name among them."""
    order = sorted(range(len(names.texts)), key=names.texts.__getitem__)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return [names.texts[code] for code in order], places


def _require_distinct_ids(ids: EncodedCells, first_row: tuple[str, int]) -> None:
    """Raise ValueError for an empty identifier, or one that two queries have; they are public."""
    (word, start), (codes, texts) = first_row, ids
    if "" in texts:
        row = start + int((codes == texts.index("")).argmax())
        raise ValueError(f"{word} {row} has no identifier: every query needs one")
    if rows := _find_duplicate(codes, first_row):
        both, second = rows
        text = shorten(texts[codes[second]])
        raise ValueError(f"{both} have the identifier {text!r}: must be different")


def _find_duplicate(values: NDArray, first_row: tuple[str, int]) -> tuple[str, int] | None:
    """Return which two rows have the same value, in words, and the index of the second, or None."""
    column = pd.Series(values)
    if not (repeated := column.duplicated()).any():
        return None
    second, (word, start) = int(repeated.argmax()), first_row
    earlier = int((column == column[second]).argmax())
    return f"{word}s {start + earlier} and {start + second}", second
