"""Votes in CSV and Parquet files as spreadsheets, R, pandas, Arrow and databases write them.

pandas reads every cell as a text; `cells` says what it means. What could be read in two
ways is refused, with what to write instead.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from private_ensembles.release.files.cells import TextIndex, is_value
from private_ensembles.release.files.columns import (
    SAY_VOTES_KIND,
    Columns,
    FileDescription,
    identify_columns,
    is_side_column,
    shorten,
)

# So many cells are parsed together, but never fewer rows than this, because every column of each
# piece takes its time.
_CELLS, _ROWS = 1 << 18, 512
# So many cells of Parquet are read together, but never less than a column.
_CELLS_OF_COLUMNS = 1 << 20
# A file that is called CSV and is none may begin like this.
_OTHERS = {
    b"\x1f\x8b": "is compressed by gzip: unpack it",
    b"PK\x03\x04": "is a spreadsheet or an archive by its content: save it as CSV",
    b"PAR1": "is a Parquet file by its content: call it .parquet",
    b"\xff\xfe": "is written in UTF-16: save it in UTF-8",
    b"\xfe\xff": "is written in UTF-16: save it in UTF-8",
}
_BLANKS = r"\s+"
# A first line of so many numbers or more may number the columns.
_COUNTED = 4
_TEACHERS = "teacher0, teacher1, ... in a header"
# A check of memory takes the numbers of queries and of bytes, and raises ValueError for too many.
MemoryCheck = Callable[[int, int], None]


class EncodedCells(NamedTuple):
    """Cells of a table as codes: codes[i] of type int stands for the text texts[codes[i]]."""

    codes: NDArray
    texts: Sequence[str]

    def to_list(self) -> list[str]:
        """Return the text of every cell of a column."""
        return [self.texts[code] for code in self.codes.tolist()]


class CellEncoder:
    """Cells that come some rows at a time; memory holds their codes and each different text once.

    >>> encoder = CellEncoder(3)
    >>> encoder.append(np.array([["cat", "dog"]]))
    >>> encoder.append(np.array([["dog", "ape"], ["ape", "ape"]]))
    >>> encoder.cells.codes.tolist(), encoder.cells.texts
    ([[0, 1], [1, 2], [2, 2]], ['cat', 'dog', 'ape'])
    """

    def __init__(self, rows: int) -> None:
        self._rows, self._filled = rows, 0
        self._texts = TextIndex()
        self._codes: NDArray | None = None

    def append(self, cells: NDArray | pd.Series | pd.DataFrame) -> None:
        """Add rows of cells, as `TextIndex.encode` takes them."""
        codes = self._texts.encode(cells)
        if self._codes is None:
            self._codes = np.empty((self._rows, *codes.shape[1:]), codes.dtype)
        elif self._codes.dtype != codes.dtype:  # there are more texts than the type had room for
            self._codes = self._codes.astype(codes.dtype)
        end = self._filled + len(codes)
        self._codes[self._filled : end] = codes
        self._filled = end

    @property
    def cells(self) -> EncodedCells:
        """All cells; at least one piece was added."""
        assert self._codes is not None
        return EncodedCells(self._codes[: self._filled], self._texts.all_texts)


@dataclass(frozen=True)
class Table:
    """What a file holds, before it is known what its cells mean.

    Attributes:
        kind: ``votes``, ``counts``, or ``auto`` if nothing says so.
        matrix: Votes or counts, (rows, columns).
        label: The right labels, (rows,).
        id: What the queries are called, (rows,).
        worker: The teachers, (rows,), if each row holds one vote.
        columns: The names of the matrix's columns, if it has any.
        first_row: What messages call a row, and the number of the first one.
        n_classes: How many classes there are by the file itself.
    """

    kind: str
    matrix: EncodedCells
    label: EncodedCells | None = None
    id: EncodedCells | None = None
    worker: EncodedCells | None = None
    columns: tuple[str, ...] | None = None
    first_row: tuple[str, int] = ("row", 0)
    n_classes: int | None = None

    def describe_position(self, row: int, column: int) -> str:
        """Return where a cell of the matrix stands in the file, for a message."""
        name = column + 1 if self.columns is None else repr(shorten(self.columns[column]))
        return f"{self.first_row[0]} {self.first_row[1] + row}, column {name}"


def read_csv(path: Path, stated: FileDescription, require_memory: MemoryCheck) -> Table:
    """Return what a CSV file holds.

    Args:
        path: The file.
        stated: As in `votes_reader.read_own_votes`, which has an example.
        require_memory: Called with the numbers of rows and bytes before cells are read.

    Raises:
        ValueError: If the file is no table.
        OSError: If it cannot be opened.
    """
    with open(path, "rb") as file:
        start = file.read(4)
    for magic, reason in _OTHERS.items():
        if start.startswith(magic):
            raise ValueError(reason)
    try:
        header, line, rows, separator = _scan_csv(path)
    except UnicodeDecodeError as error:
        raise ValueError(f"is not text in UTF-8 ({error.reason}): save it in UTF-8") from None
    headed = _is_header(header, stated)
    columns = Columns(stated.kind, list(range(len(header))))
    if headed:
        columns, line, rows = identify_columns(header, stated), line + 1, rows - 1
    require_memory(rows, rows * len(columns.matrix))
    if not rows:
        raise ValueError("has a header and no rows")
    frames = pd.read_csv(
        path,
        sep=separator,
        header=None,
        skiprows=line - 1,
        nrows=rows,
        chunksize=max(_ROWS, _CELLS // len(header)),
        dtype=object,  # pandas' own texts take more time and memory, as equal cells are not shared
        keep_default_na=False,
        na_filter=False,
        skip_blank_lines=False,
        encoding="utf-8-sig",
        compression=None,
    )
    parts = columns.parts
    encoders = {name: CellEncoder(rows) for name in parts}
    for frame in frames:
        for name, encoder in encoders.items():
            encoder.append(frame[parts[name]])
    cells = {name: encoder.cells for name, encoder in encoders.items()}
    names = tuple(header[position] for position in columns.matrix) if headed else None
    return _table(columns, cells, names, ("line", line))


def read_parquet(path: Path, stated: FileDescription, require_memory: MemoryCheck) -> Table:
    """Return what a Parquet file holds; its columns mean what they would in a CSV with this header.

    Arguments and errors are those of `read_csv`.

    Raises:
        ModuleNotFoundError: If pyarrow is not installed.
    """
    import pyarrow
    import pyarrow.parquet

    with open(path, "rb"):  # the error of `open` says more than Arrow's
        pass
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            header = [field.name for field in file.schema_arrow]
            columns, rows = identify_columns(header, stated), file.metadata.num_rows
            require_memory(rows, 8 * rows * len(header))

            def read(positions: Sequence[int]) -> pd.DataFrame:
                names = [header[position] for position in positions]
                data = file.read(columns=names, use_pandas_metadata=False)
                return data.to_pandas(ignore_metadata=True)[names]

            types = {file.schema_arrow.types[position] for position in columns.matrix}
            matrix = _encode_columns(read, columns.matrix, rows, one_type=len(types) == 1)
            cells = {"matrix": matrix}
            for name, position in columns.parts.items():
                if name != "matrix":
                    cells[name] = encode_rows(read([position]).iloc[:, 0])
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"not a readable Parquet file: {error}") from None
    if not rows:
        raise ValueError("has columns and no rows")
    names = tuple(header[position] for position in columns.matrix)
    return _table(columns, cells, names, ("row", 0))


def _table(
    columns: Columns,
    cells: Mapping[str, EncodedCells],
    names: tuple[str, ...] | None,
    first_row: tuple[str, int],
) -> Table:
    """Return the table of these cells, whose matrix has columns of these names."""
    label, row_id, worker = (cells.get(name) for name in ("label", "id", "worker"))
    return Table(columns.kind, cells["matrix"], label, row_id, worker, names, first_row)


def encode_rows(cells: NDArray | pd.Series | pd.DataFrame) -> EncodedCells:
    """Return cells as codes, which are made of some rows at a time."""
    encoder = CellEncoder(len(cells))
    for start in range(0, max(1, len(cells)), _CELLS):
        encoder.append(cells[start : start + _CELLS])
    return encoder.cells


def _encode_columns(
    read: Callable[[Sequence[int]], pd.DataFrame],
    positions: Sequence[int],
    rows: int,
    *,
    one_type: bool,
) -> EncodedCells:
    """Return columns of a Parquet file, (rows, columns), which are read a few at a time.

    A cell's text depends on the type that pandas gives to all of the columns together: if one lacks
    a number, 2 is 2.0 in every other, too. So types come first. Columns with no type in common,
    such as numbers and booleans, are read at once: of equal cells, the first one's text stands for
    all.

    Args:
        read: Returns columns of the file.
        positions: Which columns there are.
        rows: How many rows they have.
        one_type: Whether the file says that all columns have the same type.
    """
    step = max(1, _CELLS_OF_COLUMNS // max(1, rows))
    groups = [positions[start : start + step] for start in range(0, len(positions), step)]
    if len(groups) > 1:
        dtypes = dict.fromkeys(dtype for group in groups for dtype in read(group).dtypes)
        empty = {number: pd.Series(dtype=dtype) for number, dtype in enumerate(dtypes)}
        common = np.asarray(pd.DataFrame(empty)).dtype
        if one_type or common.kind != "O":
            encoder = CellEncoder(len(positions))
            for group in groups:
                encoder.append(np.asarray(read(group), dtype=common).T)
            codes, texts = encoder.cells
            return EncodedCells(codes.T, texts)
    encoder = CellEncoder(rows)
    encoder.append(read(positions))
    return encoder.cells


class _CsvLayout(NamedTuple):
    """How a CSV file is laid out.

    first_cells: the cells of the first line. line: its number, from 1. rows: the number of lines
    from there on. separator: what stands between cells.
    """

    first_cells: list[str]
    line: int
    rows: int
    separator: str


def _scan_csv(path: Path) -> _CsvLayout:
    """Return how a CSV file is laid out; ValueError for lines of different lengths.

    pandas fills up short lines in silence, so their lengths are checked here, and so is that blank
    lines come last, where editors leave them.
    """
    with open(path, encoding="utf-8-sig") as file:
        text, line = file.readline(), 1
        separator = _separator(text)
        if excel := re.fullmatch(r'"?sep=(.)"?\s*', text):
            separator, text, line = excel[1], file.readline(), 2
        first, rows, blank = _cells(text, separator, line), 1, None
        if not first:
            raise ValueError(f"line {line} is empty" if file.read().strip() else "is empty")
        for number, text in enumerate(file, start=line + 1):
            if not text.strip():
                blank = blank or number
                continue
            if blank is not None:
                raise ValueError(f"line {blank} is empty")
            quick = '"' not in text and "\0" not in text and separator != _BLANKS
            width = text.count(separator) + 1 if quick else len(_cells(text, separator, number))
            if width != len(first):
                raise ValueError(f"line {number} has {width} values and the first one {len(first)}")
            rows += 1
    return _CsvLayout(first, line, rows, separator)


def _separator(line: str) -> str:
    """Return what separates the cells of a line; a comma beside semicolons is a decimal one."""
    bare = re.sub(r'"[^"]*"', "x", line)
    blanks = _BLANKS if len(bare.split()) > 1 else ","
    return next((separator for separator in "\t;," if separator in bare), blanks)


def _cells(text: str, separator: str, line: int) -> list[str]:
    """Return the cells of a line; ValueError for a quote that does not end on it."""
    if "\0" in text:
        raise ValueError(f"line {line} holds a NUL byte")
    if separator == _BLANKS:
        return [cell.strip('"') for cell in text.split()]
    try:
        cells = next(csv.reader([text.rstrip("\n")], delimiter=separator, strict=True), [])
    except csv.Error as error:
        raise ValueError(f"line {line}: {error}") from None
    return [cell.strip() for cell in cells] if "".join(cells).strip() or len(cells) > 1 else []


def _is_header(cells: list[str], stated: FileDescription) -> bool:
    """Tell a header from a first line of votes, which are numbers, or names that are stated.

    Only the names and the shape decide, because a refusal must not depend on votes.
    """
    n_classes, kind, width = stated.classes, stated.kind, len(cells)
    names = {name.casefold() for name in stated.class_names or ()}
    is_class = [cell.casefold() in names for cell in cells]
    odd = [i for i in range(width) if not is_class[i] and not is_value(cells[i])]
    blank = not cells[0]
    counted = cells[blank:] == [str(i) for i in range(width - blank)]
    no_votes = width - blank > n_classes or (blank and not stated.absent)
    if counted and no_votes and kind != "counts":
        return True  # pandas writes a table whose columns have no names like this
    if odd:
        rest = [cell for i, cell in enumerate(cells) if cell and not is_class[i] and i not in odd]
        beside = not any(is_class) and all(is_side_column(i, cells[i], stated) for i in odd)
        if not beside and (rest or sum(is_class) not in (0, n_classes)):
            raise ValueError(
                f"line 1: {shorten(cells[odd[0]])!r} is none of the classes, and other cells are: "
                "must be a line of votes or a header"
            )
        return True
    if stated.absent and kind != "counts":  # otherwise a line of votes may look like a header
        raise ValueError(f"must have a header if ballots may be absent: {_TEACHERS}")
    if kind == "auto" and all(is_class) and width == n_classes:
        if stated.teachers not in (None, n_classes):
            return True
        raise ValueError(
            f"has {width} columns, as many as classes, so that line 1 may hold votes or name the "
            f"classes: {SAY_VOTES_KIND}"
        )
    if kind == "auto" and not any(is_class) and _COUNTED <= width <= n_classes:
        raise ValueError(
            f"has no header, and {width} columns of {n_classes} classes, so that line 1 may hold "
            f"votes or numbers of columns: {SAY_VOTES_KIND}, or name the columns {_TEACHERS}"
        )
    return kind == "counts" and all(is_class)
