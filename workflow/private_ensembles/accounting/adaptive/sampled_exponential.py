"""The exponential mechanism's labels of sampled voters, one of whom may change its vote.

For `adaptive.account`, in any number of classes. Given the sample of the other voters, the voter's
class before, a, its class after, b, and all others are three outcomes. Two numbers say all: the
chances of a and of b without the voter. Nodes cover them, as in `gaussian_maximum`. Proof:
docs/sampled-teachers.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF

# Beyond it e^vote and its cube are no floats to reckon with.
LARGEST_VOTE = 50.0
# Of probabilities, relative to themselves, and of a threshold, as in `gaussian_maximum`.
_ERROR, _ROUNDING = 1e-12, 1024 * UNIT_ROUNDOFF
# Of the widths of cells, relative to them; of sums of slack.
_WIDTHS, _NOTHING = 1e-6, 1e-25
# Shares of a in a and b have nodes at equal distances of their logits, further away beyond _NEAR.
_NEAR, _STEP, _FAR, _LONG_STEP = 4.0, 0.125, 21.0, 0.35
# The chance of the others: ends and counts of stretches, then 1 less powers of e.
_OTHERS = ((0.0, 0.02, 4), (0.02, 0.2, 9), (0.2, 0.8, 8))
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class SampledExponential:
    """The pairs of a label of sampled voters, one of whom votes differently: `families.Family`.

    vote: the exponential mechanism's rate, so that a vote multiplies its class's weight by e^vote,
    in (0, LARGEST_VOTE]. rate: with which the voter is sampled, in (0, 1]. played: pairs of
    neighbours that do exist, for the lower bound. Raises ValueError for numbers out of range.
    """

    vote: float
    rate: float
    played: Pairs

    def __post_init__(self) -> None:
        checks.within(0, LARGEST_VOTE, low_allowed=False, vote=self.vote)
        checks.probability(rate=self.rate, zero=False)

    def excesses(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`: a row for each node. Below 1 it is t times its reflection's at 1 / t."""
        up, down = np.flatnonzero(t >= 1), np.flatnonzero(t < 1)
        shares, others = _nodes()
        rows = np.empty((shares.size, others.size, t.size))
        rows[:, :, up] = self._curves(shares, others, t[up])
        back = self._curves(shares, others, 1 / t[down])
        rows[::-1, :, down] = back * t[down] * (1 + _ROUNDING)
        return np.minimum(rows, 1.0).reshape(-1, t.size)

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        return self.played.pairs()

    def _curves(self, shares: NDArray, others: NDArray, t: NDArray) -> NDArray[np.float64]:
        """E(t) for t >= 1 at nodes, with what the cells around them add."""
        found = np.empty((shares.size, others.size, t.size))
        if not t.size:
            return found
        wide = _widest(shares)[:, None, None], _widest(others)[None, :, None]
        few = max(1, _AT_ONCE // (others.size * t.size))
        for start in range(0, shares.size, few):
            part = slice(start, start + few)
            found[part] = self._at(shares, others, part, wide, t)
        return found

    def _at(
        self, shares: NDArray, others: NDArray, part: slice, wide: tuple, t: NDArray
    ) -> NDArray[np.float64]:
        share, other = shares[part, None, None], others[None, :, None]
        x, y = (1 - other) * share, (1 - other) * _complement(shares)[part, None, None]
        gain = math.expm1(self.vote)
        rate = self.rate

        def normal(chance):  # by how much all weights together grow with a vote
            return 1 + gain * chance

        # alpha(x) - t beta(y) and beta(x) - t beta(y) less 1 - t, of which no digits cancel.
        to_a = rate * gain * (y + other) / normal(x)
        from_a = rate * gain * x / normal(x)
        from_b = rate * gain * y / normal(y)
        rest = 1 - t
        of_a = x * (rest + to_a + t * from_b + (_ERROR + _ROUNDING) * (1 + t))
        of_other = other * (rest - from_a + t * from_b + (_ERROR + _ROUNDING) * (1 + t))
        # Around a node: the least and the largest chances of the cells that meet there.
        low_share, high_share = (rows[part, None, None] for rows in _around(shares))
        low_other, high_other = (rows[None, :, None] for rows in _around(others))
        low_x, high_x = (1 - high_other) * low_share, (1 - low_other) * high_share
        low_y, high_y = (1 - high_other) * (1 - high_share), (1 - low_other) * (1 - low_share)
        of_x, of_y = normal(low_x), normal(low_y)
        up = math.exp(self.vote)
        # Minus the second derivatives of P - t P' of both sets, and bounds on the mixed ones.
        first = 2 * rate * gain * up / of_x**3, 2 * rate * gain**2 * high_x * t / of_y**3
        first_mixed = rate * gain * t / of_y**2
        both = 2 * rate * gain**2 * high_y / of_x**3, 2 * rate * gain * up * t / of_y**3
        both_mixed = rate * gain / of_x**2
        tall, broad = (width[part] if width.shape[0] > 1 else width for width in wide)
        tall, broad = tall**2 / 8, broad**2 / 8
        reach = (1 - low_other) ** 2
        high_rest = 1 - low_share

        def slack(by_x, by_y, mixed):
            along = reach * (by_x + 2 * mixed + by_y)
            across = high_share**2 * by_x + high_rest**2 * by_y
            return (tall * along + broad * across) * (1 + _WIDTHS)

        set_a = of_a + slack(*first, first_mixed)
        set_both = of_a + of_other + slack(*both, both_mixed)
        # Where no ratio in these cells is as far from 1 as t there is nothing to gain.
        most = 1 + rate * gain * (1 - low_x) / of_x
        least = 1 - rate * gain * high_y / normal(high_y)
        some = most * (1 + _ERROR + _ROUNDING) > t * least * (1 - _ERROR - _ROUNDING)
        return np.maximum(np.where(some, np.maximum(set_a, set_both), 0.0), 0.0) + _NOTHING


def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of a in what a and b have together, and chances of the others: from 0 to 1 both."""
    near = np.arange(_STEP, _NEAR + _STEP / 2, _STEP)
    far = np.linspace(_NEAR, _FAR, math.ceil((_FAR - _NEAR) / _LONG_STEP) + 1)[1:]
    logits = np.concatenate([near, far])
    low = 1 / (1 + np.exp(logits[::-1]))
    shares = np.concatenate([[0.0], low, [0.5], 1 - low[::-1], [1.0]])
    stretches = [np.linspace(first, last, count + 1)[:-1] for first, last, count in _OTHERS]
    last = math.log(1 - _OTHERS[-1][1])
    powers = np.linspace(last, -_FAR, math.ceil((_FAR + last) / _LONG_STEP) + 1)
    return shares, np.concatenate([*stretches, -np.expm1(powers), [1.0]])


def _complement(shares: NDArray) -> NDArray[np.float64]:
    """1 - shares: the nodes are symmetric, and small shares keep their digits."""
    return shares[::-1]


def _widest(nodes: NDArray) -> NDArray[np.float64]:
    """The widest of the cells that meet at each node."""
    low, high = _around(nodes)
    return np.maximum(nodes - low, high - nodes)


def _around(nodes: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each node's neighbours, itself at the ends."""
    return np.append(nodes[0], nodes[:-1]), np.append(nodes[1:], nodes[-1])
