"""Which pairs of neighbours labels of sampled voters have, for `adaptive.account`.

Every query is answered by a fresh sample of voters, each of whom is in it with the same rate, and
the sample is never released. Theorems and proofs: docs/sampled-teachers.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from private_ensembles import checks
from private_ensembles.accounting.adaptive import sampled_play
from private_ensembles.accounting.adaptive.account import (
    COARSE,
    FINE,
    Bounds,
    adaptive_epsilon,
    curve,
)
from private_ensembles.accounting.adaptive.families import (
    Family,
    Pairs,
    bounded_range_pairs,
    of_table,
)
from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.adaptive.sampled_coins import Coins
from private_ensembles.accounting.adaptive.sampled_exponential import SampledExponential
from private_ensembles.accounting.adaptive.sampled_gaussian import SampledMaximum
from private_ensembles.accounting.adaptive.sampled_voter import SampledVoter
from private_ensembles.accounting.adaptive.scales import grid_fineness
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF, above

LAWS = ("gnmax", "exponential")
ADJACENCIES = ("add_remove", "replace_one")
# Voters whose samples are listed: a table takes time with their third power.
MOST_LISTED = 1000
_ERROR, _UNDERFLOW = 1e-12, 1e-300
# Points of the grid per standard deviation of a loss, beside tables of pairs.
_COARSER = 4.0
# Where an epsilon is looked for if none is found near what pairs that exist cost.
_GUESSES = (0.5, 2.0, 8.0, 32.0, 128.0)


def sampled_family(
    law: str,
    scale: float,
    *,
    rate: float,
    teachers: int,
    classes: int,
    adjacency: str,
    nearest: int | None = None,
    spare: float = 0.0,
) -> Family:
    """Return the pairs of one label of sampled voters.

    >>> options = dict(rate=0.1, teachers=50, classes=2, adjacency="replace_one")
    >>> len(sampled_family("gnmax", 5.0, **options).excesses(np.array([1.0])))
    50

    Args:
        law: ``gnmax`` (largest of counts with Gaussian noise) or ``exponential``.
        scale: sigma, or 1 / rate of the exponential mechanism, in votes, > 0.
        rate: with which every voter is in a query's sample, in (0, 1].
        teachers: voters, >= 1; with add_remove, the most that there may be, at which only the lower
            bound looks.
        classes: C >= 2; the upper bounds for more than two hold for any number.
        adjacency: ``add_remove``, a voter comes or goes, or ``replace_one``, it votes differently.
        nearest: how many of the sample vote, 1 to `teachers`, those that are first in the query's
            own order of voters; with add_remove only. None: all.
        spare: how far in total variation each label's law may be from the stated one, >= 0.

    Returns:
        Family. With replace_one, two classes and up to MOST_LISTED voters these are the pairs that
        neighbours have, all of them and no others; else each pair lies below a mixture of them.

    Raises:
        ValueError: for numbers out of range.

    Source: docs/sampled-teachers.md, theorems 1 to 6.
    """
    checks.one_of(LAWS, law=law)
    checks.one_of(ADJACENCIES, adjacency=adjacency)
    checks.finite(scale=scale, above=0)
    checks.probability(rate=rate, zero=False)
    checks.integer(teachers=teachers, at_least=1)
    checks.integer(classes=classes, at_least=2)
    if nearest is not None:
        checks.integer(nearest=nearest, at_least=1, at_most=teachers)
        if adjacency != "add_remove":
            raise ValueError(
                f"adjacency = {adjacency!r}: must be add_remove where only the nearest vote; "
                "a voter that comes and one that goes are two changes"
            )
        return SampledVoter(_vote_moves(law, scale, nearest, classes, spare), rate)
    sizes = {"rate": rate, "teachers": teachers, "classes": classes}
    if adjacency == "add_remove":
        played = sampled_play.coming_and_going(law, scale, **sizes)
        if law == "exponential":
            coins = Coins("logistic", above(1 / scale), played, spare)
        else:
            # Of two classes the difference of both noisy counts decides; else M is given.
            width = scale * math.sqrt(2) if classes == 2 else scale
            coins = Coins("normal", above(1 / width, 3), played, spare)
        return SampledVoter(coins, rate, played)
    if classes == 2 and teachers <= MOST_LISTED:
        return _of_leads(law, scale, lead_chances(rate, teachers), spare)
    played = sampled_play.changing(law, scale, **sizes)
    if law == "exponential":
        return SampledExponential(above(1 / scale), rate, played)
    return SampledMaximum(scale, teachers, classes, spare, rate=rate, played=played)


def sampled_bounds(family: Family, labels: int, delta: float, *, fineness: float) -> Bounds:
    """Return bounds on the epsilon of labels of a sampled family, as `adaptive_epsilon` does.

    The losses of pairs that exist may be far less than those of the pairs that bound them, so that
    a larger epsilon is tried where none is found. Infinite if losses use delta up.
    """
    bounds = adaptive_epsilon(family, labels, delta, fineness=fineness)
    for guess in () if math.isfinite(bounds.upper) else _GUESSES:
        rough = curve(family, labels, guess, delta, fineness=COARSE, lower=False).epsilon(delta)
        if math.isfinite(rough):
            best = curve(family, labels, rough, delta, fineness=fineness)
            return Bounds(best.least_epsilon(delta), min(best.epsilon(delta), rough))
    return bounds


def sampled_fineness(family: Family, labels: int) -> float:
    """Return points of the grid per standard deviation of a loss: tables of pairs are fast."""
    if isinstance(family, Pairs):
        return min(grid_fineness(2, labels), 2 * FINE)
    return _COARSER


def lead_chances(rate: float, teachers: int) -> NDArray[np.float64]:
    """Return Pr[lead of 1 in the sample] at 0, ..., K votes for 1: (K + 1, 2 K + 1), from -K on.

    >>> lead_chances(0.5, 1).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]

    Sums of products >= 0: relative to itself every one is right to 8 K units of rounding.
    """
    sampled = [np.ones(1)]
    for _ in range(teachers):
        sampled.append(np.convolve(sampled[-1], [1 - rate, rate]))
    chances = np.zeros((teachers + 1, 2 * teachers + 1))
    for votes in range(teachers + 1):
        against = teachers - votes
        lead = np.convolve(sampled[votes], sampled[against][::-1])  # from -against to votes
        chances[votes, teachers - against : teachers + votes + 1] = lead
    return chances


def _of_leads(law: str, scale: float, chances: NDArray[np.float64], spare: float) -> Family:
    """The family of two classes, where leads -K, ..., K have such chances at 0, ..., K votes."""
    teachers = len(chances) - 1
    leads = np.arange(-teachers, teachers + 1) / scale
    ones = ndtr(leads / math.sqrt(2)) if law == "gnmax" else expit(leads)
    found = chances @ ones
    table = np.stack([found[::-1], found], axis=1)
    return of_table(table, _ERROR + 32 * teachers * UNIT_ROUNDOFF, spare + _UNDERFLOW)


def _vote_moves(law: str, scale: float, votes: int, classes: int, spare: float) -> Family:
    """The family of labels of so many votes, of which one moves, without any sample."""
    if classes == 2:
        return _of_leads(law, scale, lead_chances(1.0, votes), spare)
    if law == "exponential":
        return bounded_range_pairs(2 * above(1 / scale))
    return GaussianMaximum(scale, votes, classes, spare)
