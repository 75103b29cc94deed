"""Checks of arguments: one for each kind, whose error says in one line what is wrong.

Values are passed by name, so that the error can name them. A value annotated as `float` may be any
real number, such as an int, a NumPy scalar or a Fraction. A value that is right passes in silence:

>>> check_integer(labels=100, at_least=1)
>>> check_probability(delta=1.5)
Traceback (most recent call last):
ValueError: delta = 1.5: must be in [0, 1]

This module imports only the standard library, because every other one may import it.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_integer(
    *, at_least: int | None = None, at_most: int | None = None, odd: bool = False, **values: float
) -> None:
    """Raise ValueError unless every value is an integer within the limits.

    NumPy's integers are integers, and so is a float without a fraction (3.0). Booleans are not.

    Args:
        at_least: the smallest integer that is allowed.
        at_most: the largest integer that is allowed.
        odd: whether even numbers are refused.
        values: what is checked, by name.

    >>> check_integer(labels=100, queries=7.0, at_least=1)
    >>> check_integer(labels=2.5, at_least=1)
    Traceback (most recent call last):
    ValueError: labels = 2.5: must be an integer >= 1
    """
    for name, value in values.items():
        if not (
            _is_integer(value)
            and not (odd and value % 2 == 0)
            and (at_least is None or value >= at_least)
            and (at_most is None or value <= at_most)
        ):
            signs = {">=": at_least, "<=": at_most}
            limits = [f"{sign} {limit}" for sign, limit in signs.items() if limit is not None]
            kind = "an odd integer" if odd else "an integer"
            _refuse(name, value, " ".join([kind, " and ".join(limits)]).strip())


def check_finite(
    *, above: float | None = None, at_least: float | None = None, **values: float
) -> None:
    """Raise ValueError unless every value is a finite number within a limit.

    At most one of the two limits may be given.

    Args:
        above: a lower limit that is itself refused.
        at_least: a lower limit that is allowed.
        values: what is checked, by name.

    >>> check_finite(epsilon=1, sigma=0.5, above=0)
    >>> check_finite(sigma=float("inf"), above=0)
    Traceback (most recent call last):
    ValueError: sigma = inf: must be a finite number > 0
    """
    for name, value in values.items():
        if not (
            _is_number(value) and math.isfinite(value) and _exceeds_limit(value, above, at_least)
        ):
            _refuse(name, value, "a finite number" + _limit(above, at_least))


def check_number(
    *, above: float | None = None, at_least: float | None = None, **values: float
) -> None:
    """Raise ValueError unless every value is a number within a limit; infinity is a number.

    Args:
        above: a lower limit that is itself refused.
        at_least: a lower limit that is allowed.
        values: what is checked, by name.

    >>> check_number(epsilon=math.inf, at_least=0)
    >>> check_number(epsilon=math.nan, at_least=0)
    Traceback (most recent call last):
    ValueError: epsilon = nan: must be a number >= 0
    """
    for name, value in values.items():
        if not (_is_number(value) and value == value and _exceeds_limit(value, above, at_least)):
            _refuse(name, value, "a number" + _limit(above, at_least))


def check_probability(*, zero: bool = True, one: bool = True, **values: float) -> None:
    """Raise ValueError unless every value is in [0, 1].

    Args:
        zero: whether 0 is allowed.
        one: whether 1 is allowed.
        values: what is checked, by name.

    >>> check_probability(delta=1e-5, confidence=0.95, zero=False, one=False)
    >>> check_probability(delta=0, zero=False)
    Traceback (most recent call last):
    ValueError: delta = 0: must be in (0, 1]
    """
    check_range(0, 1, low_allowed=zero, high_allowed=one, **values)


def check_range(
    low: float, high: float, *, low_allowed: bool = True, high_allowed: bool = True, **values: float
) -> None:
    """Raise ValueError unless every value is between low and high.

    Args:
        low: the lower end of the range.
        high: the upper end of the range.
        low_allowed: whether a value may equal low.
        high_allowed: whether a value may equal high.
        values: what is checked, by name.

    >>> check_range(2, 4, factor=2)
    >>> check_range(0, 20, low_allowed=False, epsilon=0)
    Traceback (most recent call last):
    ValueError: epsilon = 0: must be in (0, 20]
    """
    for name, value in values.items():
        if not (
            _is_number(value)
            and (low <= value if low_allowed else low < value)
            and (value <= high if high_allowed else value < high)
        ):
            left = "[" if low_allowed else "("
            right = "]" if high_allowed else ")"
            _refuse(name, value, f"in {left}{low:g}, {high:g}{right}")


def did_you_mean(name: str, known: Collection[str], *, prefix: str = "") -> str | None:
    """Return a question that suggests the known name most like an unknown one, or None.

    Args:
        name: the name that nobody knows.
        known: all names that there are.
        prefix: what precedes the known name in the question, such as its section.

    >>> did_you_mean("releases", ["plan", "release"])
    'did you mean release?'
    """
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {prefix}{close[0]}?" if close else None


def check_choice(allowed: Collection[object], **values: object) -> None:
    """Raise ValueError unless every value is one of those that are allowed.

    >>> check_choice(("upper", "lower"), side="upper")
    >>> check_choice(("upper", "lower"), side="left")
    Traceback (most recent call last):
    ValueError: side = 'left': must be one of upper, lower
    """
    for name, value in values.items():
        if value not in allowed:
            _refuse(name, value, f"one of {', '.join(map(str, allowed))}")


def check_probabilities(**arrays: NDArray) -> None:
    """Raise ValueError unless every entry of every array, of any shape, is in [0, 1].

    >>> import numpy as np
    >>> check_probabilities(gamma=np.array([0, 0.5, 1]))
    >>> check_probabilities(gamma=np.array([0, np.nan]))
    Traceback (most recent call last):
    ValueError: gamma: every value must be in [0, 1]
    """
    for name, array in arrays.items():
        if not ((array >= 0) & (array <= 1)).all():
            raise ValueError(f"{name}: every value must be in [0, 1]")


def check_finite_values(*, above: float, **arrays: NDArray) -> None:
    """Raise ValueError unless every entry of every array is a finite number above a limit.

    >>> import numpy as np
    >>> check_finite_values(orders=np.array([1.5, 2]), above=1)
    >>> check_finite_values(orders=np.array([1, 2]), above=1)
    Traceback (most recent call last):
    ValueError: orders: every value must be a finite number > 1
    """
    for name, array in arrays.items():
        if not ((array > above) & (array < math.inf)).all():
            raise ValueError(f"{name}: every value must be a finite number{_limit(above, None)}")


def check_unmasked(**arrays: object) -> None:
    """Raise ValueError for an array with a mask, or a list of such rows.

    NumPy would drop the mask without a word, and what it hides would count.

    >>> import numpy as np
    >>> check_unmasked(counts=np.array([[3, 2]]))
    >>> check_unmasked(counts=np.ma.array([[3, 2]], mask=[[False, True]]))
    Traceback (most recent call last):
    ValueError: counts: must be an array without a mask, which would be lost: say what masked \
