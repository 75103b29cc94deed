"""What a plan becomes with fewer labels or another budget: its noise is scaled, not searched for.

A plan is expensive: its noise is found to a thousandth, and its thresholds are searched for. For
other labels and budgets the known noise is scaled as composition says, and one proof says that it
keeps the budget (`Mechanism.cost`). This gives a little less than a plan of its own would.
Fewer labels with the same noise are the first of more labels, so they cost no more
(post-processing).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from numpy.typing import NDArray

from private_ensembles.base.limits import is_budget
from private_ensembles.labels import registry
from private_ensembles.labels.accounts.gaussian_counts import label_noise_share
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.noisy_counts import largest_rho
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.planner.planning import plan_rows
from private_ensembles.labels.planner.ranking import Plan, rank_mechanisms
from private_ensembles.labels.task import Task

if TYPE_CHECKING:  # pandas comes with an extra
    import pandas as pd

# A little more noise than composition says; more of it if that is not enough.
_SPARE = (1.004, 1.03, 1.15)
# Noise stays as it is if half of it gains less than this share of right labels.
_WORTH = 0.03
# With more labels a proof takes many seconds: none is made, except that of the plan itself.
MAX_SCALED_LABELS = 1000
# Of its budget, at which `around` looks.
BUDGET_FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class ScaledPlan:
    """A plan and the task that it is for."""

    task: Task
    plan: Plan


def scale_plan(
    known: ScaledPlan, task: Task, counts: NDArray, labels: NDArray
) -> ScaledPlan | None:
    """Return the plan for other `labels`, at most those planned, or another `epsilon`.

    known: a plan that applies. task: its own except for these two. counts, labels: the profile's
    votes, as in `ranking.rank_mechanisms`. None if the noise is not of a kind that scales to a smaller
    budget. The epsilon of what comes back is an upper bound, at most that of `task`.

    >>> import numpy as np
    >>> from private_ensembles.labels.planner import ranking
    >>> counts, truth = np.array([[60, 40], [30, 70]] * 20), np.array([0, 1] * 20)
    >>> from private_ensembles.labels.task import Budget, Ensemble, Wanted
    >>> task = Task(Ensemble(100, 2), Budget(1.0, 1e-5), Wanted(40))
    >>> (plan,) = ranking.rank_mechanisms(task, counts, truth, ["gnmax_analytic"])
    >>> few = replace(task, wanted=Wanted(10, 40))
    >>> fewer = scale_plan(ScaledPlan(task, plan), few, counts, truth)
    >>> round(plan.correct, 1), round(fewer.plan.correct, 1), fewer.plan.epsilon <= 1
    (29.3, 8.7, True)
    """
    mechanism = load_mechanism(known.plan.mechanism)
    before = known.plan.parameters
    # As large a part of the labels asked for, rounded up.
    part = -(-before.labels * task.wanted.labels // known.task.wanted.labels)
    same = before.replace_labels(min(task.wanted.labels, part))
    scales = "cap" in mechanism.account.free_parameters

    def planned(parameters: Parameters, epsilon: float) -> Plan:
        answers, correct = mechanism.law.expected_answers(counts, labels, task, parameters)
        return Plan(mechanism.name, None, parameters, epsilon, answers, correct, math.nan)

    unscaled = None
    # Fewer labels with the same noise cost no more.
    if task.budget.epsilon >= known.task.budget.epsilon:
        unscaled = planned(same, known.plan.epsilon)
        half = planned(mechanism.law.scale_noise(same, 0.5), math.nan) if scales else unscaled
        if half.correct < (1 + _WORTH) * unscaled.correct:
            return ScaledPlan(task, unscaled)
    within = _noise_within_budget(mechanism, same, known, task) if scales else None
    if within is None:
        return None if unscaled is None else ScaledPlan(task, unscaled)
    best = planned(*within)
    if unscaled is not None and unscaled.correct > best.correct:
        best = unscaled
    return ScaledPlan(task, best)


def estimate_correct(
    known: ScaledPlan, task: Task, counts: NDArray, labels: NDArray
) -> float | None:
    """Return about how many labels would be right, for fewer `labels` or another `epsilon`.

    Arguments as `scale` takes them; as many labels are paid for as the plan does, or all if they
    are fewer. Nothing is proven of the noise, so that many choices can be looked at; it is the
    noise of which `around` asks a proof first. What more than noise has to be chosen for another
    budget is planned anew, as there. None if the noise does not scale.
    """
    mechanism = load_mechanism(known.plan.mechanism)
    if "cap" not in mechanism.account.free_parameters:
        return None
    if task.budget != known.task.budget and len(mechanism.account.free_parameters) > 1:
        replanned = _replan_for_budget(known, task, counts, labels)
        return None if replanned is None else replanned.plan.correct
    before = known.plan.parameters
    same = before.replace_labels(int(min(task.wanted.labels, before.labels)))
    parameters = mechanism.law.scale_noise(same, _SPARE[0] * _noise_factor(same, known, task))
    return mechanism.law.expected_answers(counts, labels, task, parameters)[1]


def _noise_factor(same: Parameters, known: ScaledPlan, task: Task) -> float:
    """Return how many times the known noise composition asks for."""
    more = largest_rho(known.task.budget.epsilon, known.task.budget.delta, "exact")
    more /= largest_rho(task.budget.epsilon, task.budget.delta, "exact")
    factor = math.sqrt(more * same.labels / known.plan.parameters.labels)
    return factor * label_noise_share(same.labels) / label_noise_share(known.plan.parameters.labels)


def _noise_within_budget(
    mechanism: Mechanism, same: Parameters, known: ScaledPlan, task: Task
) -> tuple[Parameters, float] | None:
    """Return noise that keeps the task's budget, and what it costs; None if none is found."""
    factor = _noise_factor(same, known, task)
    for spare in _SPARE:
        parameters = mechanism.law.scale_noise(same, factor * spare)
        spent = mechanism.cost(task, parameters).claimed
        if spent <= task.budget.epsilon:
            return parameters, spent
    return None


