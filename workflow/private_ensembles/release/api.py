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

    labels: int64 (queries,), -1 for a query without one. epsilon: at delta, for the adjacency of
    `protection`, an upper bound whatever the votes. secure: False for a rehearsal, which must not
    be released. expectation: what the labels are worth on the profile (`expectation.lines()` says
    it in words). terms: the plan, as text, from which `release_statement` tells what was released.
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

    counts: integers (queries, classes), of which those at the top are answered first; each row adds
    up to the number of teachers, two at least. budget: what all labels may cost together.
    protection: whom the guarantee protects; may be left out for a rehearsal. labels: the most that
    are wanted, or a `Wanted`, which also says how many queries a teacher votes 1 on at most, of two
    classes: whoever hands in the counts has left no more of any teacher's (docs/multi-label.md);
    None: one for each query. ensemble: must be said if ballots may be absent, whose rows add up to
    at most the number of teachers and which are dealt out to the classes (docs/ballots.md), or if
    teachers are private themselves; None: it is read off the counts. mechanism: its name; None: the
    best on the profile. profile: as in :func:`plan`; never from these votes. rehearsal: labels that
    must not be released; None: noise from the system's entropy. anyway: release labels of which, on
    the profile, too few would be right to be of use.

    Each call spends its budget again and keeps no record: two calls cost the sum.
    `private-ensembles release` keeps one. What must not be missed about labels and budget is a
    warning (`warnings.warn`). Raises ValueError, in one line, for counts that are not such a table,
    for values out of range, if no mechanism applies, and if the labels would be of too little use.
    Source: docs/your-own-votes.md.
    """
    wanted = None if labels is None else Wanted.coerce(labels)
    most_ones = None if wanted is None else wanted.most_ones
    stated = {} if ensemble is None else {"teachers": ensemble.teachers, "absent": ensemble.absent}
    votes = votes_from_arrays(counts, **stated, most_ones=most_ones)
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
    application = own_votes.choose_mechanism(planning.attach_profile(task, profile), names, 0)
    expectation.announce_and_check(application.expectation, secure=task.secure, anyway=anyway)
    best, terms = application.chosen, own_votes.plan_of(application).to_json()
    seed = None if rehearsal is None else rehearsal.seed
    drawn = own_votes.charge_and_release(application, Pool(votes), seed, anyway=anyway)
    return Released(
        drawn.label_of_each_query(votes.n_queries),
        best.mechanism,
        best.parameters,
        best.epsilon,
        task.budget.delta,
        task.protection,
        task.secure,
        application.expectation,
        terms,
    )


def release_statement(released: Released) -> str:
    """Return a statement on released labels to hand over, as one self-contained page of HTML.

    >>> counts = np.tile([[90, 10], [20, 80]], (10, 1))
    >>> released = release_labels(counts, Budget(2, 1e-5), rehearsal=Rehearsal(seed=1))
    >>> "This is a rehearsal" in release_statement(released)
    True

    released: what :func:`release_labels` returned. The page says what was released, who is
    protected, what that means in odds, by which theorem, and what is not protected: a function of
    the plan and of how many labels there are. Labels that `private-ensembles release` or a session
    releases have it beside them, with a certificate, what all releases cost together, and the time.
    Raises ValueError for terms that another version of this program wrote.
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

    >>> gamma = np.ones(4)  # of 3 teachers, and without any noise
    >>> release_darrm([0, 1, 2, 3], gamma, np.random.default_rng(0)).tolist()
    [0, 0, 1, 1]

    counts: integers in 0..K, any shape. gamma: (K + 1,), as `optimize_gamma` finds it. noise: a
    NumPy generator, for labels that can be repeated, or `base.noise_sources.SecureNoise()`. Returns 0 or 1 in
    counts' shape. Raises ValueError for counts and gamma out of range.
    """
    source = SeededNoise(noise) if isinstance(noise, np.random.Generator) else noise
    return gamma_law.release(counts, gamma, source)
