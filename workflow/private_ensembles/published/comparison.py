"""The papers' printed numbers beside ours, and what may be said about each pair.

Nothing here knows how a number was reproduced, or of which paper: tables come in as data frames,
declarations say what of them stands where, and one row per printed number goes out with a status
(`published.statuses`).

A random number is within the tolerance if it lies within three standard errors of the difference of
both means. Where only the spread of single draws is known, that takes their place. Such a verdict
says little where another result would pass as well: then it is `weak`.
"""

import math
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

import pandas as pd

from private_ensembles.published import declarations
from private_ensembles.published.declarations import Number, Paper, first_that_fits
from private_ensembles.published.parameters import altered
from private_ensembles.published.printed import KEY, Key, equals_printed, half_unit, key_of

COLUMNS = [*KEY, "published", "published_sd"]
COLUMNS += ["reproduced", "reproduced_sd", "tolerance", "status", "note"]
# Standard errors that two random numbers may lie apart (DESIGN, section 4).
_SIGMAS = 3
NONE: Mapping[str, float] = {}


class Reproduced(NamedTuple):
    """A number of ours in the printed unit; sd: NaN for none; note: why it is not comparable.

    error: its part of the standard error of a difference of two means, NaN where that is not known;
    draws: how many are behind the printed standard deviation.
    """

    value: float
    sd: float = math.nan
    note: str = ""
    error: float = math.nan
    draws: int = 1


class Place(NamedTuple):
    """A number of ours, in the printed unit: its row in our table, and where such is printed."""

    position: int
    row: Mapping[str, object]
    key: Key
    column: str
    number: Number
    value: float
    sd: float
    error: float


def places(
    paper: Paper, name: str, table: pd.DataFrame, settings: Mapping[str, object]
) -> Iterator[Place]:
    """Yield every number of our table `name` that has a place among a paper's printed ones.

    Rows of stand-ins have none. settings: the run's, for ``$names``; what is not there is as in
    the paper. Raises ValueError naming a column that a key or ``where`` needs and the table lacks.
    """
    known = {**paper.parameters, **settings}
    try:
        for beside in paper.beside_table(name):
            for position, row in enumerate(table.to_dict("records")):
                if is_true(row.get("stand_in")) or not _has(row, beside.where, known):
                    continue
                names = {**row, "table": name}
                for item in beside.item:
                    for column, number in beside.numbers.items():
                        texts = (item, beside.dataset, beside.row, column)
                        key = Key(paper.paper, *(text.format_map(names) for text in texts))
                        yield Place(position, row, key, column, number, *number.of(row))
    except KeyError as error:
        raise ValueError(f"{paper.paper}.yaml: our {name} has no column {error}") from None


def reproduced_numbers(
    paper: Paper, tables: Mapping[str, pd.DataFrame], settings: Mapping[str, object]
) -> dict[Key, Reproduced]:
    """Gather what was computed beside a paper's numbers, stand-ins left out.

    tables: by name, those that were made. settings: the run's, by the names of the paper's
    parameters. Where two tables give the same number the later one's counts, and it is not
    comparable if either is not, but for one that is declared to stand instead of the other.
    """
    found: dict[Key, Reproduced] = {}
    made = [name for name in paper.tables() if name in tables]
    for name in made:
        for place in places(paper, name, tables[name], settings):
            if math.isnan(place.value) or not place.number.compared:
                continue
            earlier = found.get(place.key, Reproduced(place.value))
            note = _note(paper, place, name, settings)
            if not place.number.instead:
                note = note or earlier.note
            draws = place.number.printed_draws
            found[place.key] = Reproduced(place.value, place.sd, note, place.error, draws)
    return found


def compare(
    published: pd.DataFrame,
    tables: Mapping[str, Mapping[str, pd.DataFrame]],
    settings: Mapping[str, Mapping] | None = None,
    *,
    data: str,
) -> pd.DataFrame:
    """Return one row of COLUMNS per printed number, in the order of ``published``.

    tables, settings: by paper, as `reproduced_numbers` takes them. data: the configuration's
    switch, for the reason why something was not run.
    """
    settings = settings or {}
    numbers: dict[Key, Reproduced] = {}
    for name in published["paper"].unique():
        paper = declarations.paper(name)
        numbers.update(reproduced_numbers(paper, tables.get(name, {}), settings.get(name, {})))
    rows, cells = [], published.to_dict("records")
    printed = {key_of(cell): float(cell["published"]) for cell in cells}
    ours = {key: number.value for key, number in numbers.items() if key in printed}
    for cell in cells:
        paper, key = declarations.paper(cell["paper"]), key_of(cell)
        if key in numbers:
            rivals = paper.alternatives(key, printed, ours)
            rows.append(cell | judge(cell, numbers[key], paper, rivals))
        else:
            note = _reason(paper, key, settings.get(paper.paper, {}), data)
            rows.append(cell | {"status": "not_run", "note": note})
    return pd.DataFrame(rows, columns=COLUMNS)


