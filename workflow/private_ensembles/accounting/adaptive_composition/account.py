"""What many labels cost together, between two bounds: fully adaptive composition of one mechanism.

A mechanism answers Q queries with fresh noise, and the record at stake moves each query's votes to
a neighbour that an adversary chooses after seeing the labels so far. Backward induction over that
adversary gives the curve delta(epsilon) between two bounds, for the labels alone: what is never
released is not charged. Theorems and proofs: docs/many-labels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition import hockey_sticks
from private_ensembles.accounting.adaptive_composition.backward_induction import (
    Grid,
    value_lower_lines,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    DominatingPairs,
    PairsWithMaximum,
    PessimisticPairs,
    log_likelihood_ratios,
    max_loss_deviation,
)
from private_ensembles.accounting.adaptive_composition.label_blocks import values_of_labels
from private_ensembles.base import checks
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# The grid has so many points n per standard deviation of a label's loss, which makes delta too
# large by 2 / n^2 or so.
FINE, COARSE = 7.0, 3.0
# Few labels are cheap, so they get this many times as many points, divided by their square root.
_FINER = 4
# Time is saved with this many labels: kernels have fewer masses beyond _NEAR standard deviations.
_SEVERAL, _NEAR = 200, 4
# Losses beyond the kernels' reach may hold this share of delta, over all labels.
_CUT = 1e-4
# Fewer curves than these are not merged.
_FEW_CURVES = 48
_LARGEST_REACH, _FURTHEST = 4000, 600.0
_MOST_POINTS = 20_000
_TRIES = 40
# Pairs are merged by these multiples of the Rényi order that decides at epsilon, since labels that
# are near their end, or few, meet orders far from it.
_ORDERS = np.geomspace(1 / 32, 2.5, 12)
# Few points of one label's curve are worked out by themselves, so many at a time for all of its
# pairs.
_FEW_POINTS, _THRESHOLDS = 256, 32
# This many of the distances at which a reach is sought are passed over at first.
_STRIDE = 8
# Exponentials, logarithms, quotients and sums of a few numbers are off by this.
_ROUNDING = 64 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class PrivacyCurve:
    """Bounds on delta at a uniform grid of epsilons, for all labels together.

    Attributes:
        epsilons: (n,), ascending.
        upper: (n,), upper bounds on delta.
        lower: (n,), lower bounds on delta: values of lines under the true curve.
        lower_slopes: (n,), slopes of these lines in e^epsilon, times e^epsilon.
    """

    epsilons: NDArray[np.float64]
    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    lower_slopes: NDArray[np.float64]

    @upper_bound
    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta at `epsilon`, by the chord in e^epsilon.

        Raises:
            ValueError: An epsilon left of the grid, which holds all that are >= 0.
        """
        index = int(np.searchsorted(self.epsilons, epsilon, side="right")) - 1
        if index < 0:
            raise ValueError(f"epsilon = {epsilon}: must be >= {self.epsilons[0]}")
        if index + 1 >= self.epsilons.size:
            return min(1.0, float(self.upper[-1]))
        gap = self.epsilons[index + 1] - self.epsilons[index]
        share = math.expm1(epsilon - self.epsilons[index]) / math.expm1(gap)
        # The share of the next point, which is lower, is rounded down. The grid's logarithms are
        # rounded, too.
        share = max(0.0, share - _ROUNDING * (1 + self._size(index) / gap))
        chord = (1 - share) * self.upper[index] + share * self.upper[index + 1]
        return min(1.0, float(chord) * (1 + _ROUNDING))

    @upper_bound
    def epsilon(self, delta: float) -> float:
        """Return an upper bound on epsilon at `delta`, by the chord; infinite beyond the grid."""
        holds = np.flatnonzero(self.upper <= delta)
        if not holds.size:
            return math.inf
        index = int(holds[0])
        if self.epsilons[index] <= 0:
            return 0.0
        high, low = self.upper[index - 1 : index + 1]
        gap = self.epsilons[index] - self.epsilons[index - 1]
        share = min(1.0, (high - delta) / (high - low) * (1 + _ROUNDING) + _ROUNDING)
        crossing = self.epsilons[index - 1] + math.log1p(share * math.expm1(gap))
        return max(0.0, float(crossing) + _ROUNDING * self._size(index))

    @lower_bound
    def least_epsilon(self, delta: float) -> float:
        """Return a lower bound on epsilon at `delta`."""
        holds = np.flatnonzero((self.lower >= delta) & (self.lower_slopes < 0))
        if not holds.size:
            return 0.0
        last = holds[-1]
        steep = -self.lower_slopes[last] * (1 + _ROUNDING)
        further = max(0.0, self.lower[last] * (1 - _ROUNDING) - delta) / steep
        crossing = self.epsilons[last] + math.log1p(further)
        return max(0.0, float(crossing) - _ROUNDING * self._size(last))

    def _size(self, index: int) -> float:
        """Return what the rounding of a point's logarithm is relative to."""
        return max(abs(float(self.epsilons[index])), float(self.epsilons[1] - self.epsilons[0]))


