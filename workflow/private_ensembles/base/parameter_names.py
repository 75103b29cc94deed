"""Parameters in names of files, and the exact decimal arithmetic that keeps those names short."""

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from numbers import Integral, Real
from pathlib import Path
from urllib.parse import quote

from private_ensembles.base import checks

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTEGER = re.compile(r"-?(0|[1-9]\d*)")
_FORBIDDEN = set("/\\={}*?\"'<>|\0") | set(" \t\r\n")

# This matches what `write_number` writes, for wildcard constraints: 3, 0.2676, 1e-05, 1.5e+22.
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"


def write_number(value: float) -> str:
    """Write a finite number in its shortest form that reads back as the same value.

    Integral floats lose their point (`3.0` gives "3"), so that a value has one name however the
    configuration writes it.

    Raises:
        ValueError: for NaN, infinities, booleans and anything that is not a number.
    """
    return repr(plain_number(value))


def plain_number(raw: float) -> int | float:
    """Return a finite number in one form for each value: 0 for 0, 0.0 and -0.0.

    Two ways to write a parameter are then the same parameter, for names of files and for Snakemake,
    which runs a job again if a parameter's text changes.

    Returns:
        An int if the number is whole, else a float.

    Raises:
        ValueError: as for :func:`write_number`.

    >>> plain_number(3.0), plain_number(-0.0), plain_number(0.9), plain_number(1e100)
    (3, 0, 0.9, 1e+100)
    """
    if isinstance(raw, bool) or not isinstance(raw, Real):
        raise ValueError(f"number = {raw!r}: must be an int or a float")
    if isinstance(raw, Integral):
        return int(raw)
    value = float(raw)
    if not math.isfinite(value):
        raise ValueError(f"number = {raw!r}: must be finite")
    # Beyond 2**53 not every integer is a float, so such a float keeps its exponent.
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def write_upper_bound(value: float) -> str:
    """Write a positive number to five significant digits, rounded up: it stays an upper bound.

    >>> write_upper_bound(0.98765432), write_upper_bound(1e-05), write_upper_bound(2)
    ('0.98766', '1e-05', '2')
    """
    return write_number(
        float(Context(prec=5, rounding=ROUND_CEILING).create_decimal(write_number(value)))
    )


def write_lower_bound(value: float, digits: int = 5) -> str:
    """Write a number >= 0 to a few significant digits, rounded down.

    >>> write_lower_bound(0.9999999999979928), write_lower_bound(2.6894e-6, 3)
    ('0.99999', '2.68e-06')
    """
    return write_number(
        float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(write_number(value)))
    )


def join_parameters(**parameters: float | str) -> str:
    """Join parameters as `key=value,key=value`, in their order.

    Args:
        parameters: numbers, which :func:`write_number` writes, and texts. A text may hold commas
            ("uniform:0.5,1") but no slash, equals sign, blank, brace or character that a shell or
            a file system treats specially.

    Raises:
        ValueError: for a text with such a character, for an empty one, and for no parameter at all.
    """
    if not parameters:
        raise ValueError("instance: must have at least one parameter")
    return ",".join(f"{key}={_value(key, value)}" for key, value in parameters.items())


def _value(key: str, value: float | str) -> str:
    if not isinstance(value, str):
        return write_number(value)
    if not value or _FORBIDDEN & set(value) or value[0] == "," or value[-1] == ",":
        raise ValueError(
            f"{key} = {value!r}: must be text without blanks, slashes, '=' or special characters"
        )
    return value


def parse_parameters(text: str) -> dict[str, int | float | str]:
    """Read the parameters back from a name that :func:`join_parameters` made.

    A piece without "=" belongs to the value before it ("prior=uniform:0.5,1").

    Returns:
        The values by key; numbers become int or float.

    Raises:
        ValueError: if the text is not such a name, or a key occurs twice.
    """
    values: dict[str, str] = {}
    key = None
    for piece in str(text).split(","):
        head, equals, tail = piece.partition("=")
        if equals:
            if not _KEY.fullmatch(head) or head in values or not tail:
                raise ValueError(f"instance = {text!r}: must be key=value pairs joined by commas")
            key, values[head] = head, tail
        elif key is None or not piece:
            raise ValueError(f"instance = {text!r}: must be key=value pairs joined by commas")
        else:
            values[key] += "," + piece
    return {key: _parse(value) for key, value in values.items()}


def parameters_of(path: str | Path) -> dict[str, int | float | str]:
    """Read the parameters in a file's name, as in results/votes/x/kind=plain,K=5,seed=0.npz."""
    return parse_parameters(Path(path).stem)


def _parse(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    if re.fullmatch(NUMBER, text):
        return float(text)
    return text


def multiply(a: float, b: float) -> float:
    """Multiply as decimals: `multiply(3, 0.0892) == 0.2676`, while floats give 0.26759999999999995.

    Each factor counts as its shortest decimal representation; the product is the nearest float.
    """
    return float(Decimal(write_number(a)) * Decimal(write_number(b)))


def m_fold_delta(m: int, Delta: float) -> float:
    """Return 1 - (1 - Delta)^m, the delta of m-fold composition, without cancellation.

    Raises:
        ValueError: unless m >= 0 and 0 <= Delta <= 1.

    References:
        DaRRM, section 6.1.
    """
    checks.check_number(m=m, at_least=0)
    checks.check_probability(Delta=Delta)
    if Delta == 1:
        return 1.0 if m else 0.0
    delta = -math.expm1(m * math.log1p(-Delta))
    # Rounding must not take it below Delta at m = 1, which DaRRM's lemmas rule out.
    return max(delta, Delta) if m >= 1 else delta


def link(path: str) -> str:
    """Quote a relative path for use as a link in HTML or Markdown ("=", "," and ":" included)."""
    return quote(str(path), safe="/")
