"""The ends of what functions take: numbers that most of them refuse, and one check of both."""

import math
from collections.abc import Callable, Iterable

import pytest

OUTSIDE_0_1 = (-1e-9, 1 + 1e-9, math.nan)
NOT_WITHIN_0_1 = (0.0, 1.0, *OUTSIDE_0_1)
NOT_POSITIVE = (0.0, -1.0, math.inf, math.nan)
NEGATIVE = (-1e-9, math.inf, math.nan)
NO_COUNT = (0, -1, 1.5, True)


def check_ends(call: Callable, refused: Iterable, taken: Iterable) -> None:
    """Call with what is taken, and see that all else is refused."""
    for value in taken:
        call(value)
    for value in refused:
        with pytest.raises(ValueError):  # noqa: PT011  what is taken differs in this alone
            call(value)
