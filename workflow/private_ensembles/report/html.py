"""The parts of the pages, made from files and frames: cells, tables, captions, pictures."""

import base64
import math
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from private_ensembles.base.digits import (
    DIGITS,
    MORE_DIGITS,
    format_number,
    format_upper_bound,
)
from private_ensembles.labels import display_names
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.page import inline_html, pieces
from private_ensembles.report.printed_columns import STAR

# Each verdict of an audit has the sign and colour of a status.
VERDICTS = {
    "holds": "match",
    "proven": "match",
    "unproven": "not_comparable",
    "fails": "differs",
}
# These columns are numbers of our own in tables that are otherwise shown as printed.
_OURS = ("ours", "ours_sd", "tolerance")
LONG = 40
# These columns are upper bounds: losses, and what Q labels cost by each composition.
_BOUNDS = re.compile(
    r"(?<!lower_)epsilon|delta|_upper|^(tightest|general|optimal|pld|label|teachers_once)$"
)
# These columns tell one row from another: their texts stay in them, however long.
_TELLING = ["setting", "claim", "case", "name", "method"]
# These columns say what became of a row; the first of them that a table has stays in sight.
_JUDGED = ("status", "verdict")
# These columns may say why a mechanism is left out.
_REASONS = ("not_applicable", "verdict")
# A figure's pixel has so many CSS pixels, so that all figures' text is as large as on the page.
_SHOWN = 0.6
# A PNG begins with these bytes; its width and height are bytes 16 to 24.
_PNG = b"\x89PNG\r\n\x1a\n"


class Cell(NamedTuple):
    """A cell's content, text or markup, and its tag's attributes but those that are None."""

    content: str
    attributes: Mapping[str, object] = MappingProxyType({})


def is_bound(name: str) -> bool:
    """Return whether a column holds upper bounds, which are rounded up.

    >>> is_bound("epsilon_total"), is_bound("lower_epsilon"), is_bound("accuracy")
    (True, False, False)
    """
    return _BOUNDS.search(name) is not None


def format_column_value(name: str, value: float, digits: int = DIGITS) -> str:
    """Return a number of a column as text: losses rounded up, others to the nearest.

    With other digits than a table's own it is beside a printed number, and rounded as that is.

    >>> format_column_value("epsilon", 0.12341), format_column_value("accuracy", 0.12341)
    ('0.1235', '0.1234')
    """
    if digits == DIGITS and is_bound(name):
        return format_upper_bound(value, digits)
    return format_number(value, digits)


def cell(
    name: str,
    value: object,
    notes: Mapping[str, int],
    digits: int = DIGITS,
    decimals: int | None = None,
    *,
    numeric: bool,
) -> Cell:
    """Return one cell of a column.

    Args:
        name: The name of the column.
        value: What the frame has there.
        notes: The numbers of long texts that stand below the table.
        digits: The significant digits of a number.
        decimals: The decimals of all numbers of the column, in place of the significant digits.
        numeric: Whether the column has numbers.

    >>> cell("epsilon", 0.12341, {}, numeric=True)
    Cell(content='0.1235', attributes={'class': 'number', 'data-sort': '0.12341'})
    """
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return Cell("")
    if name == "status":
        status = str(value) if value in STATUSES else "not_run"
        order = list(STATUSES).index(status)
        return Cell(pieces.status(status), {"class": status, "data-sort": order})
    if isinstance(value, str):
        # Strings are shown as they are (the printed digits), except numbers of our own.
        if name not in _OURS:
            return _text_cell(name, value, notes, numeric=numeric)
        value, digits = float(value), MORE_DIGITS
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    text = (
        format_column_value(name, float(value), digits)
        if decimals is None
        else f"{value:.{decimals}f}"
    )
    full = repr(float(value))
    return Cell(text, {"class": "number", "data-sort": None if text == full else full})


