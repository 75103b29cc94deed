"""Compare the tables of two runs: which are equal, which up to rounding, which differ."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from private_ensembles.command.numbers import parse_real
from private_ensembles.command.output import emit
from private_ensembles.run import comparison
from private_ensembles.run.other_processor import Instructions, Records

EXAMPLES = ("private-ensembles compare mine theirs",)
TOLERANCE = 1e-12
# The text lists at most so many changed statuses.
_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    for name in ("first", "second"):
        parser.add_argument(
            name,
            metavar="RUN",
            type=Path,
            help="a folder in which a run was made, its folder results, or docs",
        )
    parser.add_argument(
        "--common", action="store_true", help="compare only tables that both have, as with docs"
    )
    parser.add_argument(
        "--tolerance",
        type=parse_real,
        default=TOLERANCE,
        metavar="X",
        help="the largest relative difference that counts as rounding; default %(default)s",
    )


def run(options: argparse.Namespace) -> int:
    """Print what two runs have in common and return the exit status.

    Returns:
        0 if all tables are equal up to rounding, else 1.

    Raises:
        ValueError: A folder holds no table, or none that the other has.
    """
    first = comparison.tables(options.first)
    second = comparison.tables(options.second)
    common = [name for name in first if name in second]
    if not common:
        raise ValueError(f"{options.first} and {options.second}: have no table in common")
    alone: dict[str, list[str]] = {}
    if not options.common:
        alone = {
            str(options.first): [name for name in first if name not in second],
            str(options.second): [name for name in second if name not in first],
        }
    compared = {
        name: comparison.compare(first[name], second[name], options.tolerance) for name in common
    }
    start = comparison.results_folder(options.first)
    records = Records(start, comparison.results_folder(options.second))
    used: tuple[Instructions, Instructions] | None = None
    for name, table in compared.items():
        path = first[name].relative_to(start).as_posix()
        reason = records.find_other_processor(path) if table.kind == "differs" else None
        if reason is not None:
            compared[name] = comparison.mark_other_processor(table)
            used = used or reason
    changed: list[comparison.ChangedStatus] = []
    if "fidelity.csv" in common and compared["fidelity.csv"].kind != "equal":
        changed = comparison.changed_statuses(first["fidelity.csv"], second["fidelity.csv"])
    kinds = {
        kind: {name: table for name, table in compared.items() if table.kind == kind}
        for kind in ("equal", "rounding", "other processor", "differs")
    }
    same = not (kinds["differs"] or kinds["other processor"] or any(alone.values()))
    report = {
        "same": same,
        "tolerance": options.tolerance,
        "tables": {name: asdict(table) for name, table in compared.items()},
        "alone": alone,
        "statuses": [
            {"number": status.number, "first": status.before, "second": status.after}
            for status in changed
        ],
    }
    if used is not None:
        report["processors"] = [instructions._asdict() for instructions in used]
    lines = _describe_comparison(kinds, alone, changed, options.tolerance, used)
    emit(report, lines, as_json=options.json)
    return 0 if same else 1


def _describe_comparison(
    kinds: Mapping[str, Mapping[str, comparison.Comparison]],
    alone: Mapping[str, Sequence[str]],
    changed: Sequence[comparison.ChangedStatus],
    tolerance: float,
    used: tuple[Instructions, Instructions] | None,
) -> Iterator[str]:
    """Yield the comparison as lines of text, from the tables of each kind by name.

    used: what the runs computed with, if that is why tables differ.
    """
    numbers = {kind: len(tables) for kind, tables in kinds.items()}
    others = numbers["other processor"]
    by_processor = f"{others} by another processor, " if others else ""
    yield (
        f"{sum(numbers.values())} tables in both: {numbers['equal']} equal bit for bit, "
        f"{numbers['rounding']} up to rounding, {by_processor}{numbers['differs']} different"
    )
    if kinds["rounding"]:
        cells = sum(table.cells for table in kinds["rounding"].values())
        name, worst = max(kinds["rounding"].items(), key=lambda item: item[1].largest)
        summary = f"{_count_cells(cells)}, {worst.largest:.2g} at most"
        yield f"rounding in {summary}: {name}, {_shorten(worst.where)}"
    if used is not None:
        first, second = used
        yield f"processors: {_describe(first, second)} and {_describe(second, first)}"
    for kind, word in (("other processor", "other processor"), ("differs", "different")):
        for name, table in kinds[kind].items():
            summary = f"{_count_cells(table.cells)}, {table.largest:.2g} at most: "
            yield f"{word}: {name}, {summary if table.cells else ''}{_shorten(table.where)}"
    for folder, names in alone.items():
        yield from (f"only in {folder}: {name}" for name in names)
    for number, before, after in changed[:_SHOWN]:
        yield f"status of {number}: {before or 'no such number'}, then {after or 'no such number'}"
    if len(changed) > _SHOWN:
        yield f"and {len(changed) - _SHOWN} more statuses (--json lists all)"
    if kinds["differs"] or any(alone.values()):
        yield f"not the same (tolerance {tolerance:g}, relative)"
    elif used is not None:
        yield f"the same but for another processor (tolerance {tolerance:g}, relative)"
    else:
        yield f"the same within {tolerance:g}, relative" if kinds["rounding"] else "the same"


def _describe(used: Instructions, other: Instructions) -> str:
    """Return a processor's name, and the instructions that are not those of the other run."""
    sets = [f"{name} {value}" for name, value in used.sets.items() if other.sets.get(name) != value]
    return f"{used.processor}, {', '.join(sets)}" if sets else used.processor


def _count_cells(number: int) -> str:
    return f"{number} cell{'s' if number != 1 else ''}"


def _shorten(text: str) -> str:
    """Return a text on one line, cut off after 160 characters; cells may hold line breaks."""
    text = " ".join(text.split())
    return text if len(text) <= 160 else f"{text[:157]}..."
