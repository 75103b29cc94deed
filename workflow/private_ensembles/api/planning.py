"""Which mechanism gives the most right labels for a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from private_ensembles import checks
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
    private_teachers,
)
from private_ensembles.noise.secure import check_mode
from private_ensembles.planner import study
from private_ensembles.planner.defaults import PRIVACY
from private_ensembles.planner.ranking import Plan


def plan(
    *,
    teachers: int,
    classes: int,
    queries: int,
    epsilon: float,
    delta: float,
    labels: int | None = None,
    profile: Mapping | None = None,
    mechanisms: Sequence[str] | None = None,
    privacy_model: str = PRIVACY["privacy_model"],
    adjacency: str = PRIVACY["adjacency"],
    teacher_epsilon: float | None = PRIVACY["teacher_epsilon"],
    teacher_delta: float = PRIVACY["teacher_Delta"],
    reach: int = 1,
    absent: bool = False,
    most_ones: int | None = None,
    noise: str = "secure",
    seed: int = 0,
) -> list[Plan]:
    """Rank the mechanisms by expected right labels within a budget, the best first.

    >>> best, *_ = plan(
    ...     teachers=250, classes=10, queries=500, labels=100, epsilon=1, delta=1e-5
    ... )
    >>> best.mechanism, round(best.answers), round(best.correct)
    ('confident_gnmax_exact', 100, 93)

    teachers, classes, queries: sizes, which are taken to be public. epsilon, delta: the budget of
    all labels together. labels: the most that are wanted; None: one for each query. profile: how
    the teachers agree, stated from public data (keys easy_share, easy, hard, confusion, commonest,
    absent_share, as in `votes.synthetic.ConsensusProfile`); None: that of config.yaml. mechanisms:
    names; None: all. privacy_model: ``disjoint_shards`` (a record reaches one teacher) or
    ``shared_data``. adjacency: ``replace_one`` or ``add_remove``. teacher_epsilon, teacher_delta:
    what one teacher costs for add_remove, if teachers are private themselves. reach: the most
    shards that what is protected may be in. absent: whether a teacher may say nothing about a query
    (docs/ballots.md). most_ones: how many of all queries a teacher votes 1 on at most, of two
    classes; None: any number (docs/multi-label.md). noise: ``secure`` (exact samplers; only
    mechanisms that have one) or ``reproducible``. seed: of the profile's votes.

    A plan looks at nothing private, so it costs nothing. Mechanisms that do not apply come last
    with `refusal`, the reason; every epsilon is an upper bound. Raises ValueError for a value out
    of range or an unknown name, in one line. Source: docs/privacy.md.
    """
    names = registry.offered() if mechanisms is None else list(mechanisms)
    for name in names:
        checks.one_of(registry.offered(), mechanism=name)
    private = private_teachers(teacher_epsilon, teacher_delta)
    wanted = Task(
        Ensemble(teachers, classes, absent, private),
        Budget(epsilon, delta),
        Wanted(queries if labels is None else labels, queries, most_ones),
        Protection(privacy_model, adjacency, reach),
        secure=check_mode(noise) == "secure",
    )
    return study.ranked(study.on_profile(wanted, profile), names, seed)
