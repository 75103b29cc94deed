"""Tables of the planner: mechanisms by budget on a stated profile, and their exact audit.

settings: the section ``planner`` of the configuration. Nothing here looks at private votes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import NDArray

from private_ensembles.base import streams as randomness
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

# Queries of the profile that stand for a pool of fewer: five alone would say little about five.
_FEWEST = 500
# An ensemble small enough for all of its histograms.
_AUDITED_TEACHERS, _AUDITED_CLASSES = 7, (2, 3)


def build_task(settings: Mapping, epsilon: float, delta: float, **more) -> Task:
    """Return the task that the section describes; more: as `Task.stated` has it, in its place."""
    arguments = {
        "queries": settings["queries"],
        "labels": settings["labels"],
        "n_teachers": settings["teachers"],
        "n_classes": settings["n_classes"],
    }
    common = ("privacy_model", "adjacency", "teacher_epsilon", "teacher_Delta")
    arguments |= {name: settings[name] for name in common} | more
    profile = {"n_classes": arguments["n_classes"], **settings["profile"]}
    return Task.from_dict(arguments | {"epsilon": epsilon, "delta": delta, "profile": profile})


def attach_profile(task: Task, profile: Mapping | None) -> Task:
    """Return the task with a stated profile (None, or a missing key: as in config.yaml).

    Raises ValueError for a key that no profile has.
    """
    stated = {} if profile is None else dict(profile)
    if unknown := sorted(set(stated) - set(ASSUMED_PROFILE)):
        raise ValueError(f"profile: {', '.join(unknown)}: must be of {', '.join(ASSUMED_PROFILE)}")
    return replace(
        task, profile=ConsensusProfile(task.ensemble.classes, **(ASSUMED_PROFILE | stated))
    )


def profile_votes(task: Task, seed: int) -> tuple[NDArray, NDArray]:
    """Votes of the stated profile, for the task's sizes: counts (queries, classes), labels."""
    queries = ranking.sample_size(max(task.wanted.queries, _FEWEST), task.ensemble.classes)
    generator = randomness.generator(seed, "planner", "profile")
    size = task.ensemble.teachers, queries
    return synthetic_counts(task.profile, *size, generator)


def rank_on_profile(
    wanted: Task, names: Sequence[str] | None, seed: int, meter: Meter | None = None
) -> list[ranking.Plan]:
    """Rank the mechanisms for a task, as `ranking.rank_mechanisms` does, on votes of its stated profile."""
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
    """Return the task at every epsilon and the mechanisms ranked for it, as `ranking.rank_mechanisms` does."""
    secure = check_mode(noise) == "secure"
    planned = []
    for epsilon in epsilons:
        wanted = build_task(settings, epsilon, settings["delta"], secure=secure)
        planned.append((wanted, rank_on_profile(wanted, settings["mechanisms"], seed)))
        if meter is not None:
            meter.advance()
    return planned


def tabulate_plans(planned: Sequence[tuple[Task, Sequence[ranking.Plan]]]) -> pd.DataFrame:
    """Return `plans` as a table: columns as `plan_rows`, best first within each epsilon."""
    import pandas as pd

    return pd.DataFrame([row for wanted, plans in planned for row in plan_rows(wanted, plans)])


def plan_rows(task: Task, plans: Sequence[ranking.Plan]) -> list[dict]:
    """Return plans as rows of a table; correct, published and answers: expected, on the profile."""
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
    """Return the mechanisms that do not apply, by the reason, in their order."""
    by_reason: dict[str, list[str]] = {}
    for plan in plans:
        if plan.refusal is not None:
            by_reason.setdefault(plan.refusal, []).append(plan.mechanism)
    return by_reason


def describe_parameters(parameters: Parameters | None) -> str:
    """Return parameters as text of four significant digits: "sigma = 40, labels = 286"."""
    if parameters is None:
        return ""
    said = {
        name: f"{name} = {_format_value(value)}"
        for name, value in parameters.table_values().items()
    }
    return ", ".join(said.values())


def _format_value(value: float) -> str:
    return write_number(value) if float(value).is_integer() else f"{value:.4g}"


def audit_table(settings: Mapping, *, noise: str = "reproducible") -> pd.DataFrame:
    """Audit one label of every mechanism exactly, at a size at which all histograms can be listed.

    Columns: mechanism, teachers, classes, delta, claimed (epsilon at calibrated parameters), exact,
    verdict (``holds``, ``fails``, or why there is none).
    """
    import pandas as pd

    secure = check_mode(noise) == "secure"
    rows = []
    for name in settings["mechanisms"]:
        for n_classes in _AUDITED_CLASSES:
            wanted = build_task(
                settings,
                1.0,
                settings["delta"],
                queries=1,
                labels=1,
                n_teachers=_AUDITED_TEACHERS,
                n_classes=n_classes,
                secure=secure,
            )
            rows.append(audit_row(name, wanted))
    return pd.DataFrame(rows)


def audit_row(name: str, wanted: Task) -> dict:
    """Audit one mechanism on all histograms of the task; see `audit_table`."""
    row = {
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
