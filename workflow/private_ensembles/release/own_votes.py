"""Your own votes: a plan that does not look at them, the labels it releases, and what it costs.

The plan is made on the stated profile, for the ensemble's size alone, so it costs nothing. What is
computed from the votes without noise (`private_table`) is not for release. Numbers of queries,
teachers and classes are public: a neighbour has the same.

The workflow, the command and the API all go from the plan (`choose_mechanism`) to the labels
(`charge_and_release`) here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import streams
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.progress import Meter
from private_ensembles.labels import release_gate
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

if TYPE_CHECKING:  # a plan needs no pandas, whose import takes time
    import pandas as pd


@dataclass(frozen=True)
class MechanismChoice:
    """What to do with an ensemble.

    Attributes:
        task: What is wanted.
        plans: A plan for each mechanism, ranked on the profile, best first.
        chosen: The best one.
        expectation: What its labels are worth on the profile.
    """

    task: Task
    plans: list[ranking.Plan]
    chosen: ranking.Plan
    expectation: Expectation

    @property
    def applicable_plans(self) -> list[ranking.Plan]:
        """Return the plans of the mechanisms that apply, best first."""
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

    Args:
        votes: Only their numbers of queries, teachers and classes count.
        settings: The section ``planner``.
        budget: Keys epsilon, delta, labels_wanted (None: every query), noise.
        protection: Whom the guarantee protects; it takes the place of the settings' privacy model
            and adjacency.
        seed: The seed of the profile's votes.
        meter: As in `choose_mechanism`.
        announce_seconds: As in `choose_mechanism`.

    Raises:
        ValueError: If a value is out of range, or if no mechanism applies.
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
    """Rank the mechanisms on the task's profile, and choose the best.

    Args:
        task: What is wanted, with its profile.
        names: Names of mechanisms; None: all that are offered.
        seed: The seed of the profile's votes.
        meter: Counts mechanisms.
        announce_seconds: Called, before the work starts, with about how many seconds it takes to
            plan and to draw.

    Raises:
        ValueError: If no mechanism applies.
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
    """Return a row for every mechanism, best first: as `planning.plan_rows`, and `chosen`."""
    rows = planning.plan_rows(choice.task, choice.plans)
    return [row | {"chosen": row["mechanism"] == choice.chosen.mechanism} for row in rows]


def chosen_row(choice: MechanismChoice) -> dict:
    """Return the row of `public_rows` that is released."""
    return next(row for row in public_rows(choice) if row["chosen"])


def plan_of(choice: MechanismChoice) -> ReleasePlan:
    """Return the plan of a release, as a ledger and what is handed over state it."""
    return release_plan.make_plan(choice.task, choice.chosen, None)


def public_table(choice: MechanismChoice) -> pd.DataFrame:
    """Return the rows of `public_rows` as a table."""
    import pandas as pd

    return pd.DataFrame(public_rows(choice))


def labels_and_budgets_table(choice: MechanismChoice, seed: int) -> pd.DataFrame:
    """Return what the chosen mechanism and the next best give for fewer labels and other budgets.

    Like the plan, it rests on the profile alone.

    Args:
        choice: What `choose_mechanism` returned.
        seed: The seed that it was given.

    Returns:
        Rows and columns as `plan_scaling.vary_labels_and_budget` has them, and `chosen`.
    """
    import pandas as pd

    profile = planning.profile_votes(choice.task, seed)
    rows = plan_scaling.vary_labels_and_budget(choice.applicable_plans[:2], choice.task, *profile)
    table = pd.DataFrame(rows).drop(columns=["published", "not_applicable"])
    return table.assign(chosen=table["mechanism"] == choice.chosen.mechanism)


def public_facts(choice: MechanismChoice) -> dict[str, object]:
    """Return what was asked of the ensemble: nothing in it depends on votes."""
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

    The workflow, the command and the API do it here, after `expectation.announce_and_check`.

    Args:
        choice: What `choose_mechanism` returned.
        query_pool: The votes, and how labels are written.
        seed: The seed of a rehearsal's noise; secure noise has none.
        request: What is asked for; None if no ledger is kept, so that each call is paid anew.
        output_folder: The folder on whose ledger labels are charged; None if no ledger is kept.
        summarize: Returns what will be said of labels.
        anyway: Release labels of too little use, too.

    Raises:
        ValueError: If labels are of too little use, unless `anyway`, before anything is drawn,
            charged or written; and as `transaction.release_once` does.
        OSError: As `transaction.release_once` does.
    """
    if choice.task.secure and not anyway:
        choice.expectation.require_useful(allow="anyway=True")
    plan_and_epsilon = plan_of(choice), choice.chosen.epsilon

    def draw(votes: Votes) -> NDArray[np.int64]:
        return draw_labels(choice, votes, seed)

    return transaction.release_once(
        request, output_folder, plan_and_epsilon, query_pool, draw, summarize
    )


def draw_labels(choice: MechanismChoice, votes: Votes, seed: int | None) -> NDArray[np.int64]:
    """Draw the labels of votes, with secure noise if the task says so.

    Args:
        choice: What `choose_mechanism` returned.
        votes: The votes on all queries.
        seed: The seed of a rehearsal's noise; secure noise has none.

    Returns:
        int64 (queries,), -1 for a query without a label.

    Raises:
        ValueError: If the mechanism does not apply to the task (`Mechanism.refusal`).
    """
    task, chosen = choice.task, choice.chosen
    mechanism = load_mechanism(chosen.mechanism)
    if refusal := mechanism.refusal(task):
        raise ValueError(f"mechanism = {chosen.mechanism!r}: {refusal}")
    noise: SecureNoise | SeededNoise = SecureNoise()
    if not task.secure:
        assert seed is not None  # a rehearsal has one
        noise = SeededNoise(streams.generator(seed, "own votes", "release"))
    assert chosen.parameters is not None  # the mechanism applies
    return release_gate.release_from_votes(mechanism, votes, chosen.parameters, noise)


def private_table(
    choice: MechanismChoice, votes: Votes, meter: Meter | None = None
) -> pd.DataFrame:
    """Return what the votes say about every mechanism that applies: not for release.

    No cost is in it: what the labels cost holds for any votes, and stands in `public_table`.

    Args:
        choice: What `choose_mechanism` returned.
        votes: The votes on all queries.
        meter: Counts mechanisms.

    Returns:
        Columns mechanism, answers (expected), agreeing (expected labels equal to the plurality),
        correct (equal to the file's labels, among queries of known label), all three on
        `ranking.sample_size` queries at equal distances in the file.
    """
    import pandas as pd

    sample = _evenly_spaced_queries(votes.n_queries, votes.n_classes)
    counts, labels = votes.histogram(sample), votes.labels[sample]
    plurality, is_known = counts.argmax(axis=1), labels >= 0
    rows = []
    for plan in choice.applicable_plans:
        law, task, noise = load_mechanism(plan.mechanism).law, choice.task, plan.parameters
        assert noise is not None  # the mechanism applies
        answers, agreeing = law.expected_answers(counts, plurality, task, noise)
        correct = np.nan
        if is_known.any():
            _, correct_of_known = law.expected_answers(
                counts[is_known], labels[is_known], task, noise
            )
            correct = correct_of_known * is_known.mean()
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


def _evenly_spaced_queries(n_queries: int, n_classes: int) -> NDArray[np.int64]:
    number = ranking.sample_size(n_queries, n_classes)
    return np.linspace(0, n_queries - 1, number).round().astype(np.int64)
