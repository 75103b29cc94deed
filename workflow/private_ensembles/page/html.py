"""What the pages are made of, from files and frames: tables that sort, captions, pictures."""

import base64
import re
import struct
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from private_ensembles.figures import names
from private_ensembles.page.cells import DIGITS, LONG, MORE_DIGITS, Cell, cell
from private_ensembles.page.page import inline_html, pieces

# Columns that tell one row from another: their texts stay in them, however long.
_TELLING = ["setting", "claim", "case", "name", "method"]
# Columns that may say why a mechanism is left out.
_REASONS = ("not_applicable", "verdict")
# CSS pixels to a figure's pixel: all figures' text is as large as on the page.
_SHOWN = 0.6
# What a PNG begins with; its width and height are bytes 16 to 24.
_PNG = b"\x89PNG\r\n\x1a\n"


class Caption(NamedTuple):
    """The first sentence of a caption, and the paragraphs of what follows."""

    lead: Markup
    rest: list[Markup]


def read_caption(path: Path) -> Caption:
    """Return a caption file, in reStructuredText of which `inline_html` is known."""
    texts = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    first, *others = map(inline_html, texts)
    lead, stop, rest = first.partition(". ")
    return Caption(lead + stop.strip(), [rest, *others] if rest else others)


def html_table(
    table: pd.DataFrame, title: str, *, filterable: bool = False, decimals: int | None = None
) -> Markup:
    """Return a frame as an HTML table inside a box that scrolls on its own.

    title: what the table holds, for those who hear it. Headings become buttons that sort
    (``page.js``); cells carry ``data-sort`` where their text does not sort as their value does.
    Long texts that occur twice stand below the table once. filterable: put a field above that
    hides the rows without a text, and a button for every status. decimals: of the numbers in all
    columns of a setting ("ε = 2"), so that they can be compared at a glance.
    """
    told = [name for name in _REASONS if name in table and table[name].notna().any()]
    table = table.assign(**{name: table[name].map(names.reason, "ignore") for name in told})
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
    notes = _notes(table)
    rows = [
        [cell(name, row[name], numeric[name], notes, digits[name], fixed[name]) for name in row]
        for row in table.to_dict("records")
    ]
    headings = [_heading(str(name), numeric[name]) for name in table]
    return pieces.table(title, headings, rows, list(notes), filterable)


def _heading(name: str, numeric: bool) -> Cell:
    shown = names.column(name)
    kind = "number" if numeric else None
    return Cell(shown, {"class": kind, "title": None if shown == name else name})


def _notes(table: pd.DataFrame) -> dict[str, int]:
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
    """Return a PNG, so that the page needs no file beside it."""
    content = png.read_bytes()
    url = f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}"
    if not content.startswith(_PNG):
        return Picture(url)
    width, height = (round(_SHOWN * side) for side in struct.unpack(">2I", content[16:24]))
    return Picture(url, width, height)
