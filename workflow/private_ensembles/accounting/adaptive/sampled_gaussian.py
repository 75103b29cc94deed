"""GNMax's labels of sampled voters, of whom one may change its vote, for `adaptive.account`.

As in `gaussian_maximum`, given the largest noisy count of the classes that are neither a nor b, and
here given the sample of the other voters too, three outcomes are left: a, b, another. The voter is
not in the sample, the same on both sides, or it is: a has its vote before and b after. So a label
is a mixture of three laws in place of one. Proof: docs/sampled-teachers.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive import gaussian_maximum
from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum


@dataclass(frozen=True)
class SampledMaximum(GaussianMaximum):
    """The family of GNMax's labels of sampled voters, of whom one votes differently.

    rate: with which the voter is sampled, in (0, 1]. played: pairs of neighbours that do exist, for
    the lower bound; those of all voters unless given. The rest as in `GaussianMaximum`; `moved` is
    1. Raises ValueError for numbers out of range.
    """

    rate: float = 1.0
    played: Pairs | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.probability(rate=self.rate, zero=False)
        checks.integer(moved=self.moved, at_least=1, at_most=1)

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        return super().pairs() if self.played is None else self.played.pairs()

    @property
    def lowest(self) -> float:
        """The least middle: without the voter it lies half a vote higher."""
        return super().lowest - (1 / self.scale / 2 if self.rate < 1 else 0.0)

    def _tables(self) -> tuple[NDArray[np.float64], ...]:
        """What lines are made of; leads and middles are those with the voter's vote at a.

        Without it the lead is a vote less, and the middle, as M stays, half a vote higher.
        """
        leads, middles, between = self._nodes()
        rate, vote = self.rate, 1 / self.scale
        exchanged = gaussian_maximum.EXCHANGED
        first = gaussian_maximum.outcomes(leads, middles)
        apart, _ = gaussian_maximum.curvatures(leads, middles, 0.0, between)
        level, tilt = gaussian_maximum.curvatures(leads, middles, self.move, between)
        second, apart_after = (rows[::-1, :, exchanged] for rows in (first, apart))
        if rate == 1:
            return first, second, level, tilt, apart, apart_after
        without = gaussian_maximum.outcomes(leads - vote, middles + vote / 2)
        apart_without, _ = gaussian_maximum.curvatures(
            leads - vote, middles + vote / 2, 0.0, between
        )

        def mixed(rows: NDArray, others: NDArray) -> NDArray[np.float64]:
            return rate * rows + (1 - rate) * others

        return (
            mixed(first, without),
            mixed(second, without),
            mixed(level, apart_without),
            rate * tilt,
            mixed(apart, apart_without),
            mixed(apart_after, apart_without),
        )