def judge(
    cell: Mapping[str, str], ours: Reproduced, paper: Paper, rivals: Mapping[str, float] = NONE
) -> dict[str, object]:
    """Return what COLUMNS say of a printed number and ours.

    rivals: by name, results that are not this one: a tolerance that they pass proves little.
    """
    found = {"reproduced": ours.value, "reproduced_sd": ours.sd, "note": ours.note}
    if ours.note:
        return found | {"status": "not_comparable"}
    printed = cell["published"]
    found["tolerance"] = float(half_unit(printed))
    if cell["published_sd"] or not math.isnan(ours.sd):
        found["tolerance"] = max(_SIGMAS * _spread(cell, ours), found["tolerance"])
        agrees = abs(ours.value - float(printed)) <= found["tolerance"]
    else:
        agrees = equals_printed(ours.value, printed)
    if agrees:
        near = {
            name: value
            for name, value in rivals.items()
            if abs(value - float(printed)) <= found["tolerance"]
        }
        return found | _of_agreement(paper, key_of(cell), near)
    explanation = first_that_fits(paper.explanations, key_of(cell))
    if explanation is not None and explanation.holds(cell):
        note = f"{explanation.note} Test: {explanation.test}"
        return found | {"status": "explained", "note": note}
    remark = first_that_fits(paper.remarks, key_of(cell))
    return found | {"status": "differs", "note": remark.note if remark else ""}


def _spread(cell: Mapping[str, str], ours: Reproduced) -> float:
    """The standard error of the difference, or the spread of single draws of both.

    A printed random number without its own spread leaves ours alone to judge by.
    """
    theirs = float(cell["published_sd"] or 0)
    if not math.isnan(ours.error):
        return math.hypot(theirs / math.sqrt(ours.draws), ours.error)
    return math.hypot(theirs, 0.0 if math.isnan(ours.sd) else ours.sd)


def _of_agreement(paper: Paper, key: Key, near: Mapping[str, float]) -> dict[str, object]:
    """Return status and note of numbers that agree; near: what would have agreed as well."""
    if first_that_fits(paper.inputs, key) is not None:
        return {"status": "input"}
    altered = first_that_fits(paper.agreeing, key)
    if altered is not None:
        return {"status": "explained", "note": f"{altered.note} Test: {altered.test}"}
    if near:
        names = ", ".join(f"{name} ({value:g})" for name, value in near.items())
        return {"status": "weak", "note": f"Within the tolerance as well: {names}."}
    return {"status": "match"}


def is_true(flag: object) -> bool:
    """Read a flag of a table, whatever wrote it."""
    return str(flag).lower() in ("1", "true", "1.0")


def stand_ins(table: pd.DataFrame) -> pd.Series:
    """Return (rows,) bool: whether the row comes from a stand-in data set."""
    return table["stand_in"].map(is_true)


def _has(row: Mapping, where: Mapping, known: Mapping) -> bool:
    """Tell whether a row has what `where` says, numbers by the digits that names carry."""
    for column, wanted in where.items():
        patterns = wanted if isinstance(wanted, list) else [wanted]
        patterns = [known[p[1:]] if str(p).startswith("$") else p for p in patterns]
        if not any(fnmatchcase(_text(row[column]), _text(pattern)) for pattern in patterns):
            return False
    return True


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _note(paper: Paper, place: Place, table: str, settings: Mapping) -> str:
    """Say why a number is not comparable, if it is not, with the doubts about the printed one."""
    rules = (
        rule
        for rule in paper.not_comparable
        if rule.fits(place.key, table)
        and (math.isnan(place.sd) or not rule.without_sd)
        and _has(place.row, rule.where, {})
    )
    notes = [rule.note for rule in rules][:1]
    changed = altered(paper, place.key, table, settings)
    if changed:
        notes = [paper.altered.format(differences=changed)]
    if notes:
        notes += [rule.note for rule in paper.doubts if rule.fits(place.key, table)]
    return " ".join(notes)


def _reason(paper: Paper, key: Key, settings: Mapping, data: str) -> str:
    run = key.dataset in settings
    for rule in paper.not_run:
        if rule.fits(key) and rule.data in (None, data) and rule.run in (None, run):
            return rule.because.format(**key._asdict())
    return "left out by this configuration"