def _text_cell(name: str, value: str, notes: Mapping[str, int], *, numeric: bool) -> Cell:
    if value in notes:
        return Cell(f"note {notes[value]}", {"data-note": notes[value]})
    if name == "verdict" and value in VERDICTS:
        status = VERDICTS[value]
        return Cell(pieces.status(status, word=value), {"class": status, "data-sort": value})
    if name == "proof":
        return Cell(pieces.docs(f"docs/{value}"), {"title": value})
    if name in ("privacy_model", "adjacency"):
        return Cell(display_names.relation_label(value), {"title": value})
    if name == "setting":
        value = display_names.format_setting(value)
    label = display_names.format_cell(name, value)
    if name == "mechanism" or label != value:
        return Cell(label, {"title": value})
    attributes = {"class": "long" if len(value) > LONG else "number" if numeric else None}
    if name in ("dataset", "task", "budget"):
        bare, _, mark = value.rpartition(" (")
        if mark in ("stand-in)", "synthetic)"):
            marked = Markup('{} <span class="standin">{}</span>')
            return Cell(
                marked.format(display_names.dataset_label(bare), mark.removesuffix(")")), attributes
            )
        return Cell(display_names.dataset_label(value), attributes)
    if name == "release" and value == "not for release":
        return Cell(Markup('<span class="secret">{}</span>').format(value), attributes)
    if name.startswith("printed "):
        # "15.044, differs" is the printed digits and what became of them.
        printed, _, status = value.rpartition(", ")
        if status not in STATUSES or not printed:
            printed, status = value, "match"
        order = printed.split(" ")[0].rstrip(STAR)
        if printed.endswith(STAR):
            return Cell(printed, {"class": "number", "data-sort": order})
        shown = Markup("{} {}").format(printed, pieces.sign(status))
        return Cell(shown, {"class": f"number {status}", "data-sort": order})
    return Cell(value, attributes)


class Caption(NamedTuple):
    """The first sentence of a caption, and the paragraphs of what follows."""

    lead: Markup
    rest: list[Markup]


def read_caption(path: Path) -> Caption:
    """Return the caption in a file, in as much reStructuredText as `inline_html` reads."""
    texts = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    first, *others = map(inline_html, texts)
    lead, stop, rest = first.partition(". ")
    return Caption(lead + stop.strip(), [rest, *others] if rest else others)


def html_table(
    table: pd.DataFrame,
    title: str,
    *,
    filterable: bool = False,
    decimals: int | None = None,
    anchors: Sequence[str] = (),
) -> Markup:
    """Return a frame as an HTML table inside a box that scrolls on its own.

    Headings become buttons that sort (``page.js``); cells carry ``data-sort`` where their text does
    not sort as their value does. Long texts that occur twice stand below the table once. What
    became of each row is the last column, which stays in sight if the others scroll.

    Args:
        table: The frame.
        title: What the table holds, for those who hear it.
        filterable: Whether to put a field above that hides the rows without a text, and a button
            for every status.
        decimals: The decimals of the numbers in all columns of a setting ("ε = 2"), so that they
            can be compared at a glance.
        anchors: The rows' anchors, if links lead to them.
    """
    judged = next((name for name in _JUDGED if name in table), None)
    table = table[[*table.columns.drop(judged or []), *([judged] if judged else [])]]
    reasons = [name for name in _REASONS if name in table and table[name].notna().any()]
    table = table.assign(
        **{name: table[name].map(display_names.format_reason, "ignore") for name in reasons}
    )
    numeric = {
        name: pd.to_numeric(table[name].replace("", None), errors="coerce").notna().any()
        for name in table
    }
    # A number that is compared with the one to its right is as long as that.
    following = map(str, [*table.columns[1:], ""])
    digits = {
        name: MORE_DIGITS if after.startswith("printed ") else DIGITS
        for name, after in zip(table, following, strict=True)
    }
    fixed = {name: decimals if " = " in str(name) else None for name in table}
    notes = _number_long_texts(table)
    rows = [
        [
            cell(name, row[name], notes, digits[name], fixed[name], numeric=numeric[name])
            for name in row
        ]
        for row in table.to_dict("records")
    ]
    for row, anchor in zip(rows, anchors, strict=bool(anchors)):
        row[0] = Cell(row[0].content, {"id": anchor} | row[0].attributes)
    headings = [_heading(str(name), numeric=numeric[name]) for name in table]
    judged = table.columns[-1] in _JUDGED
    return pieces.table(title, headings, rows, list(notes), filterable, judged)


def _heading(name: str, *, numeric: bool) -> Cell:
    heading = display_names.column_heading(name)
    css_class = "number" if numeric else None
    return Cell(heading, {"class": css_class, "title": None if heading == name else name})


def _number_long_texts(table: pd.DataFrame) -> dict[str, int]:
    """Return the long texts that occur more than once, each with its number."""
    counts: dict[str, int] = {}
    for name in table.select_dtypes(include=["object", "string"]).columns.difference(_TELLING):
        for text, count in table[name].value_counts(sort=False).items():
            if isinstance(text, str) and len(text) > LONG and count > 1:
                counts.setdefault(text, len(counts) + 1)
    return counts


class Picture(NamedTuple):
    """A picture as an address that holds it, and its size in CSS pixels (None: not known)."""

    url: str
    width: int | None = None
    height: int | None = None


def read_picture(png: Path) -> Picture:
    """Return a PNG as a data address, so that the page needs no file beside it."""
    content = png.read_bytes()
    url = f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}"
    if not content.startswith(_PNG):
        return Picture(url)
    width, height = (round(_SHOWN * side) for side in struct.unpack(">2I", content[16:24]))
    return Picture(url, width, height)
