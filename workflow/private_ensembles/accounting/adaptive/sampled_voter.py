"""A label of which one voter is sampled and comes or goes, from its pairs where it is not sampled.

Without the voter a label has the law N, and with it in the sample A. It is in with the rate q, so
that (1 - q) N + q A stands against N. Its curve at t is q times that of (A, N) at 1 + (t - 1) / q.
Proof: docs/sampled-teachers.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive.families import Family, Pairs
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF

# Of a threshold e^x, |x| <= 600, of its inverse, and of sums with it, relative to 1.
_ROUNDING = 1024 * UNIT_ROUNDOFF
# Thresholds below count as this one: curves less those of equal laws rise up to 1.
_LEAST = 1e-200


@dataclass(frozen=True)
class SampledVoter:
    """The pairs of a label of which one voter comes or goes: `families.Family`.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> voter = SampledVoter(two_classes([0.25, 0.75]), 0.1)
    >>> float(voter.excesses(np.array([1.0])).max().round(12))
    0.05

    unsampled: the pairs (A, N) of a label with the voter for certain, in both orders. rate: with
    which it is in the sample, in (0, 1]. played: pairs of neighbours that do exist, for the lower
    bound; unless given those of an adversary who also chooses which other voters are in the sample,
    who may not exist. Raises ValueError for numbers out of range.
    """

    unsampled: Family
    rate: float
    played: Pairs | None = None

    def __post_init__(self) -> None:
        checks.probability(rate=self.rate, zero=False)

    def excesses(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`: in the order in which P has the voter, and in the other one.

        There a curve is t times that at 1 / t.
        """
        back = t * self._with(1 / t) * (1 + _ROUNDING)
        return np.concatenate([self._with(t), back])

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        if self.played is not None:
            return self.played.pairs()
        inside, without = self.unsampled.pairs()
        mixed = self.rate * inside + (1 - self.rate) * without
        return np.concatenate([mixed, without]), np.concatenate([without, mixed])

    def _with(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Curves where P has the voter, less (1 - t)_+: at thresholds rounded against ourselves.

        Beside 1 curves fall with t above it and rise below, and both keep on their side of 1.
        """
        rate = self.rate
        larger = t >= 1
        off = np.where(larger, -1.0, 1.0) * _ROUNDING * (t + 1)
        inner = 1 + (t - 1 + off) / rate
        inner = np.where(larger, np.maximum(inner, 1.0), np.clip(inner, _LEAST, 1.0))
        different, place = np.unique(inner, return_inverse=True)
        curves = self.unsampled.excesses(different)[:, place]
        return np.where(t - 1 + off <= -rate, 0.0, rate * curves * (1 + _ROUNDING))
