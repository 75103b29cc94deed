"""The findings at the top of the page: sentences whose numbers are taken from this run's tables.

``workflow/report/findings.yaml`` holds the sentences. A number is looked up in a table of the run;
what a sentence claims about its numbers is checked against them, so a run that does not bear a
finding out says so itself.
"""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from private_ensembles.report.html import format_number

_REQUIRED, _OPTIONAL = {"paper", "title", "text", "docs"}, {"values", "holds", "without"}
_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, "==": operator.eq}
_TAKES = {
    "first": lambda series: series.iloc[0],
    "min": pd.Series.min,
    "max": pd.Series.max,
    "mean": pd.Series.mean,
    "count": pd.Series.count,
}


@dataclass(frozen=True)
class Finding:
    """One finding as this run shows it.

    state: "holds" (nothing to check, or checked), "refuted" (the run's numbers contradict it) or
    "not run" (a table or row is missing; text is then the sentence without numbers).
    """

    paper: str
    title: str
    text: str
    docs: str
    state: str


def read_findings(path: Path, root: Path) -> list[Finding]:
    """Return the findings of a file as the results in `root` bear them out.

    Each is a mapping with paper, title, text and docs (a file of the repository), and perhaps
    values, holds and without. A value: table (path below `root`, without .csv), where (column ->
    value, or a list of which the first that occurs counts), column (a name, or "a / b" of two),
    take (first, min, max, mean, count; default first), digits (significant, default 3). holds:
    lines "name < name or number". Raises ValueError naming the finding for anything else.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    found, tables = [], {}
    for entry in content:
        where = f"{path}: finding {entry.get('title', '?')!r}"
        _check_keys(entry, _REQUIRED, _OPTIONAL, where)
        values = {}
        for name, spec in entry.get("values", {}).items():
            _check_keys(spec, {"table", "column"}, {"where", "take", "digits"}, f"{where}: {name}")
            values[name] = _look_up(spec, root, tables)
        if any(value is None for value in values.values()):
            text, state = entry.get("without", ""), "not run"
        else:
            text, state = _fill(entry, values, path), "holds"
            if not all(_holds(line, values, path) for line in entry.get("holds", ())):
                state = "refuted"
        found.append(Finding(entry["paper"], entry["title"], text, entry["docs"], state))
    return found


def _check_keys(entry: Mapping, required: set[str], optional: set[str], where: str) -> None:
    odd = (set(entry) - required - optional) | (required - set(entry))
    if odd:
        raise ValueError(f"{where}: missing or unknown: {', '.join(sorted(odd))}")


def _look_up(spec: Mapping, root: Path, tables: dict) -> object:
    """Return the value, or None where the run has no such table or row."""
    path = root / f"{spec['table']}.csv"
    if path not in tables:
        tables[path] = pd.read_csv(path) if path.is_file() else None
    table = tables[path]
    if table is None:
        return None
    for column, wanted in spec.get("where", {}).items():
        wanted = wanted if isinstance(wanted, list) else [wanted]
        texts = table[column].astype(str) if column in table else pd.Series(dtype=str)
        present = [str(value) for value in wanted if (texts == str(value)).any()]
        if not present:
            return None
        table = table[texts == present[0]]
    names = [name.strip() for name in spec["column"].split("/")]
    if not set(names) <= set(table):
        return None
    column = table[names[0]]
    if len(names) == 2:
        column = column / table[names[1]]
    column = column.dropna()
    return None if column.empty else _TAKES[spec.get("take", "first")](column)


def _fill(entry: Mapping, values: Mapping, path: Path) -> str:
    shown = {}
    for name, value in values.items():
        digits = entry["values"][name].get("digits", 3)
        text = isinstance(value, str)
        shown[name] = value if text else format_number(float(f"{value:.{digits}g}"))
    try:
        return entry["text"].format(**shown)
    except (KeyError, IndexError) as error:
        raise ValueError(f"{path}: finding {entry['title']!r}: no value {error}") from None


def _holds(line: str, values: Mapping, path: Path) -> bool:
    match = re.fullmatch(r"(\w+) (<=|<|>|==) ([\w.+-]+)", line)
    if match is None or match[1] not in values:
        raise ValueError(f"{path}: holds: {line!r}: must be 'value < value or number'")
    right = values[match[3]] if match[3] in values else float(match[3])
    return bool(_RELATIONS[match[2]](values[match[1]], right))


def of_paper(findings: Sequence[Finding], paper: str) -> list[Finding]:
    """Return a paper's findings, those that this run computed first."""
    mine = [finding for finding in findings if finding.paper == paper]
    return sorted(mine, key=lambda finding: finding.state == "not run")
