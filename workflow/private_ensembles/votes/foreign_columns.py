"""What the columns of somebody's table hold, by their names alone: votes, counts, labels, names.

The cells say nothing here: whether a table is refused must not depend on votes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAY = "say votes_kind=votes or votes_kind=counts"
SAY_ABSENT = "if ballots may be absent say absent=yes"
_LABELS = ("label", "labels")
# Columns that hold identifiers of the queries; the last one is what pandas calls an unnamed index
# in Parquet. In a CSV that has no name at all.
_IDS = ("id", "query", "query_id", "index", "__index_level_0__")
# class0, class 0, class_0 and class cat, but not classifier0, which is a teacher.
_CLASS = re.compile(r"class(?![^\W\d_])")


@dataclass(frozen=True)
class Stated:
    """What the owner of a file says of it, as in `foreign.read_own_votes`.

    absent: cells of votes may be empty. most_ones: of a teacher's votes, at most.
    """

    n_classes: int
    kind: str = "auto"
    class_names: tuple[str, ...] | None = None
    first_class: int = 0
    id_column: str | None = None
    absent: bool = False
    teachers: int | None = None
    most_ones: int | None = None


@dataclass(frozen=True)
class Table:
    """What a file holds, before it is checked.

    matrix: votes or counts, numbers of any type. labels: likewise, or None. kind: ``votes``,
    ``counts``, or ``auto`` if nothing says so. n_classes: what the file itself says, or None. ids:
    of the queries, or None. headed: the columns have names. named: the cells were names of classes
    and are their numbers, from 0; label_named: those of labels. columns: the names of the matrix's
    columns, if it has any. first_line: of the first query, for messages; None for arrays.
    """

    matrix: NDArray
    labels: NDArray | None
    kind: str
    n_classes: int | None = None
    ids: tuple[str, ...] | None = None
    headed: bool = False
    named: bool = False
    label_named: bool = False
    columns: tuple[str, ...] | None = None
    first_line: int | None = None

    def place(self, row: int, column: int) -> str:
        """Return where an entry stands in the file, for a message."""
        if self.first_line is None or self.columns is None:
            return f"[{row}, {column}]"
        return f"in line {row + self.first_line}, column {short(self.columns[column])!r},"


@dataclass(frozen=True)
class Columns:
    """Which columns hold what: places in the header; matrix: of votes, or of counts by class."""

    kind: str
    matrix: list[int]
    label: int | None
    id: int | None


def columns_of(header: Sequence[str], stated: Stated) -> Columns:
    """Return what the columns with these names hold.

    One called label holds the labels; the one that `stated` names, or one called id, query,
    query_id or index, or a first one without a name, holds identifiers. All others must be one of
    these: ``class...`` each, or the names of the classes: counts; ``teacher...`` each, or any
    names: votes.

    >>> columns_of(["image", "anna", "ben", "label"], Stated(3, id_column="image"))
    Columns(kind='auto', matrix=[1, 2], label=3, id=0)

    Raises ValueError, one line, for names that leave that open, or that two columns have.
    """
    lower = [name.strip().lower() for name in header]
    label = next((at for at, name in enumerate(lower) if name in _LABELS), None)
    id_ = _id_column(header, lower, stated.id_column)
    others = [at for at in range(len(lower)) if at not in (label, id_)]
    if not others:
        raise ValueError("has no column of votes or counts")
    for at in others:
        if not lower[at]:
            raise ValueError(
                f"has no name for column {at + 1}: only a first column of identifiers needs none"
            )
    names = [lower[at] for at in others]
    if len(set(lower)) < len(lower):
        twice = next(name for name in lower if lower.count(name) > 1)
        raise ValueError(
            f"has two columns called {short(twice)!r}: every name must be another one (or if line "
            "1 holds votes say class_names=NAME,NAME,...)"
        )
    kind = _told([header[at] for at in others], stated)
    if kind != "auto" and stated.kind not in ("auto", kind):
        raise ValueError(f"has a header of {kind}, and votes_kind = {stated.kind} is asked for")
    kind = stated.kind if kind == "auto" else kind
    if kind == "counts":
        order = _places(names, stated)
        others = others if order is None else [others[at] for at in order]
    return Columns(kind, others, label, id_)


def aside(at: int, name: str, stated: Stated) -> bool:
    """Return whether a column, by its place and name, holds labels or identifiers."""
    lower = name.strip().lower()
    wanted = (stated.id_column or "").strip().lower()
    return lower in (*_LABELS, *_IDS, wanted) or (at == 0 and not lower)


def _id_column(header: Sequence[str], lower: list[str], wanted: str | None) -> int | None:
    if wanted is not None:
        exact = [name.strip() for name in header]
        for names, name in ((exact, wanted.strip()), (lower, wanted.strip().lower())):
            if name in names:
                return names.index(name)
        raise ValueError(f"has no column called {wanted!r}: id_column must be one of its names")
    named = [at for at, name in enumerate(lower) if name in _IDS]
    if len(named) > 1:
        several = ", ".join(lower[at] for at in named)
        raise ValueError(f"has columns called {several}: say id_column=NAME, and drop the others")
    if named:
        return named[0]
    return 0 if lower and not lower[0] else None


def _told(names: list[str], stated: Stated) -> str:
    """Return the kind that names of columns tell, ``auto`` if they tell none."""
    told = [_kind_of(name.strip().lower()) for name in names]
    for kind, called in (("votes", "teacher"), ("counts", "class")):
        if kind in told:
            if set(told) == {kind}:
                return kind
            odd = names[next(at for at, one in enumerate(told) if one != kind)]
            raise ValueError(
                f"has a column called {short(odd)!r} among those called {called}...: a header must "
                "name every column teacher..., or every column class..., or in ways of your own; "
                "identifiers are in the column of id_column=NAME"
            )
    return "counts" if set(names) == set(stated.class_names or ()) else "auto"


def _kind_of(name: str) -> str | None:
    if name.startswith("teacher"):
        return "votes"
    return "counts" if _CLASS.match(name) else None


def _places(names: list[str], stated: Stated) -> list[int] | None:
    """Return where class 0, 1, ... is among columns called by number or name; None for others."""
    bare = [name.removeprefix("class").strip(" _-") for name in names]
    called = [name.lower() for name in stated.class_names or ()]
    if sorted(bare) == sorted(called):
        return [bare.index(name) for name in called]
    if not all(number.isdigit() and number.isascii() for number in bare):
        return None
    first = stated.first_class
    classes = [int(number) - first for number in bare]
    if sorted(classes) != list(range(len(classes))):
        hint = ""
        if sorted(classes) == list(range(1, len(classes) + 1)):
            hint = ", or say first_class=1"
        raise ValueError(
            f"has columns for classes {min(classes) + first} to {max(classes) + first}: must be "
            f"{first} to {len(classes) - 1 + first}, each once{hint}"
        )
    return np.argsort(classes).tolist()


def numbered(cells: NDArray, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the class of every cell by its name, -1 for none of the names.

    >>> numbered(np.array([["dog", "cat"], ["cat", "cow"]]), ("cat", "dog")).tolist()
    [[1, 0], [0, -1]]
    """
    order = np.argsort(names)
    in_order = np.array(names)[order]
    at = np.searchsorted(in_order, cells).clip(max=len(names) - 1)
    return np.where(in_order[at] == cells, order[at], -1)


def identified(cells: Sequence[str], lines: str, first: int) -> tuple[str, ...]:
    """Return identifiers; ValueError for an empty one, or one that two queries have.

    lines: what rows of this file are called; first: the number of its first. They are public, so
    they are quoted.
    """
    seen: dict[str, int] = {}
    ids = tuple(cell.strip() for cell in cells)
    for number, name in enumerate(ids, start=first):
        if not name:
            raise ValueError(f"{lines} {number} has no identifier: every query needs one")
        if name in seen:
            raise ValueError(
                f"{lines}s {seen[name]} and {number} have the identifier {short(name)!r}: must be "
                "different"
            )
        seen[name] = number
    return ids


def short(cell: str) -> str:
    """Return a cell as a message quotes it."""
    return cell if len(cell) <= 40 else f"{cell[:37]}..."
