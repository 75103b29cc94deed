"""Labels for counts of votes, drawn by the best mechanism that a budget can buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.laws import gamma as gamma_law
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.mechanisms.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
    private_teachers,
)
from private_ensembles.noise.secure import seed_of
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.planner import study
from private_ensembles.planner.defaults import PRIVACY
from private_ensembles.release import (
    certificate,
    expectation,
    own_votes,
    release_plan,
    statement,
)
from private_ensembles.release.expectation import Expectation
from private_ensembles.release.facts import Facts, stated
from private_ensembles.release.pool import pool_of
from private_ensembles.votes.arrays import of_arrays


@dataclass(frozen=True)
class Released:
    """Labels, and what all of them cost together.

    labels: int64 (queries,), -1 for a query without one. epsilon: at delta, for `adjacency`, an
    upper bound whatever the votes. secure: False for a rehearsal, which must not be released.
    facts: as they were stated. expectation: what the labels are worth on the profile
    (`expectation.lines()` says it in words).
    terms: the plan, as text, from which `release_statement` tells what was released.
    """

    labels: NDArray[np.int64]
    mechanism: str
    parameters: Parameters
    epsilon: float
    delta: float
    privacy_model: str
    adjacency: str
    secure: bool
    facts: Facts
    expectation: Expectation
    terms: str = ""


def release_labels(
    counts: ArrayLike,
    *,
    epsilon: float,
    delta: float,
    labels: int | None = None,
    most_ones: int | None = None,
    teachers: int | None = None,
    answer: str | Sequence[int] = "first",
    mechanism: str | None = None,
    profile: Mapping | None = None,
    shards: str | None = None,
    unit: str = "record",
    reach: int = 1,
    anyway: bool = False,
    adjacency: str = PRIVACY["adjacency"],
    teacher_epsilon: float | None = PRIVACY["teacher_epsilon"],
    teacher_delta: float = PRIVACY["teacher_Delta"],
    noise: str = "secure",
    seed: int | None = None,
) -> Released:
    """Draw labels for vote counts within a budget, once.

    >>> counts = np.tile([[90, 10], [20, 80]], (10, 1))  # 20 queries, 100 teachers, 2 classes
    >>> released = release_labels(counts, epsilon=2, delta=1e-5, noise="reproducible", seed=2)
    >>> released.labels.tolist() == [0, 1] * 10, released.epsilon <= 2
    (True, True)

    counts: integers (queries, classes); each row adds up to the number of teachers, two at least.
    teachers: how many there are, if some may say nothing about a query: rows then add up to at most
    so many, and absent ballots are dealt out to the classes (docs/ballots.md). epsilon, delta: the
    budget of all labels together. labels: the most that are wanted; None: all. most_ones: how many
    queries a teacher votes 1 on at most, of two classes: whoever hands in the counts has left no
    more of any teacher's (docs/multi-label.md). answer: for which queries: ``first``,
    those at the top; ``random``, drawn whatever the votes; or the numbers, from 0, of the only
    queries to answer, which must not be chosen by looking at votes. mechanism: its name; None: the
    best on the profile. profile, adjacency, teacher_epsilon, teacher_delta: as in :func:`plan`; the
    profile never from these votes. shards: ``disjoint`` if no record is in the data of two
    teachers, or ``shared``; stated unless it is a rehearsal. unit, reach: what one record is,
    such as "patient", and the most shards that one may be in. anyway: release labels of which, on
    the profile, too few would be right to be of use. noise: ``secure`` (the system's entropy; then
    no seed) or ``reproducible``: a rehearsal, with `seed` (default 0).

    Each call spends its budget again and keeps no record: two calls cost the sum.
    `private-ensembles release` keeps one. What must not be missed about labels and budget is a
    warning (`warnings.warn`). Raises ValueError, in one line, for counts that are not such a table,
    for values out of range, if no mechanism applies, and if the labels would be of too little use.
    Source: docs/your-own-votes.md.
    """
    votes = of_arrays(counts, teachers=teachers, most_ones=most_ones)
    seed = seed_of(noise, seed)
    secure = seed is None
    if mechanism is not None:
        checks.one_of(registry.offered(), mechanism=mechanism)
    facts = stated(shards, unit, reach, secure=secure)
    asked = pool_of(votes, answer, seed=seed)
    wanted = asked.votes.n_queries if labels is None else labels
    private = private_teachers(teacher_epsilon, teacher_delta)
    task = Task(
        Ensemble(votes.n_teachers, votes.n_classes, votes.absent, private),
        Budget(epsilon, delta),
        Wanted(wanted, asked.votes.n_queries, votes.most_ones),
        Protection(facts.privacy_model, adjacency, facts.reach),
        secure=secure,
        counts_only=True,
    )
    names = None if mechanism is None else [mechanism]
    application = own_votes.planned(study.on_profile(task, profile), names, facts, 0)
    expectation.tell(application.expectation, secure=secure, anyway=anyway)
    best, terms = application.chosen, own_votes.chosen_row(application)["terms"]
    drawn = own_votes.serve(application, asked.votes, seed, text=asked.text, anyway=anyway)
    return Released(
        drawn.by_query(votes.n_queries),
        best.mechanism,
        best.parameters,
        best.epsilon,
        delta,
        task.protection.privacy_model,
        task.protection.adjacency,
        secure,
        facts,
        application.expectation,
        terms,
    )


def release_statement(released: Released) -> str:
    """Return a statement on released labels to hand over, as one self-contained page of HTML.

    >>> counts = np.tile([[90, 10], [20, 80]], (10, 1))
    >>> released = release_labels(counts, epsilon=2, delta=1e-5, noise="reproducible", seed=1)
    >>> "This is a rehearsal" in release_statement(released)
    True

    released: what :func:`release_labels` returned. The page says what was released, who is
    protected, what that means in odds, by which theorem, and what is not protected: a function of
    the plan and of how many labels there are. Labels that `private-ensembles release` or a session
    releases have it beside them, with a certificate, what all releases cost together, and the time.
    Raises ValueError for terms that another version of this program wrote.
    """
    plan = release_plan.read(released.terms)
    proof = certificate.proof_or_reason(plan, released.epsilon)
    number = int((released.labels >= 0).sum())
    charged = statement.Charged(released.epsilon, released.delta, labels=number)
    return statement.statement(plan, proof, charged)


def release_darrm(
    counts: ArrayLike, gamma: ArrayLike, noise: np.random.Generator | Seeded | Secure
) -> NDArray[np.uint8]:
    """Release one label for every count of teachers that say 1 (DaRRM, Algorithm 1).

    >>> gamma = np.ones(4)  # of 3 teachers, and without any noise
    >>> release_darrm([0, 1, 2, 3], gamma, np.random.default_rng(0)).tolist()
    [0, 0, 1, 1]

    counts: integers in 0..K, any shape. gamma: (K + 1,), as `optimize_gamma` finds it. noise: a
    NumPy generator, for labels that can be repeated, or `noise.sources.Secure()`. Returns 0 or 1 in
    counts' shape. Raises ValueError for counts and gamma out of range.
    """
    source = Seeded(noise) if isinstance(noise, np.random.Generator) else noise
    return gamma_law.release(counts, gamma, source)
