"""Sessions before their first batch, and when they grow: the plan, a larger cap, other caps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from private_ensembles.base import checks
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import planning, ranking
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Task,
    Wanted,
)
from private_ensembles.release import expectation, own_votes, release_plan
from private_ensembles.release.expectation import Expectation
from private_ensembles.release.release_plan import ReleasePlan


def plan_session(
    ensemble: Ensemble,
    budget: Budget,
    wanted: Wanted,
    protection: Protection,
    *,
    mechanisms: Sequence[str] | None = None,
    profile: Mapping | None = None,
    rehearsal: Rehearsal | None = None,
) -> ReleasePlan:
    """Return the plan of a session; arguments as `Session.create` takes them.

    Raises:
        ValueError: If a value is out of range, or if no mechanism applies.
    """
    checks.check_integer(teachers=ensemble.teachers, at_least=2)
    if wanted.most_ones is not None:
        raise ValueError("most_ones: must be left out of a session, which does not keep them")
    names = list_session_mechanisms() if mechanisms is None else list(mechanisms)
    for name in names:
        checks.check_choice(list_session_mechanisms(), mechanism=name)
    task = Task(
        replace(ensemble, names=None),
        budget,
        wanted,
        protection,
        secure=rehearsal is None,
        counts_only=True,
    )
    task = planning.attach_profile(task, profile)
    seed = None if rehearsal is None else rehearsal.seed
    return release_plan.make_plan(task, own_votes.choose_mechanism(task, names, 0).chosen, seed)


def expect_session_labels(plan: ReleasePlan) -> Expectation:
    """Return what the session's labels are worth on its profile, if all of them are used."""
    task, parameters = plan.task, plan.parameters
    votes = planning.profile_votes(task, 0)
    answers, correct = plan.mechanism.law.expected_answers(*votes, task, parameters)
    chosen = ranking.Plan(
        plan.name, None, parameters, task.budget.epsilon, answers, correct, math.nan
    )
    return expectation.expect_labels(task, chosen, 0)


def list_session_mechanisms() -> list[str]:
    """Return the names of mechanisms that a session may have: those that need only counts.

    A committee answers by the votes of its members, whom a session would have to keep.

    >>> "committee" in list_session_mechanisms(), "gnmax_exact" in list_session_mechanisms()
    (False, True)
    """
    return [
        name for name in registry.offered_mechanisms() if load_mechanism(name).law.needs_only_counts
    ]


def enlarge_cap(plan: ReleasePlan, labels: int, queries: int | None = None) -> ReleasePlan:
    """Return the plan with a larger cap at the same noise; its epsilon is what that costs.

    The account of the larger cap covers all that was released under the smaller one.

    Args:
        plan: The plan in force.
        labels: The new cap on labels, at least the old one.
        queries: The new cap on queries, at least the old one; None: in proportion to labels.

    Raises:
        ValueError: If a cap is smaller than the old one, or if nothing is proven for larger ones.
    """
    checks.check_integer(at_least=plan.labels, labels=labels)
    if queries is None or not plan.may_abstain:
        queries = max(labels, math.ceil(plan.queries * labels / plan.labels))
    checks.check_integer(at_least=max(plan.queries, labels), queries=queries)
    task = replace(plan.task, wanted=Wanted(labels, queries))
    if refusal := plan.mechanism.refusal(task):
        raise ValueError(f"labels = {labels}: {plan.name}: {refusal}")
    larger = replace(plan, task=task, parameters=plan.parameters_for(queries, labels))
    epsilon = larger.epsilon(queries, labels, task.budget.delta)
    if not math.isfinite(epsilon):
        raise ValueError(
            f"labels = {labels}: no finite epsilon is proven at delta = {task.budget.delta}"
        )
    correct = plan.correct * labels / plan.labels
    budget = replace(task.budget, epsilon=epsilon)
    return replace(larger, task=replace(task, budget=budget), correct=correct)


def compare_caps(plan: ReleasePlan, shares: tuple[float, ...] = (0.5, 1.0, 2.0)) -> list[dict]:
    """Say what other caps would give within the same budget, by the same mechanism.

    Labels that are paid for and not used are accuracy lost: this is how much.

    Args:
        plan: The plan of a session.
        shares: Other caps, as shares of the plan's.

    Returns:
        A row for each share: cap, parameters (text), correct (how many of the cap's labels are
        expected to be right on the profile). A share for which nothing is proven is left out.
    """
    task, mechanism = plan.task, plan.mechanism
    assert task.wanted.queries is not None  # Wanted sets it to the number of labels
    votes, truth = planning.profile_votes(task, 0)
    rows = []
    for share in shares:
        labels = max(1, round(share * task.wanted.labels))
        queries = max(labels, round(share * task.wanted.queries))
        capped_task = replace(task, wanted=Wanted(labels, queries))
        parameters = plan.parameters
        if share != 1:
            try:
                parameters = ranking.best_parameters(mechanism, capped_task, votes, truth)
            except ValueError:
                continue
        _, correct = mechanism.law.expected_answers(votes, truth, capped_task, parameters)
        rows.append(
            {
                "cap": labels,
                "parameters": planning.describe_parameters(parameters),
                "correct": correct,
            }
        )
    return rows


def facts(plan: ReleasePlan) -> dict:
    """Return what a session states of itself: nothing in it depends on votes."""
    task = plan.task
    stated = task.to_dict()
    del stated["profile"], stated["counts_only"], stated["secure"]
    return {
        "mechanism": plan.name,
        "parameters": planning.describe_parameters(plan.parameters),
        **stated,
        "shards": task.protection.shards,
        "noise": "secure" if task.secure else "reproducible",
        "version": plan.version,
    }
