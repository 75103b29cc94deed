"""Pairs of neighbours of sampled voters that do exist: what lower bounds on their labels play.

The other voters' votes are for class a or class b, and each of them is in the sample with the same
rate. The voter at stake is not in the sample, or votes for a, or for b.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from private_ensembles.accounting.adaptive.families import Pairs

# Of probabilities, relative to themselves, and what is left out of a law.
_ERROR, _LEFT_OUT = 1e-9, 1e-15
# Standard deviations of a sampled count that are summed over.
_WIDE = 9.0
_POINTS, _WEIGHTS = leggauss(12)
_PANEL, _FAR = 0.25, 9.0
# How many numbers of votes are played at most.
_MOST = 24


def coming_and_going(law: str, scale: float, *, rate: float, teachers: int, classes: int) -> Pairs:
    """Return pairs in which one voter comes or goes.

    >>> pairs = coming_and_going("gnmax", 5.0, rate=0.5, teachers=1, classes=2)
    >>> pairs.first.round(3).tolist()
    [[0.528, 0.472, 0.0]]

    law: ``gnmax`` or ``exponential``. scale: sigma, or 1 / rate of the exponential mechanism, in
    votes. rate: of the sample. teachers: the most voters that there may be, >= 1. classes: C >= 2.
    """
    others = np.unique(np.geomspace(1, max(1, teachers - 1), _MOST // 2).astype(int))
    splits = [(0, 0)]
    if teachers > 1:
        splits += [(int(n), 0) for n in others] + [(0, int(n)) for n in others]
    without, voter_at_a, _ = _laws(law, scale, splits, rate, classes)
    return _pairs(rate * voter_at_a + (1 - rate) * without, without)


def changing(law: str, scale: float, *, rate: float, teachers: int, classes: int) -> Pairs:
    """Return pairs in which one of `teachers` voters votes for b, not a; the rest as above.

    >>> pairs = changing("gnmax", 5.0, rate=0.5, teachers=1, classes=2)
    >>> pairs.first.round(3).tolist()
    [[0.528, 0.472, 0.0]]
    """
    most = teachers - 1
    near = np.arange(max(0, most // 2 - _MOST // 4), most // 2 + _MOST // 4 + 1)
    at_a = np.unique(np.append(near, np.linspace(0, most, _MOST // 2).astype(int)))
    splits = [(int(n), most - int(n)) for n in at_a if n <= most]
    without, at_a, at_b = _laws(law, scale, splits, rate, classes)
    return _pairs(rate * at_a + (1 - rate) * without, rate * at_b + (1 - rate) * without)


def _pairs(first: NDArray, second: NDArray) -> Pairs:
    sums = first.sum(axis=1, keepdims=True), second.sum(axis=1, keepdims=True)
    return Pairs(first / sums[0], second / sums[1], _ERROR, _LEFT_OUT)


def _laws(
    law: str, scale: float, splits: list[tuple[int, int]], rate: float, classes: int
) -> tuple[NDArray[np.float64], ...]:
    """Pr[a], Pr[b], Pr[another] for each split: without the voter, with its vote at a, and at b."""
    of_one = {"gnmax": _normal, "exponential": _logistic}[law]
    rows = []
    for votes in splits:
        sampled = [_sampled(count, rate) for count in votes]
        moved = [(counts + 1, chances) for counts, chances in sampled]
        rows.append(
            [
                of_one(*sampled, classes - 2, scale),
                of_one(moved[0], sampled[1], classes - 2, scale),
                of_one(sampled[0], moved[1], classes - 2, scale),
            ]
        )
    return tuple(np.array(rows).swapaxes(0, 1))


def _sampled(votes: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many of so many votes are in a sample, and with which probabilities."""
    middle, wide = votes * rate, _WIDE * math.sqrt(votes * rate * (1 - rate)) + _WIDE
    counts = np.arange(max(0, math.floor(middle - wide)), min(votes, math.ceil(middle + wide)) + 1)
    return counts, binom.pmf(counts, votes, rate)


def _logistic(first: tuple, second: tuple, others: int, scale: float) -> NDArray[np.float64]:
    """The exponential mechanism's law, where the other classes have no votes."""
    (a, of_a), (b, of_b) = first, second
    ahead, behind = a[:, None] / scale, b / scale
    top = np.maximum(np.maximum(ahead, behind), 0.0)
    weights = np.exp(ahead - top), np.exp(behind - top), others * np.exp(-top)
    total = sum(weights)
    return np.array([of_a @ (weight / total) @ of_b for weight in weights])


def _normal(first: tuple, second: tuple, others: int, scale: float) -> NDArray[np.float64]:
    """GNMax's law likewise: y runs over the largest noisy count."""
    (a, of_a), (b, of_b) = first, second
    a, b = a / scale, b / scale
    low, high = max(0.0 if others else -math.inf, min(a[0], b[0])) - _FAR, max(a[-1], b[-1]) + _FAR
    edges = np.linspace(low, high, math.ceil((high - low) / _PANEL) + 1)
    half = np.diff(edges) / 2
    y = ((edges[:-1] + half)[:, None] + half[:, None] * _POINTS).ravel()
    weights = (half[:, None] * _WEIGHTS).ravel()
    density_a, below_a = _mixture(a, of_a, y)
    density_b, below_b = _mixture(b, of_b, y)
    rest = ndtr(y) ** others
    best_other = others * np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi)
    best_other = best_other * ndtr(y) ** max(others - 1, 0)
    return np.array(
        [
            weights @ (density_a * below_b * rest),
            weights @ (density_b * below_a * rest),
            weights @ (below_a * below_b * best_other),
        ]
    )


def _mixture(counts: NDArray, chances: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """A noisy sampled count's density and distribution function."""
    density, below = np.zeros((2, y.size))
    for count, chance in zip(counts, chances, strict=True):
        density += chance * np.exp(-((y - count) ** 2) / 2) / math.sqrt(2 * math.pi)
        below += chance * ndtr(y - count)
    return density, below