@dataclass(frozen=True)
class Bounds:
    """A number that is known to lie between two others."""

    lower: float
    upper: float


@upper_bound
@lower_bound
def adaptive_epsilon(
    dominating_pairs: DominatingPairs, labels: int, delta: float, *, fineness: float = FINE
) -> Bounds:
    """Return bounds on the epsilon of `labels` labels at `delta`, adaptively chosen.

    Args:
        dominating_pairs: Of one label: `two_class_dominating_pairs`, `NeighbourPairs` or others.
        labels: How many labels are released, >= 1.
        delta: Delta of all labels together, in (0, 1).
        fineness: Of the grid, in points per standard deviation of a label's loss.

    Returns:
        `upper` is an upper bound in floating point, infinite if losses without bound use delta up.
        `lower` is 0 if the pairs only dominate the label.

    Raises:
        ValueError: A number out of range.

    References:
        docs/many-labels.md.

    >>> from private_ensembles.accounting.adaptive_composition import dominating_pairs
    >>> label = dominating_pairs.two_class_dominating_pairs([0.25, 0.75])
    >>> total = adaptive_epsilon(label, 10, 1e-3)  # randomised response: ln 3 a label
    >>> round(total.lower, 3), round(total.upper, 3)
    (10.968, 10.968)
    """
    check_labels(labels, delta)
    width = max_loss_deviation(dominating_pairs) * math.sqrt(labels)
    guess = width**2 / 2 + width * math.sqrt(2 * math.log(1 / delta))
    # No finite losses add up to more than the largest loss of each label.
    losses = log_likelihood_ratios(*dominating_pairs.attainable_pairs())
    largest_guess = labels * float(np.abs(losses).max()) + guess
    for _ in range(_TRIES):
        rough = privacy_curve(
            dominating_pairs, labels, guess, delta, fineness=COARSE, lower=False
        ).epsilon(delta)
        if math.isfinite(rough):
            lower = not isinstance(dominating_pairs, PessimisticPairs)
            best = privacy_curve(
                dominating_pairs, labels, rough, delta, fineness=fineness, lower=lower
            )
            return Bounds(best.least_epsilon(delta), min(best.epsilon(delta), rough))
        if guess > largest_guess:
            break
        guess *= 2
    return Bounds(0.0, math.inf)


@upper_bound
@lower_bound
def privacy_curve(
    dominating_pairs: DominatingPairs,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    fineness: float = FINE,
    lower: bool = True,
    least: float | None = None,
) -> PrivacyCurve:
    """Return the bounds on delta around `epsilon`, where delta is thought to be about `delta`.

    `epsilon` and `delta` only choose the grid: the bounds hold whatever they are.

    Args:
        dominating_pairs: Of one label.
        labels: How many labels are released, >= 1.
        epsilon: Where bounds are wanted.
        delta: About the delta there.
        fineness: Of the grid, in points per standard deviation of a label's loss.
        lower: Whether lower bounds are wanted, too; else they are 0.
        least: The least epsilon at which bounds are wanted, the largest being `epsilon`, which
            saves time: upper bounds elsewhere are 1. The whole grid unless given.

    References:
        docs/many-labels.md.
    """
    resolution = grid_and_orders(dominating_pairs, labels, epsilon, delta, fineness=fineness)
    grid, orders = resolution.grid, resolution.orders
    wanted = None
    if least is not None:
        ends = (math.floor(end / grid.step) - grid.lowest for end in (least, epsilon))
        wanted = slice(max(0, next(ends) - 1), min(grid.size, next(ends) + 3))
    upper_values = pairs_value_bounds(dominating_pairs, labels, delta, resolution, wanted)
    lower_values = slopes = np.zeros(grid.size)
    if lower:
        pairs = costliest_pairs(dominating_pairs, orders)
        lower_values, slopes = value_lower_lines(*pairs, grid, labels)
    first = max(0, -grid.lowest - 1)  # this is the last point below epsilon = 0
    return PrivacyCurve(
        grid.logs()[first:], upper_values[first:], lower_values[first:], slopes[first:]
    )


