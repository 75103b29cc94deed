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

KEYS = {"paper", "title", "text", "docs", "values", "holds", "without"}
_VALUE_KEYS = {"table", "where", "column", "take", "digits"}
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
    """Return the findings of a file (see `KEYS`) as the results in `root` bear them out.

    Each is a mapping with paper, title, text and docs (a file of the repository), and perhaps
    values, holds and without. A value: table (path below `root`, without .csv), where (column ->
    value, or a list of which the first that occurs counts), column (a name, or "a / b" of two),
    take (first, min, max, mean, count; default first), digits (significant, default 3). holds:
    lines "name < name or number". Raises ValueError naming the finding for anything else.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    found, tables = [], {}
    for entry in content:
        title = entry.get("title", "?")
        if odd := (set(entry) - KEYS) | ({"paper", "title", "text", "docs"} - set(entry)):
            raise ValueError(f"{path}: finding {title!r}: missing or unknown: {', '.join(odd)}")
        values: dict[str, object] = {}
        missing = False
        for name, spec in entry.get("values", {}).items():
            if odd := set(spec) - _VALUE_KEYS:
                raise ValueError(f"{path}: finding {title!r}: {name}: unknown: {', '.join(odd)}")
            value = _look_up(spec, root, tables)
            missing |= value is None
            values[name] = value
        if missing:
            text, state = entry.get("without", ""), "not run"
        else:
            text, state = _fill(entry, values, path), "holds"
            if not all(_holds(line, values, path) for line in entry.get("holds", ())):
                state = "refuted"
        found.append(Finding(entry["paper"], title, text, entry["docs"], state))
    return found


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
    above, slash, below = (part.strip() for part in spec["column"].partition("/"))
    if not {above, *([below] if slash else [])} <= set(table):
        return None
    column = (table[above] / table[below] if slash else table[above]).dropna()
    return None if column.empty else _TAKES[spec.get("take", "first")](column)


def _fill(entry: Mapping, values: Mapping, path: Path) -> str:
    shown = {
        name: value if isinstance(value, str) else _short(value, entry["values"][name])
        for name, value in values.items()
    }
    try:
        return entry["text"].format(**shown)
    except (KeyError, IndexError) as error:
        raise ValueError(f"{path}: finding {entry['title']!r}: no value {error}") from None


def _short(value: float, spec: Mapping) -> str:
    digits = spec.get("digits", 3)
    return format_number(float(f"{value:.{digits}g}"))


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
