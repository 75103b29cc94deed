"""Numbers as options take them: digits from 0 to 9, and no underscore between them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def parse_integer(text: str) -> int:
    """Return a whole number; the `type` of an option.

    Raises:
        ArgumentTypeError: The text is no whole number.

    >>> parse_integer("-7")
    -7
    """
    return _read(int, text, "a whole number")


def parse_real(text: str) -> float:
    """Return a number; the `type` of an option.

    Raises:
        ArgumentTypeError: The text is no number.

    >>> parse_real("1e-5")
    1e-05
    """
    return _read(float, text, "a number")


def parse_budget(text: str) -> list[float]:
    """Return epsilon and delta; the `type` of an option.

    Raises:
        ArgumentTypeError: The text is not two numbers, epsilon >= 0 and delta in [0, 1).

    >>> parse_budget("1.5,1e-5")
    [1.5, 1e-05]
    """
    numbers = [parse_real(part.strip()) for part in text.split(",")]
    if len(numbers) != 2 or not (0 <= numbers[0] < math.inf and 0 <= numbers[1] < 1):
        raise argparse.ArgumentTypeError(f"{text!r}: must be EPSILON,DELTA, such as 1.5,1e-5")
    return numbers


def _read(kind: Callable[[str], Number], text: str, wanted: str) -> Number:
    # Python would also read 1_0, and the digits of every script.
    if text.isascii() and "_" not in text:
        try:
            return kind(text)
        except ValueError:
            pass
    raise argparse.ArgumentTypeError(f"{text!r}: must be {wanted}")
