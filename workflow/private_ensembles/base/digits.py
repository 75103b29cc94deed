"""Numbers for readers: few significant digits, and bounds rounded to the safe side."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

# Our numbers have so many significant digits; more are shown beside a paper's printed number.
DIGITS, MORE_DIGITS = 4, 5
# All digits before the point are written of numbers below this one.
_PLAIN = 1e7


def format_number(value: float, digits: int = MORE_DIGITS) -> str:
    """Write a number for reading: integers in full, others to so many significant digits.

    >>> format_number(10742.8518, 4), format_number(0.000264321, 4)
    ('10743', '0.0002643')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if 10**digits <= abs(value) < _PLAIN:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def format_upper_bound(value: float, digits: int = DIGITS) -> str:
    """Write an upper bound to so many significant digits, rounded up: it stays an upper bound.

    >>> format_upper_bound(0.14830141), format_upper_bound(0.2676), format_upper_bound(10742.2)
    ('0.1484', '0.2676', '10743')
    """
    return _format_rounded(value, digits, ROUND_CEILING, math.ceil)


def format_lower_bound(value: float, digits: int = DIGITS) -> str:
    """Write a lower bound to so many significant digits, rounded down.

    >>> format_lower_bound(0.14839999), format_lower_bound(10742.8)
    ('0.1483', '10742')
    """
    return _format_rounded(value, digits, ROUND_FLOOR, math.floor)


def _format_rounded(value: float, digits: int, rounding: str, whole: Callable[[float], int]) -> str:
    if not math.isfinite(value):
        return format_number(value, digits)
    if 10**digits <= value < _PLAIN:
        return str(whole(value))
    context = Context(prec=digits, rounding=rounding)
    return format_number(float(context.create_decimal(repr(float(value)))), digits)
