"""Result tables as Markdown, for reading in docs/ without running anything."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from private_ensembles.base.parameter_names import link
from private_ensembles.labels import display_names as shown
from private_ensembles.report.sections import Section

# A table of more cells is turned, or its file is all there is; one of more columns is turned on its
# side.
_CELLS, _WIDE = 400, 12


class _Turn(NamedTuple):
    """How a long table is turned: its `value`, a row for each of `rows`, a column for `across`."""

    rows: tuple[str, ...]
    across: tuple[str, ...]
    value: str
    words: str


_TURNS = (
    _Turn(("mechanism",), ("dataset", "queries"), "accuracy_mean", "Mean accuracy of labels"),
    _Turn(("method", "n", "k"), ("delta", "epsilon"), "accuracy_mean", "Mean accuracy of students"),
    _Turn(("n", "k", "accounting"), ("delta", "epsilon"), "releasable_mean", "Labels bought"),
    _Turn(("mechanism",), ("task", "queries", "epsilon"), "accuracy", "Share of right labels"),
    _Turn(("teachers", "classes", "lead"), ("ties",), "delta_most", "The largest δ of one label"),
    _Turn(("mechanism",), ("budget_epsilon",), "correct", "Right labels, expected"),
)


def table(path: str | Path, digits: int = 4) -> str:
    """Return a CSV file as Markdown that can be read, long decimals cut to `digits` digits.

    Columns that say the same in all rows are said once. A long table is turned so that one of its
    numbers can be compared (`_TURNS`), or left to its file; a wide one is turned on its side.
    Raises ValueError for an empty file or rows of unequal length.
    """
    header, body = _read(path)
    kept, said = _split_constant_columns(header, body)
    rows = [[shown.format_cell(header[place], row[place]) for place in kept] for row in body]
    names = [header[place] for place in kept]
    parts = [said] if said else []
    if len(rows) * len(names) > _CELLS:
        turned = _pivot_table(names, rows, digits)
        parts.append(turned or f"{len(rows)} rows of {len(names)} columns: see the file.")
    elif len(names) > _WIDE:
        sides = [[name, *cells] for name, *cells in zip(names, *rows, strict=True)]
        parts.append(
            _format_table(["", *(str(place + 1) for place in range(len(rows)))], sides, digits)
        )
    elif names:
        parts.append(_format_table(names, rows, digits))
    return "\n\n".join(parts)


def _read(path: str | Path) -> tuple[list[str], list[list[str]]]:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows:
        raise ValueError(f"{path}: must have a header")
    header, *body = rows
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise ValueError(f"{path}: line {number} must have {len(header)} values")
    return header, body


def _split_constant_columns(header: list[str], body: list[list[str]]) -> tuple[list[int], str]:
    """Return the columns that differ between rows, and a sentence about all others."""
    if len(body) < 2:
        return list(range(len(header))), ""
    kept = [place for place in range(len(header)) if len({row[place] for row in body}) > 1]
    same = [
        f"{header[place]} = {_cell(shown.format_cell(header[place], body[0][place]), 4)}"
        for place in range(len(header))
        if place not in kept and body[0][place]
    ]
    return kept, f"In all rows: {', '.join(same)}." if same else ""


def _pivot_table(names: list[str], rows: list[list[str]], digits: int) -> str:
    """Return one value of a long table, row by column; nothing if no turn fits it."""
    for turn in _TURNS:
        if turn.value not in names or not set(turn.rows) <= set(names):
            continue
        at = {name: place for place, name in enumerate(names)}
        across = [name for name in turn.across if name in at]
        cells: dict[tuple, dict[tuple, str]] = {}
        for row in rows:
            key = tuple(row[at[name]] for name in turn.rows)
            place = tuple(row[at[name]] for name in across)
            if value := row[at[turn.value]]:
                cells.setdefault(key, {}).setdefault(place, value)
        places = list(dict.fromkeys(place for values in cells.values() for place in values))
        heads = [_heading(across, place) for place in places]
        lines = [
            [*key, *(values.get(place, "") for place in places)] for key, values in cells.items()
        ]
        return f"{turn.words} (`{turn.value}`):\n\n" + _format_table(
            [*turn.rows, *heads], lines, digits
        )
    return ""


def _heading(columns: Sequence[str], values: Sequence[str]) -> str:
    """Return what a column of a turned table is about: "MNIST, queries = 20"."""
    words = []
    for name, value in zip(columns, values, strict=True):
        if value and name in ("dataset", "task"):
            words.append(shown.dataset_label(value))
        elif value:
            short = f"{float(value):g}" if _is_number(value) else value
            words.append(f"{shown.column_heading(name)} = {short}")
    return ", ".join(words) or "any " + " and ".join(map(shown.column_heading, columns))


def _format_table(header: list[str], body: list[list[str]], digits: int) -> str:
    # A column of numbers reads better when its digits are below each other.
    numeric = [bool(body) and all(_is_number(row[i]) for row in body) for i in range(len(header))]
    rule = ["---:" if flag else "---" for flag in numeric]
    lines = [header, rule, *([_cell(value, digits) for value in row] for row in body)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return not text
    return True


def _cell(text: str, digits: int) -> str:
    if text and _is_number(text):
        # Short values stay as they are: 0.0003 is exact, 0.26759999 would not be.
        short = f"{float(text):.{digits}g}"
        return short if len(short) < len(text) and not text.lstrip("-").isdigit() else text
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def docs_page(
    section: Section, tables: Sequence[str], figures: Sequence[str], command: str, facts: Mapping
) -> str:
    """Return the page for docs/: each table (CSV) and figure (PNG), copied beside the page.

    section: the paper's, whose items give files their headings and figures their words. command:
    what makes these files again. facts: `io.provenance`.
    """
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    parts = [
        f"# {section.title}",
        "Made by the workflow; do not edit. Numbers are shown to four digits, and long tables by "
        "one of their columns; the CSV files hold everything. What the columns mean: "
        "[results/README.md](../../results/README.md).",
        f"```\n{command}\n```",
        f"Revision {facts['revision']}, Python {facts['python']}, {facts['machine']}; {versions}.",
    ]
    for path in figures:
        title, words = _titles(section, Path(path))
        parts += [f"## {title}", f"![{words}]({link(Path(path).name)})"]
    for path in tables:
        name = Path(path).name
        title, _ = _titles(section, Path(path))
        parts += [f"## {title}", f"[{name}]({link(name)})", table(path)]
    return "\n\n".join(parts) + "\n"


def _titles(section: Section, path: Path) -> tuple[str, str]:
    """Return the heading of a file, and in words what a figure shows."""
    number = path.stem.removeprefix("table")
    own = f"Table {number}" if number.isdigit() else path.stem.replace("_", " ").capitalize()
    for item in section.items:
        if path.name in item.files():
            several = len(item.tables) > 1
            title = f"{own}: {item.title.partition(': ')[2]}" if several else item.title
            return title, " ".join(item.alt.split()) or own
    return own, own
