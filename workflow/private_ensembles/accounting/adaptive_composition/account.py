"""What many labels cost together, between two bounds: fully adaptive composition of one mechanism.

A mechanism answers Q queries with fresh noise, and the record at stake moves each query's votes to
a neighbour that an adversary chooses after seeing the labels so far. Backward induction over that
adversary gives the curve delta(epsilon) between two bounds, for the labels alone: what is never
released is not charged. Theorems and proofs: docs/many-labels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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

# Points of the grid per standard deviation of a label's loss: delta is too large by 2 / n^2 or so.
FINE, COARSE = 7.0, 3.0
# Few labels are cheap: up to this many times as many points, divided by their square root.
_FINER = 4
# With that many labels time is saved: beyond _NEAR standard deviations kernels have fewer masses.
_SEVERAL, _NEAR = 200, 4
# Losses beyond the kernels' reach may hold this share of delta, over all labels.
_CUT = 1e-4
# A finite family is not gathered below this many pairs.
_FEW = 48
_LARGEST_REACH, _FURTHEST = 4000, 600.0
_MOST_POINTS = 20_000
_TRIES = 40
# Multiples of the Renyi order that decides at epsilon, by which pairs are gathered: labels that are
# near their end, or few, meet orders far from it.
_ORDERS = np.geomspace(1 / 32, 2.5, 12)
# Of one label few points are worked out by themselves, and so many at a time for all of its pairs.
_FEW_POINTS, _THRESHOLDS = 256, 32
# Of the distances at which a reach is sought this many are passed over at first.
_STRIDE = 8
# Exponentials, logarithms, quotients and sums of a few numbers.
_ROUNDING = 64 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class PrivacyCurve:
    """Bounds on delta at epsilon = logs, a uniform grid, for all labels together.

    above: upper bounds. below, slopes: lines under the true curve, as functions of e^epsilon.
    """

    epsilons: NDArray[np.float64]
    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    lower_slopes: NDArray[np.float64]

    def delta(self, epsilon: float) -> float:
        """An upper bound on delta at `epsilon`, by the chord in e^epsilon.

        Raises ValueError for an epsilon left of the grid, which holds all that are >= 0.
        """
        place = int(np.searchsorted(self.epsilons, epsilon, side="right")) - 1
        if place < 0:
            raise ValueError(f"epsilon = {epsilon}: must be >= {self.epsilons[0]}")
        if place + 1 >= self.epsilons.size:
            return min(1.0, float(self.upper[-1]))
        gap = self.epsilons[place + 1] - self.epsilons[place]
        share = math.expm1(epsilon - self.epsilons[place]) / math.expm1(gap)
        # Of the next point, which is lower. The grid's logarithms are rounded, too.
        share = max(0.0, share - _ROUNDING * (1 + self._size(place) / gap))
        chord = (1 - share) * self.upper[place] + share * self.upper[place + 1]
        return min(1.0, float(chord) * (1 + _ROUNDING))

    def epsilon(self, delta: float) -> float:
        """An upper bound on epsilon at `delta`, by the chord; infinite beyond the grid."""
        holds = np.flatnonzero(self.upper <= delta)
        if not holds.size:
            return math.inf
        place = int(holds[0])
        if self.epsilons[place] <= 0:
            return 0.0
        high, low = self.upper[place - 1 : place + 1]
        gap = self.epsilons[place] - self.epsilons[place - 1]
        share = min(1.0, (high - delta) / (high - low) * (1 + _ROUNDING) + _ROUNDING)
        crossing = self.epsilons[place - 1] + math.log1p(share * math.expm1(gap))
        return max(0.0, float(crossing) + _ROUNDING * self._size(place))

    def least_epsilon(self, delta: float) -> float:
        """A lower bound on epsilon at `delta`."""
        holds = np.flatnonzero((self.lower >= delta) & (self.lower_slopes < 0))
        if not holds.size:
            return 0.0
        last = holds[-1]
        steep = -self.lower_slopes[last] * (1 + _ROUNDING)
        further = max(0.0, self.lower[last] * (1 - _ROUNDING) - delta) / steep
        crossing = self.epsilons[last] + math.log1p(further)
        return max(0.0, float(crossing) - _ROUNDING * self._size(last))

    def _size(self, index: int) -> float:
        """What the rounding of a point's logarithm is relative to."""
        return max(abs(float(self.epsilons[index])), float(self.epsilons[1] - self.epsilons[0]))


@dataclass(frozen=True)
class Bounds:
    """A number that is known to lie between two others."""

    lower: float
    upper: float


