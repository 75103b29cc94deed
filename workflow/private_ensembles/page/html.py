"""Pieces of the page of results: tables that sort, captions, links. All text is escaped."""

import base64
import re
import struct
from collections.abc import Mapping
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.configuration.naming import link
from private_ensembles.figures import names
from private_ensembles.page.cells import DIGITS, LONG, MORE_DIGITS, cell, number_class

# Tables with more rows than this scroll below a heading that stays; with more columns, they are
# printed across.
_TALL, _WIDE = 12, 11
# Columns that tell one row from another: their texts stay in them, however long.
_TELLING = ["setting", "claim", "case", "name", "method"]
# Columns that may say why a mechanism is left out.
_REASONS = ("not_applicable", "verdict")
# CSS pixels to a figure's pixel.
_SHOWN = 0.6
# What a PNG begins with; its width and height are bytes 16 to 24.
_PNG = b"\x89PNG\r\n\x1a\n"


def caption_html(path: Path) -> str:
    """Return a caption file as HTML: paragraphs, ``code`` and *emphasis* of reStructuredText."""
    return "\n".join(f'<p class="caption">{text}</p>' for text in _paragraphs(path))


def folded_caption(path: Path) -> str:
    """Return a caption file of which the first sentence is seen, the others are folded."""
    first, *others = _paragraphs(path)
    lead, stop, rest = first.partition(". ")
    rest = [f"<p>{text}</p>" for text in ([rest] if rest else []) + others]
    more = f'<details class="about"><summary>How to read it</summary>{"".join(rest)}</details>'
    return f'<div class="caption"><p>{lead}{stop.strip()}</p>{more if rest else ""}</div>'


def _paragraphs(path: Path) -> list[str]:
    texts = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    return [inline_html(text) for text in texts]


def inline_html(text: str) -> str:
    """Return one paragraph of reStructuredText as HTML: ``code``, *emphasis*, **strong**.

    Emphasised identifiers of columns are written as the tables' headings are.
    """
    text = escape(" ".join(text.split()))
    text = re.sub(r"``(.+?)``", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", _emphasis, text)


def _emphasis(match: re.Match) -> str:
    is_column = re.fullmatch("[A-Za-z]+(_[A-Za-z0-9]+)*", match[1])
    return f"<em>{names.column(match[1]) if is_column else match[1]}</em>"


def html_table(
    table: pd.DataFrame, title: str, *, filterable: bool = False, decimals: int | None = None
) -> str:
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
    head = "".join(_heading(str(name), numeric[name]) for name in table)
    rows = []
    for row in table.to_dict("records"):
        cells = (
            cell(name, row[name], numeric[name], notes, digits[name], fixed[name]) for name in row
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    field = (
        '<p class="filter" hidden><label>Show rows with <input type="search"></label> '
        '<span class="chips"></span> <span role="status"></span></p>'
        if filterable
        else ""
    )
    tall = " tall" if len(table) > _TALL else ""
    wide = " wide" if table.shape[1] > _WIDE else ""
    below = "".join(f"<li>{escape(text)}</li>" for text in notes)
    # tabindex: a box that scrolls must be reachable by keyboard.
    return (
        f'<div class="table{wide}">{field}'
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{escape(title)}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
        f"{f'<ol class=notes>{below}</ol>' if below else ''}</div>"
    )


def _heading(name: str, numeric: bool) -> str:
    shown = names.column(name)
    column = "" if shown == name else f' title="{escape(name)}"'
    words = escape(shown).replace(" = ", "&nbsp;=&nbsp;")
    return f'<th scope="col"{number_class(numeric)}{column}>{words}</th>'


def _notes(table: pd.DataFrame) -> dict[str, int]:
    """Return the long texts that occur more than once, each with its number."""
    counts: dict[str, int] = {}
    for name in table.select_dtypes(include=["object", "string"]).columns.difference(_TELLING):
        for text, count in table[name].value_counts(sort=False).items():
            if isinstance(text, str) and len(text) > LONG and count > 1:
                counts.setdefault(text, len(counts) + 1)
    return counts


def figure_html(png: Path, title: str, alt: str, caption: str = "") -> str:
    """Return a PNG inside a box that scrolls sideways on its own, with a caption (HTML) below."""
    content = png.read_bytes()
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">'
        f'<img alt="{escape(alt)}"{_size(content)} decoding="async" '
        f'src="{png_url(content)}">'
        f"</div>{below}</figure>"
    )


def png_url(content: bytes) -> str:
    """Return a picture as an address that holds it, so that the page needs no file beside it."""
    return f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}"


def _size(png: bytes) -> str:
    """Return the attributes of its size, in which all figures' text is as large as on the page."""
    if not png.startswith(_PNG):
        return ""
    width, height = (round(_SHOWN * side) for side in struct.unpack(">2I", png[16:24]))
    return f' width="{width}" height="{height}"'


def file_link(path: Path, root: Path) -> str:
    """Return a link to a file by its name, relative to the page's folder."""
    relative = path.relative_to(root)
    return f'<a href="{escape(link(relative.as_posix()))}">{escape(relative.name)}</a>'


def file_name(path: Path, root: Path) -> str:
    """Return a file's name below the page's folder; it is a link only if the file is there.

    ``page.js`` makes it one if the page is in the folder that it was made in: mailed alone, it
    has no link that leads nowhere.
    """
    return away(link(path.relative_to(root).as_posix()), path.relative_to(root).as_posix())


def away(target: str, words: str) -> str:
    """Return words that ``page.js`` makes a link to a file outside the page; both not escaped."""
    return f'<a class="file" data-href="{escape(target)}">{escape(words)}</a>'


def definitions(facts: Mapping[str, str]) -> str:
    """Return names and values (HTML) as a list of definitions."""
    pairs = (f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in facts.items())
    return f'<dl class="facts">{"".join(pairs)}</dl>'
