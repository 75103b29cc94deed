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
    ('confident_gnmax_exact', 100, 92)

    ensemble: who votes; sizes are taken to be public. budget: of all labels together. labels: the
    most that are wanted, one for each query, or a `Wanted`. protection: whom the guarantee
    protects; where it is not said, a record that one teacher has. mechanisms: names; None: all.
    profile: how the teachers agree, stated from public data (keys easy_share, easy, hard,
    confusion, commonest, absent_share, as in `labels.profile.ConsensusProfile`); None: that of
    config.yaml, which is assumed and not yours. rehearsal: labels drawn from a seed; None: from the
    system's entropy, by exact samplers, which only some mechanisms have. seed: of the profile's
    votes.

    A plan looks at nothing private, so it costs nothing. Mechanisms that do not apply come last
    with `refusal`, the reason; every epsilon is an upper bound. Raises ValueError for a value out
    of range or an unknown name, in one line. Source: docs/privacy.md.
    """
    names = registry.offered_mechanisms() if mechanisms is None else list(mechanisms)
    for name in names:
        checks.check_choice(registry.offered_mechanisms(), mechanism=name)
    wanted = Task(
        replace(ensemble, names=None),
        Budget.coerce(budget),
        Wanted.coerce(labels),
        protection,
        secure=rehearsal is None,
    )
    return planning.rank_on_profile(planning.attach_profile(wanted, profile), names, seed)
