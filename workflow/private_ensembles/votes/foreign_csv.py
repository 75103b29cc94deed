"""Votes in a CSV file as spreadsheets, editors and scripts write it: separator, header, rows.

What could be read in two ways is refused, with what to write instead.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from private_ensembles.votes.ballots import ABSENT
from private_ensembles.votes.foreign_columns import (
    SAY,
    SAY_ABSENT,
    Columns,
    Stated,
    Table,
    aside,
    columns_of,
    identified,
    numbered,
    short,
)

# Rows that are parsed at a time.
_ROWS = 256
# How files begin that are called CSV and are none.
_OTHERS = {
    b"\x1f\x8b": "is compressed by gzip: unpack it",
    b"PK\x03\x04": "is a spreadsheet or an archive by its content: save it as CSV",
    b"PAR1": "is a Parquet file by its content: call it .parquet",
    b"\xff\xfe": "is written in UTF-16: save it in UTF-8",
    b"\xfe\xff": "is written in UTF-16: save it in UTF-8",
}
# Python's own int() also reads 0_1 and the digits of every script, in which no votes are written.
_WHOLE = re.compile(r"[+-]?[0-9]+")
# A row or column 0, 1, 2, ... of so many or more is a number of columns or rows, not votes.
_COUNTED = 4
_TEACHERS = "teacher0, teacher1, ... in a header"
_NAMES = "if these are names of classes, say class_names=NAME,NAME,..."


def read_csv(path: Path, stated: Stated) -> Table:
    """Return what a CSV file holds.

    path: a file; stated: as in `foreign.read_own_votes`, which gives a full account and an example.
    Raises ValueError for what is no table of whole numbers or of the names of classes that are
    stated, OSError if it cannot be opened.
    """
    with open(path, "rb") as file:
        start = file.read(4)
    for magic, reason in _OTHERS.items():
        if start.startswith(magic):
            raise ValueError(reason)
    try:
        return _read(path, stated)
    except UnicodeDecodeError as error:
        raise ValueError(f"is not text in UTF-8 ({error.reason}): save it in UTF-8") from None


def _read(path: Path, stated: Stated) -> Table:
    with open(path, encoding="utf-8-sig", newline="") as file:
        separator = _separator(file.readline())
        file.seek(0)
        reader = csv.reader(_without_nul(file), delimiter=separator)
        rows = _filled(reader)
        try:
            first = next(rows, None)
            if first is None:
                raise ValueError("is empty")
            header = [cell.strip() for cell in first]
            headed = _is_header(header, stated)
            if headed:
                columns, line = columns_of(header, stated), 2
            else:
                if stated.id_column is not None:
                    raise ValueError(
                        f"has no header, so no column called {stated.id_column!r} (id_column)"
                    )
                _are_no_numbers(header, ("line 1", "columns"), stated)
                columns, line = Columns(stated.kind, list(range(len(header))), None, None), 1
                rows = chain([first], rows)
            if not headed and stated.kind == "auto" and separator != ",":
                raise ValueError(f"is not separated by commas: {SAY}")
            parser = _Parser(header, columns, stated, headed=headed)
            while some := list(islice(rows, _ROWS)):
                parser.take(some, line)
                line += len(some)
        except csv.Error as error:
            raise ValueError(f"line {reader.line_num}: {error}") from None
    table = parser.table()
    if not headed and not table.named:
        _are_no_numbers(table.matrix[:, 0].tolist(), ("column 1", "rows"), stated)
    return table


def _is_header(cells: list[str], stated: Stated) -> bool:
    """Tell a header from a first line of votes, which are numbers, or names that are stated."""
    names = {name.casefold() for name in stated.class_names or ()}
    named = [cell.casefold() in names for cell in cells]
    called = [_is_name(cell) for cell, of_class in zip(cells, named, strict=True) if not of_class]
    # Else a line of votes, some of them missing, may look like a header.
    if stated.absent and stated.kind != "counts" and not any(called):
        raise ValueError(f"must have a header if ballots may be absent: {_TEACHERS}")
    if all(named):  # by the shape alone: a refusal must not depend on votes
        if stated.kind == "auto" and len(cells) == stated.n_classes:
            raise ValueError(
                f"has {len(cells)} columns, as many as classes, so that line 1 may hold votes or "
                f"name the classes: {SAY}"
            )
        return stated.kind == "counts"
    if any(named):  # one column for each class, and beside them labels or identifiers
        odd = [
            cell for at, cell in enumerate(cells) if not named[at] and not aside(at, cell, stated)
        ]
        if odd or sum(named) != stated.n_classes:
            odd = odd or [cell for at, cell in enumerate(cells) if not named[at]]
            raise ValueError(
                f"line 1: {short(odd[0])!r} is none of the classes, and other cells are: must be a "
                "line of votes or a header"
            )
        return True
    if cells and not cells[0] and cells[1:] == [str(at) for at in range(len(cells) - 1)]:
        return True  # as pandas writes a table whose rows and columns have no names
    if all(map(_is_whole, cells)):
        return False
    return any(map(_is_name, cells))


def _is_name(cell: str) -> bool:
    return cell[:1].isalpha() and cell.lower() != "nan"


class _Parser:
    """Rows become numbers piece by piece, for text takes many times as much memory.

    An absent ballot is an empty cell; it becomes -1.
    """

    def __init__(self, header: list[str], columns: Columns, stated: Stated, *, headed: bool):
        self.header, self.columns, self.stated, self.headed = header, columns, stated, headed
        self.pointed = headed or stated.kind != "auto"
        self.pieces, self.labels, self.ids = [], [], []
        # Whether votes are names of classes; None until somebody votes.
        self.named: bool | None = None
        self.label_named = False
        # Of votes only: what is missing in counts is missing in the sum of a row.
        self.absent = stated.absent and columns.kind != "counts"
        self.whole_rows = columns.matrix == list(range(len(header)))

    def take(self, rows: list[list[str]], line: int) -> None:
        width, columns = len(self.header), self.columns
        for number, row in enumerate(rows, start=line):
            if len(row) != width:
                raise ValueError(f"line {number} has {len(row)} values and the first one {width}")
        cells = rows if self.whole_rows else [[row[at] for at in columns.matrix] for row in rows]
        if self.absent:
            cells = [[cell.strip() for cell in row] for row in cells]
        if self.named is None:
            first = (
                next(filter(None, chain.from_iterable(cells)), None) if self.absent else cells[0][0]
            )
            if first is not None:
                numbers = columns.kind == "counts" or _is_number(first)
                self.named = not numbers and self.stated.class_names is not None
        if self.absent and not self.named:
            cells = [[cell or str(ABSENT) for cell in row] for row in cells]
        parse = self._names if self.named else self._numbers
        self.pieces.append(parse(cells, line, columns.matrix))
        if columns.label is not None:
            at = [columns.label]
            cells = [[row[columns.label].strip() or "-1"] for row in rows]
            if len(self.labels) == 0:
                numbers = all(_is_number(cell) for (cell,) in cells)
                unknown = all(cell == "-1" for (cell,) in cells)
                named = not numbers or (self.named and unknown)
                self.label_named = named and self.stated.class_names is not None
            parse = self._label_names if self.label_named else self._numbers
            self.labels.append(parse(cells, line, at))
        if columns.id is not None:
            self.ids += [row[columns.id] for row in rows]

    def table(self) -> Table:
        if not self.pieces:
            raise ValueError("has a header and no rows")
        first_line = 2 if self.headed else 1
        return Table(
            np.concatenate(self.pieces),
            np.concatenate(self.labels)[:, 0] if len(self.labels) > 0 else None,
            "votes" if self.named else self.columns.kind,
            ids=identified(self.ids, "line", first_line) if self.ids else None,
            headed=self.headed,
            named=bool(self.named),
            label_named=self.label_named,
            columns=self._columns(),
            first_line=first_line,
        )

    def _columns(self) -> tuple[str, ...] | None:
        return tuple(self.header[at] for at in self.columns.matrix) if self.headed else None

    def _where(self, line: int, at: int) -> str:
        return f"line {line}, column {short(self.header[at])!r}" if self.headed else f"line {line}"

    def _names(self, rows: list[list[str]], line: int, places: list[int]) -> np.ndarray:
        cells = np.array([[cell.strip() for cell in row] for row in rows])
        classes = numbered(cells, self.stated.class_names)
        wrong = (classes < 0) & (cells != "") if self.absent else classes < 0
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            hint = "" if cells[row, column] else f"; {SAY_ABSENT}"
            raise ValueError(
                f"{self._where(line + row, places[column])}: {short(str(cells[row, column]))!r} is "
                f"none of the classes: must be one of {short(', '.join(self.stated.class_names))}"
                f"{hint}"
            )
        return _smallest(classes)

    def _label_names(self, rows: list[list[str]], line: int, places: list[int]) -> np.ndarray:
        anyone = [self.stated.class_names[0]]
        unknown = [row == ["-1"] for row in rows]
        cells = [anyone if not_there else row for row, not_there in zip(rows, unknown, strict=True)]
        labels = self._names(cells, line, places).astype(np.int64)
        labels[unknown] = -1
        return labels

    def _numbers(self, rows: list[list[str]], line: int, places: list[int]) -> np.ndarray:
        """Return rows as integers in the smallest type; if `pointed`, 2.0 is as good as 2."""
        text = "".join(chain.from_iterable(rows))
        if not text.isascii() or "_" in text:  # which int() may read as something
            return _smallest(self._one_by_one(rows, line, places))
        try:
            return _smallest(np.array(rows).astype(np.int64))
        except (ValueError, OverflowError):
            return _smallest(self._one_by_one(rows, line, places))

    def _one_by_one(self, rows: list[list[str]], line: int, places: list[int]) -> np.ndarray:
        for number, row in enumerate(rows, start=line):
            for cell, at in zip(row, places, strict=True):
                if _is_whole(cell) or (self.pointed and _is_whole(_without_point(cell))):
                    continue
                hint = ""
                if _is_whole(_without_point(cell)):
                    hint = f": {SAY}"
                elif cell.strip()[:1].isalpha() and cell.strip().lower() != "nan":
                    hint = f": {_NAMES}"
                elif not cell.strip() and self.columns.kind != "counts":
                    hint = f": {SAY_ABSENT}"
                raise ValueError(
                    f"{self._where(number, at)}: {short(cell)!r} is not a whole number{hint}"
                )
        try:
            return np.array([[int(_without_point(cell)) for cell in row] for row in rows], np.int64)
        except (ValueError, OverflowError):  # Python reads no more than 4300 digits
            raise ValueError(f"line {line} or below: a number is too large") from None


def _are_no_numbers(cells: list, names: tuple[str, str], stated: Stated) -> None:
    """ValueError for a first line or column that numbers the columns or rows, or that might.

    More places than classes: to count up to them is no vote. With fewer the votes themselves might
    count up, so that the shape of the table decides alone: a refusal must not depend on votes.
    """
    where, what = names
    places = len(cells)
    if stated.kind == "counts" or places < _COUNTED:
        return
    if not _is_number(str(cells[0])):  # names of classes
        return
    if places > stated.n_classes:
        if [str(cell) for cell in cells] == [str(place) for place in range(places)]:
            raise ValueError(
                f"{where} numbers the {what} 0, 1, 2, ...: leave it out, or if these are votes "
                f"name the columns {_TEACHERS}"
            )
    elif stated.kind == "auto":
        raise ValueError(
            f"has no header, and {places} {what} of {stated.n_classes} classes, so that {where} "
            f"may hold votes or numbers of {what}: {SAY}, or name the columns {_TEACHERS}"
        )


def _separator(line: str) -> str:
    """Return what separates the cells of a line: a comma unless it has only semicolons, or tabs."""
    separators = [each for each in ",;\t" if each in line]
    return separators[0] if len(separators) == 1 else ","


def _without_nul(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise ValueError(f"line {number} holds a NUL byte")
        yield line


def _filled(reader) -> Iterator[list[str]]:
    """Yield the rows; blank lines may come after the last of them only, where editors leave one."""
    blank = None
    for row in reader:
        if len(row) <= 1 and not "".join(row).strip():
            blank = blank or reader.line_num
        elif blank is not None:
            raise ValueError(f"line {blank} is empty")
        else:
            yield row


def _smallest(array: np.ndarray) -> np.ndarray:
    low, high = int(array.min()), int(array.max())
    return array.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def _is_whole(cell: str) -> bool:
    return _WHOLE.fullmatch(cell.strip()) is not None


def _is_number(cell: str) -> bool:
    return _is_whole(_without_point(cell))


def _without_point(cell: str) -> str:
    """Return the cell without a decimal point that only zeros follow."""
    whole, _, rest = cell.strip().partition(".")
    return cell if rest.strip("0") else whole
