"""Tables of the planner: mechanisms by budget on a stated profile, and their exact audit.

An argument `settings` is the section ``planner`` of the configuration. Nothing here looks at
private votes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from private_ensembles.base import streams
from private_ensembles.base.parameter_names import write_number
from private_ensembles.base.progress import Meter
from private_ensembles.base.secure import check_mode
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.planner import ranking
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.task import Task

if TYPE_CHECKING:  # pandas comes with an extra, and `plan_rows` needs none
    import pandas as pd

# A smaller pool is judged by so many queries of the profile: five would say little about five.
_FEWEST_QUERIES = 500
# All histograms of an ensemble of this size can be listed.
_AUDITED_TEACHERS, _AUDITED_CLASSES = 7, (2, 3)


def build_task(settings: Mapping, epsilon: float, delta: float, **changed) -> Task:
    """Return the task that the section describes, at one budget.

    Args:
        settings: The section ``planner``.
        epsilon: The epsilon of all labels together.
        delta: The delta of all labels together.
        **changed: Entries of `Task.to_dict` that replace what the section says.
    """
    arguments = {
        "queries": settings["queries"],
        "labels": settings["labels"],
        "n_teachers": settings["teachers"],
        "n_classes": settings["n_classes"],
    }
    common = ("privacy_model", "adjacency", "teacher_epsilon", "teacher_Delta")
    arguments |= {name: settings[name] for name in common} | changed
    profile = {"n_classes": arguments["n_classes"], **settings["profile"]}
    return Task.from_dict(arguments | {"epsilon": epsilon, "delta": delta, "profile": profile})


def attach_profile(task: Task, profile: Mapping | None) -> Task:
    """Return the task with a stated profile.

    Args:
        task: What is wanted.
        profile: How the teachers agree. None or a missing key stands for what config.yaml has.

    Raises:
        ValueError: No profile has such a key.
    """
    stated = {} if profile is None else dict(profile)
    if unknown := sorted(set(stated) - set(ASSUMED_PROFILE)):
        raise ValueError(f"profile: {', '.join(unknown)}: must be of {', '.join(ASSUMED_PROFILE)}")
    return replace(
        task, profile=ConsensusProfile(task.ensemble.classes, **(ASSUMED_PROFILE | stated))
    )


def profile_votes(task: Task, seed: int) -> tuple[NDArray, NDArray]:
    """Draw votes of the task's profile, for its sizes.

    Args:
        task: A task with a profile.
        seed: The seed of the votes.

    Returns:
        The counts, (queries, classes) int, and the true labels, (queries,) int.
    """
    assert task.profile is not None
    queries = ranking.sample_size(max(task.wanted.queries, _FEWEST_QUERIES), task.ensemble.classes)
    generator = streams.generator(seed, "planner", "profile")
    size = task.ensemble.teachers, queries
    return synthetic_counts(task.profile, *size, generator)


def rank_on_profile(
    wanted: Task, names: Sequence[str] | None, seed: int, meter: Meter | None = None
) -> list[ranking.Plan]:
    """Rank the mechanisms for a task by `ranking.rank_mechanisms`, on votes of its profile.

    Args:
        wanted: The task, with a profile.
        names: The mechanisms to rank; None for all that are offered.
        seed: The seed of the profile's votes.
        meter: Advanced by one for each mechanism.
    """
    counts, labels = profile_votes(wanted, seed)
    return ranking.rank_mechanisms(wanted, counts, labels, names, meter)


def plan_budgets(
    settings: Mapping,
    epsilons: Sequence[float],
    seed: int,
    meter=None,
    *,
    noise: str = "reproducible",
) -> list[tuple[Task, list[ranking.Plan]]]:
    """Return the task at every epsilon, with the mechanisms ranked for it.

    Args:
        settings: The section ``planner``.
        epsilons: The epsilon of all labels together, for each task.
        seed: The seed of the profile's votes.
        meter: Advanced by one for each epsilon.
        noise: ``reproducible`` or ``secure``.
    """
    secure = check_mode(noise) == "secure"
    planned = []
    for epsilon in epsilons:
        task = build_task(settings, epsilon, settings["delta"], secure=secure)
        planned.append((task, rank_on_profile(task, settings["mechanisms"], seed)))
        if meter is not None:
            meter.advance()
    return planned


def tabulate_plans(planned: Sequence[tuple[Task, Sequence[ranking.Plan]]]) -> pd.DataFrame:
    """Return the result of `plan_budgets` as a table with the columns of `plan_rows`.

    Within each epsilon the best mechanism comes first.
    """
    import pandas as pd

    return pd.DataFrame([row for task, plans in planned for row in plan_rows(task, plans)])


def plan_rows(task: Task, plans: Sequence[ranking.Plan]) -> list[dict]:
    """Return plans as rows of a table.

    The columns correct, published and answers are expected numbers on the profile.
    """
    return [
        {
            "mechanism": plan.mechanism,
            "name": registry.get_entry(plan.mechanism).label,
            "budget_epsilon": task.budget.epsilon,
            "delta": task.budget.delta,
            "epsilon": plan.epsilon,
            "wanted": task.wanted.labels,
            "answers": plan.answers,
            "correct": plan.correct,
            "published": plan.published,
            "parameters": describe_parameters(plan.parameters),
            "privacy_model": task.protection.privacy_model,
            "adjacency": task.protection.adjacency,
            "not_applicable": plan.refusal or "",
        }
        for plan in plans
    ]


def refusals(plans: Sequence[ranking.Plan]) -> dict[str, list[str]]:
    """Return the names of the mechanisms that do not apply, by the reason, in their order."""
    by_reason: dict[str, list[str]] = {}
    for plan in plans:
        if plan.refusal is not None:
            by_reason.setdefault(plan.refusal, []).append(plan.mechanism)
    return by_reason


def describe_parameters(parameters: Parameters | None) -> str:
    """Return parameters as text of four significant digits: "sigma = 40, labels = 286"."""
    if parameters is None:
        return ""
    values = parameters.table_values()
    return ", ".join(f"{name} = {_format_value(value)}" for name, value in values.items())


def _format_value(value: float) -> str:
    return write_number(value) if float(value).is_integer() else f"{value:.4g}"


def audit_table(settings: Mapping, *, noise: str = "reproducible") -> pd.DataFrame:
    """Audit one label of every mechanism exactly, at a size at which all histograms can be listed.

    Args:
        settings: The section ``planner``.
        noise: ``reproducible`` or ``secure``.

    Returns:
        A table with the columns mechanism, teachers, classes, delta, claimed (epsilon at calibrated
        parameters), exact, and verdict (``holds``, ``fails``, or why there is none).
    """
    import pandas as pd

    secure = check_mode(noise) == "secure"
    rows = []
    for name in settings["mechanisms"]:
        for n_classes in _AUDITED_CLASSES:
            task = build_task(
                settings,
                1.0,
                settings["delta"],
                queries=1,
                labels=1,
                n_teachers=_AUDITED_TEACHERS,
                n_classes=n_classes,
                secure=secure,
            )
            rows.append(audit_row(name, task))
    return pd.DataFrame(rows)


def audit_row(name: str, wanted: Task) -> dict:
    """Audit one mechanism on all histograms of the task, and return a row of `audit_table`."""
    row: dict[str, Any] = {
        "mechanism": name,
        "teachers": wanted.ensemble.teachers,
        "classes": wanted.ensemble.classes,
        "delta": wanted.budget.delta,
        "claimed": math.nan,
        "exact": math.nan,
    }
    mechanism = load_mechanism(name)
    if refusal := mechanism.refusal(wanted):
        return row | {"verdict": refusal}
    parameters = mechanism.calibrate(wanted)
    row["claimed"] = mechanism.cost(wanted, parameters).claimed
    if not mechanism.guarantee.hides_votes:
        return row | {"verdict": "rests on the teachers' own privacy"}
    row["exact"] = (
        mechanism.law.build_audit(wanted, parameters).worst_inputs(wanted.budget.delta).epsilon
    )
    holds = row["exact"] <= row["claimed"] * (1 + 1e-9)
    return row | {"verdict": "holds" if holds else "fails"}