def tabulate_fewer_labels(
    plans: Sequence[tuple[Task, Sequence[Plan]]], counts: NDArray, labels: NDArray
) -> pd.DataFrame:
    """Return the plans of several budgets and what becomes of each with fewer labels.

    plans: as `planning.plan_budgets`, of the same task except for epsilon; those that do not apply
    are left out. A plan for less is a plan for more: if a smaller budget gives more right labels,
    its plan is kept. Columns as `planning.plan_rows`, without published and not_applicable,
    and `wanted` is the number of labels.
    """
    import pandas as pd

    rows, best = [], {}
    for task, ranked in sorted(plans, key=lambda pair: pair[0].budget.epsilon):
        for first in ranked:
            if first.refusal is not None:
                continue
            family = registry.get_entry(first.mechanism).family or first.mechanism
            for one in _scale_to_fewer_labels(ScaledPlan(task, first), counts, labels):
                place = family, one.task.wanted.labels
                if place not in best or one.plan.correct >= best[place].correct:
                    best[place] = one.plan
                rows += plan_rows(one.task, [best[place]])
    return pd.DataFrame(rows).drop(columns=["published", "not_applicable"], errors="ignore")


def vary_labels_and_budget(
    plans: Sequence[Plan], task: Task, counts: NDArray, labels: NDArray
) -> list[dict]:
    """Return rows that say what some plans become with fewer labels, and at other budgets.

    plans: those of the task that apply. Columns as `plan_rows`, and over: ``labels`` or
    ``epsilon``, whichever the row varies; the plan itself is among both, at no other budget if it
    is of more than `MOST` labels.
    """
    rows = []
    for chosen in plans:
        known = ScaledPlan(task, chosen)
        shares = BUDGET_FACTORS if task.wanted.labels <= MAX_SCALED_LABELS else ()
        budgets = [
            replace(task, budget=replace(task.budget, epsilon=share * task.budget.epsilon))
            for share in shares
            if is_budget(share * task.budget.epsilon, task.budget.delta)
        ]
        others = [_replan_for_budget(known, wanted, counts, labels) for wanted in budgets]
        curves = {
            "labels": _scale_to_fewer_labels(known, counts, labels),
            "epsilon": [known, *others],
        }
        for over, curve in curves.items():
            kept = [
                plan_rows(scaled.task, [scaled.plan])[0] for scaled in curve if scaled is not None
            ]
            kept.sort(key=lambda row: (row["wanted"], row["budget_epsilon"]))
            rows += [{"over": over} | row for row in kept]
    return rows


def _replan_for_budget(
    known: ScaledPlan, task: Task, counts: NDArray, labels: NDArray
) -> ScaledPlan | None:
    """Return the plan at another budget: a new one if more than its noise has to be chosen."""
    mechanism = load_mechanism(known.plan.mechanism)
    if len(mechanism.account.free_parameters) < 2:
        return scale_plan(known, task, counts, labels)
    (replanned,) = rank_mechanisms(task, counts, labels, [mechanism.name])
    return None if replanned.refusal is not None else ScaledPlan(task, replanned)


def _scale_to_fewer_labels(known: ScaledPlan, counts: NDArray, labels: NDArray) -> list[ScaledPlan]:
    """The plan and, one from the other, what it becomes with fewer labels, down to one."""
    chain = [known]
    for few in _smaller_label_counts(known.task.wanted.labels):
        fewer = replace(known.task, wanted=replace(known.task.wanted, labels=few))
        chain.append(scale_plan(chain[-1], fewer, counts, labels) or chain[-1])
    return chain


def _smaller_label_counts(labels: int) -> list[int]:
    """Return 1, 2, 5, 10, 20 and so on below a number of labels, at most `MOST`, from above."""
    below = [step * 10**k for k in range(len(str(MAX_SCALED_LABELS))) for step in (1, 2, 5)]
    return [few for few in reversed(below) if few < labels and few <= MAX_SCALED_LABELS]
