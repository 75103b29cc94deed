"""What many labels cost at every epsilon at once.

One pass of the backward induction gives the curve (docs/many-labels.md, theorem 1). Accountants of
privacy losses take it whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.account import (
    FINE,
    PrivacyCurve,
    check_labels,
    privacy_curve,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    DominatingPairs,
    max_loss_deviation,
)
from private_ensembles.base.rounding import UNIT_ROUNDOFF

# The curve is followed down to this delta, about, over this many standard deviations of all losses.
_LEAST, _WIDE = 1e-13, 8.0
# Exponentials, quotients and sums of a few numbers.
_ROUNDING = 64 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class WholeCurve:
    """An upper bound on delta at every epsilon >= 0, for all labels, over both orders.

    curve: its points, from the last epsilon below 0 on.
    """

    curve: PrivacyCurve

    @property
    def last_epsilon(self) -> float:
        """The epsilon from which on the bound falls no more, or not by much."""
        above = self.curve.upper
        low = np.flatnonzero(above <= max(_LEAST, 2 * float(above[-1])))
        return max(float(self.curve.epsilons[low[0]]), 2 * self._step)

    @property
    def _step(self) -> float:
        return float(self.curve.epsilons[1] - self.curve.epsilons[0])

    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Upper bounds on delta at epsilons >= 0, by the chord in e^epsilon, as `Curve.delta`."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        logs, above = self.curve.epsilons, self.curve.upper
        place = np.searchsorted(logs, epsilons, side="right") - 1
        last = place + 1 >= logs.size
        place = np.minimum(place, logs.size - 2)
        gap = logs[place + 1] - logs[place]
        share = np.expm1(np.minimum(epsilons - logs[place], gap)) / np.expm1(gap)
        # Of the next point, which is lower. The grid's logarithms are rounded, too.
        size = np.maximum(np.abs(logs[place]), self._step)
        share = np.maximum(0.0, share - _ROUNDING * (1 + size / gap))
        chord = (1 - share) * above[place] + share * above[place + 1]
        return np.minimum(1.0, np.where(last, above[-1], chord * (1 + _ROUNDING)))


def whole_curve(
    dominating_pairs: DominatingPairs, labels: int, *, fineness: float = FINE
) -> WholeCurve:
    """Return the curve of `labels` labels, adaptively chosen; upper bounds in floating point.

    >>> from private_ensembles.accounting.adaptive_composition.dominating_pairs import two_class_dominating_pairs
    >>> label = two_class_dominating_pairs([0.25, 0.75])  # randomised response
    >>> whole_curve(label, 1).delta([0.0, math.log(3)]).round(6)
    array([0.5, 0. ])

    family, fineness: as in `account.adaptive_epsilon`. Raises ValueError for labels < 1.
    """
    check_labels(labels, _LEAST)
    width = max_loss_deviation(dominating_pairs) * math.sqrt(labels)
    epsilon = width**2 / 2 + _WIDE * width
    return WholeCurve(
        privacy_curve(dominating_pairs, labels, epsilon, _LEAST, fineness=fineness, lower=False)
    )