class Resolution(NamedTuple):
    """On which grid a label's pairs are worked on, and at which orders they are compared.

    Attributes:
        grid: The thresholds.
        orders: (orders,), the Rényi orders that decide.
        loss_deviation: `max_loss_deviation` of the pairs.
    """

    grid: Grid
    orders: NDArray[np.float64]
    loss_deviation: float


def grid_and_orders(
    dominating_pairs: DominatingPairs,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    fineness: float = FINE,
    width: float = 0.0,
) -> Resolution:
    """Return the grid that `privacy_curve` works on, and the Rényi orders that decide.

    Args:
        dominating_pairs: Of one label.
        labels: How many labels are released.
        epsilon: As `privacy_curve` takes it.
        delta: As `privacy_curve` takes it.
        fineness: As `privacy_curve` takes it.
        width: Standard deviation of all losses together, if more than the labels is released.
    """
    loss_deviation = max_loss_deviation(dominating_pairs)
    width = max(width, loss_deviation * math.sqrt(labels))
    grid = grid_of(loss_deviation, labels, width, epsilon, delta, fineness)
    return Resolution(grid, deciding_orders(epsilon, width), loss_deviation)


@upper_bound
def pairs_value_bounds(
    dominating_pairs: DominatingPairs,
    labels: int,
    delta: float,
    known: Resolution,
    wanted: slice | None = None,
) -> NDArray[np.float64]:
    """Return upper bounds on W_labels at the grid's points, 1 where none is wanted.

    One label's W is the largest of its pairs' curves, and the largest of all rows bounds it at each
    point. So no kernel is needed for few points, or where the largest row is found without the
    others.

    Args:
        dominating_pairs: Of one label.
        labels: How many labels are released.
        delta: As `kernels_on` takes it.
        known: As `grid_and_orders` returns it.
        wanted: The points at which bounds are wanted, all unless given.
    """
    grid, orders, loss_deviation = known
    first, last, _ = (slice(None) if wanted is None else wanted).indices(grid.size)
    all_rows = not isinstance(dominating_pairs, PairsWithMaximum)
    # If all rows are worked out, kernels take less time for many points.
    if labels > 1 or (all_rows and last - first > _FEW_POINTS):
        kernels = kernels_on(dominating_pairs, grid.step, labels, delta, orders, loss_deviation)
        return values_of_labels(kernels, grid, labels, delta, wanted)
    values, logs = np.ones(grid.size), grid.logs()
    at_once = _THRESHOLDS if all_rows else last - first
    for start in range(first, last, at_once):
        points = slice(start, min(start + at_once, last))
        # Floats end further out. Divergences fall away from 1, so the last ones bound what follows.
        t = np.exp(np.clip(logs[points], -_FURTHEST, _FURTHEST))
        largest = (
            dominating_pairs.max_divergences(t)
            if isinstance(dominating_pairs, PairsWithMaximum)
            else dominating_pairs.hockey_stick_divergences(t).max(axis=0)
        )
        largest -= np.expm1(np.minimum(logs[points], 0.0))
        values[points] = np.minimum(largest * (1 + _ROUNDING), 1.0)
    return values


def grid_of(
    loss_deviation: float, labels: int, width: float, epsilon: float, delta: float, fineness: float
) -> Grid:
    """Return the grid for so many labels.

    Args:
        loss_deviation: Standard deviation of one label's loss.
        labels: How many labels are released.
        width: Standard deviation of all losses together.
        epsilon: As `privacy_curve` takes it.
        delta: As `privacy_curve` takes it.
        fineness: As `privacy_curve` takes it.
    """
    bottom, top = log_threshold_limits(width, epsilon, delta)
    # The deviation is a whole number of steps, so that equal and opposite losses fall on the grid.
    points = math.ceil(fineness * max(1, _FINER / math.sqrt(labels)) * max(loss_deviation, 1.0))
    step = max(loss_deviation / points, (top - bottom) / _MOST_POINTS)
    lowest, highest = math.floor(bottom / step) - 1, math.ceil(top / step) + 1
    return Grid(step, lowest, highest - lowest + 1)


