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
from private_ensembles.base.stated_bounds import upper_bound

# The curve is followed about down to this delta, over so many standard deviations of all losses.
_LEAST, _WIDE = 1e-13, 8.0
# Exponentials, quotients and sums of a few numbers are off by this.
_ROUNDING = 64 * UNIT_ROUNDOFF


@upper_bound
@dataclass(frozen=True)
class WholeCurve:
    """An upper bound on delta at every epsilon >= 0, for all labels, over both orders.

    Attributes:
        curve: Its points, from the last epsilon below 0 on.
    """

    curve: PrivacyCurve

    @property
    def last_epsilon(self) -> float:
        """The epsilon from which on the bound falls no more, or not by much."""
        upper = self.curve.upper
        low = np.flatnonzero(upper <= max(_LEAST, 2 * float(upper[-1])))
        return max(float(self.curve.epsilons[low[0]]), 2 * self._step)

    @property
    def _step(self) -> float:
        return float(self.curve.epsilons[1] - self.curve.epsilons[0])

    @upper_bound
    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Return upper bounds on delta by the chord in e^epsilon, as `PrivacyCurve.delta`.

        Args:
            epsilons: (E,) >= 0.
        """
        epsilons = np.asarray(epsilons, dtype=np.float64)
        points, upper = self.curve.epsilons, self.curve.upper
        index = np.searchsorted(points, epsilons, side="right") - 1
        last = index + 1 >= points.size
        index = np.minimum(index, points.size - 2)
        gap = points[index + 1] - points[index]
        share = np.expm1(np.minimum(epsilons - points[index], gap)) / np.expm1(gap)
        # The share of the next point, which is lower, is rounded down. The grid's points are
        # rounded, too.
        size = np.maximum(np.abs(points[index]), self._step)
        share = np.maximum(0.0, share - _ROUNDING * (1 + size / gap))
        chord = (1 - share) * upper[index] + share * upper[index + 1]
        return np.minimum(1.0, np.where(last, upper[-1], chord * (1 + _ROUNDING)))


@upper_bound
def whole_curve(
    dominating_pairs: DominatingPairs, labels: int, *, fineness: float = FINE
) -> WholeCurve:
    """Return the curve of `labels` labels, adaptively chosen; upper bounds in floating point.

    Args:
        dominating_pairs: As in `account.adaptive_epsilon`.
        labels: How many labels are released, >= 1.
        fineness: As in `account.adaptive_epsilon`.

    Raises:
        ValueError: labels < 1.

    References:
        docs/many-labels.md, theorem 1.

    >>> from private_ensembles.accounting.adaptive_composition import dominating_pairs
    >>> label = dominating_pairs.two_class_dominating_pairs([0.25, 0.75])  # randomised response
    >>> whole_curve(label, 1).delta([0.0, math.log(3)]).round(6)
    array([0.5, 0. ])
    """
    check_labels(labels, _LEAST)
    width = max_loss_deviation(dominating_pairs) * math.sqrt(labels)
    epsilon = width**2 / 2 + _WIDE * width
    return WholeCurve(
        privacy_curve(dominating_pairs, labels, epsilon, _LEAST, fineness=fineness, lower=False)
    )
