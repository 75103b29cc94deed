"""What `plan --page FILE` writes: curves of a plan and the four lines that matter most."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from private_ensembles.command.output import high
from private_ensembles.mechanisms.task import Task
from private_ensembles.planner import plan_curves, study
from private_ensembles.planner.ranking import Plan


def write(
    path: Path, task: Task, plans: Sequence[Plan], seed: int, profile: Mapping, source: str
) -> list[str]:
    """Write the page, whole or not at all, and return its four lines.

    plans: of `study.ranked`, for the same seed, the first of which applies. profile: as stated, and
    source: where it is from, in a sentence. Raises OSError if the file cannot be written.
    """
    from private_ensembles.page import plan_page
    from private_ensembles.release import showing

    curves = plan_curves.around(task, plans, seed)
    words = four_lines(task, plans, seed, curves)
    mechanisms = list(dict.fromkeys(row["mechanism"] for row in curves.rows))
    facts = {
        "teachers": task.n_teachers,
        "classes": task.n_classes,
        "queries": task.queries,
        "labels": task.labels,
        "epsilon": task.epsilon,
        "delta": task.delta,
        "privacy_model": task.privacy_model,
        "adjacency": task.adjacency,
    }
    lines = {
        name: {over: curves.line(name, over) for over in ("labels", "epsilon")}
        for name in mechanisms
    }
    levels = {
        "the plurality of all votes, without noise": curves.plurality,
        "one teacher alone": curves.teacher,
        "one class for every query": curves.commonest,
    }
    given = {key: value for key, value in profile.items() if value is not None}
    stated = ", ".join(f"{key} = {value}" for key, value in given.items())
    noise = "secure (exact samplers)" if task.secure else "reproducible (rehearsals only)"
    notes = [
        f"Expected right labels on a profile of how the teachers agree, not on votes: {source} "
        f"({stated}). If your teachers agree more, more labels are right. No privacy depends on "
        "it. A query without an answer counts as not right.",
        f"Every point keeps its budget whatever the votes are. Noise: {noise}. The vertical line "
        "is the plan itself. For fewer than 10 labels gnmax_exact is shown with the noise of "
        "gnmax_analytic; a plan of its own has a few per cent more of them right. Mechanisms "
        "with a threshold are computed at fewer points.",
        f"Choose before you look at votes that are to be released. The plan: {_plan(plans[0])}.",
    ]
    showing.put(
        path, showing.writer(plan_page.build(facts, lines, levels, words, notes)), int(time.time())
    )
    return words


def four_lines(
    task: Task, plans: Sequence[Plan], seed: int, curves: plan_curves.Curves
) -> list[str]:
    """Return what matters most: what to expect, how few labels stay useful, what more would buy."""
    best = plans[0]
    by_labels = curves.line(best.mechanism, "labels")
    by_epsilon = curves.line(best.mechanism, "epsilon")
    useful = plan_curves.USEFUL
    few = plan_curves.labels_that_stay_useful(by_labels)
    enough = plan_curves.epsilon_that_is_useful(by_epsilon)
    most = max(epsilon for epsilon, _ in by_epsilon)
    of_both = {"n_teachers": 2 * task.n_teachers}
    if task.n_votes is not None:
        of_both["n_votes"] = 2 * task.n_votes
    if task.weights is not None:
        of_both["weights"] = 2 * task.weights
    twice = [replace(task, epsilon=2 * task.epsilon), replace(task, **of_both)]
    more_epsilon, more_teachers = (
        study.ranked(one, [best.mechanism], seed)[0].correct for one in twice
    )
    first = (
        f"Of {task.labels:,} labels {best.correct:.0f} are expected to be right "
        f"({_percent(best.correct / task.labels)}); one teacher alone is right "
        f"{_percent(curves.teacher)} of the time, one class for every query "
        f"{_percent(curves.commonest)}."
    )
    fewer = f"Fewer labels are better ones: {_percent(useful)} stay right up to about {few:,.0f}."
    if few < 1:
        fewer = (
            f"Not even one label is right {_percent(useful)} of the time within this budget: it is "
            f"{_percent(by_labels[0][1])}."
        )
    elif few >= task.labels:
        fewer = f"At least {_percent(useful)} of them are right."
    epsilon = f"No ε up to {most:g} makes {_percent(useful)} of {task.labels:,} labels right."
    if math.isfinite(enough):
        epsilon = (
            f"For {_percent(useful)} of {task.labels:,} labels to be right, ε would have to be "
            f"about {enough:.2g}."
        )
    twice_line = (
        f"Twice the ε would give {more_epsilon:.0f} right labels, and twice as many teachers "
        f"{more_teachers:.0f}."
    )
    return [first, fewer, epsilon, twice_line]


def _plan(plan: Plan) -> str:
    return f"{plan.mechanism}, {study.words(plan.parameters)}, ε at most {high(plan.epsilon)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
