"""What NZC says of several of its numbers at once: whose students and labels are right more often.

Votes and students are our own, so only orders are judged. Students of one table have the same
teachers; they differ by the labels that they learn from, and by their training.
"""

import math
from collections.abc import Iterator
from functools import partial

import pandas as pd

from private_ensembles.papers.compare.judging import (
    Estimate,
    Evidence,
    Relation,
    difference_of_students,
)

_OURS = "one ensemble of each size, trained here."
_ONE_STUDENT = "One student of each: no spread of our own to judge by."
# Section 5.2 and Table 1 claim these orders: (above, below), by printed names. {most} is the size
# of the pool.
_STUDENTS = (("nzc", "lnmax-{most}"), ("nzc-few", "nzc"))
_POOLS = {"mnist": 9000, "svhn": 10000}
# Figures 2a and 2c print no digits. These say how a share changes with more teachers, in words too.
_CURVES = (
    ("accuracy", -1, "the plurality is right less often"),
    ("qualified", 1, "more queries have a lead above 2"),
    ("qualified_wrong", 1, "more of these are wrong"),
)
_NO_DIGITS = "Figure 2 prints no digits. The error is what the choice of queries leaves open."


def relations(evidence: Evidence) -> Iterator[Relation]:
    """Yield the paper's relations."""
    for dataset, pool in _POOLS.items():
        for above, below in _STUDENTS:
            yield _students(evidence, dataset, above, below.format(most=pool))
        yield _labels(evidence, dataset)
        for column, sign, words in _CURVES:
            yield _curve(evidence, dataset, column, sign, f"with more teachers {words}")


def _order(item: str, dataset: str, row: str, column: str, printed: float, ours, **fields):
    """Return an order whose table of ours has the item's name; arguments as `Relation` has them."""
    return Relation(
        "order", item, dataset, row, column, printed, ours, table=item, own_votes=_OURS, **fields
    )


def _students(evidence: Evidence, dataset: str, above: str, below: str) -> Relation:
    """Return the order of the students of two kinds of labels, in percent."""
    printed = _select_printed(evidence, "table1", dataset, "student_accuracy")
    rows = _select_rows(evidence, "table1", dataset)
    ours, with_runs, missing = None, None, ""
    if rows is not None:
        upper, lower = (rows.loc[_our_name(name, rows)] for name in (above, below))
        if min(upper["student_seeds"], lower["student_seeds"]) > 1:
            with_runs = partial(difference_of_students, upper, lower)
            ours = with_runs()
        else:
            missing = _ONE_STUDENT
    row, column = f"{above} above {below}", "student_accuracy: difference"
    lead = printed[above] - printed[below]
    return _order("table1", dataset, row, column, lead, ours, with_runs=with_runs, missing=missing)


def _labels(evidence: Evidence, dataset: str) -> Relation:
    """Return whether labels of NZC are right more often than LNMax's: exact expectations."""
    printed = _select_printed(evidence, "table2", dataset, "label_accuracy")
    rows = _select_rows(evidence, "table2", dataset)
    ours = None
    if rows is not None:
        accuracies = 100 * rows["label_accuracy"]
        ours = Estimate(float(accuracies["nzc"] - accuracies["lnmax"]))
    row, column = "nzc above lnmax", "label_accuracy: difference"
    return _order("table2", dataset, row, column, printed["nzc"] - printed["lnmax"], ours)


def _curve(evidence: Evidence, dataset: str, column: str, sign: int, words: str) -> Relation:
    """Return whether a share changes as claimed from the smallest ensemble to the largest."""
    data = evidence.table("figure2")
    data = None if data is None else data[(data["task"] == dataset) & (data["panel"] == "teachers")]
    ours, note = None, _NO_DIGITS
    if data is not None and len(data) > 1:
        shares = data.sort_values("teachers")[column]
        run = evidence.settings.get(dataset, {})
        queries = run.get("pool", _POOLS[dataset])
        ends = shares.iloc[[0, -1]]
        # As if of different queries: those that are hard for both make the error smaller.
        error = math.sqrt(float((ends * (1 - ends)).sum()) / queries)
        ours = Estimate(sign * float(ends.iloc[1] - ends.iloc[0]), error)
        steps = sign * shares.diff().dropna()
        note += f" From size to size {(steps > 0).sum()} of {len(steps)} changes go this way."
    change = f"{column}: change from fewest to most"
    return _order("figure2", dataset, words, change, 0.0, ours, note=note)


def _select_printed(evidence: Evidence, item: str, dataset: str, column: str) -> pd.Series:
    cells = evidence.printed_numbers(item)
    cells = cells[(cells["dataset"] == dataset) & (cells["column"] == column)]
    return cells.set_index("row")["published"]


def _select_rows(evidence: Evidence, item: str, dataset: str) -> pd.DataFrame | None:
    """Return our rows of a task by aggregator, None if there are none."""
    table = evidence.table(item)
    table = None if table is None else table[table["task"] == dataset]
    return None if table is None or table.empty else table.set_index("aggregator")


def _our_name(printed: str, rows: pd.DataFrame) -> str:
    """Return our name of an aggregator; the names of the small ensemble's carry its size."""
    if not printed.endswith("-few"):
        return printed
    kind = printed.removesuffix("few")
    return next(name for name in rows.index if name.startswith(kind))
