"""The papers' printed numbers beside ours, and what may be said about each pair.

Nothing here knows how a number was reproduced, or of which paper: tables come in as data frames,
declarations say which number belongs where, and one row per printed number goes out with a status
(`papers.compare.statuses`).

A random number is within the tolerance if it is within as many standard errors of the difference
of both means as contain 99.73 % of such differences: three if the errors are known, Student's
quantile if they were estimated from few runs (`papers.common.standard_errors`, docs/reproduce.md).
A deviation that is known is taken for the error of a single draw. A verdict says little if another
result would pass as well: then it is `weak`.

What papers say of several numbers at once are rows as well, of another kind (`compare_relations`).
"""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from private_ensembles.papers.all import load
from private_ensembles.papers.common.standard_errors import (
    StandardError,
    VariancePart,
    standard_error,
    tolerance_factor,
)
from private_ensembles.papers.compare import declarations
from private_ensembles.papers.compare.declarations import Paper, Reproduced, find_rule
from private_ensembles.papers.compare.judging import Evidence, Relation
from private_ensembles.papers.compare.judging import judge_relation as judge_relation
from private_ensembles.papers.compare.printed import (
    KEY,
    Key,
    equals_printed,
    half_unit,
    key_of,
)
from private_ensembles.papers.compare.reproduced import (
    Reading,
    describe_changed_parameters,
    other_readings,
    reproduced_numbers,
)

COLUMNS = [*KEY, "published", "published_sd"]
COLUMNS += ["reproduced", "reproduced_sd", "tolerance", "status", "note", "kind"]
# A row is about one printed number, or about several of them (`compare_relations`).
NUMBER, RELATION = "number", "relation"
# A note names at most this many of the other results that are within the tolerance.
_NAMED = 5
NONE: Mapping[str, float] = {}


def compare(
    published: pd.DataFrame,
    tables: Mapping[str, Mapping[str, pd.DataFrame]],
    settings: Mapping[str, Mapping] | None = None,
    *,
    data: str,
) -> pd.DataFrame:
    """Compare each printed number with ours.

    Args:
        published: the printed numbers, as `printed.read_published` returns them.
        tables: our tables by paper and name, as `reproduced_numbers` takes them.
        settings: the run's settings by paper, by the names of the paper's parameters.
        data: the configuration's switch `data`, which tells why something was not run.

    Returns:
        One row of COLUMNS per printed number, in the order of ``published``.
    """
    settings = settings or {}
    numbers: dict[Key, Reproduced] = {}
    readings: dict[Key, Reading] = {}
    for name in published["paper"].unique():
        arguments = declarations.load_paper(name), tables.get(name, {}), settings.get(name, {})
        numbers.update(reproduced_numbers(*arguments))
        readings.update(other_readings(*arguments))
    rows, cells = [], published.to_dict("records")
    printed = {key_of(cell): float(cell["published"]) for cell in cells}
    ours = {key: number.value for key, number in numbers.items() if key in printed}
    for cell in cells:
        paper, key = declarations.load_paper(cell["paper"]), key_of(cell)
        if key in numbers:
            rule = find_rule(paper.judged, key)
            rivals = NONE if rule is None else rule.alternatives(key, printed, ours)
            reading = readings.get(key)
            rows.append(cell | judge_number(cell, numbers[key], paper, rivals, reading))
        elif cell["low"]:
            rows.append(cell | _judge_by_limits(cell, paper))
        else:
            note = reason_not_run(paper, key, settings.get(paper.paper, {}), data)
            rows.append(cell | {"status": "not_run", "note": note})
    return pd.DataFrame([row | {"kind": NUMBER} for row in rows], columns=COLUMNS)


