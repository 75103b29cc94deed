"""Labels of sampled voters: what they cost, which noise they need, and labels.

Every query is answered by a fresh sample of voters, each of whom is in it with one rate, and the
sample is never released. The mechanisms: ``gnmax`` (the scale is the noise's standard deviation on
every count) and ``exponential`` (1 / rate), in votes. docs/sampled-teachers.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive.account import Bounds, curve
from private_ensembles.accounting.adaptive.families import Family
from private_ensembles.accounting.adaptive.sampled import (
    LAWS,
    sampled_bounds,
    sampled_family,
    sampled_fineness,
)
from private_ensembles.accounting.adaptive.scales import least_scale, share_of_scale
from private_ensembles.accounting.discrete_gaussian import fine_distance
from private_ensembles.mechanisms.laws import gumbel
from private_ensembles.mechanisms.laws.table import draw_coins
from private_ensembles.noise import secure
from private_ensembles.noise.secure import seed_of
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.votes.ballots import counted, dealt

# More queries are not charged together: time grows with them.
MOST_QUERIES = 10_000
# With so little noise, in votes, labels are the sample's plurality: none less is looked for.
_LEAST_SCALE = 0.05
# The noise of all voters is where the search begins, and less the fewer are sampled.
_START = 1.4
_TRIES = 12


@dataclass(frozen=True)
class SampledLabels:
    """Labels of sampled voters, and what all of them cost together.

    labels: int64 (queries,). epsilon: at delta, for `adjacency`, an upper bound whatever the votes.
    secure: False for a rehearsal, which must not be released.
    """

    labels: NDArray[np.int64]
    epsilon: float
    delta: float
    adjacency: str
    secure: bool


def sampled_epsilon(
    mechanism: str,
    scale: float,
    *,
    rate: float,
    queries: int,
    delta: float,
    teachers: int,
    adjacency: str,
    classes: int = 2,
    nearest: int | None = None,
) -> Bounds:
    """Return bounds on the epsilon of all labels together at delta.

    >>> options = dict(rate=0.1, queries=100, delta=1e-5, teachers=250)
    >>> bounds = sampled_epsilon("gnmax", 5.0, adjacency="add_remove", **options)
    >>> round(bounds.lower, 2), round(bounds.upper, 2)
    (0.39, 0.41)
    >>> round(sampled_epsilon("gnmax", 5.0, adjacency="replace_one", **options).upper, 2)
    0.68

    mechanism: ``gnmax`` or ``exponential``. scale: of its noise, in votes. rate: with which every
    voter is in a query's sample, in (0, 1]. queries: 1 to 10,000, chosen adaptively. teachers:
    voters; with add_remove the most that there may be, which only the lower bound looks at.
    adjacency: ``add_remove`` (a voter comes or goes) or ``replace_one`` (a voter votes differently,
    and their number is public). nearest: how many of the sample vote, the first in the query's own
    order, as k nearest neighbours do; for add_remove. None: the whole sample. upper: holds in
    floating point, for continuous noise and for the fine lattice of secure noise. lower: what an
    adversary reaches who exists; 0 if `nearest` is given, of which none is known. Raises
    ValueError for a value out of range. Source: docs/sampled-teachers.md.
    """
    checks.integer(queries=queries, at_least=1, at_most=MOST_QUERIES)
    sizes = {"rate": rate, "teachers": teachers, "classes": classes}
    family = _family_of(mechanism, adjacency=adjacency, nearest=nearest, **sizes)(scale)
    fineness = sampled_fineness(family, queries)
    bounds = sampled_bounds(family, queries, delta, fineness=fineness)
    return bounds if nearest is None else Bounds(0.0, bounds.upper)


def sampled_scale(
    mechanism: str,
    *,
    epsilon: float,
    delta: float,
    rate: float,
    queries: int,
    teachers: int,
    adjacency: str,
    classes: int = 2,
    nearest: int | None = None,
) -> float:
    """Return the least scale of noise with which all labels together keep the budget.

    >>> options = dict(rate=0.1, queries=100, delta=1e-5, teachers=250, adjacency="add_remove")
    >>> round(sampled_scale("gnmax", epsilon=0.5, **options), 1)
    4.1

    epsilon, delta: of all labels together, > 0 and in (0, 1). The rest as in
    :func:`sampled_epsilon`. Noise of a vote or more is found to 0.1 % or so, less of it may be a
    tenth more than it need be, and none below 0.05 votes is looked for, where it decides nothing.
    Raises ValueError for a value out of range, and if no scale is found.
    """
    checks.integer(queries=queries, at_least=1, at_most=MOST_QUERIES)
    checks.finite(epsilon=epsilon, above=0)
    checks.probability(delta=delta, zero=False, one=False)
    sizes = {"rate": rate, "teachers": teachers, "classes": classes}
    family_of = _family_of(mechanism, adjacency=adjacency, nearest=nearest, **sizes)
    start = _start(family_of, queries, epsilon, delta, rate)
    fineness = sampled_fineness(family_of(start), queries)

    def holds(scale: float) -> bool:
        options = {"fineness": fineness, "lower": False, "least": epsilon}
        found = curve(family_of(scale), queries, epsilon, delta, **options)
        return found.delta(epsilon) <= delta

    if start <= 4 * _LEAST_SCALE and holds(_LEAST_SCALE):
        return _LEAST_SCALE
    return float(least_scale(family_of, queries, epsilon, delta, start, fineness=fineness))


def release_sampled(
    votes: ArrayLike,
    *,
    mechanism: str,
    scale: float,
    rate: float,
    delta: float,
    adjacency: str,
    classes: int,
    nearest: int | None = None,
    noise: str = "secure",
    seed: int | None = None,
) -> SampledLabels:
    """Draw a sample of voters for every query, and one label of each sample.

    >>> votes = np.tile([0] * 40 + [1] * 10, (20, 1))  # 20 queries, 50 voters
    >>> options = dict(mechanism="gnmax", scale=4.0, rate=0.5, delta=1e-5, classes=2)
    >>> options["adjacency"] = "replace_one"
    >>> released = release_sampled(votes, noise="reproducible", seed=3, **options)
    >>> bool(released.labels.sum() <= 5), round(released.epsilon, 1)
    (True, 2.2)

    votes: integers (queries, voters) in 0..classes - 1; with `nearest` every row in the query's own
    order, the nearest voter first. If fewer than `nearest` are in a sample, the missing votes are
    dealt to the classes in turn. noise: ``secure`` (samples and noise from the system's entropy,
    exactly; then no seed), of the exponential mechanism for two classes only, or ``reproducible``:
    a rehearsal, with `seed` (default 0). The rest as in :func:`sampled_epsilon`.

    epsilon is that of as many queries as there are rows. With add_remove the number of voters is
    private, and does not enter it. Each call spends again and keeps no record. Raises ValueError,
    in one line, for votes or values out of range.
    """
    seed = seed_of(noise, seed)
    checks.integer(classes=classes, at_least=2)
    checks.one_of(LAWS, mechanism=mechanism)
    if noise == "secure" and mechanism == "exponential" and classes > 2:
        raise ValueError(
            f"noise = secure: exponential is drawn for two classes only, not {classes}; gnmax is "
            "for any number"
        )
    votes = _checked(votes, classes)
    queries, voters = votes.shape
    # The number of voters is public for replace_one only.
    public = voters if adjacency == "replace_one" else 1 if nearest is None else nearest
    bounds = sampled_epsilon(
        mechanism,
        scale,
        rate=rate,
        queries=queries,
        delta=delta,
        teachers=public,
        adjacency=adjacency,
        classes=classes,
        nearest=nearest,
    )
    source = Secure() if seed is None else Seeded(np.random.default_rng(seed))
    counts = _sampled_counts(votes, rate, classes, nearest, source)
    labels = _draw(mechanism, counts, scale, source)
    return SampledLabels(labels, bounds.upper, delta, adjacency, source.secure)


def _family_of(
    mechanism: str, *, classes: int, adjacency: str, nearest: int | None, **sizes
) -> Callable[[float], Family]:
    """The family at a scale; GNMax's is charged for the lattice that secure noise is drawn on."""
    checks.one_of(LAWS, mechanism=mechanism)
    options = {"classes": classes, "adjacency": adjacency, "nearest": nearest, **sizes}

    def family(scale: float) -> Family:
        checks.finite(scale=scale, above=0)
        apart = fine_distance(scale, classes) if mechanism == "gnmax" else 0.0
        return sampled_family(mechanism, scale, spare=apart, **options)

    return family


