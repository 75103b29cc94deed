"""Which mechanism gives the most right labels for a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from private_ensembles.base import checks
from private_ensembles.labels import registry
from private_ensembles.labels.planner import planning
from private_ensembles.labels.planner.ranking import Plan
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Task,
    Wanted,
)


def plan(
    ensemble: Ensemble,
    budget: Budget | Sequence[float],
    labels: Wanted | int,
    protection: Protection = Protection("disjoint"),  # noqa: B008 - frozen
    *,
    mechanisms: Sequence[str] | None = None,
    profile: Mapping | None = None,
    rehearsal: Rehearsal | None = None,
    seed: int = 0,
) -> list[Plan]:
    """Rank the mechanisms by expected right labels within a budget, the best first.

    >>> best, *_ = plan(
    ...     Ensemble(250, 10), Budget(1, 1e-5), Wanted(100, queries=500)
    ... )
    >>> best.mechanism, round(best.answers), round(best.correct)
    ('confident_gnmax_exact', 100, 93)

    A plan looks at nothing private, so it costs nothing.

    Args:
        ensemble: Who votes. The sizes are taken to be public.
        budget: What all labels together may cost.
        labels: The most labels that are wanted, one for each query, or a `Wanted`.
        protection: Whom the guarantee protects; by default a record that one teacher has.
        mechanisms: The names of the mechanisms to rank; None for all.
        profile: How the teachers agree, stated from public data, with keys easy_share, easy, hard,
            confusion, commonest and absent_share as in `labels.profile.ConsensusProfile`. None
            takes that of config.yaml, which is assumed and not yours.
        rehearsal: Says that labels are drawn from a seed. None means that they are drawn from the
            system's entropy by exact samplers, which only some mechanisms have.
        seed: The seed of the profile's votes.

    Returns:
        One plan for each mechanism or family, the best first. Every epsilon is an upper bound.
        Mechanisms that do not apply come last, and `refusal` says why.

    Raises:
        ValueError: A value is out of range or a name is unknown; the message is one line.

    References:
        docs/privacy.md.
    """
    names = registry.offered_mechanisms() if mechanisms is None else list(mechanisms)
    for name in names:
        checks.check_choice(registry.offered_mechanisms(), mechanism=name)
    task = Task(
        replace(ensemble, names=None),
        Budget.coerce(budget),
        Wanted.coerce(labels),
        protection,
        secure=rehearsal is None,
    )
    return planning.rank_on_profile(planning.attach_profile(task, profile), names, seed)
