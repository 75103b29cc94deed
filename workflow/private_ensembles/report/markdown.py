"""Result tables as Markdown, for reading in docs/ without running anything."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from private_ensembles.configuration.naming import link


def table(path: str | Path, digits: int = 4) -> str:
    """Return a CSV file as a Markdown table, long decimals cut to `digits` significant digits.

    Raises ValueError for an empty file or rows of unequal length.
    """
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows:
        raise ValueError(f"{path}: must have a header")
    header, *body = rows
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise ValueError(f"{path}: line {number} must have {len(header)} values")
    # A column of numbers reads better when its digits stand below each other.
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
    title: str, tables: Sequence[str], figures: Sequence[str], command: str, facts: Mapping
) -> str:
    """Return the page for docs/: each table (CSV) and figure (PNG), copied beside the page.

    title: the paper's name. command: what makes these files again. facts: `io.provenance`.
    """
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    parts = [
        f"# {title}: results",
        "Made by the workflow; do not edit. Numbers are shown to four digits, the CSV files hold "
        "all of them. What the columns mean: [results/README.md](../../results/README.md).",
        f"```\n{command}\n```",
        f"Revision {facts['revision']}, Python {facts['python']}, {facts['machine']}; {versions}.",
    ]
    for path in figures:
        name = Path(path).name
        parts += [f"## {Path(path).stem}", f"![{Path(path).stem}]({link(name)})"]
    for path in tables:
        name = Path(path).name
        parts += [f"## {Path(path).stem}", f"[{name}]({link(name)})", table(path)]
    return "\n\n".join(parts) + "\n"