def _start(
    family_of: Callable[[float], Family], queries: int, epsilon: float, delta: float, rate: float
) -> float:
    """A scale near the least one: where the losses' spread is about that of the budget."""
    scale = max(_START * rate * np.sqrt(queries), _LEAST_SCALE)
    for _ in range(_TRIES):
        share = share_of_scale(family_of(scale), queries, epsilon, delta)
        scale = max(scale * min(max(share, 0.1), 10.0), _LEAST_SCALE)
        if 0.9 < share < 1.1 or scale == _LEAST_SCALE:
            break
    return scale


def _checked(votes: ArrayLike, classes: int) -> NDArray[np.int64]:
    votes = np.asarray(votes)
    if votes.ndim != 2 or 0 in votes.shape or votes.dtype.kind not in "iu":
        raise ValueError("votes: must be integers (queries, voters), one of each at least")
    if votes.min() < 0 or votes.max() >= classes:
        raise ValueError(f"votes: must be in 0, ..., {classes - 1}; every voter must vote")
    return votes.astype(np.int64)


def _sampled_counts(
    votes: NDArray[np.int64],
    rate: float,
    classes: int,
    nearest: int | None,
    source: Secure | Seeded,
) -> NDArray[np.int64]:
    """Votes for each class of a fresh sample of every query's voters, (queries, classes)."""
    chances = np.full(votes.shape, float(rate))
    toss = secure.coins if source.secure else partial(_toss, source.generator)
    sampled = toss(chances)
    if nearest is not None:
        sampled &= sampled.cumsum(axis=1) <= nearest
    counts = counted(np.where(sampled, votes, -1), classes)
    return counts if nearest is None else dealt(counts, nearest)


def _toss(generator: np.random.Generator, chances: NDArray[np.float64]) -> NDArray[np.bool_]:
    return generator.random(chances.shape) < chances


def _draw(
    mechanism: str, counts: NDArray[np.int64], scale: float, source: Secure | Seeded
) -> NDArray[np.int64]:
    if mechanism == "gnmax":
        return source.largest(source.add_fine_gaussian(counts, scale)).astype(np.int64)
    if source.secure:
        return draw_coins(gumbel.weigh(counts, 1 / scale))
    return gumbel.choose(counts, source.generator, 1 / scale)
