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
from private_ensembles.base.progress import Meter
from private_ensembles.base.sources import Secure, Seeded
from private_ensembles.labels import door as door
from private_ensembles.labels.marks import NOT_FOR_RELEASE
from private_ensembles.labels.mechanism import load
from private_ensembles.labels.planner import planning, ranking, scaled
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
    private_teachers,
)
from private_ensembles.labels.votes import Votes
from private_ensembles.release import expectation, release_plan, releasing
from private_ensembles.release.expectation import Expectation
from private_ensembles.release.pool import Pool
from private_ensembles.release.release_plan import ReleasePlan

if TYPE_CHECKING:  # a plan needs none
    import pandas as pd


@dataclass(frozen=True)
class Application:
    """What to do with an ensemble: the task, the plans ranked on the profile, the one chosen.

    expectation: what the labels are worth on the profile.
    """

    task: Task
    plans: list[ranking.Plan]
    chosen: ranking.Plan
    expectation: Expectation

    @property
    def applying(self) -> list[ranking.Plan]:
        """The plans of the mechanisms that apply, best first."""
        return [plan for plan in self.plans if plan.refusal is None]


def plan_for(
    votes: Votes,
    settings: Mapping,
    budget: Mapping,
    protection: Protection,
    seed: int,
    meter: Meter | None = None,
    expect: Callable[[float], None] | None = None,
) -> Application:
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
    private = private_teachers(settings["teacher_epsilon"], settings["teacher_Delta"])
    task = Task(
        Ensemble(votes.n_teachers, votes.n_classes, votes.absent, private),
        Budget(budget["epsilon"], budget["delta"]),
        Wanted(wanted, votes.n_queries, votes.most_ones),
        protection,
        secure=budget["noise"] == "secure",
        counts_only=votes.votes is None,
    )
    task = planning.on_profile(task, settings["profile"])
    return planned(task, settings["mechanisms"], seed, meter, expect)


def planned(
    task: Task,
    names: Sequence[str] | None,
    seed: int,
    meter: Meter | None = None,
    expect: Callable[[float], None] | None = None,
) -> Application:
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
    if expect is not None:
        expect(ranking.about_seconds(task, release=True))
    plans = planning.ranked(task, names, seed, meter)
    if plans[0].refusal is not None:
        reasons = "; ".join(
            f"{', '.join(names)}: {reason}" for reason, names in planning.refusals(plans).items()
        )
        raise ValueError(f"no mechanism applies: {reasons}")
    expected = expectation.of(task, plans[0], seed)
    return Application(task, plans, plans[0], expected)


def public_rows(application: Application) -> list[dict]:
    """Every mechanism at the budget, best first: as `planning.plan_rows`, and `chosen`."""
    rows = planning.plan_rows(application.task, application.plans)
    return [row | {"chosen": row["mechanism"] == application.chosen.mechanism} for row in rows]


def chosen_row(application: Application) -> dict:
    """The row of `public_rows` that is released."""
    return next(row for row in public_rows(application) if row["chosen"])


def plan_of(application: Application) -> ReleasePlan:
    """The plan of a release, as a ledger and what is handed over state it."""
    return release_plan.of(application.task, application.chosen, None)


def public_table(application: Application) -> pd.DataFrame:
    """The rows of `public_rows` as a table."""
    import pandas as pd

    return pd.DataFrame(public_rows(application))


def curves_table(application: Application, seed: int) -> pd.DataFrame:
    """Say what the chosen mechanism and the next best give for fewer labels and other budgets.

    Rows and columns as `scaled.around`, and `chosen`. Like the plan it rests on the profile
    alone. seed: that of the plan.
    """
    import pandas as pd

    profile = planning.profile_votes(application.task, seed)
    rows = scaled.around(application.applying[:2], application.task, *profile)
    table = pd.DataFrame(rows).drop(columns=["published", "not_applicable"])
    return table.assign(chosen=table["mechanism"] == application.chosen.mechanism)


def public_facts(application: Application) -> dict[str, object]:
    """What was asked of the ensemble: nothing in it depends on votes."""
    task = application.task
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


def serve(
    application: Application,
    asked: Pool,
    seed: int | None,
    request: releasing.Request | None = None,
    place: releasing.Place | None = None,
    *,
    tell: Callable[[releasing.Labels], object] | None = None,
    anyway: bool = False,
) -> releasing.Labels:
    """Charge the labels of a plan, draw them, and return what may be shown: the only way to them.

    The workflow, the command and the API do it here, after `expectation.tell`. asked: the votes,
    and how labels are written. seed: of a rehearsal's noise; secure noise has none. request, place:
    what is asked for and the place whose ledger it is charged on, as in `releasing.release`, which
    says what else is raised; None for who keeps no ledger, who pays for each call anew. tell: makes
    of labels what will be said of them. anyway: release labels of too little use, too; else they
    raise ValueError, before anything is drawn, charged or written.
    """
    if application.task.secure and not anyway:
        application.expectation.require(allow="anyway=True")
    planned = plan_of(application), application.chosen.epsilon

    def draw(votes: Votes) -> NDArray[np.int64]:
        return release(application, votes, seed)

    return releasing.release(request, place, planned, asked, draw, tell)


def release(application: Application, votes: Votes, seed: int | None) -> NDArray[np.int64]:
    """Release the labels, (queries,), -1 if there is none; with secure noise if the task says so.

    Raises ValueError for a mechanism that does not apply to the task (`Mechanism.refusal`).
    """
    task, chosen = application.task, application.chosen
    mechanism = load(chosen.mechanism)
    if refusal := mechanism.refusal(task):
        raise ValueError(f"mechanism = {chosen.mechanism!r}: {refusal}")
    if task.secure:
        noise = Secure()
    else:
        noise = Seeded(randomness.generator(seed, "own votes", "release"))
    return door.release_votes(mechanism, votes, chosen.parameters, noise)


def private_table(
    application: Application, votes: Votes, meter: Meter | None = None
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
    for plan in application.applying:
        mechanism = load(plan.mechanism)
        task = application.task
        answers, agreeing = mechanism.law.expected(asked, plurality, task, plan.parameters)
        correct = np.nan
        if known.any():
            share = mechanism.law.expected(asked[known], labels[known], task, plan.parameters)[1]
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
