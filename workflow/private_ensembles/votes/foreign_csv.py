"""Votes in a CSV file as spreadsheets, editors and scripts write it: separator, header, rows.

What could be read in two ways is refused, with what to write instead.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

SAY = "say votes_kind=votes or votes_kind=counts"
# Rows that are parsed at a time.
_ROWS = 256
_LABEL = "label"
# How files begin that are called CSV and are none.
_OTHERS = {
    b"\x1f\x8b": "is compressed by gzip: unpack it",
    b"PK\x03\x04": "is a spreadsheet or an archive by its content: save it as CSV",
    b"PAR1": "is a Parquet file by its content: save it as CSV or .npz",
    b"\xff\xfe": "is written in UTF-16: save it in UTF-8",
    b"\xfe\xff": "is written in UTF-16: save it in UTF-8",
}
# Python's own int() also reads 0_1 and the digits of every script, in which no votes are written.
_WHOLE = re.compile(r"[+-]?[0-9]+")
# A row or column 0, 1, 2, ... of so many or more is a number of columns or rows, not votes.
_COUNTED = 4
_TEACHERS = "teacher0, teacher1, ... in a header"


def read_csv(path: Path, kind: str, n_classes: int):
    """Return the matrix, its labels or None, its kind, and None: no CSV states its classes.

    path: a file; kind, n_classes: as in `foreign.read_own_votes`, which gives a full account and an
    example.
    Raises ValueError for what is no table of whole numbers, OSError if it cannot be opened.
    """
    with open(path, "rb") as file:
        start = file.read(4)
    for magic, reason in _OTHERS.items():
        if start.startswith(magic):
            raise ValueError(reason)
    try:
        return _read(path, kind, n_classes)
    except UnicodeDecodeError as error:
        raise ValueError(f"is not text in UTF-8 ({error.reason}): save it in UTF-8") from None


def _read(path: Path, kind: str, n_classes: int):
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
            headed = not all(_is_whole(cell) for cell in header) and any(
                cell[:1].isalpha() and cell.lower() != "nan" for cell in header
            )
            at, order = None, None
            if headed:
                kind, at, order = _header(header, kind)
            else:
                _are_no_numbers(header, ("line 1", "columns"), n_classes, kind)
                rows = chain([first], rows)
            if kind == "auto" and separator != ",":
                raise ValueError(f"is not separated by commas: {SAY}")
            pieces, line = [], 2 if headed else 1
            while some := list(islice(rows, _ROWS)):
                pieces.append(_parsed(some, line, len(header), pointed=kind != "auto"))
                line += len(some)
        except csv.Error as error:
            raise ValueError(f"line {reader.line_num}: {error}") from None
    if not pieces:
        raise ValueError("has a header and no rows")
    table = np.concatenate(pieces)
    if not headed:
        _are_no_numbers(table[:, 0].tolist(), ("column 1", "rows"), n_classes, kind)
    if at is None:
        return table if order is None else table[:, order], None, kind, None
    others = np.delete(table, at, axis=1)
    return others if order is None else others[:, order], table[:, at], kind, None


def _are_no_numbers(cells: list, names: tuple[str, str], n_classes: int, kind: str) -> None:
    """ValueError for a first line or column that numbers the columns or rows, or that might.

    More places than classes: to count up to them is no vote. With fewer the votes themselves might
    count up, so that the shape of the table decides alone: a refusal must not depend on votes.
    """
    where, what = names
    places = len(cells)
    if kind == "counts" or places < _COUNTED:
        return
    if places > n_classes:
        if [str(cell) for cell in cells] == [str(place) for place in range(places)]:
            raise ValueError(
                f"{where} numbers the {what} 0, 1, 2, ...: leave it out, or if these are votes "
                f"name the columns {_TEACHERS}"
            )
    elif kind == "auto":
        raise ValueError(
            f"has no header, and {places} {what} of {n_classes} classes, so that {where} may hold "
            f"votes or numbers of {what}: {SAY}, or name the columns {_TEACHERS}"
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


def _header(header: list[str], kind: str) -> tuple[str, int | None, list[int] | None]:
    """Return the kind that a header tells, which column holds the labels, and counts' own order.

    The order is that of classes 0, 1, ... among the other columns; None: that of the columns.
    """
    lower = [cell.lower() for cell in header]
    at = lower.index(_LABEL) if _LABEL in lower else None
    others = [cell for i, cell in enumerate(lower) if i != at]
    told = {_told(cell): cell for cell in reversed(others)}
    if len(told) != 1 or None in told:
        wrong = told.get(None, others[-1] if others else _LABEL)
        raise ValueError(
            f"has a column called {_short(wrong)!r}: a header must name every column teacher..., "
            "or every column class..., and perhaps one label"
        )
    (named,) = told
    if kind not in ("auto", named):
        raise ValueError(f"has a header of {named}, and votes_kind = {kind} is asked for")
    if len(set(others)) < len(others):
        twice = next(cell for cell in others if others.count(cell) > 1)
        raise ValueError(f"has two columns called {twice!r}: every name must be another one")
    return named, at, _places(others) if named == "counts" else None


def _told(cell: str) -> str | None:
    """Return what a column holds by its name, None if that does not say."""
    if cell.startswith("teacher"):
        return "votes"
    return "counts" if cell.startswith("class") else None


def _places(names: list[str]) -> list[int] | None:
    """Return where class 0, 1, ... is among columns called by number; None for other names."""
    numbers = [name.removeprefix("class").strip(" _-") for name in names]
    if not all(number.isdigit() and number.isascii() for number in numbers):
        return None
    classes = [int(number) for number in numbers]
    if sorted(classes) != list(range(len(classes))):
        raise ValueError(
            f"has columns for classes {min(classes)} to {max(classes)}: must be 0 to "
            f"{len(classes) - 1}, each once"
        )
    return np.argsort(classes).tolist()


def _parsed(rows: list[list[str]], line: int, width: int, *, pointed: bool) -> np.ndarray:
    """Return some rows as integers in the smallest type; ValueError naming the line.

    pointed: 2.0 is as good as 2.
    """
    for number, row in enumerate(rows, start=line):
        if len(row) != width:
            raise ValueError(f"line {number} has {len(row)} values and the first one {width}")
    text = "".join(chain.from_iterable(rows))
    if not text.isascii() or "_" in text:  # which int() may read as something
        array = _one_by_one(rows, line, pointed)
    else:
        try:
            array = np.array(rows).astype(np.int64)
        except (ValueError, OverflowError):
            array = _one_by_one(rows, line, pointed)
    low, high = int(array.min()), int(array.max())
    return array.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def _one_by_one(rows: list[list[str]], line: int, pointed: bool) -> np.ndarray:
    for number, row in enumerate(rows, start=line):
        for cell in row:
            if _is_whole(cell) or (pointed and _is_whole(_without_point(cell))):
                continue
            hint = f": {SAY}" if _is_whole(_without_point(cell)) else ""
            raise ValueError(f"line {number}: {_short(cell)!r} is not a whole number{hint}")
    try:
        return np.array([[int(_without_point(cell)) for cell in row] for row in rows], np.int64)
    except (ValueError, OverflowError):  # Python reads no more than 4300 digits
        raise ValueError(f"line {line} or below: a number is too large") from None


def _short(cell: str) -> str:
    return cell if len(cell) <= 40 else f"{cell[:37]}..."


def _is_whole(cell: str) -> bool:
    return _WHOLE.fullmatch(cell.strip()) is not None


def _without_point(cell: str) -> str:
    """Return the cell without a decimal point that only zeros follow."""
    whole, _, rest = cell.strip().partition(".")
    return cell if rest.strip("0") else whole
