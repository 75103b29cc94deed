"""The least noise whose labels keep a budget, found as the scale at which their curve meets it.

Also how fine a grid labels need, and where rounding on it leaves nothing of delta to prove.
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
# The least scale is this much too large, over the square of points, about.
_COARSENESS = 0.095
# No larger than a delta that the normal law's own bound can reach.
_LEAST_SHIFTED = 1e-250
# Points of the grid for more than two classes: sigma is 0.3 % more than at FINE, in half the time.
_COARSER = 4.0
# With more delta for each label, rounding does not matter.
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

    curve_of: what a caller makes of `account.privacy_curve` at a scale > 0 and a fineness; delta falls as
    the scale grows. start: a scale near the least, for instance what the noisy counts need. Raises
    ValueError if none is found.
    """
    check_labels(labels, delta)

    wanted = _shift(epsilon, delta)

    def height(scale: float, points: float) -> float:
        reached = curve_of(scale, points).delta(epsilon)
        near = math.log(_shift(epsilon, reached) / wanted)
        return min(near, 0.0) if reached <= delta else max(near, UNIT_ROUNDOFF)

    near = start * grid_noise_factor(fineness)
    if fineness > 2 * COARSE and labels > 1:  # otherwise the coarse grid saves no time
        more = grid_noise_factor(COARSE) / grid_noise_factor(fineness)
        near = least_scale(lambda tried: height(tried, COARSE), near * more, 8 * SLACK) / more
    scale = math.inf
    if math.isfinite(near):
        scale = least_scale(lambda tried: height(tried, fineness), near, SLACK)
    if not math.isfinite(scale):
        raise ValueError(f"no scale near {start} keeps ({epsilon}, {delta}) for {labels} labels")
    return scale


def grid_fineness(n_classes: int, labels: int) -> float:
    """Return the fineness: few labels' curves have corners, and more than two classes take long.

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

    Decided by what each label loses for certain, before any work; a little above it `loses_all`
    decides, by what it loses on the grid.

    >>> explain_nothing_provable(2, 1000, 1e-5) is None
    True
    """
    least = hockey_sticks.LEAST_LOST + (OUTSIDE if n_classes > 2 else 0.0)
    if delta > labels * least:
        return None
    return (
        f"its account of {labels:,} labels proves nothing for a delta of "
        f"{labels * least:.2g} or less, which its rounding takes"
    )


def loses_all(
    dominating_pairs: DominatingPairs, labels: int, epsilon: float, delta: float, n_classes: int
) -> bool:
    """Return whether the account proves no noise at such a small delta, without a search for it.

    A bound on the delta of that many labels is charged for rounding, edges and a lattice, however
    large the noise, so that for a smaller delta no noise is proven. family: at the noise of another
    proof; epsilon, delta: the budget, which chooses the grid.
    """
    if delta > labels * _PLENTY:
        return False
    fineness = grid_fineness(n_classes, labels)
    grid, orders, spread = grid_and_orders(
        dominating_pairs, labels, epsilon, delta, fineness=fineness
    )
    kernels = kernels_on(dominating_pairs, grid.step, labels, delta, orders, spread)
    lost = min(float(kernels.infinite_loss_mass.max()), 0.5)
    return -math.expm1(labels * math.log1p(-lost)) >= delta


def share_of_scale(
    dominating_pairs: DominatingPairs, labels: int, epsilon: float, delta: float
) -> float:
    """Return about what share of its noise a family's labels need: where a search may start.

    >>> from private_ensembles.accounting.adaptive_composition.dominating_pairs import two_class_dominating_pairs
    >>> round(share_of_scale(two_class_dominating_pairs([0.5, 0.55]), 100, 1.0, 1e-5), 2)
    3.75

    That of losses that add up to a normal law's and shrink as the noise grows.
    """
    return max_loss_deviation(dominating_pairs) * math.sqrt(labels) / _shift(epsilon, delta)


def _shift(epsilon: float, delta: float) -> float:
    """The shift of a normal law of width 1 that costs (epsilon, delta), about."""
    delta = min(max(delta, _LEAST_SHIFTED), 0.999)
    return find_largest(lambda mu: bool(gaussian_delta(mu, epsilon) <= delta), relative=1e-6)
