"""What PATE says of several of its numbers at once.

Costs and students are compared task by task, on votes of our own, since the paper's are not at
hand; that one aggregator costs less than another is claimed of any votes.
"""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from private_ensembles.papers.standard_errors import Part, standard_error
from private_ensembles.published.relations.evidence import Evidence
from private_ensembles.published.relations.judging import Estimate, Relation

_TASKS = ("mnist", "svhn", "adult", "glyph")
_TEACHERS = "the paper's are not at hand."
_SYNTHETIC = "synthetic ones of Glyph's size."
_EITHER = (
    "The paper claims less cost, a better student, or both (section 5.3), and on our votes the "
    "labels cost less. Few training seeds cannot show a difference below the tolerance."
)


def relations(evidence: Evidence) -> Iterator[Relation]:
    """Yield the paper's relations."""
    printed = _printed(evidence)
    yield _outperformed(printed)
    for task in _TASKS:
        yield _cost(evidence, printed, task)
    for task in _TASKS:
        yield _student(evidence, printed, task)
    yield _two_rounds(evidence, printed)
    yield from _equal_answers(evidence)


def _printed(evidence: Evidence) -> Mapping[tuple[str, str, str], float]:
    """Return Table 1 by task, aggregator and column."""
    cells = evidence.printed("table1")
    return cells.set_index(["dataset", "row", "column"])["published"].to_dict()


def _rivals(printed: Mapping, task: str) -> list[str]:
    """Return the names of a task's LNMax aggregators."""
    names = {row for dataset, row, _ in printed if dataset == task and row.startswith("lnmax")}
    return sorted(names)


def _outperformed(printed: Mapping) -> Relation:
    """Section 5.3: on the four tasks it costs less, or its student is better, or both."""
    ahead = 0
    for task in _TASKS:
        cost, accuracy = (
            printed[task, "confident", name] for name in ("epsilon", "student_accuracy")
        )
        ahead += all(
            cost < printed[task, rival, "epsilon"]
            or accuracy > printed[task, rival, "student_accuracy"]
            for rival in _rivals(printed, task)
        )
    return Relation(
        kind="printed",
        item="section5.3",
        dataset="all tasks",
        row="Confident-GNMax outperforms LNMax",
        column="tasks",
        published=len(_TASKS),
        ours=Estimate(float(ahead)),
    )


def _cost(evidence: Evidence, printed: Mapping, task: str) -> Relation:
    """Table 1: Confident-GNMax costs less than the cheapest LNMax of its task."""
    rivals = _rivals(printed, task)
    ours = _table1(evidence, task)
    value = None
    if ours is not None and {"confident", *rivals} <= set(ours.index):
        cost = ours["epsilon"]
        value = Estimate(float(cost[rivals].min() - cost["confident"]))
    cheapest = min(printed[task, rival, "epsilon"] for rival in rivals)
    return Relation(
        kind="order",
        item="table1",
        dataset=task,
        row="Confident-GNMax cheaper than LNMax",
        column="epsilon: difference",
        published=cheapest - printed[task, "confident", "epsilon"],
        ours=value,
        table="table1",
        own_votes=_votes(task),
    )


def _student(evidence: Evidence, printed: Mapping, task: str) -> Relation:
    """Table 1: Confident-GNMax's student is better than the best of LNMax's."""
    name = "student_accuracy"
    rivals = _rivals(printed, task)
    ours, value = _table1(evidence, task), None
    if ours is not None and {"confident", *rivals} <= set(ours.index):
        students = ours[ours[name].notna()]
        if {"confident", *rivals} <= set(students.index):
            best = students.loc[rivals, name].idxmax()
            value = _gap(students.loc["confident"], students.loc[best])
    best_printed = max(printed[task, rival, name] for rival in rivals)
    return Relation(
        kind="order",
        item="table1",
        dataset=task,
        row="Confident-GNMax's student better than LNMax's",
        column="student accuracy in percent: difference",
        published=printed[task, "confident", name] - best_printed,
        ours=value,
        table="table1",
        own_votes=_votes(task),
        remark=_EITHER,
    )


def _gap(upper: pd.Series, lower: pd.Series) -> Estimate:
    """Return the difference of two means over training seeds, in percent."""
    parts = [
        Part(
            (100 * row["student_accuracy_sd"]) ** 2 / row["student_seeds"], row["student_seeds"] - 1
        )
        for row in (upper, lower)
    ]
    error, freedom = standard_error(parts)
    return Estimate(
        100 * float(upper["student_accuracy"] - lower["student_accuracy"]), error, freedom
    )


def _two_rounds(evidence: Evidence, printed: Mapping) -> Relation:
    """Section 5.3: two rounds cost less than Confident-GNMax alone."""
    ours, value = _table1(evidence, "glyph"), None
    if ours is not None and {"confident", "interactive"} <= set(ours.index):
        cost = ours["epsilon"]
        value = Estimate(float(cost["confident"] - cost["interactive"]))
    costs = (printed["glyph", row, "epsilon"] for row in ("confident", "interactive"))
    alone, rounds = costs
    return Relation(
        kind="order",
        item="table1",
        dataset="glyph",
        row="two rounds cheaper than Confident-GNMax",
        column="epsilon: difference",
        published=alone - rounds,
        ours=value,
        table="table1",
        own_votes=_SYNTHETIC,
    )


def _equal_answers(evidence: Evidence) -> Iterator[Relation]:
    """Figure 1: at equal numbers of answers Confident-GNMax costs less than LNMax."""
    printed = evidence.printed("figure1")
    costs = printed[printed["column"] == "epsilon"].set_index("row")["published"]
    table = evidence.table("equal_answers")
    for label in ("first label", "second label"):
        value = None
        if table is not None:
            ours = table[table["label"] == label].set_index("aggregator")["epsilon"]
            gap = float(ours["lnmax"] - ours["confident"])
            value = None if math.isnan(gap) else Estimate(gap)
        yield Relation(
            kind="order",
            item="figure1",
            dataset="glyph",
            row=f"Confident-GNMax cheaper than LNMax, {label}",
            column="epsilon: difference",
            published=float(costs[f"lnmax, {label}"] - costs[f"confident, {label}"]),
            ours=value,
            table="equal_answers",
            own_votes=_SYNTHETIC,
        )


def _table1(evidence: Evidence, task: str) -> pd.DataFrame | None:
    """Return a task's rows of our Table 1 by aggregator; None if it was not run."""
    table = evidence.table("table1")
    if table is None or not (table["task"] == task).any():
        return None
    return table[table["task"] == task].set_index("aggregator")


def _votes(task: str) -> str:
    return _SYNTHETIC if task == "glyph" else _TEACHERS