values are, as with counts.filled(0)
    """
    for name, array in arrays.items():
        rows = array if isinstance(array, list | tuple) else ()
        if any(hasattr(part, "mask") and hasattr(part, "filled") for part in (array, *rows)):
            raise ValueError(
                f"{name}: must be an array without a mask, which would be lost: say what masked "
                f"values are, as with {name}.filled(0)"
            )


def check_separate_files(outputs: Iterable[str | PathLike], **inputs: object) -> None:
    """Raise ValueError if a file that will be written is one that is read, by whatever name.

    Links are followed, and two names of one file on the disk are the same file.

    Args:
        outputs: files, or folders in which anything may be written; they need not exist.
        inputs: files that are read, by name. Values that are no paths, such as None, are ignored.

    >>> check_separate_files(["labels.csv"], votes="votes.csv")
    >>> check_separate_files(["labels.csv", "out"], votes="elsewhere/../out/votes.csv")
    Traceback (most recent call last):
    ValueError: votes = 'elsewhere/../out/votes.csv': must be another file than out, which is \
written
    """
    outputs = list(outputs)
    for name, value in inputs.items():
        if isinstance(value, str | PathLike) and str(value):
            for output in outputs:
                if _may_overwrite(output, value):
                    _refuse(name, str(value), f"another file than {output}, which is written")


def _may_overwrite(output: str | PathLike, path: str | PathLike) -> bool:
    """Return whether writing to `output`, a file or folder, may overwrite `path`."""
    target, source = os.path.realpath(output), os.path.realpath(path)
    if source == target or source.startswith(os.path.join(target, "")):
        return True
    if not os.path.exists(path):
        return False
    written: list[str | PathLike] = [output] if os.path.isfile(output) else []
    for folder, _, files in os.walk(os.fspath(output)):
        written += [os.path.join(folder, file) for file in files]
    return any(os.path.exists(file) and os.path.samefile(file, path) for file in written)


def _is_integer(value: object) -> bool:
    if type(value) is int:  # nearly every value is, and this is twice as fast as isinstance
        return True
    if isinstance(value, Integral):
        return not isinstance(value, bool)
    return isinstance(value, Real) and float(value).is_integer()


def _is_number(value: object) -> bool:
    if type(value) is float:
        return True
    return isinstance(value, Real) and not isinstance(value, bool)


def _exceeds_limit(value: float, above: float | None, at_least: float | None) -> bool:
    return (above is None or value > above) and (at_least is None or value >= at_least)


def _limit(above: float | None, at_least: float | None) -> str:
    if above is not None:
        return f" > {above:g}"
    return "" if at_least is None else f" >= {at_least:g}"


def _refuse(name: str, value: object, allowed: str) -> None:
    shown = repr(value) if isinstance(value, str) else value
    raise ValueError(f"{name} = {shown}: must be {allowed}")
