"""Labels for counts of votes, drawn by the best mechanism that a budget can buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels import registry
from private_ensembles.labels.array_votes import votes_from_arrays
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.planner import planning
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Task,
    Wanted,
    require_protection,
)
from private_ensembles.papers.darrm import law as gamma_law
from private_ensembles.release import (
    certificate,
    expectation,
    own_votes,
    release_plan,
    statement,
)
from private_ensembles.release.expectation import Expectation
from private_ensembles.release.pool import Pool


@dataclass(frozen=True)
class Released:
    """Labels, and what all of them cost together.

    Attributes:
        labels: int64 (queries,), -1 for a query without one.
        mechanism: Its name.
        parameters: Its noise.
        epsilon: An upper bound on the cost of all labels at `delta`, for the adjacency of
            `protection`, whatever the votes.
        delta: The delta of that cost.
        protection: Whom the guarantee protects.
        secure: False for a rehearsal, which must not be released.
        expectation: What the labels are worth on the profile; `expectation.summary_lines()` says
            it in words.
        terms: The plan as text, from which `release_statement` tells what was released.
    """

    labels: NDArray[np.int64]
    mechanism: str
    parameters: Parameters
    epsilon: float
    delta: float
    protection: Protection
    secure: bool
    expectation: Expectation
    terms: str = ""


def release_labels(
    counts: ArrayLike,
    budget: Budget | Sequence[float],
    protection: Protection | None = None,
    *,
    labels: Wanted | int | None = None,
    ensemble: Ensemble | None = None,
    mechanism: str | None = None,
    profile: Mapping | None = None,
    rehearsal: Rehearsal | None = None,
    anyway: bool = False,
) -> Released:
    """Draw labels for vote counts within a budget, once.

    >>> counts = np.tile([[90, 10], [20, 80]], (10, 1))  # 20 queries, 100 teachers, 2 classes
    >>> released = release_labels(counts, Budget(2, 1e-5), rehearsal=Rehearsal(seed=2))
    >>> released.labels.tolist() == [0, 1] * 10, released.epsilon <= 2
    (True, True)

    Each call spends its budget again and keeps no record: two calls cost the sum.
    `private-ensembles release` keeps one. What must not be missed about labels and budget is a
    warning (`warnings.warn`).

    Args:
        counts: Integers (queries, classes); the first queries are answered first. Each row adds up
            to the number of teachers, at least two.
        budget: What all labels may cost together.
        protection: Whom the guarantee protects; may be left out for a rehearsal.
        labels: The most labels that are wanted, or a `Wanted`. This also says on how many queries
            of two classes a teacher votes 1 at most; whoever hands in the counts has left no more
            of any teacher's (docs/other-labels.md). None: one label for each query.
        ensemble: Must be given if ballots may be absent, or if teachers are private themselves;
            None: it is read off the counts. With absent ballots, rows add up to at most the number
            of teachers, and the missing votes are dealt out to the classes (docs/own-votes.md).
        mechanism: Its name; None: the best on the profile.
        profile: As in :func:`plan`; never from these votes.
        rehearsal: For labels that must not be released; None: noise from the system's entropy.
        anyway: Release labels even if too few would be right, on the profile, to be of use.

    Raises:
        ValueError: If counts are not such a table, if a value is out of range, if no mechanism
            applies, or if the labels would be of too little use. The message is one line.

    References:
        docs/own-votes.md.
    """
    wanted = None if labels is None else Wanted.coerce(labels)
    votes = votes_from_arrays(
        counts,
        teachers=None if ensemble is None else ensemble.teachers,
        absent=ensemble is not None and ensemble.absent,
        most_ones=None if wanted is None else wanted.most_ones,
    )
    if ensemble is not None and ensemble.classes != votes.n_classes:
        raise ValueError(
            f"counts of {votes.n_classes} classes: must be of {ensemble.classes}, as the ensemble"
        )
    if mechanism is not None:
        checks.check_choice(registry.offered_mechanisms(), mechanism=mechanism)
    number = votes.n_queries if wanted is None else wanted.labels
    task = Task(
        Ensemble(
            votes.n_teachers,
            votes.n_classes,
            votes.absent,
            None if ensemble is None else ensemble.private,
        ),
        Budget.coerce(budget),
        Wanted(number, votes.n_queries, votes.most_ones),
        require_protection(protection, secure=rehearsal is None),
        secure=rehearsal is None,
        counts_only=True,
    )
    names = None if mechanism is None else [mechanism]
    choice = own_votes.choose_mechanism(planning.attach_profile(task, profile), names, 0)
    expectation.announce_and_check(choice.expectation, secure=task.secure, anyway=anyway)
    best, plan = choice.chosen, own_votes.plan_of(choice)
    seed = None if rehearsal is None else rehearsal.seed
    drawn = own_votes.charge_and_release(choice, Pool(votes), seed, anyway=anyway)
    return Released(
        drawn.label_of_each_query(votes.n_queries),
        best.mechanism,
        plan.parameters,
        best.epsilon,
        task.budget.delta,
        task.protection,
        task.secure,
        choice.expectation,
        plan.to_json(),
    )


def release_statement(released: Released) -> str:
    """Return a statement on released labels to hand over, as one self-contained page of HTML.

    >>> counts = np.tile([[90, 10], [20, 80]], (10, 1))
    >>> released = release_labels(counts, Budget(2, 1e-5), rehearsal=Rehearsal(seed=1))
    >>> "This is a rehearsal" in release_statement(released)
    True

    The page says what was released, who is protected, what that means in odds, by which theorem,
    and what is not protected. It is a function of the plan and of how many labels there are. Labels
    that `private-ensembles release` or a session releases have it beside them, with a certificate,
    what all releases cost together, and the time.

    Args:
        released: What :func:`release_labels` returned.

    Raises:
        ValueError: If another version of this program wrote the terms.
    """
    plan = release_plan.read_plan(released.terms)
    proof = certificate.prove_or_explain(plan, released.epsilon)
    number = int((released.labels >= 0).sum())
    charged = statement.LedgerEntry(released.epsilon, released.delta, labels=number)
    return statement.statement(plan, proof, charged)


def release_darrm(
    counts: ArrayLike, gamma: ArrayLike, noise: np.random.Generator | SeededNoise | SecureNoise
) -> NDArray[np.uint8]:
    """Release one label for every count of teachers that say 1 (DaRRM, Algorithm 1).

    >>> gamma = np.ones(4)  # 3 teachers, and no noise
    >>> release_darrm([0, 1, 2, 3], gamma, np.random.default_rng(0)).tolist()
    [0, 0, 1, 1]

    Args:
        counts: Integers in 0..K, any shape.
        gamma: (K + 1,) float, as `optimize_gamma` finds it.
        noise: A NumPy generator, for labels that can be repeated, or
            `base.noise_sources.SecureNoise()`.

    Returns:
        Labels 0 or 1, in the shape of `counts`.

    Raises:
        ValueError: If counts or gamma are out of range.
    """
    source = SeededNoise(noise) if isinstance(noise, np.random.Generator) else noise
    return gamma_law.release(counts, gamma, source)
