"""Judge relations: what was printed, what ours says, how far off is too far, and a status.

There are three kinds, and each can fail:

order     what is claimed to be above is above in ours: our difference is positive by more than its
          tolerance, which is as many of its standard errors as `standard_errors.tolerance_factor`
          says. Our numbers have to show the order; that the difference could be positive is not
          enough. If the tolerance holds both the printed difference and none at all, it is `weak`;
          on votes of our own, of which the paper prints no difference, if it holds none at all.
pooled    a mean over a table, ours and the printed one: they differ by no more than the tolerance
          of their difference. If no effect at all would be within the tolerance of the printed
          number, the relation is `weak` whatever comes out, as nothing could speak against it.
printed   a count that a claim implies, and what the printed numbers make of it. No run is needed.

A relation that is weak says how many runs it would take to judge it, if `with_runs` can tell.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from private_ensembles.papers.common.standard_errors import (
    VariancePart,
    standard_error,
    tolerance_factor,
)
from private_ensembles.papers.compare.declarations import ExplanationOfPrint, Paper
from private_ensembles.papers.compare.reproduced import flag_stand_ins

# Nobody trains more: a relation that needs more runs cannot be judged.
_MOST_RUNS = 1000


@dataclass(frozen=True)
class Evidence:
    """What relations are judged by.

    Attributes:
        paper: what is declared about the paper.
        published: the printed numbers, as `printed.read_published` returns them.
        tables: our tables of the paper, by name.
        settings: the run's settings of the paper.
    """

    paper: Paper
    published: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    settings: Mapping[str, object]

    def printed_numbers(self, item: str) -> pd.DataFrame:
        """Return an item's printed numbers.

        Args:
            item: a table, figure or section of the paper.

        Returns:
            A frame with dataset, row, column, published and published_sd. The last two are floats,
            NaN for no deviation.

        Raises:
            ValueError: nothing is printed in the item.
        """
        is_printed_there = (self.published["paper"] == self.paper.paper) & (
            self.published["item"] == item
        )
        if not is_printed_there.any():
            raise ValueError(f"{self.paper.paper}: no number is printed in {item}")
        cells = self.published.loc[is_printed_there, ["dataset", "row", "column"]].copy()
        for name in ("published", "published_sd"):
            cells[name] = pd.to_numeric(self.published.loc[is_printed_there, name])
        return cells.reset_index(drop=True)

    def table(self, name: str) -> pd.DataFrame | None:
        """Return one of our tables without rows of stand-ins; None if nothing is left of it."""
        table = self.tables.get(name)
        if table is None:
            return None
        table = table[~flag_stand_ins(table)] if "stand_in" in table else table
        return None if table.empty else table

    def setting(self, name: str) -> object:
        """Return the run's setting, or the paper's where the run has none."""
        return {**self.paper.parameters, **self.settings}[name]


class Estimate(NamedTuple):
    """A number with its standard error, which is 0 if it is exact, and its degrees of freedom.

    The error of a pooled relation is that of the difference to the printed number.
    """

    value: float
    error: float = 0.0
    freedom: float = math.inf

    @property
    def tolerance(self) -> float:
        """As many standard errors as contain 99.73 % of all draws."""
        return tolerance_factor(self.freedom) * self.error if self.error else 0.0


class Relation(NamedTuple):
    """What is said of several printed numbers; item to column are as in ``fidelity.csv``.

    Attributes:
        row: the statement in words.
        published: the printed difference, positive if the print has the order (order); the printed
            mean, or the middle of what is claimed (pooled); the count that is claimed (printed).
        ours: our number, None if the run lacks it.
        table: which of our tables it is from.
        half: half the width of what is claimed or printed: of a range, or of the last digit's unit.
        no_effect: what a mean would be if there were nothing of what is claimed: no difference, or
            the accuracy of a guess.
        with_runs: our number as so many runs of the same spread would give it.
        own_votes: why our numbers are on other votes than the paper's. Orders are judged all the
            same, means are not.
        note: what else is to be said.
        remark: what is known if it differs.
        cause: what explains it if it differs.
        missing: why the run lacks our number, if that is known.
    """

    kind: Literal["order", "pooled", "printed"]
    item: str
    dataset: str
    row: str
    column: str
    published: float
    ours: Estimate | None
    table: str = ""
    half: float = 0.0
    no_effect: float = 0.0
    with_runs: Callable[[int], Estimate] | None = None
    own_votes: str = ""
    note: str = ""
    remark: str = ""
    cause: ExplanationOfPrint | None = None
    missing: str = ""


def mean_over_runs(values: Iterable[float], runs: int | None = None) -> Estimate:
    """Return the mean of independent runs with its standard error.

    Args:
        values: one number for each run.
        runs: how many runs of this spread there are to be; those that there are, unless given.

    Raises:
        ValueError: there are fewer than two runs, which show no spread.

    >>> mean_over_runs([1.0, 2.0, 3.0])
    Estimate(value=2.0, error=0.5773502691896258, freedom=2)
    """
    values = np.asarray(list(values), dtype=float)
    if len(values) < 2:
        raise ValueError(f"runs = {len(values)}: must be at least 2")
    runs = len(values) if runs is None else runs
    error = float(values.std(ddof=1)) / math.sqrt(runs)
    return Estimate(float(values.mean()), error, runs - 1)


def difference_of_students(upper: Mapping, lower: Mapping, runs: int | None = None) -> Estimate:
    """Return the accuracy of one kind of students less that of another, in percent.

    Args:
        upper: a row with student_accuracy, its deviation (_sd) over seeds, and student_seeds.
        lower: the same of the other kind.
        runs: how many students of each kind there are to be; those that there are, unless given.
    """
    parts = []
    for row in (upper, lower):
        students = row["student_seeds"] if runs is None else runs
        parts.append(VariancePart((100 * row["student_accuracy_sd"]) ** 2 / students, students - 1))
    difference = 100 * float(upper["student_accuracy"] - lower["student_accuracy"])
    return Estimate(difference, *standard_error(parts))


def judge_relation(relation: Relation) -> dict[str, object]:
    """Judge a relation that was run.

    Returns:
        The columns reproduced, reproduced_sd, tolerance, status and note of ``fidelity.csv``.
        reproduced_sd is the standard error, NaN if the number is exact.
    """
    ours = relation.ours
    tolerance = ours.tolerance + relation.half
    judged = {
        "reproduced": ours.value,
        "reproduced_sd": ours.error or math.nan,
        "tolerance": tolerance,
    }
    if relation.kind == "pooled" and relation.own_votes:
        return (
            judged
            | {"tolerance": math.nan, "status": "not_comparable"}
            | _join_notes(relation, relation.own_votes)
        )
    sentences = [_describe_numbers(relation, tolerance)]
    if relation.own_votes:
        sentences.append(f"Judged on votes of our own: {relation.own_votes}")
    if _proves_nothing(relation, tolerance):
        sentences += _describe_weakness(relation, tolerance)
        return judged | {"status": "weak"} | _join_notes(relation, *sentences)
    if relation.kind == "order":
        agrees = ours.value > tolerance
    else:
        # Means of decimals differ by rounding alone in the last bits.
        allowed = tolerance + 1e-12 * max(1.0, abs(relation.published))
        agrees = abs(ours.value - relation.published) <= allowed
    if agrees:
        return judged | {"status": "match"} | _join_notes(relation, *sentences)
    if relation.cause is not None:
        sentences += [relation.cause.note, f"Test: {relation.cause.test}"]
        return judged | {"status": "explained"} | _join_notes(relation, *sentences)
    return judged | {"status": "differs"} | _join_notes(relation, *sentences, relation.remark)


def _proves_nothing(relation: Relation, tolerance: float) -> bool:
    """Tell whether a verdict would say little, because no effect at all fits as well."""
    if relation.kind == "printed" or tolerance == 0:
        return False
    if relation.kind == "pooled":
        return abs(relation.published - relation.no_effect) <= tolerance
    fits_print = abs(relation.ours.value - relation.published) <= tolerance
    return abs(relation.ours.value) <= tolerance and (fits_print or bool(relation.own_votes))


def _describe_weakness(relation: Relation, tolerance: float) -> list[str]:
    """Say what else is within the tolerance, and how many runs would put it outside."""
    sentences = []
    if relation.kind == "pooled":
        effect = abs(relation.published - relation.no_effect)
        opposite = ", and so is the opposite effect" if 2 * effect <= tolerance else ""
        sentences.append(f"No effect at all ({relation.no_effect:.4g}) is within it too{opposite}.")
    if relation.with_runs is not None:
        runs = _count_runs_needed(relation)
        needed = f"it would take {runs} runs" if runs else "no number of our runs would be enough"
        sentences.append(f"At this mean and spread {needed} to judge it.")
    return sentences


def _count_runs_needed(relation: Relation) -> int | None:
    """Return the least number of runs of this mean and spread that prove something, or None."""
    for runs in range(2, _MOST_RUNS + 1):
        ours = relation.with_runs(runs)
        judged = relation._replace(ours=ours)
        if not _proves_nothing(judged, ours.tolerance + relation.half):
            return runs
    return None


def _join_notes(relation: Relation, *words: str) -> dict[str, str]:
    return {"note": " ".join(filter(None, [*words, relation.note]))}


def _describe_numbers(relation: Relation, tolerance: float) -> str:
    """Say both numbers, and what decides between them."""
    printed, ours = f"{relation.published:.4g}", f"{relation.ours.value:.4g}"
    if relation.kind == "printed":
        return f"Claimed {printed}, in the printed numbers {ours}."
    if relation.kind == "order":
        words = f"Printed difference {printed}, ours {ours}"
        unsure = " It has the claimed sign, but not beyond its error."
        return f"{words}; it must be above {tolerance:.3g}." + (
            unsure if 0 < relation.ours.value <= tolerance else ""
        )
    if relation.half > 0:
        ends = (relation.published + sign * relation.half for sign in (-1, 1))
        claimed = "Claimed " + " to ".join(f"{end:.4g}" for end in ends)
    else:
        claimed = f"Printed mean {printed}"
    difference = relation.ours.value - relation.published
    return f"{claimed}, ours {ours}: {difference:+.3g}, where {tolerance:.3g} is the tolerance."
