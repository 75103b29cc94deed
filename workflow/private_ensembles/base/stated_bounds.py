"""Marks for what states a bound on a privacy cost or on a probability, in floating point.

A mark changes nothing about what it is put on. `tests/accounting/test_stated_bounds.py` finds all
marked objects and asks for each that a test holds it against its exact value, so a bound that is
marked cannot go unchecked (docs/noise.md).
"""

from typing import TypeVar

Marked = TypeVar("Marked")

MARK = "__stated_bounds__"


def upper_bound(marked: Marked) -> Marked:
    """Mark a function, method or class whose result is at least the true value.

    Of a property, mark the function below ``@property``.

    >>> @upper_bound
    ... def double(x: float) -> float:
    ...     return 2 * x
    >>> double(1.0), stated_bounds(double)
    (2.0, ('upper',))
    """
    return _mark(marked, "upper")


def lower_bound(marked: Marked) -> Marked:
    """Mark a function, method or class whose result is at most the true value."""
    return _mark(marked, "lower")


def stated_bounds(candidate: object) -> tuple[str, ...]:
    """Return which bounds an object is marked to state; those of a class's parents do not count."""
    marks: tuple[str, ...] = getattr(candidate, "__dict__", {}).get(MARK, ())
    return marks


def _mark(marked: Marked, side: str) -> Marked:
    setattr(marked, MARK, (side, *stated_bounds(marked)))
    return marked
