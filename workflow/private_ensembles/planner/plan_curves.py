"""What mechanisms give over the number of labels, from one label on, and over epsilon.

All is computed on the stated profile, as a plan is, so it costs nothing. Every point is a plan of
its own: its epsilon is an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.planner import ranking, study

# Lines in all; the best mechanisms that apply, one of each family.
LINES = 4
# Of each power of ten, for mechanisms whose noise alone is chosen; for those with thresholds 1.
_STEPS = (1, 2, 5)
_EPSILONS = (0.1, 10.0)
# What a useful label is: right so often.
USEFUL = 0.8
# With fewer labels the account of the labels alone takes seconds for each point. That of the noisy
# counts stands for it: what is shown is a little less than it would give (2 % for 5 labels of 40
# teachers and 3 classes).
_FEW = 10


@dataclass(frozen=True)
class Curves:
    """What `around` computes of a task.

    rows: by mechanism (of the plan, that stands for its family) and over (``labels``, ``epsilon``):
    labels, epsilon (of the budget) and correct, the expected right labels. plurality, teacher,
    commonest: how often, of all queries of the profile, the plurality without noise, one teacher,
    and whoever always says the commonest class are right.
    """

    rows: list[dict]
    plurality: float
    teacher: float
    commonest: float

    def line(self, mechanism: str, over: str) -> list[tuple[float, float]]:
        """Return the points of a line: labels or epsilon, and the share of right labels."""
        rows = [row for row in self.rows if (row["mechanism"], row["over"]) == (mechanism, over)]
        return sorted((row[over], row["correct"] / row["labels"]) for row in rows)


def around(task: Task, plans: Sequence[ranking.Plan], seed: int) -> Curves:
    """Return curves around a task for the best `LINES` of its plans that apply.

    plans: as `study.ranked` returns them for the same seed. Points: 1, 2, 5, 10, ... labels up to
    the task's; 0.1, 0.2, 0.5, ... 10 for epsilon, and the task's own. A mechanism that would pay
    for fewer labels than are asked for gives at least what it gives for fewer.

    >>> from private_ensembles.planner import defaults
    >>> settings = defaults.settings(queries=20, labels=20, teachers=40, n_classes=3)
    >>> task = study.task(settings, 1.0, 1e-5)
    >>> curves = around(task, study.ranked(task, ["gnmax_analytic"], 0), 0)
    >>> [labels for labels, _ in curves.line("gnmax_analytic", "labels")]
    [1, 2, 5, 10, 20]
    """
    counts, truth = study.profile_votes(task, seed)
    rows = []
    for plan in [plan for plan in plans if plan.refusal is None][:LINES]:
        steps = _STEPS if len(load(plan.mechanism).account.searched(task)) < 2 else _STEPS[:1]
        tasks = {"labels": [replace(task, labels=n) for n in _labels(task.labels, steps)]}
        tasks["epsilon"] = [replace(task, epsilon=e) for e in _epsilons(task.epsilon, steps)]
        for over, several in tasks.items():
            most = 0.0
            for one in several:
                correct = plan.correct if one == task else _correct(plan, one, counts, truth)
                most = max(
                    most, correct
                )  # noise for fewer labels, or for less epsilon, serves, too
                row = {"mechanism": plan.mechanism, "over": over, "labels": one.labels}
                rows.append(row | {"epsilon": one.epsilon, "correct": most})
    right = counts[np.arange(len(counts)), truth] / task.votes_in_all
    return Curves(
        rows,
        float((counts.argmax(axis=1) == truth).mean()),
        float(right.mean()),
        1 / task.n_classes,  # classes of a stated profile are equally common
    )


def _correct(plan: ranking.Plan, task: Task, counts: NDArray, truth: NDArray) -> float:
    name = plan.mechanism
    if name == "gnmax_exact" and task.labels < _FEW:
        name = "gnmax_analytic"
    (found,) = ranking.plan(task, counts, truth, [name])
    return found.correct


def _labels(most: int, steps: Sequence[int]) -> list[int]:
    tens = range(math.ceil(math.log10(most)) + 1)
    found = {step * 10**ten for ten in tens for step in steps}
    return [*sorted(number for number in found if number < most), most]


def _epsilons(own: float, steps: Sequence[int]) -> list[float]:
    low, high = _EPSILONS
    tens = range(round(math.log10(low)), round(math.log10(high)) + 1)
    found = {float(f"{step}e{ten}") for ten in tens for step in steps} | {own}
    return sorted(value for value in found if value == own or low <= value <= high)


def labels_that_stay_useful(line: Sequence[tuple[float, float]]) -> float:
    """Return about how many labels may be asked for while `USEFUL` of them are right; 0 for none.

    line: of `Curves.line` over labels. Between its points the share is taken to be straight in the
    logarithm.

    >>> round(labels_that_stay_useful([(1, 0.9), (10, 0.85), (100, 0.75)]), 1)
    31.6
    """
    return _crossing(line) or 0.0


def epsilon_that_is_useful(line: Sequence[tuple[float, float]]) -> float:
    """Return about the least epsilon at which `USEFUL` of the labels are right; infinite for none.

    >>> round(epsilon_that_is_useful([(0.1, 0.3), (1, 0.7), (10, 0.9)]), 2)
    3.16
    """
    falling = _crossing([(1 / epsilon, share) for epsilon, share in line[::-1]])
    return math.inf if falling is None else 1 / falling


def _crossing(line: Sequence[tuple[float, float]]) -> float | None:
    """Return the largest x at which a falling line is at least `USEFUL`; None if it nowhere is."""
    above = [at for at, (_, share) in enumerate(line) if share >= USEFUL]
    if not above:
        return None
    at = above[-1]
    if at == len(line) - 1:
        return line[at][0]
    (x0, y0), (x1, y1) = line[at], line[at + 1]
    part = (y0 - USEFUL) / (y0 - y1)
    return float(np.exp((1 - part) * np.log(x0) + part * np.log(x1)))
