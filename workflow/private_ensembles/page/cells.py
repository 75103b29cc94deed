"""Cells of the page's tables and the signs of statuses in them. All text is escaped."""

import math
import re
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from html import escape

from private_ensembles.figures import names
from private_ensembles.published.statuses import STATUSES

# A status is told by a sign and a word, never by colour alone.
WORDS = {status: status.replace("_", " ") for status in STATUSES}
# What an audit says of a claim, and the status whose sign and colour it has.
VERDICTS = {
    "holds": "match",
    "proven": "match",
    "unproven": "not_comparable",
    "fails": "differs",
}
# Numbers of our own in tables that are otherwise shown as printed.
_OURS = ("reproduced", "reproduced_sd", "tolerance")
LONG = 40
# Significant digits of our numbers, and of those that are beside printed ones.
DIGITS, MORE_DIGITS = 4, 5
# Columns of upper bounds: losses and what Q labels cost by each composition.
_BOUNDS = re.compile(
    r"(?<!lower_)epsilon|delta|_upper|^(tightest|general|optimal|pld|label|teachers_once)$"
)
# Below it, all digits before the point are written.
_PLAIN = 1e7


def status_html(status: str, count: int | None = None, word: str | None = None) -> str:
    """Return a status as a coloured sign and word, with a count before them if one is given."""
    known = status if status in STATUSES else "not_run"
    number = "" if count is None else f"{count} "
    return (
        f'<span class="status {known}"><span aria-hidden="true">{STATUSES[known].sign}</span> '
        f"{number}{escape(word or WORDS.get(status, status))}</span>"
    )


def format_number(value: float, digits: int = MORE_DIGITS) -> str:
    """Write a number for reading: integers in full, others to that many significant digits.

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


def format_bound(value: float, digits: int = DIGITS) -> str:
    """Write an upper bound to that many significant digits, rounded up: a bound stays a bound.

    >>> format_bound(0.14830141), format_bound(0.2676), format_bound(10742.2)
    ('0.1484', '0.2676', '10743')
    """
    return _towards(value, digits, ROUND_CEILING, math.ceil)


def format_least(value: float, digits: int = DIGITS) -> str:
    """Write a lower bound to that many significant digits, rounded down.

    >>> format_least(0.14839999), format_least(10742.8)
    ('0.1483', '10742')
    """
    return _towards(value, digits, ROUND_FLOOR, math.floor)


def _towards(value: float, digits: int, rounding: str, whole: Callable[[float], int]) -> str:
    if not math.isfinite(value):
        return format_number(value, digits)
    if 10**digits <= value < _PLAIN:
        return str(whole(value))
    context = Context(prec=digits, rounding=rounding)
    return format_number(float(context.create_decimal(repr(float(value)))), digits)


def is_bound(name: str) -> bool:
    """Return whether a column holds upper bounds, which are rounded up.

    >>> is_bound("epsilon_total"), is_bound("lower_epsilon"), is_bound("accuracy")
    (True, False, False)
    """
    return _BOUNDS.search(name) is not None


def of_column(name: str, value: float, digits: int = DIGITS) -> str:
    """Write a number of a column: losses rounded up, others to the nearest.

    With other digits than a table's own it is beside a printed number, and rounded as that is.

    >>> of_column("epsilon", 0.12341), of_column("accuracy", 0.12341)
    ('0.1235', '0.1234')
    """
    bound = digits == DIGITS and is_bound(name)
    return (format_bound if bound else format_number)(value, digits)


def number_class(numeric: bool) -> str:
    """Return the attribute of a cell whose digits are aligned below each other, or nothing."""
    return ' class="number"' if numeric else ""


def cell(
    name: str,
    value: object,
    numeric: bool,
    notes: dict[str, int],
    digits: int = DIGITS,
    decimals: int | None = None,
) -> str:
    """Return one cell of the column `name`.

    notes: long texts that stand below, by their number. decimals: of all numbers of the column, in
    place of the significant digits of each.
    """
    if value is None or value == "" or (isinstance(value, float) and value != value):
        return "<td></td>"
    if name == "status":
        known = str(value) if value in STATUSES else "not_run"
        order = list(STATUSES).index(known)
        return f'<td class="{known}" data-sort="{order}">{status_html(known)}</td>'
    if isinstance(value, str):
        # Strings are shown as they are (the printed digits), except numbers of our own.
        if name not in _OURS:
            return _text_cell(name, value, numeric, notes)
        value, digits = float(value), MORE_DIGITS
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    text = of_column(name, float(value), digits) if decimals is None else f"{value:.{decimals}f}"
    full = repr(float(value))
    exact = "" if text == full else f' data-sort="{full}"'
    return f"<td{number_class(True)}{exact}>{escape(text)}</td>"


def _text_cell(name: str, value: str, numeric: bool, notes: dict[str, int]) -> str:
    if value in notes:
        return f'<td data-note="{notes[value]}">note {notes[value]}</td>'
    if name == "verdict" and value in VERDICTS:
        status = VERDICTS[value]
        return f'<td class="{status}" data-sort="{value}">{status_html(status, word=value)}</td>'
    if name in ("privacy_model", "adjacency"):
        return f'<td title="{escape(value)}">{escape(names.relation(value))}</td>'
    if name == "setting":
        value = names.setting(value)
    label = names.in_column(name, value)
    if name == "mechanism" or label != value:
        return f'<td title="{escape(value)}">{escape(label)}</td>'
    kind = ' class="long"' if len(value) > LONG else number_class(numeric)
    if name in ("dataset", "task", "budget"):
        for mark in ("stand-in", "synthetic"):
            if value.endswith(f" ({mark})"):
                bare = escape(names.dataset(value.removesuffix(f" ({mark})")))
                return f'<td{kind}>{bare} <span class="standin">{mark}</span></td>'
        value = names.dataset(value)
    if name == "release" and value == "not for release":
        return f'<td{kind}><span class="secret">not for release</span></td>'
    # "15.044, differs": printed digits and what became of them.
    digits, comma, status = value.rpartition(", ")
    if name.startswith("printed ") and value:
        status = status if comma and status in STATUSES else "match"
        shown = digits if comma and value.endswith(status) else value
        order = escape(shown.split(" ")[0].rstrip("*"))
        return (
            f'<td class="number {status}" data-sort="{order}">{escape(shown)} {_sign(status)}</td>'
        )
    return f"<td{kind}>{escape(value)}</td>"


def _sign(status: str) -> str:
    """The sign of a status with its word for those who hear it, or point at it."""
    word, sign = WORDS[status], STATUSES[status].sign
    return (
        f'<span class="status {status}" title="{word}"><span aria-hidden="true">{sign}'
        f'</span><span class="heard">{word}</span></span>'
    )