def log_threshold_limits(width: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the logarithms of the least and the largest y of a grid; width: of all losses."""
    # What lies further down is bounded by e^-|ln y|.
    return -min(5 * width, math.log(1 / delta) + 5), epsilon + 2 * width


def kernels_on(
    dominating_pairs: DominatingPairs,
    step: float,
    labels: int,
    delta: float,
    orders: NDArray[np.float64],
    loss_deviation: float,
) -> hockey_sticks.Kernels:
    """Return kernels on a grid of `step` that dominate the pairs.

    Args:
        dominating_pairs: Of one label.
        step: Distance of the grid's logarithms.
        labels: About how many labels are released. labels and delta choose how far losses are
            followed.
        delta: About the delta of all labels.
        orders: `deciding_orders`, which choose the pairs that are merged.
        loss_deviation: `max_loss_deviation` of the pairs, which takes a while to compute.
    """
    rows = merged_divergences(dominating_pairs, step, _CUT * delta / labels, orders, loss_deviation)
    near = math.ceil(_NEAR * loss_deviation / step) if labels >= _SEVERAL else None
    return hockey_sticks.kernels(rows, step, near)


def merged_divergences(
    dominating_pairs: DominatingPairs,
    step: float,
    cut: float,
    orders: NDArray[np.float64],
    loss_deviation: float,
) -> NDArray[np.float64]:
    """Return the rows of `curves_on`, merged where there are many.

    orders: as in `kernels_on`.
    """
    rows = curves_on(dominating_pairs, step, cut, loss_deviation)
    if len(rows) > _FEW_CURVES:
        return hockey_sticks.merge_curves(rows, step, orders)
    return hockey_sticks.keep_maximal_curves(rows)


def curves_on(
    dominating_pairs: DominatingPairs, step: float, cut: float, loss_deviation: float
) -> NDArray[np.float64]:
    """Return the divergences of the pairs at thresholds of `step`, (rows, 2 reach + 1).

    Args:
        dominating_pairs: Of one label.
        step: Distance of the thresholds' logarithms.
        cut: What a label's losses beyond the reach may hold.
        loss_deviation: As in `kernels_on`.
    """
    reach = _choose_support_radius(dominating_pairs, loss_deviation, cut, step)
    return dominating_pairs.hockey_stick_divergences(hockey_sticks.thresholds(step, reach))


def deciding_orders(epsilon: float, width: float) -> NDArray[np.float64]:
    """Return the Rényi orders that decide at `epsilon`; width: as in `grid_and_orders`, > 0."""
    return (epsilon / width**2 + 0.5) * _ORDERS


def check_labels(labels: int, delta: float) -> None:
    """Raise ValueError unless labels is a whole number >= 1 and delta in (0, 1)."""
    checks.check_integer(labels=labels, at_least=1)
    checks.check_probability(delta=delta, zero=False, one=False)


def _choose_support_radius(
    dominating_pairs: DominatingPairs, loss_deviation: float, cut: float, step: float
) -> int:
    """Return how many points of the grid the kernels reach to either side."""
    furthest = min(_LARGEST_REACH * step, _FURTHEST)
    distances = np.minimum(loss_deviation * 1.25 ** np.arange(1, 60), furthest)

    def divergences_at(indices: NDArray[np.int64]) -> NDArray[np.float64]:
        return dominating_pairs.hockey_stick_divergences(np.exp(distances[indices])).max(axis=0)

    # Divergences fall with the distance, so a few distances are tried first, and then those before
    # the first that is far enough. What is lost at any distance is no reason to go further.
    coarse = np.append(np.arange(0, distances.size - 1, _STRIDE), distances.size - 1)
    divergences = divergences_at(coarse)
    enough = cut + (1 + _CUT) * divergences.min()
    last = int(np.argmax(divergences <= enough))
    between = np.arange(coarse[last - 1] + 1 if last else 0, coarse[last])
    if between.size:
        divergences = divergences_at(between)
    far_enough = np.append(divergences[: between.size] <= enough, True)  # coarse[last] is
    index = np.append(between, coarse[last])[np.argmax(far_enough)]
    return max(1, math.ceil(distances[index] / step))


def costliest_pairs(
    dominating_pairs: DominatingPairs, orders: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the pairs (pairs, outcomes) that cost most at orders up to the largest.

    Pairs with the largest infinite loss are among them.

    Args:
        dominating_pairs: Of one label.
        orders: (orders,), Rényi orders.

    Returns:
        P and P', twice (pairs, outcomes).
    """
    first, second = dominating_pairs.attainable_pairs()
    losses = log_likelihood_ratios(first, second)
    compared_orders = np.linspace(0, orders.max(), 17)[1:, None, None]
    costs = (first * np.expm1(np.minimum(-compared_orders * losses, 700))).sum(axis=2)
    lost = np.where(second == 0, first, 0.0).sum(axis=1)
    chosen = np.unique([*costs.argmax(axis=1), lost.argmax()])
    return first[chosen], second[chosen]
