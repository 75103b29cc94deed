"""Our numbers that have a place among a paper's printed ones, as the declarations say.

Nothing here knows how a number was reproduced, or of which paper: tables come in as data frames.
A number computed with other parameters than its paper's is compared with nothing: it is
`not_comparable`, and its note names what differs.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

import pandas as pd

from private_ensembles.papers.compare import declarations
from private_ensembles.papers.compare.declarations import (
    ExplanationOfPrint,
    Number,
    Paper,
    Reproduced,
    TableDeclaration,
    find_rule,
)
from private_ensembles.papers.compare.printed import Key


class Reading(NamedTuple):
    """What another reading of a paper than the stated one gives, and why the paper prints that."""

    ours: Reproduced
    cause: ExplanationOfPrint


class PlacedNumber(NamedTuple):
    """One of our numbers: its row in our table, and where such a number is printed."""

    declaration: TableDeclaration
    position: int
    key: Key
    column: str
    number: Number
    ours: Reproduced


def place_numbers(
    paper: Paper, name: str, table: pd.DataFrame, settings: Mapping[str, object]
) -> Iterator[PlacedNumber]:
    """Yield every number of one of our tables that has a place among a paper's printed ones.

    Rows of stand-ins have none.

    Args:
        paper: what is declared about the paper.
        name: the name of our table.
        table: the table.
        settings: the run's settings, for ``$names``; those that are left out are as in the paper.

    Raises:
        ValueError: the table lacks a column that a key or ``where`` needs. The message names it.
    """
    parameters = {**paper.parameters, **settings}
    try:
        for beside in paper.declarations_of_table(name):
            for position, row in enumerate(table.to_dict("records")):
                if is_true(row.get("stand_in")) or not _matches_row(row, beside.where, parameters):
                    continue
                values = {**row, "table": name}
                for item in beside.item:
                    for column, number in beside.numbers.items():
                        texts = (item, beside.dataset, beside.row, column)
                        key = Key(paper.paper, *(text.format_map(values) for text in texts))
                        yield PlacedNumber(
                            beside, position, key, column, number, number.read_from_row(row)
                        )
    except KeyError as error:
        raise ValueError(f"{paper.paper}.yaml: our {name} has no column {error}") from None


def reproduced_numbers(
    paper: Paper, tables: Mapping[str, pd.DataFrame], settings: Mapping[str, object]
) -> dict[Key, Reproduced]:
    """Return what was computed beside a paper's numbers, stand-ins left out.

    Args:
        paper: what is declared about the paper.
        tables: our tables by name, those that were made.
        settings: the run's settings, by the names of the paper's parameters.

    Returns:
        Our number for each key. If two tables give the same number, the later one counts, and it is
        not comparable if either is not.
    """
    numbers: dict[Key, Reproduced] = {}
    for name, placed in _iterate_comparable(paper, tables, settings):
        if placed.declaration.explains is None:
            note = _explain_incomparable(paper, placed, name, settings)
            if not note and placed.key in numbers:
                note = numbers[placed.key].note
            numbers[placed.key] = placed.ours._replace(note=note)
    return numbers


def other_readings(
    paper: Paper, tables: Mapping[str, pd.DataFrame], settings: Mapping[str, object]
) -> dict[Key, Reading]:
    """Return what other readings of a paper give, by key.

    Args:
        paper: what is declared about the paper.
        tables: our tables by name, those that were made.
        settings: the run's settings, by the names of the paper's parameters.
    """
    return {
        placed.key: Reading(placed.ours, placed.declaration.explains)
        for _, placed in _iterate_comparable(paper, tables, settings)
        if placed.declaration.explains is not None
    }


def _iterate_comparable(
    paper: Paper, tables: Mapping[str, pd.DataFrame], settings: Mapping[str, object]
) -> Iterator[tuple[str, PlacedNumber]]:
    """Yield the numbers that were computed and are compared, each with the name of its table."""
    for name in paper.tables():
        if name in tables:
            for placed in place_numbers(paper, name, tables[name], settings):
                if not math.isnan(placed.ours.value) and placed.number.compared:
                    yield name, placed


def is_true(flag: object) -> bool:
    """Read a flag of a table, whatever wrote it."""
    return str(flag).lower() in ("1", "true", "1.0")


def flag_stand_ins(table: pd.DataFrame) -> pd.Series:
    """Return (rows,) bool: whether the row comes from a stand-in data set."""
    return table["stand_in"].map(is_true)


def _matches_row(row: Mapping, where: Mapping, parameters: Mapping) -> bool:
    """Tell whether a row has what `where` says; numbers are compared by the digits in names."""
    for column, allowed in where.items():
        patterns = allowed if isinstance(allowed, list) else [allowed]
        patterns = [
            parameters[pattern[1:]] if str(pattern).startswith("$") else pattern
            for pattern in patterns
        ]
        if not any(
            fnmatchcase(_format_value(row[column]), _format_value(pattern)) for pattern in patterns
        ):
            return False
    return True


def _format_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _explain_incomparable(paper: Paper, placed: PlacedNumber, table: str, settings: Mapping) -> str:
    """Say why a number is not comparable, if it is not, with the doubts about the printed one."""
    rules = (
        rule
        for rule in paper.not_comparable
        if rule.fits(placed.key, table)
        and (math.isnan(placed.ours.error) or not rule.without_error)
    )
    notes = [rule.note for rule in rules][:1]
    changed = describe_changed_parameters(paper, placed.key, table, settings)
    if changed:
        notes = [paper.altered.format(differences=changed)]
    if notes:
        notes += [rule.note for rule in paper.doubts if rule.fits(placed.key, table)]
    return " ".join(notes)


def describe_differences(ours: Mapping, theirs: Mapping, names: Iterable[str]) -> str:
    """Name the parameters that differ: "K = 5, not 11; prior = ..."; empty if none does.

    Args:
        ours: nested mapping. What it does not hold was not used, and is not compared.
        theirs: nested mapping.
        names: dotted names of what counts, each a value or a group of them.
    """
    our_values, their_values, paths = flatten_settings(ours), flatten_settings(theirs), tuple(names)
    return "; ".join(
        f"{name} = {our_values[name]}, not {value}"
        for name, value in their_values.items()
        if any(name == path or name.startswith(f"{path}.") for path in paths)
        and name in our_values
        and not _equal(our_values[name], value)
    )


def describe_changed_parameters(paper: Paper, key: Key, table: str, settings: Mapping) -> str:
    """Name the paper's parameters that the number at `key`, in our `table`, was not made with."""
    rule = find_rule(paper.rests_on, key, table)
    if rule is None:
        return ""
    names = [name.format(**key._asdict()) for name in rule.parameters]
    return describe_differences(settings, paper.parameters, names)


def select_claims(published: pd.DataFrame, tasks: Mapping[str, Mapping]) -> pd.DataFrame:
    """Return the printed numbers without those of PATE's tasks that run with other parameters.

    Args:
        published: as `printed.read_published` returns them.
        tasks: the settings of PATE's tasks, by name; one that the paper does not have has no
            claims.
    """
    printed = declarations.load_paper("pate").parameters
    changed = [name for name in tasks if describe_differences(tasks, printed, [name])]
    return published[~((published["paper"] == "pate") & published["dataset"].isin(changed))]


def flatten_settings(settings: Mapping, prefix: str = "") -> dict[str, object]:
    """Return nested settings by dotted names."""
    values: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            values.update(flatten_settings(value, f"{prefix}{name}."))
        else:
            values[f"{prefix}{name}"] = value
    return values


def _equal(ours: object, theirs: object) -> bool:
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=0.0)
    return ours == theirs
