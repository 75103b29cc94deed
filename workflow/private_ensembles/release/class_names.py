"""Names of classes as a user states them: in a row, or in a file with one on each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from private_ensembles.base.limits import MOST_CLASSES

_NUMBER = re.compile(r"[+-]?[0-9]+(\.0*)?")


def read_class_names(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of classes 0, 1, ... in this order.

    Names are stated, and never read off votes, because which classes have votes is private.

    Args:
        text: The names, separated by commas; the name of a file in UTF-8 that holds one on each
            line (if there is such a file, or no comma); or a sequence of names.

    Raises:
        ValueError: If there are fewer than two names or more than 10,000, if one is empty or comes
            twice, if there are numbers beside words, which might be meant as the numbers of
            classes, or if the file is not text in UTF-8. The message is one line.
        OSError: If the file cannot be opened.

    >>> read_class_names("cat, dog,bird")
    ('cat', 'dog', 'bird')
    """
    where = "class_names"
    if not isinstance(text, str):
        names = [str(name) for name in text]
    elif "," in text and not Path(text).is_file():
        names = text.split(",")
    else:
        where = text
        try:
            names = Path(text).read_text(encoding="utf-8-sig").rstrip().splitlines()
        except UnicodeDecodeError:
            raise ValueError(f"{text}: is not text in UTF-8: save it in UTF-8") from None
        except FileNotFoundError:
            raise ValueError(
                f"class_names = {text!r}: must be names with commas between them, or an existing "
                "file with one on each line"
            ) from None
    names = [name.strip() for name in names]
    if not 2 <= len(names) <= MOST_CLASSES:
        raise ValueError(f"{where}: {len(names)} names of classes: must be 2 to {MOST_CLASSES:,}")
    seen: set[str] = set()
    is_number = [_NUMBER.fullmatch(name) is not None for name in names]
    for index, name in enumerate(names):
        if not name.isprintable() or not name:
            raise ValueError(f"{where}: name {index + 1} is {name!r}: must be a word")
        if is_number[index] and not all(is_number):
            raise ValueError(
                f"{where}: name {index + 1} is {name!r}: must not be a number beside words; for "
                "classes that count from 1 say first_class=1"
            )
        value = str(int(name.partition(".")[0])) if is_number[index] else name
        if value in seen:
            raise ValueError(f"{where}: {name!r} comes twice: every class needs a name of its own")
        seen.add(value)
    return tuple(names)
