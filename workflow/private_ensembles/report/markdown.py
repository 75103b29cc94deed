"""Result tables as Markdown, for reading in docs/ without running anything."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from private_ensembles.base.parameter_names import link
from private_ensembles.labels import display_names
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.printed_numbers import Layout, describe_number
from private_ensembles.report.run_facts import list_revisions
from private_ensembles.report.sections import Section

# A table of more cells is pivoted, or left to its file; one of more columns is transposed.
_CELLS, _WIDE = 200, 12


class _Turn(NamedTuple):
    """How a long table is pivoted: a cell for each `value`, by `rows` and by columns `across`."""

    rows: tuple[str, ...]
    across: tuple[str, ...]
    value: str
    words: str


_TURNS = (
    _Turn(("mechanism",), ("task", "queries", "epsilon"), "accuracy", "Share of right labels"),
    _Turn(
        ("mechanism", "stated"), ("labels", "epsilon", "accuracy"), "right", "Share of right labels"
    ),
    _Turn(("teachers", "classes", "lead"), ("ties",), "delta_most", "The largest δ of one label"),
    _Turn(("mechanism",), ("budget_epsilon",), "correct", "Right labels, expected"),
    _Turn(("quantity", "adjacency"), ("dataset",), "value", "By data set"),
    _Turn(("n",), ("delta", "epsilon"), "data_independent", "Labels bought"),
    _Turn(("student", "labels"), ("epoch",), "accuracy", "Accuracy of the student"),
    _Turn(("mechanism", "proven_epsilon"), ("record", "queries_are"), "exact_epsilon", "Exact ε"),
)


class _Shown(NamedTuple):
    """What is shown of a CSV file.

    Attributes:
        constants: a sentence on the columns that say the same in all rows; it may be empty.
        rows: the table; None if it is too long and left to its file.
        size: how many rows and columns are left to the file.
    """

    constants: str
    rows: str | None
    size: str


def table(path: str | Path, digits: int = 4) -> str:
    """Return a CSV file as a Markdown table that can be read.

    Columns that say the same in all rows are said once. A long table is pivoted so that one of its
    numbers can be compared (`_TURNS`), or left to its file; a wide one is transposed.

    Args:
        path: The file.
        digits: The significant digits to which long decimals are cut.

    Raises:
        ValueError: The file is empty, or its rows are of unequal length.
    """
    shown = _show_table(path, digits)
    rows = f"{shown.size}: see the file." if shown.rows is None else shown.rows
    return "\n\n".join(part for part in (shown.constants, rows) if part)


def _show_table(path: str | Path, digits: int) -> _Shown:
    header, body = _read_csv(path)
    kept, constants = _split_constant_columns(header, body)
    rows = [[display_names.format_cell(header[i], row[i]) for i in kept] for row in body]
    names = [header[i] for i in kept]
    text: str | None = ""
    if len(rows) * len(names) > _CELLS:
        text = _pivot_table(names, rows, digits) or None
    elif len(names) > _WIDE:
        transposed = [[name, *cells] for name, *cells in zip(names, *rows, strict=True)]
        numbers = (str(i + 1) for i in range(len(rows)))
        text = _format_table(["", *numbers], transposed, digits)
    elif names:
        text = _format_table(names, rows, digits)
    return _Shown(constants, text, f"{len(rows)} rows of {len(names)} columns")


def _read_csv(path: str | Path) -> tuple[list[str], list[list[str]]]:
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
    """Return the numbers of the columns that differ between rows, and a sentence on the others."""
    if len(body) < 2:
        return list(range(len(header))), ""
    kept = [i for i in range(len(header)) if len({row[i] for row in body}) > 1]
    same = [
        f"{header[i]} = {_cell(display_names.format_cell(header[i], body[0][i]), 4)}"
        for i in range(len(header))
        if i not in kept and body[0][i]
    ]
    return kept, f"In all rows: {', '.join(same)}." if same else ""


def _pivot_table(names: list[str], rows: list[list[str]], digits: int) -> str:
    """Return one value of a long table, row by column; an empty text if no turn fits it."""
    for turn in _TURNS:
        if turn.value not in names or not set(turn.rows) <= set(names):
            continue
        column_of = {name: i for i, name in enumerate(names)}
        across = [name for name in turn.across if name in column_of]
        cells: dict[tuple, dict[tuple, list[str]]] = {}
        for row in rows:
            row_key = tuple(row[column_of[name]] for name in turn.rows)
            column_key = tuple(row[column_of[name]] for name in across)
            if value := row[column_of[turn.value]]:
                cells.setdefault(row_key, {}).setdefault(column_key, []).append(value)
        if any(len(values) > 1 for of_row in cells.values() for values in of_row.values()):
            continue  # of several numbers in a cell one would stand for all
        columns = list(dict.fromkeys(key for values in cells.values() for key in values))
        heads = [_heading(across, key) for key in columns]
        lines = [
            [*row_key, *(values.get(key, [""])[0] for key in columns)]
            for row_key, values in cells.items()
        ]
        return f"{turn.words} (`{turn.value}`):\n\n" + _format_table(
            [*turn.rows, *heads], lines, digits
        )
    return ""


def _heading(columns: Sequence[str], values: Sequence[str]) -> str:
    """Return the heading of a column of a pivoted table, such as "MNIST, queries = 20"."""
    words = []
    for name, value in zip(columns, values, strict=True):
        if value and name in ("dataset", "task"):
            words.append(display_names.dataset_label(value))
        elif value:
            short = f"{float(value):g}" if _is_number(value) else value
            words.append(f"{display_names.column_heading(name)} = {short}")
    return ", ".join(words) or "any " + " and ".join(map(display_names.column_heading, columns))


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


def printed_table(layout: Layout) -> str:
    """Return a table as a paper prints it: in a cell the printed number, a status' sign, and ours.

    Two rounds stand below each other.
    """
    body = [
        [row, *("<br>".join(map(_beside_ours, cells.get(name, []))) for name in layout.columns)]
        for row, cells in layout.rows.items()
    ]
    return _format_table(["", *layout.columns], body, digits=4)


def _beside_ours(number: Mapping[str, str]) -> str:
    printed, ours = describe_number(number)
    return f"{printed} {STATUSES[number['status']].sign} {ours}".rstrip()


def docs_page(
    section: Section,
    tables: Sequence[str],
    figures: Sequence[str],
    command: str,
    facts: Mapping,
    printed: Mapping[str, Layout] | None = None,
) -> str:
    """Return a paper's page for docs/, with each of its figures and tables, or links to long ones.

    The paper's own tables come first, in its order, with the printed numbers beside ours.

    Args:
        section: The paper's section, whose items give files their headings and figures their words.
        tables: CSV files, which are copied beside the page.
        figures: PNG files, which are copied beside the page.
        command: The command that makes these files again.
        facts: What `base.files.provenance` returns. The revision is that on record for the tables.
        printed: The paper's tables as it prints them, by the stems of our files.
    """
    revision = list_revisions(tables)
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    by_stem = {Path(path).stem: path for path in tables}
    compared = {name: layout for name, layout in (printed or {}).items() if name in by_stem}
    parts = [
        f"# {section.title}",
        "For whoever looks up numbers of the published run. Made by the workflow; do not edit. "
        "The CSV files hold every digit; [what their columns mean](../../results/README.md).",
        f"```\n{command}\n```",
        f"Revision {revision}, Python {facts['python']}, {facts['machine']}; {versions}.",
    ]
    if compared:
        signs = ", ".join(
            f"{status.sign} {name.replace('_', ' ')}" for name, status in STATUSES.items()
        )
        parts.append(
            "A cell of the paper's tables has the printed number, a sign and ours: "
            f"{signs} ([what they mean](../reproduce.md#what-came-out))."
        )
    for stem, layout in compared.items():
        path = Path(by_stem[stem])
        title, _ = _heading_and_words(section, path)
        parts += [f"## {title}", printed_table(layout), f"All of ours: {_file(path)}"]
    for path in figures:
        title, words = _heading_and_words(section, Path(path))
        parts += [f"## {title}", f"![{words}]({link(Path(path).name)})"]
    long_tables = []
    for stem, path in by_stem.items():
        if stem in compared:
            continue
        title, _ = _heading_and_words(section, Path(path))
        shown = _show_table(path, digits=4)
        if shown.rows is None:
            long_tables.append(f"- {title}: {_file(Path(path))}, {shown.size}")
        else:
            parts += [f"## {title}", _file(Path(path)), table(path)]
    if long_tables:
        parts += ["## Long tables", "\n".join(long_tables)]
    return "\n\n".join(parts) + "\n"


def _file(path: Path) -> str:
    return f"[{path.name}]({link(path.name)})"


def _heading_and_words(section: Section, path: Path) -> tuple[str, str]:
    """Return the heading of a file, and what a figure shows in words."""
    number = path.stem.removeprefix("table")
    name = f"Table {number}" if number.isdigit() else path.stem.replace("_", " ").capitalize()
    for item in section.items:
        if path.name in item.files():
            several = len(item.tables) > 1
            title = f"{name}: {item.title.partition(': ')[2]}" if several else item.title
            return title, " ".join(item.alt.split()) or name
    return name, name
