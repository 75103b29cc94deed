"""Pieces of the page of results: tables that sort, captions, links. All text is escaped."""

import base64
import math
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.configuration.naming import link
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
_LONG = 40


def status_html(status: str, count: int | None = None, word: str | None = None) -> str:
    """Return a status as a coloured sign and word, with a count before them if one is given."""
    known = status if status in STATUSES else "not_run"
    number = "" if count is None else f"{count} "
    return (
        f'<span class="status {known}"><span aria-hidden="true">{STATUSES[known].sign}</span> '
        f"{number}{escape(word or WORDS.get(status, status))}</span>"
    )


def caption_html(path: Path) -> str:
    """Return a caption file as HTML: paragraphs, ``code`` and *emphasis* of reStructuredText."""
    paragraphs = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    return "\n".join(f'<p class="caption">{inline_html(text)}</p>' for text in paragraphs)


def inline_html(text: str) -> str:
    """Return one paragraph of reStructuredText as HTML: ``code``, *emphasis*, **strong**."""
    text = escape(" ".join(text.split()))
    text = re.sub(r"``(.+?)``", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", r"<em>\1</em>", text)


def html_table(table: pd.DataFrame, title: str, *, filterable: bool = False) -> str:
    """Return a frame as an HTML table inside a box that scrolls sideways on its own.

    title: what the table holds, for those who hear it. Headings become buttons that sort
    (``page.js``); cells carry ``data-sort`` where their text does not sort as their value does.
    filterable: put a field above that hides the rows without a text.
    """
    numeric = {
        name: pd.to_numeric(table[name].replace("", None), errors="coerce").notna().any()
        for name in table
    }
    head = "".join(
        f'<th scope="col"{_number_class(numeric[name])}>{escape(str(name))}</th>' for name in table
    )
    rows = []
    for row in table.to_dict("records"):
        cells = (_cell(name, value, numeric[name]) for name, value in row.items())
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    field = (
        '<p class="filter" hidden><label>Show rows with <input type="search"></label> '
        '<span role="status"></span></p>'
        if filterable
        else ""
    )
    # tabindex: a box that scrolls must be reachable by keyboard.
    return (
        f'{field}<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def format_number(value: float) -> str:
    """Write a number for reading: integers in full, others to five significant digits."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.5g}"


def figure_html(png: Path, title: str, alt: str, caption: str = "") -> str:
    """Return a PNG inside a box that scrolls sideways on its own, with a caption (HTML) below."""
    encoded = base64.b64encode(png.read_bytes()).decode("ascii")
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">'
        f'<img alt="{escape(alt)}" decoding="async" src="data:image/png;base64,{encoded}">'
        f"</div>{below}</figure>"
    )


def file_link(path: Path, root: Path) -> str:
    """Return a link to a file by its name, relative to the page's folder."""
    relative = path.relative_to(root)
    return f'<a href="{escape(link(relative.as_posix()))}">{escape(relative.name)}</a>'


def definitions(facts: Mapping[str, str]) -> str:
    """Return names and values (HTML) as a list of definitions."""
    pairs = (f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in facts.items())
    return f'<dl class="facts">{"".join(pairs)}</dl>'


def _number_class(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def _cell(name: str, value: object, numeric: bool) -> str:
    if value is None or value == "" or (isinstance(value, float) and value != value):
        return "<td></td>"
    if name == "status":
        known = str(value) if value in STATUSES else "not_run"
        order = list(STATUSES).index(known)
        return f'<td class="{known}" data-sort="{order}">{status_html(known)}</td>'
    if isinstance(value, str):
        # Strings are shown as they are (the printed digits), except numbers of our own.
        if name not in _OURS:
            return _text_cell(name, value, numeric)
        value = float(value)
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    text = format_number(float(value))
    full = repr(float(value))
    exact = "" if text == full else f' data-sort="{full}"'
    return f"<td{_number_class(True)}{exact}>{escape(text)}</td>"


def _text_cell(name: str, value: str, numeric: bool) -> str:
    if name == "verdict" and value in VERDICTS:
        status = VERDICTS[value]
        return f'<td class="{status}" data-sort="{value}">{status_html(status, word=value)}</td>'
    kind = ' class="long"' if len(value) > _LONG else _number_class(numeric)
    for mark in ("stand-in", "synthetic"):
        if name in ("dataset", "task") and value.endswith(f" ({mark})"):
            bare = escape(value.removesuffix(f" ({mark})"))
            return f'<td{kind}>{bare} <span class="standin">{mark}</span></td>'
    if name == "release" and value == "not for release":
        return f'<td{kind}><span class="secret">not for release</span></td>'
    # "15.044, differs": printed digits and what became of them.
    digits, comma, status = value.rpartition(", ")
    if name.startswith("printed ") and value:
        status = status if comma and status in STATUSES else "match"
        shown = digits if comma and value.endswith(status) else value
        order = escape(shown.split(" ")[0])
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
