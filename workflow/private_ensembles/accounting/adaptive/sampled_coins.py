"""Labels where one vote appears, for `adaptive.account`: no vote moves, and none is missing.

Given whatever does not depend on that vote, the label is a coin: its class wins, or not. The vote
shifts the coin's probability along the distribution function of the noise. One real number, where
the coin was, says all. Proof: docs/sampled-teachers.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, ndtr

from private_ensembles import checks
from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF

LAWS = ("normal", "logistic")
# Of a distribution function, relative to itself; and what a place that is rounded adds.
_ERROR, _NOTHING = 1e-12, 1e-25
# Of a threshold e^x, |x| <= 600, of its inverse, and of sums with it, relative to 1.
_ROUNDING = 1024 * UNIT_ROUNDOFF
# Places of the coin are divided into cells of this width, in units of the noise, up to so far from
# 0; beyond lie two more cells.
_CELL, _FAR = {"normal": 0.02, "logistic": 0.04}, {"normal": 8.5, "logistic": 30.0}


@dataclass(frozen=True)
class Coins:
    """The pairs of a label where one vote appears, in both orders: `families.Family`.

    >>> coins = Coins("logistic", 1.0, Pairs(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]])))
    >>> float(coins.excesses(np.array([1.0])).max().round(4))  # at the worst place of the coin
    0.2449

    law: ``normal`` or ``logistic``. shift: how far the vote moves the coin, in units of the noise,
    > 0. played: pairs of neighbours that do exist, for the lower bound. spare: how far in total
    variation each label's law may be from that of the law named, >= 0. Raises ValueError for
    numbers out of range.
    """

    law: str
    shift: float
    played: Pairs
    spare: float = 0.0

    def __post_init__(self) -> None:
        checks.one_of(LAWS, law=self.law)
        checks.finite(shift=self.shift, above=0)
        checks.probability(spare=self.spare, one=False)

    def excesses(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`: a row for each cell, which is the supremum of its curves, and each order.

        As the law is symmetric, the order in which P' has the vote is that of a vote for "not this
        class", whose coin is at another place; only the names of both outcomes change.
        """
        cells, of = self._cells(t), self.spare * (1 + t)
        return np.minimum(cells + of, 1.0)

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        return self.played.pairs()

    def _cells(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest curve of each cell: (cells, n), where P has the vote.

        It is G(x + shift) - t G(x) for t >= 1, and t G(-x) - G(-x - shift) below 1. Both rise with
        x as long as the density at x + shift is more than t times that at x, and fall beyond.
        """
        far = _FAR[self.law]
        inner = np.linspace(-far, far, round(2 * far / _CELL[self.law]) + 1)
        low = np.append(-np.inf, inner)[:, None]
        high = np.append(inner, np.inf)[:, None]
        at = np.clip(self._turn(t), low, high)
        curves = np.empty((low.size, t.size))
        up, down = np.flatnonzero(t >= 1), np.flatnonzero(t < 1)
        # The rounding of a threshold is granted where it counts, and so is that of both chances.
        less, more = 1 - _ERROR - _ROUNDING, 1 + _ERROR + _ROUNDING
        chance, moved = self._below(at[:, up]), self._below(at[:, up] + self.shift)
        curves[:, up] = moved * more - t[up] * chance * less
        chance, moved = self._below(-at[:, down]), self._below(-at[:, down] - self.shift)
        curves[:, down] = t[down] * chance * more - moved * less
        return np.maximum(curves, 0.0) * (1 + _ROUNDING) + _NOTHING

    def _turn(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where the density at x + shift is t times that at x, so that the curve is highest."""
        if self.law == "normal":
            return -np.log(t) / self.shift - self.shift / 2
        # (1 + e^x) / (1 + e^(x + shift)) = root; no such x beyond e^-shift and 1.
        root = np.sqrt(t) * np.exp(-self.shift / 2)
        least = np.exp(-self.shift)
        inside = (root > least) & (root < 1)
        safe = np.where(inside, root, (1 + least) / 2)
        turn = np.log((1 - safe) / (safe - least)) - self.shift
        return np.where(inside, turn, np.where(root >= 1, -np.inf, np.inf))

    def _below(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.law == "normal":
            return ndtr(x)
        # In its far tail an exponential: `expit` may lose digits there.
        return np.where(x < -30, np.exp(log_expit(x)), expit(x))
