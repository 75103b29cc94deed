"""What a plan becomes with fewer labels or another budget: its noise is scaled, not searched for.

A plan is expensive, because its noise is found to a thousandth and its thresholds are searched for.
For other numbers of labels and other budgets the known noise is scaled as composition says, and one
proof shows that it keeps the budget (`Mechanism.cost`). A plan of its own would give a little more.
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

# The noise that composition asks for is raised a little, and more if that is not enough.
_NOISE_MARGINS = (1.004, 1.03, 1.15)
# Noise stays as it is if half of it gains less than this share of right labels.
_LEAST_GAIN = 0.03
# With more labels a proof takes many seconds, so none is made except that of the plan itself.
MAX_SCALED_LABELS = 1000
# `vary_labels_and_budget` looks at these multiples of the plan's epsilon.
BUDGET_FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class ScaledPlan:
    """A plan that applies, and the task that it is for."""

    task: Task
    plan: Plan

    @property
    def parameters(self) -> Parameters:
        """The parameters of the plan."""
        assert self.plan.parameters is not None
        return self.plan.parameters


def scale_plan(
    known: ScaledPlan, task: Task, counts: NDArray, labels: NDArray
) -> ScaledPlan | None:
    """Return the plan for fewer labels or another epsilon, with scaled noise.

    Args:
        known: A plan that applies.
        task: The plan's own task, except that fewer labels may be wanted or epsilon may differ.
        counts: The profile's votes, (queries, classes) int, as in `ranking.rank_mechanisms`.
        labels: Their true labels, (queries,) int.

    Returns:
        The plan, whose epsilon is an upper bound and at most that of `task`. None if the noise is
        not of a kind that scales to a smaller budget.

    >>> import numpy as np
    >>> from private_ensembles.labels.planner import ranking
    >>> counts, truth = np.array([[60, 40], [30, 70]] * 20), np.array([0, 1] * 20)
    >>> from private_ensembles.labels.task import Budget, Ensemble, Wanted
    >>> task = Task(Ensemble(100, 2), Budget(1.0, 1e-5), Wanted(40))
    >>> (plan,) = ranking.rank_mechanisms(task, counts, truth, ["gnmax_analytic"])
    >>> fewer = replace(task, wanted=Wanted(10, 40))
    >>> scaled = scale_plan(ScaledPlan(task, plan), fewer, counts, truth)
    >>> round(plan.correct, 1), round(scaled.plan.correct, 1), scaled.plan.epsilon <= 1
    (29.3, 8.7, True)
    """
    mechanism = load_mechanism(known.plan.mechanism)
    noise = known.parameters
    # The same share of the labels wanted is paid for, rounded up.
    paid = -(-noise.labels * task.wanted.labels // known.task.wanted.labels)
    same = noise.replace_labels(min(task.wanted.labels, paid))
    scales = "cap" in mechanism.account.free_parameters

    def evaluate(parameters: Parameters, epsilon: float) -> Plan:
        answers, correct = mechanism.law.expected_answers(counts, labels, task, parameters)
        return Plan(mechanism.name, None, parameters, epsilon, answers, correct, math.nan)

    unscaled = None
    # Fewer labels with the same noise cost no more.
    if task.budget.epsilon >= known.task.budget.epsilon:
        unscaled = evaluate(same, known.plan.epsilon)
        half = evaluate(mechanism.law.scale_noise(same, 0.5), math.nan) if scales else unscaled
        if half.correct < (1 + _LEAST_GAIN) * unscaled.correct:
            return ScaledPlan(task, unscaled)
    scaled = _noise_within_budget(mechanism, same, known, task) if scales else None
    if scaled is None:
        return None if unscaled is None else ScaledPlan(task, unscaled)
    best = evaluate(*scaled)
    if unscaled is not None and unscaled.correct > best.correct:
        best = unscaled
    return ScaledPlan(task, best)


def estimate_correct(
    known: ScaledPlan, task: Task, counts: NDArray, labels: NDArray
) -> float | None:
    """Return about how many labels would be right, with fewer labels or another epsilon.

    Nothing is proven of the noise, so that many choices can be looked at. It is the first noise
    that `scale_plan` would try to prove. As many labels are paid for as in the plan, or all if they
    are fewer. If another budget needs more than other noise, it is planned anew.

    Args:
        known: A plan that applies.
        task: The plan's own task, except that fewer labels may be wanted or epsilon may differ.
        counts: The profile's votes, (queries, classes) int.
        labels: Their true labels, (queries,) int.

    Returns:
        The expected number of right labels, or None if the noise does not scale.
    """
    mechanism = load_mechanism(known.plan.mechanism)
    if "cap" not in mechanism.account.free_parameters:
        return None
    if task.budget != known.task.budget and len(mechanism.account.free_parameters) > 1:
        replanned = _replan_for_budget(known, task, counts, labels)
        return None if replanned is None else replanned.plan.correct
    noise = known.parameters
    same = noise.replace_labels(int(min(task.wanted.labels, noise.labels)))
    factor = _NOISE_MARGINS[0] * _noise_factor(same, known, task)
    parameters = mechanism.law.scale_noise(same, factor)
    return mechanism.law.expected_answers(counts, labels, task, parameters)[1]


def _noise_factor(same: Parameters, known: ScaledPlan, task: Task) -> float:
    """Return how many times the known noise composition asks for."""
    planned = known.parameters
    rho_ratio = largest_rho(known.task.budget.epsilon, known.task.budget.delta, "exact")
    rho_ratio /= largest_rho(task.budget.epsilon, task.budget.delta, "exact")
    factor = math.sqrt(rho_ratio * same.labels / planned.labels)
    return factor * label_noise_share(same.labels) / label_noise_share(planned.labels)


def _noise_within_budget(
    mechanism: Mechanism, same: Parameters, known: ScaledPlan, task: Task
) -> tuple[Parameters, float] | None:
    """Return noise that keeps the task's budget, and what it costs; None if none is found."""
    factor = _noise_factor(same, known, task)
    for margin in _NOISE_MARGINS:
        parameters = mechanism.law.scale_noise(same, factor * margin)
        spent = mechanism.cost(task, parameters).claimed
        if spent <= task.budget.epsilon:
            return parameters, spent
    return None


