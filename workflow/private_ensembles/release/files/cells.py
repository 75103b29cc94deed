"""What the cells of somebody's table mean: classes, absent ballots, numbers of votes, or nothing.

Cells come as texts. `TextIndex` keeps each different text once, so that it is looked at once.
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

# R, pandas, Arrow and databases write one of these if there is nothing.
_NOTHING = {"", "na", "n/a", "nan", "<na>", "null", "none"}
_BOOLEANS = {"false": 0, "true": 1}
# Digits are ASCII, as NumPy, R and spreadsheets write them; a comma may be the point before a 0.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?|[+-]?\d+,00?", re.ASCII | re.I)
_LONGEST = 60
_SAY_ABSENT = "if ballots may be absent say absent=yes"
# This stands for a cell that is neither a class nor a number of votes.
INVALID = -2


class TextIndex:
    """The different texts of a table, each with a small integer as its code.

    >>> texts = TextIndex()
    >>> texts.encode(np.array([["cat", "dog"], ["dog", "ape"]])).tolist(), texts.all_texts
    ([[0, 1], [1, 2]], ['cat', 'dog', 'ape'])
    """

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}

    @property
    def all_texts(self) -> list[str]:
        """All texts, in the order of their codes."""
        return list(self._code_of)

    def encode(self, cells: NDArray | pd.Series | pd.DataFrame) -> NDArray:
        """Return the codes of cells, adding new texts; a missing cell has the text ''.

        Args:
            cells: Of any shape; texts, bytes, numbers or booleans.

        Returns:
            Integers in the cells' shape, of the smallest type that holds all codes.

        Raises:
            ValueError: If cells hold lists or records.
        """
        flat = cells if isinstance(cells, pd.Series) else np.asarray(cells).ravel()
        if flat.dtype.kind == "f":  # a float16 is written with fewer digits than it has
            flat = flat.astype(np.float64)
        elif isinstance(flat, np.ndarray) and not flat.dtype.isnative:
            flat = flat.astype(flat.dtype.newbyteorder("="))
        try:
            codes, values = pd.factorize(flat)
        except TypeError:
            raise ValueError("holds lists or records: must be whole numbers or texts") from None
        texts = [_text(value) for value in pd.Series(values).tolist()]
        if (codes < 0).any():
            texts.append("")  # it comes last, so that the code -1 leads to it
        ours = [self._code_of.setdefault(text, len(self._code_of)) for text in texts]
        kind = np.min_scalar_type(max(len(self._code_of) - 1, 0))
        return np.array(ours, dtype=kind)[codes].reshape(np.shape(cells))


def _text(value: object) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def parse_whole_number(text: str) -> int | None:
    """Return the whole number that a text is, however it is written; None if it is none.

    >>> [parse_whole_number(text) for text in ("2", "2.0000000000000000e+00", "2,0", "2.5", "two")]
    [2, 2, 2, None, None]
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
    """Return what each text says as a number of votes, (texts,) int64; `INVALID` if it is none."""
    counts = (parse_whole_number(text) for text in texts)
    return np.array([INVALID if n is None or not 0 <= n < 1 << 32 else n for n in counts], np.int64)


def parse_classes(texts: Sequence[str], stated: FileDescription) -> NDArray[np.int64]:
    """Return the class that each text names.

    The names of classes come first, because -1 or NA may be one. If all of them are numbers, no
    other number is a class.

    Args:
        texts: The different texts of a table's cells.
        stated: What the owner says of the file, such as how many classes there are.

    Returns:
        Classes from 0, (texts,) int64; -1 for an absent ballot, `INVALID` for what is no vote.

    >>> stated = FileDescription(3, teachers=2, absent=True)
    >>> parse_classes(["2", "1.0", "true", "NA", "x"], stated).tolist()
    [2, 1, 1, -1, -2]
    >>> parse_classes(["-1", "1", "0"], FileDescription(class_names="-1,1", teachers=2)).tolist()
    [0, 1, -2]
    """
    names = {name: index for index, name in enumerate(stated.class_names or ())}
    classes: dict[int | None, int] = {
        index + stated.first_class: index for index in range(stated.classes)
    }
    numbered = {parse_whole_number(name): index for name, index in names.items()}
    if numbered and None not in numbered:
        classes = numbered
    absent_text = str(ABSENT) if stated.absent_as is None else stated.absent_as.strip()

    def class_of(text: str) -> int:
        value = _BOOLEANS.get(text.lower(), parse_whole_number(text))
        absent = text == absent_text or (
            value is not None and value == parse_whole_number(absent_text)
        )
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
    """Return why a text is no vote, and the option that helps.

    Args:
        wrong: The text.
        texts: All texts of the table, by which the option is guessed.
        stated: What the owner says of the file.
        column: The name of the text's column, None if it has none.
    """
    message, value, names = repr(shorten(wrong)), parse_whole_number(wrong), stated.class_names
    first, count = stated.first_class, stated.classes
    if wrong.lower() in _NOTHING:
        return f"{f'{message} is no vote' if wrong else 'is empty'}: {_SAY_ABSENT}"
    if names is not None and (value is None or parse_whole_number(names[0]) is not None):
        return f"{message} is none of the classes: must be one of {shorten(', '.join(names))}"
    if value is None:
        if _decimal(wrong) is not None:
            return f"{message} is not a whole number"
        hints = []
        if not any(parse_whole_number(text) is not None for text in texts):
            hints = ["if these are names of classes, say class_names=NAME,NAME,..."]
        if column is not None:
            name = shlex.quote(column)
            hints += [f"if they are no votes say id_column={name} or ignore_columns={name}"]
        return f"{message} is not a whole number{': ' * bool(hints)}{'; '.join(hints)}"
    message += f" is none of the classes {first} to {first + count - 1}"
    numbers = {n for n in map(parse_whole_number, texts) if n is not None}
    low, high = min(numbers), max(numbers)
    if low == ABSENT and high < first + count and not stated.absent:
        if first == 0 and count == 2 and 0 not in numbers:
            return f"{message}: if -1 is a class say class_names=-1,1"
        if first == 0 and high < count - 1:
            classes = ",".join(map(str, range(-1, count - 1)))
            message += f": if -1 is a class say class_names={classes}"
        return f"{message}{';' if ':' in message else ':'} {_SAY_ABSENT}"
    if first == 0 and high == count and low >= 1:
        return f"{message}: votes are {low} to {high}: say first_class=1"
    if low == 0 and high == count and not stated.absent:
        return f"{message}: if 0 is an absent ballot say absent_as=0 and first_class=1"
    return message