def adaptive_epsilon(
    dominating_pairs: DominatingPairs, labels: int, delta: float, *, fineness: float = FINE
) -> Bounds:
    """Return bounds on the epsilon of `labels` labels at `delta`, adaptively chosen.

    >>> from private_ensembles.accounting.adaptive_composition.dominating_pairs import two_class_dominating_pairs
    >>> label = two_class_dominating_pairs([0.25, 0.75])  # randomised response: ln 3 a label
    >>> total = adaptive_epsilon(label, 10, 1e-3)
    >>> round(total.lower, 3), round(total.upper, 3)
    (10.968, 10.968)

    family: `two_classes`, `Pairs` or another one. labels: >= 1. delta: in (0, 1). fineness: of the
    grid. `upper` is an upper bound in floating point, infinite if losses without bound use delta
    up. `lower` is 0 if the family only dominates its labels. Raises ValueError for numbers out of
    range. Source: docs/many-labels.md.
    """
    check_labels(labels, delta)
    width = max_loss_deviation(dominating_pairs) * math.sqrt(labels)
    guess = width**2 / 2 + width * math.sqrt(2 * math.log(1 / delta))
    # No finite losses add up to more.
    most = (
        labels * float(np.abs(log_likelihood_ratios(*dominating_pairs.attainable_pairs())).max())
        + guess
    )
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
        if guess > most:
            break
        guess *= 2
    return Bounds(0.0, math.inf)


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
    """Return the bounds around `epsilon`, where delta is thought to be about `delta`.

    Both only choose the grid: the bounds hold whatever they are. lower: whether lower bounds are
    wanted, too; else they are 0. least: the least epsilon at which bounds are wanted, the largest
    being `epsilon`, which saves time: upper bounds elsewhere are 1. All of the grid unless given.
    """
    known = grid_and_orders(dominating_pairs, labels, epsilon, delta, fineness=fineness)
    grid, orders, _ = known
    wanted = None
    if least is not None:
        ends = (math.floor(end / grid.step) - grid.lowest for end in (least, epsilon))
        wanted = slice(max(0, next(ends) - 1), min(grid.size, next(ends) + 3))
    above = pairs_value_bounds(dominating_pairs, labels, delta, known, wanted)
    first = max(0, -grid.lowest - 1)  # the last point below epsilon = 0
    below = slopes = np.zeros(grid.size)
    if lower:
        below, slopes = value_lower_lines(*costliest_pairs(dominating_pairs, orders), grid, labels)
    return PrivacyCurve(grid.logs()[first:], above[first:], below[first:], slopes[first:])


def grid_and_orders(
    dominating_pairs: DominatingPairs,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    fineness: float = FINE,
    width: float = 0.0,
) -> tuple[Grid, NDArray[np.float64], float]:
    """Return the grid that `curve` works on, the Renyi orders that decide, and `largest_spread`.

    width: standard deviation of all losses together, if more than the labels is released; the
    other arguments as in `curve`.
    """
    spread = max_loss_deviation(dominating_pairs)
    width = max(width, spread * math.sqrt(labels))
    grid = grid_of(spread, labels, width, epsilon, delta, fineness)
    return grid, deciding_orders(epsilon, width), spread


def pairs_value_bounds(
    dominating_pairs: DominatingPairs,
    labels: int,
    delta: float,
    known: tuple[Grid, NDArray[np.float64], float],
    wanted: slice | None = None,
) -> NDArray[np.float64]:
    """Return upper bounds on W_labels of a family at the grid's points, 1 where none is wanted.

    One label's W is the largest of its pairs' curves, and the largest of the family's rows bounds
    it at each point: for few points, or where it is found without the others, no kernel is needed.
    delta: as `kernels_on` takes it. known: as `grid_and_orders` returns it.
    """
    grid, orders, spread = known
    first, last, _ = (slice(None) if wanted is None else wanted).indices(grid.size)
    listed = not isinstance(dominating_pairs, PairsWithMaximum)
    # Of rows that are all worked out, kernels take less for many points.
    if labels > 1 or (listed and last - first > _FEW_POINTS):
        kernels = kernels_on(dominating_pairs, grid.step, labels, delta, orders, spread)
        return values_of_labels(kernels, grid, labels, delta, wanted)
    values, logs = np.ones(grid.size), grid.logs()
    at_once = _THRESHOLDS if listed else last - first
    for start in range(first, last, at_once):
        some = slice(start, min(start + at_once, last))
        # Further out floats end. Excesses fall away from 1: those at the ends bound what follows.
        t = np.exp(np.clip(logs[some], -_FURTHEST, _FURTHEST))
        most = (
            dominating_pairs.hockey_stick_divergences(t).max(axis=0)
            if listed
            else dominating_pairs.max_divergences(t)
        )
        most -= np.expm1(np.minimum(logs[some], 0.0))
        values[some] = np.minimum(most * (1 + _ROUNDING), 1.0)
    return values


