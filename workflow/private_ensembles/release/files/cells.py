"""What the cells of somebody's table mean: classes, absent ballots, numbers of votes, or nothing.

Cells come as texts, each of which is looked at once: `Texts` has them, and where they stand.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from private_ensembles.labels.ballots import ABSENT
from private_ensembles.release.files.columns import FileDescription, shorten

# What R, pandas, Arrow and databases write where there is nothing.
_NOTHING = {"", "na", "n/a", "nan", "<na>", "null", "none"}
_BOOLEANS = {"false": 0, "true": 1}
# Of ASCII digits, which NumPy, R and spreadsheets write; a comma may stand for the point before 0.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?|[+-]?\d+,00?", re.ASCII | re.I)
_LONGEST = 60
_SAY_ABSENT = "if ballots may be absent say absent=yes"
# What no class and no number of votes is.
INVALID = -2


class TextIndex:
    """The different texts of a table; its cells are their places here, small integers.

    >>> texts = TextIndex()
    >>> texts.encode(np.array([["cat", "dog"], ["dog", "ape"]])).tolist(), texts.all_texts
    ([[0, 1], [1, 2]], ['cat', 'dog', 'ape'])
    """

    def __init__(self):
        self._places: dict[str, int] = {}

    @property
    def all_texts(self) -> list[str]:
        """All texts, in the order in which they came."""
        return list(self._places)

    def encode(self, cells: NDArray | pd.Series | pd.DataFrame) -> NDArray:
        """Return the places of cells, in their shape and the smallest type; nothing is ''."""
        flat = cells if isinstance(cells, pd.Series) else np.asarray(cells).ravel()
        if flat.dtype.kind == "f":  # a half is written with fewer digits than it has
            flat = flat.astype(np.float64)
        elif isinstance(flat, np.ndarray) and not flat.dtype.isnative:
            flat = flat.astype(flat.dtype.newbyteorder("="))
        try:
            codes, values = pd.factorize(flat)
        except TypeError:
            raise ValueError("holds lists or records: must be whole numbers or texts") from None
        texts = [_text(value) for value in pd.Series(values).tolist()]
        if (codes < 0).any():
            texts.append("")  # the last one, where a code of -1 leads
        found = [self._places.setdefault(text, len(self._places)) for text in texts]
        kind = np.min_scalar_type(max(len(self._places) - 1, 0))
        return np.array(found, dtype=kind)[codes].reshape(np.shape(cells))


def _text(value: object) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def parse_whole_number(text: str) -> int | None:
    """Return the whole number that a text is, however it is written; None if it is none.

    >>> parse_whole_number("2"), parse_whole_number("2.000000000000000000e+00"), parse_whole_number("2,0"), parse_whole_number("2.5"), parse_whole_number("two")
    (2, 2, 2, None, None)
    """
    value = _decimal(text)
    return int(value) if value is not None and value == value.to_integral_value() else None


def _decimal(text: str) -> Decimal | None:
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text.replace(",", "."))


def is_value(text: str) -> bool:
    """Return whether a text is a number, yes or no, or nothing at all, and so no name."""
    return _decimal(text) is not None or text.lower() in _NOTHING or text.lower() in _BOOLEANS


def parse_vote_counts(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return what each text says as a number of votes, `WRONG` if nothing."""
    found = (parse_whole_number(text) for text in texts)
    return np.array([INVALID if n is None or not 0 <= n < 1 << 32 else n for n in found], np.int64)


def parse_classes(texts: Sequence[str], stated: FileDescription) -> NDArray[np.int64]:
    """Return the class, from 0, that each text names; -1 for an absent ballot, `WRONG` for others.

    The names of classes come first: -1 or NA may be one. If all of them are numbers, no other
    number is a class.

    >>> parse_classes(["2", "1.0", "true", "NA", "x"], FileDescription(3, teachers=2, absent=True)).tolist()
    [2, 1, 1, -1, -2]
    >>> parse_classes(["-1", "1", "0"], FileDescription(class_names="-1,1", teachers=2)).tolist()
    [0, 1, -2]
    """
    names = {name: at for at, name in enumerate(stated.class_names or ())}
    classes = {at + stated.first_class: at for at in range(stated.n_classes)}
    if (
        None not in (named := {parse_whole_number(name): at for name, at in names.items()})
        and named
    ):
        classes = named
    gone = str(ABSENT) if stated.absent_as is None else stated.absent_as.strip()

    def class_of(text: str) -> int:
        value = _BOOLEANS.get(text.lower(), parse_whole_number(text))
        absent = text == gone or (value is not None and value == parse_whole_number(gone))
        if absent and stated.absent_as is not None:
            return ABSENT
        if text in names:
            return names[text]
        if value in classes:
            return classes[value]
        return ABSENT if stated.absent and (absent or text.lower() in _NOTHING) else INVALID

    return np.array([class_of(text) for text in texts], np.int64)


def explain_invalid_vote(
    wrong: str, texts: Sequence[str], stated: FileDescription, column: str | None
) -> str:
    """Return why a text is no vote, and the option that helps, by all texts that are votes.

    column: its name, where it has one.
    """
    said, value, names = repr(shorten(wrong)), parse_whole_number(wrong), stated.class_names
    first, count = stated.first_class, stated.n_classes
    if wrong.lower() in _NOTHING:
        return f"{f'{said} is no vote' if wrong else 'is empty'}: {_SAY_ABSENT}"
    if names is not None and (value is None or parse_whole_number(names[0]) is not None):
        return f"{said} is none of the classes: must be one of {shorten(', '.join(names))}"
    if value is None:
        if _decimal(wrong) is not None:
            return f"{said} is not a whole number"
        hints = []
        if not any(parse_whole_number(text) is not None for text in texts):
            hints = ["if these are names of classes, say class_names=NAME,NAME,..."]
        if column is not None:
            name = shlex.quote(column)
            hints += [f"if they are no votes say id_column={name} or ignore_columns={name}"]
        return f"{said} is not a whole number{': ' * bool(hints)}{'; '.join(hints)}"
    said += f" is none of the classes {first} to {first + count - 1}"
    seen = {n for n in map(parse_whole_number, texts) if n is not None}
    low, high = min(seen), max(seen)
    if low == ABSENT and high < first + count and not stated.absent:
        if first == 0 and count == 2 and 0 not in seen:
            return f"{said}: if -1 is a class say class_names=-1,1"
        if first == 0 and high < count - 1:
            said += f": if -1 is a class say class_names={','.join(map(str, range(-1, count - 1)))}"
        return f"{said}{';' if ':' in said else ':'} {_SAY_ABSENT}"
    if first == 0 and high == count and low >= 1:
        return f"{said}: votes are {low} to {high}: say first_class=1"
    if low == 0 and high == count and not stated.absent:
        return f"{said}: if 0 is an absent ballot say absent_as=0 and first_class=1"
    return said
