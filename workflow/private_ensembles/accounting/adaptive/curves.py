"""The curve delta(epsilon) of all labels together, between an upper and a lower bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.rounding import UNIT_ROUNDOFF

# Exponentials, logarithms, quotients and sums of a few numbers.
_ROUNDING = 64 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class Curve:
    """Bounds on delta at epsilon = logs, a uniform grid, for all labels together.

    above: upper bounds. below, slopes: lines under the true curve, as functions of e^epsilon.
    """

    logs: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]
    slopes: NDArray[np.float64]

    def delta(self, epsilon: float) -> float:
        """An upper bound on delta at `epsilon`, by the chord in e^epsilon.

        Raises ValueError for an epsilon left of the grid, which holds all that are >= 0.
        """
        place = int(np.searchsorted(self.logs, epsilon, side="right")) - 1
        if place < 0:
            raise ValueError(f"epsilon = {epsilon}: must be >= {self.logs[0]}")
        if place + 1 >= self.logs.size:
            return min(1.0, float(self.above[-1]))
        gap = self.logs[place + 1] - self.logs[place]
        share = math.expm1(epsilon - self.logs[place]) / math.expm1(gap)
        # Of the next point, which is lower. The grid's logarithms are rounded, too.
        share = max(0.0, share - _ROUNDING * (1 + self._size(place) / gap))
        chord = (1 - share) * self.above[place] + share * self.above[place + 1]
        return min(1.0, float(chord) * (1 + _ROUNDING))

    def least_delta(self, epsilon: float) -> float:
        """A lower bound on delta at `epsilon`."""
        rise = np.expm1(epsilon - self.logs)
        rounding = _ROUNDING * (1 + self._size(-1))
        # The sum's rounding, and that of rise and of the logarithms.
        lost = rounding * (self.below - self.slopes * (np.abs(rise) + 1))
        return max(0.0, float((self.below + self.slopes * rise - lost).max()))

    def epsilon(self, delta: float) -> float:
        """An upper bound on epsilon at `delta`, by the chord; infinite beyond the grid."""
        holds = np.flatnonzero(self.above <= delta)
        if not holds.size:
            return math.inf
        place = int(holds[0])
        if self.logs[place] <= 0:
            return 0.0
        high, low = self.above[place - 1 : place + 1]
        gap = self.logs[place] - self.logs[place - 1]
        share = min(1.0, (high - delta) / (high - low) * (1 + _ROUNDING) + _ROUNDING)
        crossing = self.logs[place - 1] + math.log1p(share * math.expm1(gap))
        return max(0.0, float(crossing) + _ROUNDING * self._size(place))

    def least_epsilon(self, delta: float) -> float:
        """A lower bound on epsilon at `delta`."""
        holds = np.flatnonzero((self.below >= delta) & (self.slopes < 0))
        if not holds.size:
            return 0.0
        last = holds[-1]
        steep = -self.slopes[last] * (1 + _ROUNDING)
        further = max(0.0, self.below[last] * (1 - _ROUNDING) - delta) / steep
        crossing = self.logs[last] + math.log1p(further)
        return max(0.0, float(crossing) - _ROUNDING * self._size(last))

    def _size(self, place: int) -> float:
        """What the rounding of a point's logarithm is relative to."""
        return max(abs(float(self.logs[place])), float(self.logs[1] - self.logs[0]))


@dataclass(frozen=True)
class Bounds:
    """A number that is known to lie between two others."""

    lower: float
    upper: float