def grid_of(
    loss_deviation: float, labels: int, width: float, epsilon: float, delta: float, fineness: float
) -> Grid:
    """Return the grid for that many labels; spread: of one label's loss, the rest as above."""
    bottom, top = log_threshold_limits(width, epsilon, delta)
    # A whole number of steps, so that two equal and opposite losses fall on the grid.
    points = math.ceil(fineness * max(1, _FINER / math.sqrt(labels)) * max(loss_deviation, 1.0))
    step = max(loss_deviation / points, (top - bottom) / _MOST_POINTS)
    lowest, highest = math.floor(bottom / step) - 1, math.ceil(top / step) + 1
    return Grid(step, lowest, highest - lowest + 1)


def log_threshold_limits(width: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the logarithms of the least and the largest y of a grid; width: of all losses."""
    # e^-|ln y| bounds what lies further down.
    return -min(5 * width, math.log(1 / delta) + 5), epsilon + 2 * width


def kernels_on(
    dominating_pairs: DominatingPairs,
    step: float,
    labels: int,
    delta: float,
    orders: NDArray[np.float64],
    loss_deviation: float,
) -> hockey_sticks.Kernels:
    """Return kernels of `step` that dominate a family of which there are `labels` labels or so.

    labels, delta: they choose how far losses are followed, and orders, `deciding_orders`, which
    pairs are gathered. spread: the family's `largest_spread`, which takes a while.
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
    """Return the rows of `curves_on`, gathered where there are many; orders: as in `kernels_on`."""
    rows = curves_on(dominating_pairs, step, cut, loss_deviation)
    if len(rows) > _FEW:
        return hockey_sticks.merge_curves(rows, step, orders)
    return hockey_sticks.keep_maximal_curves(rows)


def curves_on(
    dominating_pairs: DominatingPairs, step: float, cut: float, loss_deviation: float
) -> NDArray[np.float64]:
    """Return the rows of a family at thresholds of `step`, (rows, 2 reach + 1).

    cut: what a label's losses beyond the reach may hold. spread: as in `kernels_on`.
    """
    reach = _choose_support_radius(dominating_pairs, loss_deviation, cut, step)
    return dominating_pairs.hockey_stick_divergences(hockey_sticks.thresholds(step, reach))


def deciding_orders(epsilon: float, width: float) -> NDArray[np.float64]:
    """Return the Renyi orders that decide at `epsilon`; width: as in `grid_and_orders`, > 0."""
    return (epsilon / width**2 + 0.5) * _ORDERS


def check_labels(labels: int, delta: float) -> None:
    """Raise ValueError unless labels is a whole number >= 1 and delta in (0, 1)."""
    checks.check_integer(labels=labels, at_least=1)
    checks.check_probability(delta=delta, zero=False, one=False)


def _choose_support_radius(
    dominating_pairs: DominatingPairs, loss_deviation: float, cut: float, step: float
) -> int:
    """How many points of the grid the kernels reach to either side."""
    furthest = min(_LARGEST_REACH * step, _FURTHEST)
    distances = np.minimum(loss_deviation * 1.25 ** np.arange(1, 60), furthest)
    # The excess falls with the distance: a few of them first, and then those before the first that
    # is far enough. What is lost at any distance is no reason to go further.
    few = np.append(np.arange(0, distances.size - 1, _STRIDE), distances.size - 1)
    excess = dominating_pairs.hockey_stick_divergences(np.exp(distances[few])).max(axis=0)
    enough = cut + (1 + _CUT) * excess.min()
    last = int(np.argmax(excess <= enough))
    between = np.arange(few[last - 1] + 1 if last else 0, few[last])
    if between.size:
        excess = dominating_pairs.hockey_stick_divergences(np.exp(distances[between])).max(axis=0)
    near = np.append(excess[: between.size] <= enough, True)  # few[last] is
    place = np.append(between, few[last])[np.argmax(near)]
    return max(1, math.ceil(distances[place] / step))


def costliest_pairs(
    dominating_pairs: DominatingPairs, orders: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the pairs that cost most at orders up to the largest, or by infinite losses."""
    first, second = dominating_pairs.attainable_pairs()
    losses = log_likelihood_ratios(first, second)
    wanted = np.linspace(0, orders.max(), 17)[1:, None, None]
    costs = (first * np.expm1(np.minimum(-wanted * losses, 700))).sum(axis=2)
    lost = np.where(second == 0, first, 0.0).sum(axis=1)
    chosen = np.unique([*costs.argmax(axis=1), lost.argmax()])
    return first[chosen], second[chosen]