def tabulate_fewer_labels(
    plans: Sequence[tuple[Task, Sequence[Plan]]], counts: NDArray, labels: NDArray
) -> pd.DataFrame:
    """Return a table of the plans of several budgets, and what becomes of each with fewer labels.

    A plan for less is a plan for more: if a smaller budget gives more right labels, its plan is
    kept.

    Args:
        plans: Tasks with their plans, as `planning.plan_budgets` returns them; the tasks differ in
            epsilon only. Plans that do not apply are left out.
        counts: The profile's votes, (queries, classes) int.
        labels: Their true labels, (queries,) int.

    Returns:
        A table with the columns of `planning.plan_rows`, without published and not_applicable;
        `wanted` is the number of labels.
    """
    import pandas as pd

    rows: list[dict] = []
    best: dict[tuple[str, int], Plan] = {}
    for task, ranked in sorted(plans, key=lambda pair: pair[0].budget.epsilon):
        for plan in ranked:
            if plan.refusal is not None:
                continue
            family = registry.get_entry(plan.mechanism).family or plan.mechanism
            for scaled in _scale_to_fewer_labels(ScaledPlan(task, plan), counts, labels):
                key = family, scaled.task.wanted.labels
                if key not in best or scaled.plan.correct >= best[key].correct:
                    best[key] = scaled.plan
                rows += plan_rows(scaled.task, [best[key]])
    return pd.DataFrame(rows).drop(columns=["published", "not_applicable"], errors="ignore")


def vary_labels_and_budget(
    plans: Sequence[Plan], task: Task, counts: NDArray, labels: NDArray
) -> list[dict]:
    """Return rows that say what some plans become with fewer labels, and at other budgets.

    Args:
        plans: Those of the task that apply.
        task: The task that they are for.
        counts: The profile's votes, (queries, classes) int.
        labels: Their true labels, (queries,) int.

    Returns:
        Rows with the columns of `plan_rows` and `over`, ``labels`` or ``epsilon``, whichever the
        row varies. The plan itself is among both. A plan of more than `MAX_SCALED_LABELS` labels is
        shown at no other budget.
    """
    rows = []
    for plan in plans:
        known = ScaledPlan(task, plan)
        factors = BUDGET_FACTORS if task.wanted.labels <= MAX_SCALED_LABELS else ()
        tasks = [
            replace(task, budget=replace(task.budget, epsilon=factor * task.budget.epsilon))
            for factor in factors
            if is_budget(factor * task.budget.epsilon, task.budget.delta)
        ]
        others = [_replan_for_budget(known, other, counts, labels) for other in tasks]
        curves: dict[str, Sequence[ScaledPlan | None]] = {
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
    """Return the plan at another budget, planned anew if more than its noise has to be chosen."""
    mechanism = load_mechanism(known.plan.mechanism)
    if len(mechanism.account.free_parameters) < 2:
        return scale_plan(known, task, counts, labels)
    (replanned,) = rank_mechanisms(task, counts, labels, [mechanism.name])
    return None if replanned.refusal is not None else ScaledPlan(task, replanned)


def _scale_to_fewer_labels(known: ScaledPlan, counts: NDArray, labels: NDArray) -> list[ScaledPlan]:
    """Return the plan and what it becomes with fewer labels, down to one, each from the last."""
    chain = [known]
    for count in _smaller_label_counts(known.task.wanted.labels):
        fewer = replace(known.task, wanted=replace(known.task.wanted, labels=count))
        chain.append(scale_plan(chain[-1], fewer, counts, labels) or chain[-1])
    return chain


def _smaller_label_counts(labels: int) -> list[int]:
    """Return those of 1, 2, 5, 10, 20 and so on that are below `labels`, the largest first.

    None of them is above `MAX_SCALED_LABELS`.
    """
    steps = [step * 10**k for k in range(len(str(MAX_SCALED_LABELS))) for step in (1, 2, 5)]
    return [count for count in reversed(steps) if count < labels and count <= MAX_SCALED_LABELS]
