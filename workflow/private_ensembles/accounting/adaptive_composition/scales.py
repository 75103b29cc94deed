"""The least noise whose labels keep a budget, found as the scale at which their curve meets it.

Also how fine a grid labels need, and for which delta rounding on it leaves nothing to prove.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from private_ensembles.accounting.adaptive_composition import hockey_sticks
from private_ensembles.accounting.adaptive_composition.account import (
    COARSE,
    FINE,
    PrivacyCurve,
    check_labels,
    grid_and_orders,
    kernels_on,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    DominatingPairs,
    max_loss_deviation,
)
from private_ensembles.accounting.adaptive_composition.gaussian_maximum import OUTSIDE
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.base.root_search import find_largest, least_scale
from private_ensembles.base.rounding import UNIT_ROUNDOFF

# A scale is found to this much above the least one that the grid can prove.
SLACK = 5e-4
# The least scale is about this much too large, divided by the square of the fineness.
_COARSENESS = 0.095
# The normal law's own bound can reach this delta.
_LEAST_SHIFTED = 1e-250
# The grid is coarser for more than two classes: sigma is 0.3 % more than at FINE, in half the time.
_COARSER = 4.0
# Rounding does not matter if there is more delta for each label.
_PLENTY = 1e-10


def least_scale_of_curves(
    curve_of: Callable[[float, float], PrivacyCurve],
    labels: int,
    epsilon: float,
    delta: float,
    start: float,
    *,
    fineness: float = FINE,
) -> float:
    """Return a scale, within SLACK of the least one, whose labels cost at most (epsilon, delta).

    Args:
        curve_of: Returns what a caller makes of `account.privacy_curve` at a scale > 0 and a
            fineness; delta falls as the scale grows.
        labels: How many labels are released.
        epsilon: Epsilon of all labels together.
        delta: Delta of all labels together.
        start: A scale near the least, for instance what the noisy counts need.
        fineness: Of the grid.

    Raises:
        ValueError: No scale is found.
    """
    check_labels(labels, delta)
    wanted_shift = _shift(epsilon, delta)

    def height(scale: float, points: float) -> float:
        cost = curve_of(scale, points).delta(epsilon)
        log_ratio = math.log(_shift(epsilon, cost) / wanted_shift)
        return min(log_ratio, 0.0) if cost <= delta else max(log_ratio, UNIT_ROUNDOFF)

    near = start * grid_noise_factor(fineness)
    if fineness > 2 * COARSE and labels > 1:  # otherwise the coarse grid saves no time
        factor = grid_noise_factor(COARSE) / grid_noise_factor(fineness)
        near = least_scale(lambda tried: height(tried, COARSE), near * factor, 8 * SLACK) / factor
    scale = math.inf
    if math.isfinite(near):
        scale = least_scale(lambda tried: height(tried, fineness), near, SLACK)
    if not math.isfinite(scale):
        raise ValueError(f"no scale near {start} keeps ({epsilon}, {delta}) for {labels} labels")
    return scale


def grid_fineness(n_classes: int, labels: int) -> float:
    """Return the fineness of the grid that labels need.

    Few labels' curves have corners, and more than two classes take long.

    >>> grid_fineness(2, 1000), grid_fineness(10, 5)
    (7.0, 8.0)
    """
    if n_classes == 2:
        return FINE * min(8.0, max(1.0, 100 / labels))
    return _COARSER * min(2.0, max(1.0, 10 / labels))


def grid_noise_factor(fineness: float) -> float:
    """Return about by what factor a grid enlarges the least scale.

    >>> round(grid_noise_factor(4.0), 4)
    1.0059
    """
    return 1 + _COARSENESS / fineness**2


def explain_nothing_provable(n_classes: int, labels: int, delta: float) -> str | None:
    """Return why the account can prove nothing of so many labels at this delta, or None.

    It is decided by what each label loses for certain, before any work; a little above it
    `loses_all` decides, by what the label loses on the grid.

    >>> explain_nothing_provable(2, 1000, 1e-5) is None
    True
    """
    charge = hockey_sticks.LEAST_LOST + (OUTSIDE if n_classes > 2 else 0.0)
    if delta > labels * charge:
        return None
    return (
        f"its account of {labels:,} labels proves nothing for a delta of "
        f"{labels * charge:.2g} or less, which its rounding takes"
    )


def loses_all(
    dominating_pairs: DominatingPairs, labels: int, epsilon: float, delta: float, n_classes: int
) -> bool:
    """Return whether the account proves no noise at such a small delta, without a search for it.

    A bound on the delta of so many labels is charged for rounding, edges and a lattice, however
    large the noise. So no noise is proven for a smaller delta.

    Args:
        dominating_pairs: Of one label, at the noise of another proof.
        labels: How many labels are released.
        epsilon: Of the budget, which chooses the grid.
        delta: Of the budget.
        n_classes: How many classes there are.
    """
    if delta > labels * _PLENTY:
        return False
    fineness = grid_fineness(n_classes, labels)
    grid, orders, loss_deviation = grid_and_orders(
        dominating_pairs, labels, epsilon, delta, fineness=fineness
    )
    kernels = kernels_on(dominating_pairs, grid.step, labels, delta, orders, loss_deviation)
    lost = min(float(kernels.infinite_loss_mass.max()), 0.5)
    return -math.expm1(labels * math.log1p(-lost)) >= delta


def share_of_scale(
    dominating_pairs: DominatingPairs, labels: int, epsilon: float, delta: float
) -> float:
    """Return about what share of its noise a label needs: where a search may start.

    It is that of losses that add up to a normal law's and shrink as the noise grows.

    >>> from private_ensembles.accounting.adaptive_composition import dominating_pairs
    >>> label = dominating_pairs.two_class_dominating_pairs([0.5, 0.55])
    >>> round(share_of_scale(label, 100, 1.0, 1e-5), 2)
    3.75
    """
    return max_loss_deviation(dominating_pairs) * math.sqrt(labels) / _shift(epsilon, delta)


def _shift(epsilon: float, delta: float) -> float:
    """Return about the shift of a normal law of width 1 that costs (epsilon, delta)."""
    delta = min(max(delta, _LEAST_SHIFTED), 0.999)
    return find_largest(lambda mu: bool(gaussian_delta(mu, epsilon) <= delta), relative=1e-6)
