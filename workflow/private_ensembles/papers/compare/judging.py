"""How a relation fares: what was printed, what ours say, how far off is too far, and a status.

There are three kinds, and each can fail:

order     what is claimed to be above is above in ours: our difference is positive by more than its
          tolerance, which is as many of its standard errors as `standard_errors.tolerance_factor` says.
          Ours has to show the order; that its difference could be positive is not enough. Where
          the tolerance holds both the printed difference and none at all, it is `weak`.
pooled    a mean over a table, ours and the printed one: they differ by no more than the tolerance
          of their difference.
printed   a count that a claim implies, and what the printed numbers make of it. No run is needed.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from private_ensembles.papers.common.standard_errors import (
    VariancePart,
    standard_error,
    tolerance_factor,
)
from private_ensembles.papers.compare.declarations import Cause, Paper
from private_ensembles.papers.compare.reproduced import flag_stand_ins


@dataclass(frozen=True)
class Evidence:
    """What relations are judged by.

    published: `read_published`. tables: ours of the paper, by name. settings: the run's."""

    paper: Paper
    published: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    settings: Mapping[str, object]

    def printed_numbers(self, item: str) -> pd.DataFrame:
        """Return an item's printed numbers: dataset, row, column, published and published_sd.

        The last two are floats, NaN for no deviation. Raises ValueError if nothing is printed.
        """
        place = (self.published["paper"] == self.paper.paper) & (self.published["item"] == item)
        if not place.any():
            raise ValueError(f"{self.paper.paper}: no number is printed in {item}")
        cells = self.published.loc[place, ["dataset", "row", "column"]].copy()
        for name in ("published", "published_sd"):
            cells[name] = pd.to_numeric(self.published.loc[place, name])
        return cells.reset_index(drop=True)

    def table(self, name: str) -> pd.DataFrame | None:
        """Return a table of ours without rows of stand-ins; None if there is nothing in it."""
        table = self.tables.get(name)
        if table is None:
            return None
        table = table[~flag_stand_ins(table)] if "stand_in" in table else table
        return None if table.empty else table

    def setting(self, name: str) -> object:
        """Return the run's setting, or the paper's where the run has none."""
        return {**self.paper.parameters, **self.settings}[name]


class Estimate(NamedTuple):
    """A number with its standard error, 0 for an exact one, and its degrees of freedom.

    For a pooled relation the error is that of the difference to the printed number.
    """

    value: float
    error: float = 0.0
    freedom: float = math.inf

    @property
    def tolerance(self) -> float:
        """As many standard errors as contain 99.73 % of all draws."""
        return tolerance_factor(self.freedom) * self.error if self.error else 0.0


class Relation(NamedTuple):
    """What is said of several printed numbers. item to column: as in ``fidelity.csv``.

    row: the statement in words. published: the printed difference, positive if the print has the
    order (order); the printed mean (pooled); the count that is claimed (printed). ours: None if the
    run lacks it, and then `missing` may say why. table: which of our tables it is from. rounding:
    how far off the printed number may be by its last digits. own_votes: why the numbers of ours
    are on other votes than the paper's: orders are judged all the same, means are not. note: what
    else is to be said. remark: what is known if it differs. cause: what explains it then.
    """

    kind: Literal["order", "pooled", "printed"]
    item: str
    dataset: str
    row: str
    column: str
    published: float
    ours: Estimate | None
    table: str = ""
    rounding: float = 0.0
    own_votes: str = ""
    note: str = ""
    remark: str = ""
    cause: Cause | None = None
    missing: str = ""


def mean_over_runs(values: Iterable[float]) -> Estimate:
    """Return the mean of independent runs with its standard error; one value for each run.

    >>> mean_over_runs([1.0, 2.0, 3.0])
    Estimate(value=2.0, error=0.5773502691896258, freedom=2)

    Raises ValueError for fewer than two runs, which show no spread.
    """
    values = np.asarray(list(values), dtype=float)
    if len(values) < 2:
        raise ValueError(f"runs = {len(values)}: must be at least 2")
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return Estimate(float(values.mean()), error, len(values) - 1)


def difference_of_students(upper: Mapping, lower: Mapping) -> Estimate:
    """Return by how many percent one kind of students is right more often than another.

    upper, lower: rows with student_accuracy, its deviation (_sd) over seeds, and student_seeds.
    """
    parts = [
        VariancePart(
            (100 * row["student_accuracy_sd"]) ** 2 / row["student_seeds"], row["student_seeds"] - 1
        )
        for row in (upper, lower)
    ]
    gap = 100 * float(upper["student_accuracy"] - lower["student_accuracy"])
    return Estimate(gap, *standard_error(parts))


def judge_relation(relation: Relation) -> dict[str, object]:
    """Return reproduced, reproduced_sd, tolerance, status and note of a relation that was run.

    reproduced_sd is the standard error, missing for an exact number.
    """
    ours = relation.ours
    judged = {
        "reproduced": ours.value,
        "reproduced_sd": ours.error or math.nan,
        "tolerance": max(ours.tolerance, relation.rounding),
    }
    if relation.kind == "pooled" and relation.own_votes:
        return (
            judged
            | {"tolerance": math.nan, "status": "not_comparable"}
            | _join_notes(relation, relation.own_votes)
        )
    if relation.kind == "order":
        agrees = ours.value > judged["tolerance"]
    else:
        # Means of decimals differ by rounding alone in the last bits.
        close = judged["tolerance"] + 1e-12 * max(1.0, abs(relation.published))
        agrees = abs(ours.value - relation.published) <= close
    words = [_describe_numbers(relation, judged["tolerance"])]
    if relation.own_votes:
        words.append(f"Judged on votes of our own: {relation.own_votes}")
    if agrees:
        return judged | {"status": "match"} | _join_notes(relation, *words)
    # Ours could be the printed difference, and just as well no difference.
    apart = max(abs(ours.value), abs(ours.value - relation.published))
    if relation.kind == "order" and apart <= judged["tolerance"]:
        return judged | {"status": "weak"} | _join_notes(relation, *words)
    if relation.cause is not None:
        words += [relation.cause.note, f"Test: {relation.cause.test}"]
        return judged | {"status": "explained"} | _join_notes(relation, *words)
    return judged | {"status": "differs"} | _join_notes(relation, *words, relation.remark)


def _join_notes(relation: Relation, *words: str) -> dict[str, str]:
    return {"note": " ".join(filter(None, [*words, relation.note]))}


def _describe_numbers(relation: Relation, tolerance: float) -> str:
    """Say both numbers, and what decides."""
    printed, ours = f"{relation.published:.4g}", f"{relation.ours.value:.4g}"
    if relation.kind == "printed":
        return f"Claimed {printed}, in the printed numbers {ours}."
    if relation.kind == "order":
        words = f"Printed difference {printed}, ours {ours}"
        unsure = " It has the claimed sign, but not beyond its error."
        return f"{words}; it must be above {tolerance:.3g}." + (
            unsure if 0 < relation.ours.value <= tolerance else ""
        )
    apart = relation.ours.value - relation.published
    words = f"Printed mean {printed}, ours {ours}: {apart:+.3g}"
    return f"{words}, where {tolerance:.3g} is the tolerance."