def select_kind(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the rows of ``fidelity.csv`` that are about printed numbers, or about relations."""
    return table[table["kind"] == kind]


def judge_number(
    cell: Mapping[str, str],
    ours: Reproduced,
    paper: Paper,
    rivals: Mapping[str, float] = NONE,
    reading: Reading | None = None,
) -> dict[str, object]:
    """Judge one of our numbers by the printed one.

    Args:
        cell: a row of `printed.read_published`.
        ours: our number.
        paper: what is declared about the paper.
        rivals: other results, by name. A tolerance that they pass as well proves little.
        reading: what another reading of the paper gives, for a number that ours is not.

    Returns:
        The columns reproduced, reproduced_sd, tolerance, status and note of COLUMNS.
    """
    verdict: dict[str, object] = {"reproduced": ours.value, "reproduced_sd": ours.sd}
    key = key_of(cell)
    tolerance, agrees = _check_agreement(cell, ours, paper)
    repeated = find_rule(paper.inputs, key)
    if agrees and repeated is not None:
        return verdict | {"tolerance": tolerance, "status": "input", "note": repeated.note}
    if ours.note:
        return verdict | {"status": "not_comparable", "note": ours.note}
    verdict |= {"tolerance": tolerance, "note": ""}
    if agrees:
        if reading is not None and reading.ours.value != ours.value:
            rivals = {**rivals, "another reading of the paper": reading.ours.value}
        near = {
            name: value
            for name, value in rivals.items()
            if abs(value - float(cell["published"])) <= tolerance
        }
        return verdict | _judge_agreement(paper, key, near)
    return verdict | _judge_difference(cell, paper, reading)


def _check_agreement(cell: Mapping[str, str], ours: Reproduced, paper: Paper) -> tuple[float, bool]:
    """Return the tolerance, and whether a number of ours is within it."""
    printed = cell["published"]
    rule = find_rule(paper.judged, key_of(cell))
    by_digits = rule is None or (rule.half is None and not rule.side)
    if by_digits:
        tolerance = float(half_unit(printed))
    else:
        tolerance = 0.0 if rule.half is None else rule.half
    if cell["published_sd"] or not math.isnan(ours.sd):
        size, freedom = _error_of_difference(cell, ours)
        tolerance = max(tolerance_factor(freedom) * size, tolerance)
        return tolerance, abs(ours.value - float(printed)) <= tolerance
    if by_digits:
        return tolerance, equals_printed(ours.value, printed)
    return tolerance, rule.agrees(ours.value, float(printed))


def _judge_by_limits(cell: Mapping[str, str], paper: Paper) -> dict[str, object]:
    """Return what COLUMNS say of a printed number of which limits are known without a run."""
    key, low, high = key_of(cell), float(cell["low"]), float(cell["high"])
    because = find_rule(paper.limits, key).text().format(low=low, high=high)
    if low == high:
        verdict = judge_number(cell, Reproduced(low), paper)
        return verdict | {"note": " ".join(filter(None, [verdict["note"], because]))}
    half = float(half_unit(cell["published"]))
    if low - half <= float(cell["published"]) <= high + half:
        return {"status": "bounded", "note": " ".join([because, *_doubts(paper, key)])}
    return _judge_difference(cell, paper, None)


def _judge_difference(
    cell: Mapping[str, str], paper: Paper, reading: Reading | None
) -> dict[str, object]:
    """Return status and note of a printed number that ours is not."""
    explanation = find_rule(paper.explanations, key_of(cell))
    if explanation is not None:
        return {"status": "explained", "note": explanation.text()}
    if reading is not None and _check_agreement(cell, reading.ours, paper)[1]:
        note = reading.cause.note.format(value=reading.ours.value)
        return {"status": "explained", "note": f"{note} Test: {reading.cause.test}"}
    remark = find_rule(paper.remarks, key_of(cell))
    return {"status": "differs", "note": remark.note if remark else ""}


def _error_of_difference(cell: Mapping[str, str], ours: Reproduced) -> StandardError:
    """Return the standard error of the difference between our mean and the printed one.

    Deviations of unknown origin are taken for errors. A printed random number without its own
    spread leaves ours alone to judge by.
    """
    parts = []
    if cell["published_sd"]:
        printed = float(cell["published_sd"]) ** 2 / ours.draws
        parts.append(VariancePart(printed, ours.draws - 1 or math.inf))
    if not math.isnan(ours.error):
        is_known = math.isnan(ours.freedom)
        parts.append(VariancePart(ours.error**2, math.inf if is_known else ours.freedom))
    elif not math.isnan(ours.sd):
        parts.append(VariancePart(ours.sd**2, math.inf))
    return standard_error(parts)


def _judge_agreement(
    paper: Paper, key: Key, rivals_within: Mapping[str, float]
) -> dict[str, object]:
    """Return status and note of numbers that agree.

    rivals_within: the other results within the tolerance, by name.
    """
    altered = find_rule(paper.agreeing, key)
    if rivals_within:
        names = [f"{name} ({value:.5g})" for name, value in rivals_within.items()]
        unnamed = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        note = f"Within the tolerance as well: {', '.join(names[:_NAMED] + unnamed)}."
        return {"status": "weak", "note": f"{altered.note} {note}" if altered else note}
    if altered is not None:
        return {"status": "explained", "note": altered.text()}
    return {"status": "match"}


def reason_not_run(paper: Paper, key: Key, settings: Mapping, data: str) -> str:
    """Say why there is no number of ours for a printed one.

    Args:
        paper: what is declared about the paper.
        key: where the number is printed.
        settings: the run's settings of the paper.
        data: the configuration's switch `data`.

    Returns:
        The reason in words, with the doubts about the printed number, if there are any.
    """
    run = key.dataset in settings
    reasons = (
        rule.note.format(**key._asdict())
        for rule in paper.not_run
        if rule.fits(key) and rule.data in (None, data) and rule.run in (None, run)
    )
    reason = next(reasons, "left out by this configuration")
    doubts = _doubts(paper, key)
    return " ".join([f"{reason.rstrip('.')}.", *doubts]) if doubts else reason


def _doubts(paper: Paper, key: Key) -> list[str]:
    return [rule.note for rule in paper.doubts if rule.fits(key)]


def relations_of(paper: str, evidence: Evidence) -> Iterable[Relation]:
    """Return a paper's relations, which `relations.py` in its folder yields, if there is one."""
    module = load(f"private_ensembles.papers.{paper}.relations")
    return module.relations(evidence) if module else ()


def compare_relations(
    published: pd.DataFrame,
    tables: Mapping[str, Mapping[str, pd.DataFrame]],
    settings: Mapping[str, Mapping] | None = None,
    *,
    data: str,
) -> pd.DataFrame:
    """Compare each relation that a paper claims between its numbers with ours.

    Args:
        published: the printed numbers, as `compare` takes them.
        tables: our tables by paper and name.
        settings: the run's settings by paper.
        data: the configuration's switch `data`.

    Returns:
        One row of COLUMNS per relation.

    Raises:
        ValueError: two relations have the same name.
    """
    settings = settings or {}
    rows = []
    for name in published["paper"].unique():
        paper, run = declarations.load_paper(name), settings.get(name, {})
        evidence = Evidence(paper, published, tables.get(name, {}), run)
        for relation in relations_of(name, evidence):
            key = Key(name, relation.item, relation.dataset, relation.row, relation.column)
            row = {**key._asdict(), "published": f"{relation.published:.6g}", "published_sd": ""}
            changed = (
                describe_changed_parameters(paper, key, relation.table, run)
                if relation.kind != "printed"
                else ""
            )
            if relation.ours is None:
                note = relation.missing or reason_not_run(paper, key, run, data)
                row |= {"status": "not_run", "note": note}
            elif changed:
                row |= {"reproduced": relation.ours.value, "status": "not_comparable"}
                row |= {"note": paper.altered.format(differences=changed)}
            else:
                row |= judge_relation(relation)
            rows.append(row | {"kind": RELATION})
    table = pd.DataFrame(rows, columns=COLUMNS)
    is_repeated = table.duplicated(KEY)
    if is_repeated.any():
        raise ValueError(f"relations: {tuple(table.loc[is_repeated, KEY].iloc[0])} occurs twice")
    return table
