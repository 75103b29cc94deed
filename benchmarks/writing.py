"""Writing what was measured: tables and sections in Markdown."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from benchmarks import measuring


def format_table(columns: Mapping[str, str], data: pd.DataFrame, words: int = 0) -> str:
    """Return a table of a frame's rows.

    Args:
        columns: how a row is shown under each heading, such as "{seconds:.3g} s".
        data: the frame.
        words: so many of the first columns are text, the others are numbers.

    >>> print(format_table({"who": "{who}", "s": "{seconds:.1f}"}, pd.DataFrame(
    ...     {"who": ["ours"], "seconds": [2]}), words=1))
    | who | s |
    | --- | ---: |
    | ours | 2.0 |
    """
    lines = [list(columns), ["---"] * words + ["---:"] * (len(columns) - words)]
    for row in data.to_dict("records"):
        lines.append([cell_format.format_map(row) for cell_format in columns.values()])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def format_section(title: str, name: str, text: str, data: pd.DataFrame, *blocks: str) -> str:
    """Return the section of a benchmark: its blocks, the file of all numbers, day and machine."""
    facts = measuring.read_machine(data)
    days = dict.fromkeys(date.partition(" ")[0] for date in facts["date"].split(", "))
    load = facts["load"].partition(" (")[0]
    made = (
        f"*[{name}.csv]({name}.csv), {', '.join(days)}: {facts['processor']}, "
        f"{facts['cores']} cores, load {load}.*"
    )
    return "\n\n".join([f"## {title}", text, *blocks, made]) + "\n"
