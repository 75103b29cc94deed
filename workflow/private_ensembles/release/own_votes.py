"""Your own votes: a plan that does not look at them, the labels it releases, and what it costs.

The plan is made on the stated profile, for the ensemble's size alone, so it costs nothing. What is
computed from the votes without noise (`private_table`) is not for release. Numbers of queries,
teachers and classes are public: a neighbour has the same.

The workflow, the command and the API all go from the plan (`planned`) to the labels (`serve`) here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import streams as randomness
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.progress import Meter
from private_ensembles.labels import release_gate as door
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import plan_scaling, planning, ranking
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
    private_teacher_budget,
)
from private_ensembles.labels.votes import Votes
from private_ensembles.release import expectation, release_plan, transaction
from private_ensembles.release.expectation import Expectation
from private_ensembles.release.pool import Pool
from private_ensembles.release.release_plan import ReleasePlan

if TYPE_CHECKING:  # a plan needs none
    import pandas as pd


@dataclass(frozen=True)
class MechanismChoice:
    """What to do with an ensemble: the task, the plans ranked on the profile, the one chosen.

    expectation: what the labels are worth on the profile.
    """

    task: Task
    plans: list[ranking.Plan]
    chosen: ranking.Plan
    expectation: Expectation

    @property
    def applicable_plans(self) -> list[ranking.Plan]:
        """The plans of the mechanisms that apply, best first."""
        return [plan for plan in self.plans if plan.refusal is None]


def plan_for(
    votes: Votes,
    settings: Mapping,
    budget: Mapping,
    protection: Protection,
    seed: int,
    meter: Meter | None = None,
    announce_seconds: Callable[[float], None] | None = None,
) -> MechanismChoice:
    """Plan the release of labels for votes of this size; nothing else about them is used.

    settings: the section ``planner``, in which `protection` takes the place of the privacy model
    and the adjacency. budget: epsilon, delta, labels_wanted (None: every query), noise. meter,
    expect: as in `planned`. Raises ValueError for values out of range, or if no mechanism applies.
    """
    wanted = votes.n_queries if budget["labels_wanted"] is None else budget["labels_wanted"]
    if not 1 <= wanted <= votes.n_queries:
        raise ValueError(
            f"labels_wanted = {wanted}: must be at least 1 and at most the number of queries, "
            f"{votes.n_queries}"
        )
    private = private_teacher_budget(settings["teacher_epsilon"], settings["teacher_Delta"])
    task = Task(
        Ensemble(votes.n_teachers, votes.n_classes, votes.absent, private),
        Budget(budget["epsilon"], budget["delta"]),
        Wanted(wanted, votes.n_queries, votes.most_ones),
        protection,
        secure=budget["noise"] == "secure",
        counts_only=votes.votes is None,
    )
    task = planning.attach_profile(task, settings["profile"])
    return choose_mechanism(task, settings["mechanisms"], seed, meter, announce_seconds)


def choose_mechanism(
    task: Task,
    names: Sequence[str] | None,
    seed: int,
    meter: Meter | None = None,
    announce_seconds: Callable[[float], None] | None = None,
) -> MechanismChoice:
    """Rank the mechanisms on the task's profile, drawn from the seed, and choose the best.

    names: of mechanisms; None: all that are offered. meter:
    counts mechanisms. expect: told, before the work starts, about how many seconds it takes to plan
    and to draw. Raises ValueError if no mechanism applies.
    """
    if task.protection.shards == "shared" and task.ensemble.private is None:
        raise ValueError(
            "shards = shared: no mechanism applies to teachers that share data and are not private "
            "themselves: noise on votes hides one teacher's, and a record may move them all; train "
            "the teachers with DP-SGD and say what one costs (teacher_epsilon = ...)"
        )
    if announce_seconds is not None:
        announce_seconds(ranking.estimate_seconds(task, release=True))
    plans = planning.rank_on_profile(task, names, seed, meter)
    if plans[0].refusal is not None:
        reasons = "; ".join(
            f"{', '.join(names)}: {reason}" for reason, names in planning.refusals(plans).items()
        )
        raise ValueError(f"no mechanism applies: {reasons}")
    expected = expectation.expect_labels(task, plans[0], seed)
    return MechanismChoice(task, plans, plans[0], expected)


def public_rows(choice: MechanismChoice) -> list[dict]:
    """Every mechanism at the budget, best first: as `planning.plan_rows`, and `chosen`."""
    rows = planning.plan_rows(choice.task, choice.plans)
    return [row | {"chosen": row["mechanism"] == choice.chosen.mechanism} for row in rows]


def chosen_row(choice: MechanismChoice) -> dict:
    """The row of `public_rows` that is released."""
    return next(row for row in public_rows(choice) if row["chosen"])


def plan_of(choice: MechanismChoice) -> ReleasePlan:
    """The plan of a release, as a ledger and what is handed over state it."""
    return release_plan.make_plan(choice.task, choice.chosen, None)


def public_table(choice: MechanismChoice) -> pd.DataFrame:
    """The rows of `public_rows` as a table."""
    import pandas as pd

    return pd.DataFrame(public_rows(choice))


def curves_table(choice: MechanismChoice, seed: int) -> pd.DataFrame:
    """Say what the chosen mechanism and the next best give for fewer labels and other budgets.

    Rows and columns as `scaled.vary_labels_and_budget`, and `chosen`. Like the plan it rests on the profile
    alone. seed: that of the plan.
    """
    import pandas as pd

    profile = planning.profile_votes(choice.task, seed)
    rows = plan_scaling.vary_labels_and_budget(choice.applicable_plans[:2], choice.task, *profile)
    table = pd.DataFrame(rows).drop(columns=["published", "not_applicable"])
    return table.assign(chosen=table["mechanism"] == choice.chosen.mechanism)


def public_facts(choice: MechanismChoice) -> dict[str, object]:
    """What was asked of the ensemble: nothing in it depends on votes."""
    task = choice.task
    stated: dict[str, object] = {"absent": True} if task.ensemble.absent else {}
    if task.wanted.most_ones is not None:
        stated["most_ones"] = task.wanted.most_ones
    return {
        "queries": task.wanted.queries,
        "teachers": task.ensemble.teachers,
        "classes": task.ensemble.classes,
        "wanted": task.wanted.labels,
        "epsilon": task.budget.epsilon,
        "delta": task.budget.delta,
        "noise": "secure" if task.secure else "reproducible",
        "shards": task.protection.shards,
        "unit": task.protection.unit,
        "reach": task.protection.reach,
        **stated,
    }


def charge_and_release(
    choice: MechanismChoice,
    query_pool: Pool,
    seed: int | None,
    request: transaction.Request | None = None,
    output_folder: transaction.OutputFolder | None = None,
    *,
    summarize: Callable[[transaction.Labels], object] | None = None,
    anyway: bool = False,
) -> transaction.Labels:
    """Charge the labels of a plan, draw them, and return what may be shown: the only way to them.

    The workflow, the command and the API do it here, after `expectation.announce_and_check`. asked: the votes,
    and how labels are written. seed: of a rehearsal's noise; secure noise has none. request, place:
    what is asked for and the place whose ledger it is charged on, as in `releasing.release_once`, which
    says what else is raised; None for who keeps no ledger, who pays for each call anew. tell: makes
    of labels what will be said of them. anyway: release labels of too little use, too; else they
    raise ValueError, before anything is drawn, charged or written.
    """
    if choice.task.secure and not anyway:
        choice.expectation.require_useful(allow="anyway=True")
    planned = plan_of(choice), choice.chosen.epsilon

    def draw(votes: Votes) -> NDArray[np.int64]:
        return draw_labels(choice, votes, seed)

    return transaction.release_once(request, output_folder, planned, query_pool, draw, summarize)


def draw_labels(choice: MechanismChoice, votes: Votes, seed: int | None) -> NDArray[np.int64]:
    """Release the labels, (queries,), -1 if there is none; with secure noise if the task says so.

    Raises ValueError for a mechanism that does not apply to the task (`Mechanism.refusal`).
    """
    task, chosen = choice.task, choice.chosen
    mechanism = load_mechanism(chosen.mechanism)
    if refusal := mechanism.refusal(task):
        raise ValueError(f"mechanism = {chosen.mechanism!r}: {refusal}")
    if task.secure:
        noise = SecureNoise()
    else:
        noise = SeededNoise(randomness.generator(seed, "own votes", "release"))
    return door.release_from_votes(mechanism, votes, chosen.parameters, noise)


def private_table(
    choice: MechanismChoice, votes: Votes, meter: Meter | None = None
) -> pd.DataFrame:
    """What the votes say about every mechanism that applies: not for release.

    Columns: mechanism, answers (expected), agreeing (expected labels equal to the plurality),
    correct (equal to the file's labels, among queries of known label), all three on
    `ranking.sample_size` queries at equal distances in the file. No cost is among them: what
    the labels cost holds for any votes, and stands in `public_table`. meter: counts mechanisms.
    """
    import pandas as pd

    counts = votes.histogram()
    sample = _sample(*counts.shape)
    asked, plurality, labels = counts[sample], counts[sample].argmax(axis=1), votes.labels[sample]
    known = labels >= 0
    rows = []
    for plan in choice.applicable_plans:
        mechanism = load_mechanism(plan.mechanism)
        task = choice.task
        answers, agreeing = mechanism.law.expected_answers(asked, plurality, task, plan.parameters)
        correct = np.nan
        if known.any():
            share = mechanism.law.expected_answers(
                asked[known], labels[known], task, plan.parameters
            )[1]
            correct = share * known.mean()
        rows.append(
            {
                "mechanism": plan.mechanism,
                "answers": answers,
                "agreeing": agreeing,
                "correct": correct,
                "release": NOT_FOR_RELEASE,
            }
        )
        if meter is not None:
            meter.advance()
    return pd.DataFrame(rows)


def _sample(n_queries: int, n_classes: int) -> NDArray[np.int64]:
    number = ranking.sample_size(n_queries, n_classes)
    return np.linspace(0, n_queries - 1, number).round().astype(np.int64)
