"""The findings at the top of the page: sentences that this run's own numbers bear out.

``workflow/report/findings.yaml`` holds the sentences. Their numbers are looked up in the tables of
the run, and each wording has a condition on them: shown is the first wording whose condition holds.
A finding of which the run lacks a number, or has no true wording, is not on the page.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from private_ensembles.figures import names
from private_ensembles.page.cells import format_bound, format_least, format_number, is_bound

_REQUIRED, _OPTIONAL = {"paper", "name", "docs", "values", "cases"}, {"derived"}
_PERHAPS = {"where", "take", "digits", "claimed"}
_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, "==": operator.eq}
_STEPS = {"-": operator.sub, "*": operator.mul, "/": operator.truediv}
_TAKES = {
    "first": lambda series: series.iloc[0],
    "min": pd.Series.min,
    "max": pd.Series.max,
    "count": pd.Series.count,
    "above_one": lambda series: int((series > 1).sum()),
}
_DIGITS = 3


@dataclass(frozen=True)
class Finding:
    """One finding as this run bears it out."""

    paper: str
    name: str
    title: str
    text: str
    docs: str
    kind: str = ""


def read_findings(path: Path, root: Path) -> list[Finding]:
    """Return the findings of a file that the results in `root` bear out, as they bear them out.

    Each is a mapping with paper, name, docs (a file of the repository), values, perhaps derived,
    and cases. A value: table (path below `root`, without .csv), where (column -> value, or a list
    of which the first that occurs counts, or "> number"), column (a name, or "a / b" of two), take
    (first, min, max, count, above_one; default first), digits (significant, default 3), claimed
    (true if it is what a paper claims, which is rounded to the nearest). derived:
    name -> "a - b", "a * b" or "a / b" of values, derived ones before it, or numbers. A case: title
    and text, which name values in braces, perhaps kind (broken, theorem, noise: what the first
    sentence counts), and perhaps when: lines "a < b" of names or numbers, all of which must be
    true. Raises ValueError naming the finding for anything else.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    tables: dict = {}
    findings = []
    for entry in content:
        where = f"{path}: finding {entry.get('name', '?')!r}"
        _check_keys(entry, _REQUIRED, _OPTIONAL, where)
        values = _values(entry, root, tables, where)
        case = None if values is None else _first_true(entry["cases"], values, where)
        if case is not None:
            title, text = (_fill(case[part], entry, values, where) for part in ("title", "text"))
            kind = case.get("kind", "")
            findings.append(
                Finding(entry["paper"], entry["name"], title, text, entry["docs"], kind)
            )
    return findings


def _check_keys(entry: Mapping, required: set[str], optional: set[str], where: str) -> None:
    odd = (set(entry) - required - optional) | (required - set(entry))
    if odd:
        raise ValueError(f"{where}: missing or unknown: {', '.join(sorted(odd))}")


def _values(entry: Mapping, root: Path, tables: dict, where: str) -> dict | None:
    """Return all values by name, or None if the run lacks one of them."""
    values = {}
    for name, spec in entry["values"].items():
        _check_keys(spec, {"table", "column"}, _PERHAPS, f"{where}: {name}")
        values[name] = _look_up(spec, root, tables)
    if any(value is None for value in values.values()):
        return None
    for name, words in entry.get("derived", {}).items():
        left, step, right = _three(words, _STEPS, values, where)
        values[name] = step(left, right) if step is not operator.truediv or right else math.nan
    known = all(isinstance(value, str) or value == value for value in values.values())
    return values if known else None


def _look_up(spec: Mapping, root: Path, tables: dict) -> object:
    """Return the value, or None if the run has no such table or row."""
    path = root / f"{spec['table']}.csv"
    if path not in tables:
        tables[path] = pd.read_csv(path) if path.is_file() else None
    table = tables[path]
    if table is None:
        return None
    for column, wanted in spec.get("where", {}).items():
        if column not in table:
            return None
        table = table[_rows(table[column], wanted)]
    names = [name.strip() for name in spec["column"].split("/")]
    if not set(names) <= set(table):
        return None
    column = table[names[0]]
    if len(names) == 2:
        column = column / table[names[1]]
    column = column.dropna()
    return None if column.empty else _TAKES[spec.get("take", "first")](column)


def _rows(column: pd.Series, wanted: object) -> pd.Series:
    """Say which rows have the wanted value: a number or text, the first one of a list, "> 1"."""
    above = re.fullmatch(r"> ([\d.]+)", str(wanted))
    if above:
        return column > float(above[1])
    texts = column.astype(str)
    listed = wanted if isinstance(wanted, list) else [wanted]
    present = [str(value) for value in listed if (texts == str(value)).any()]
    return texts == present[0] if present else pd.Series(False, index=column.index)


def _first_true(cases: Sequence[Mapping], values: Mapping, where: str) -> Mapping | None:
    """Return the first case whose conditions are all true, or None."""
    for case in cases:
        _check_keys(case, {"title", "text"}, {"when", "kind"}, where)
        lines = [_three(line, _RELATIONS, values, where) for line in case.get("when", ())]
        if all(relation(left, right) for left, relation, right in lines):
            return case
    return None


def _three(words: str, signs: Mapping, values: Mapping, where: str) -> tuple:
    """Return both sides of "a < b", names or numbers, and the function of the sign between."""
    parts = str(words).split(" ")
    if len(parts) != 3 or parts[1] not in signs:
        raise ValueError(f"{where}: {words!r}: must be 'a b c' with b one of {' '.join(signs)}")
    sides = []
    for part in (parts[0], parts[2]):
        try:
            sides.append(values[part] if part in values else float(part))
        except ValueError:
            raise ValueError(f"{where}: {words!r}: no value {part!r}") from None
    return sides[0], signs[parts[1]], sides[1]


def _fill(text: str, entry: Mapping, values: Mapping, where: str) -> str:
    shown, writers = {}, _writers(entry)
    for name, value in values.items():
        digits = entry["values"].get(name, {}).get("digits", _DIGITS)
        is_text = isinstance(value, str)
        shown[name] = (
            names.dataset(value) if is_text else names.powers(writers[name](value, digits))
        )
    try:
        return text.format(**shown)
    except (KeyError, IndexError) as error:
        raise ValueError(f"{where}: no value {error}") from None


def _writers(entry: Mapping) -> dict[str, Callable[[float, int], str]]:
    """Return how each value is written: rounded up, down or to the nearest."""
    writers = {}
    for name, spec in entry["values"].items():
        column, take = spec["column"].split("/")[0].strip(), spec.get("take", "first")
        writers[name] = _nearest
        if spec.get("claimed"):
            continue
        if take == "min":
            writers[name] = format_least
        elif take == "max" or (take == "first" and (is_bound(column) or "sigma" in column)):
            writers[name] = format_bound
    for name, words in entry.get("derived", {}).items():
        # A multiple is rounded as what it is a multiple of.
        left, step, right = words.split(" ")
        of = right if step == "*" and right in writers else left
        writers[name] = _nearest if step == "-" else writers.get(of, _nearest)
    return writers


def _nearest(value: float, digits: int) -> str:
    return format_number(float(f"{value:.{digits}g}"))


def of_paper(findings: Sequence[Finding], paper: str) -> list[Finding]:
    """Return a paper's findings."""
    return [finding for finding in findings if finding.paper == paper]
