"""Compare the tables of two runs: equal bit for bit, up to rounding, or not."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from private_ensembles.base import checks
from private_ensembles.base.provenance import ROOT

# Only these folders differ from run to run by their nature: they hold the times and memory of jobs,
# and versions, machines and checksums.
VOLATILE = ("benchmarks", "provenance")
# Tables in these folders do not follow from the seed either: a copy of the code, and labels of your
# own votes, whose noise is the operating system's.
LEFT_OUT = (*VOLATILE, "code", "own")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_PRINTED_NUMBER = ("paper", "item", "dataset", "row", "column")


@dataclass(frozen=True)
class Comparison:
    """What two files of one table have in common.

    Attributes:
        kind: "equal" (the same bytes), "rounding", "differs", or in its place "other processor"
            (`mark_other_processor`).
        cells: How many cells differ, by rounding or more.
        largest: The largest relative difference, in [0, inf]; infinite if text differs.
        where: The row (from 1, without the head) and column of that cell and what both hold, or why
            cells cannot be compared.
    """

    kind: str
    cells: int = 0
    largest: float = 0.0
    where: str = ""


class ChangedStatus(NamedTuple):
    """A printed number whose status is not the same in two files `fidelity.csv`.

    Attributes:
        number: Its paper, item, data set, row and column in one text.
        before: Its status in the first file; None if that file does not have the number.
        after: Its status in the second file; None if that file does not have the number.
    """

    number: str
    before: str | None
    after: str | None


def results_folder(folder: Path) -> Path:
    """Return where a run's results are: in its folder `results`, or in the folder itself."""
    return folder / ROOT if (folder / ROOT).is_dir() else folder


def tables(folder: Path) -> dict[str, Path]:
    """Return the tables (CSV) of a run by their names: "darrm/table1.csv", "fidelity.csv".

    Files below `LEFT_OUT` are left out.

    Args:
        folder: One that holds `results`, such a folder itself, or the repository's `docs`, where a
            run's tables are published.

    Raises:
        ValueError: There is no table, or two would have one name.
    """
    start = results_folder(folder)
    paths = {}
    for path in sorted(start.rglob("*.csv")):
        parts = path.relative_to(start).parts
        if parts[0] in LEFT_OUT:
            continue
        # docs/ has no folders of tables: results/darrm/tables/table1.csv is docs/darrm/table1.csv.
        name = "/".join(part for part in parts if part != "tables")
        if name in paths:
            raise ValueError(f"{path}: is a second table {name}, beside {paths[name]}")
        paths[name] = path
    if not paths:
        raise ValueError(f"{folder}: holds no table of a run (*.csv)")
    return paths


def relative_difference(first: str, second: str) -> float:
    """Return the largest relative difference of the numbers in two cells.

    Returns:
        |x - y| / max(|x|, |y|), which is 1 if only one of them is 0; infinity if the text around
        the numbers is not the same.

    >>> relative_difference("0.5", "0.4"), relative_difference("K=11, 0.50", "K=11, 5e-1")
    (0.19999999999999996, 0.0)
    >>> relative_difference("match", "differs"), relative_difference("0", "1e-300")
    (inf, 1.0)
    """
    if first == second:
        return 0.0
    if _NUMBER.sub("0", first) != _NUMBER.sub("0", second):
        return math.inf
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=True)
    return max((_relative(float(x), float(y)) for x, y in pairs), default=math.inf)


def _relative(x: float, y: float) -> float:
    if x == y:
        return 0.0
    largest = max(abs(x), abs(y))
    return abs(x / largest - y / largest) if math.isfinite(largest) else math.inf


def compare(first: Path, second: Path, tolerance: float) -> Comparison:
    """Compare two files of one table, cell by cell if their bytes are not the same.

    Args:
        first: A file of the table.
        second: The other one.
        tolerance: The largest relative difference that counts as rounding, in [0, 1).

    Raises:
        ValueError: The tolerance is out of range, or a file cannot be read as CSV.
    """
    checks.check_range(0, 1, tolerance=tolerance, high_allowed=False)
    if first.read_bytes() == second.read_bytes():
        return Comparison("equal")
    (first_head, *first_rows), (second_head, *second_rows) = _read(first), _read(second)
    if first_head != second_head:
        alone = [
            name
            for name in (*first_head, *second_head)
            if (name in first_head) != (name in second_head)
        ]
        reason = (
            f"columns of one alone: {', '.join(alone)}" if alone else "columns in another order"
        )
        return Comparison("differs", largest=math.inf, where=reason)
    if [len(row) for row in first_rows] != [len(row) for row in second_rows]:
        reason = f"{len(first_rows)} and {len(second_rows)} rows"
        if len(first_rows) == len(second_rows):
            reason += ", some with more cells than others"
        return Comparison("differs", largest=math.inf, where=reason)
    cells, largest, where = 0, 0.0, ""
    for number, pair in enumerate(zip(first_rows, second_rows, strict=True), 1):
        for column, a, b in zip(first_head, *pair, strict=False):
            if a != b:
                cells += 1
                difference = relative_difference(a, b)
                if difference > largest or not where:
                    largest, where = difference, f"row {number}, {column}: {a} and {b}"
    return Comparison("rounding" if largest <= tolerance else "differs", cells, largest, where)


def mark_other_processor(compared: Comparison) -> Comparison:
    """Return a comparison of tables that differ because of the processor alone."""
    return replace(compared, kind="other processor")


def _read(path: Path) -> list[list[str]]:
    """Return the rows of a table, the head first; an empty file has an empty head."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.reader(file, strict=True)) or [[]]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: is not a table: {error}") from None


def changed_statuses(before: Path, after: Path) -> list[ChangedStatus]:
    """Return the printed numbers whose status is not the same in two files `fidelity.csv`.

    Raises:
        ValueError: One of them is not such a file.
    """
    old, new = _read_statuses(before), _read_statuses(after)
    pairs = (ChangedStatus(number, old.get(number), new.get(number)) for number in {**old, **new})
    return [status for status in pairs if status.before != status.after]


def _read_statuses(path: Path) -> dict[str, str]:
    """Return the status of each printed number in a file `fidelity.csv`."""
    head, *rows = _read(path)
    missing = {*_PRINTED_NUMBER, "status"} - {*head}
    if missing:
        raise ValueError(f"{path}: column {min(missing)} is missing")
    cells = [dict(zip(head, row, strict=False)) for row in rows]
    return {
        " ".join(row[name] for name in _PRINTED_NUMBER if row[name]): row["status"] for row in cells
    }
