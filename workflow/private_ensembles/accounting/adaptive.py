"""What many labels cost together, exactly: fully adaptive composition of one mechanism.

A mechanism answers Q queries with fresh noise, and the record at stake moves each query's votes to
a neighbour that an adversary chooses after seeing the labels so far. Backward induction over that
adversary gives the curve delta(epsilon) between two bounds, for the labels alone: what is never
released is not charged. Theorems and proofs: docs/many-labels.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.accounting import hockey_sticks
from private_ensembles.accounting.backward_induction import Grid, values_below
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.accounting.label_blocks import values_of_labels
from private_ensembles.accounting.root import largest
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF

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
# A scale is found to this much above the least one that the grid can prove.
SLACK = 5e-4
_TRIES = 40
_LEAST_DELTA = 1e-14
# Multiples of the Renyi order that decides at epsilon, by which pairs are gathered.
_ORDERS = np.array([0.3, 0.6, 1.0, 1.3])
# Exponentials, logarithms, quotients and sums of a few numbers.
_ROUNDING = 64 * UNIT_ROUNDOFF
# Of the distances at which a reach is sought this many are passed over at first.
_STRIDE = 8
# The least scale is this much too large, over the square of points, about.
_COARSENESS = 0.095
# No larger than a delta that the normal law's own bound can reach.
_LEAST_SHIFTED = 1e-250
# Tables of more teachers are shortened, to about so many pairs at most.
MANY_TEACHERS, _MOST_LISTED = 2000, 4000
# Curves' numbers that are worked on at a time.
_AT_ONCE = 1 << 21
# The golden ratio of 2^64, whose powers are the weights of a hash.
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Family(Protocol):
    """Neighbouring pairs of one label's distributions, in both orders.

    excesses: (rows, n) upper bounds on hockey-sticks, as `hockey_sticks.excesses` gives them; the
    curve of each neighbouring pair lies below a mixture of rows. pairs: some that an adversary can
    choose, (pairs, outcomes) twice, for the lower bound: no more than P, no less than P'.
    """

    def excesses(self, t: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...


@dataclass(frozen=True)
class Pairs:
    """A finite family: P and P', (pairs, outcomes), each taken in both orders.

    error, spare: each probability p is off by at most error p + spare, >= 0; numbers, or one for
    each outcome, or for each pair and outcome. Raises ValueError for rows that are no
    distributions.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    error: ArrayLike = 0.0
    spare: ArrayLike = 0.0

    def __post_init__(self) -> None:
        for rows in (self.first, self.second):
            if np.ndim(rows) != 2 or np.shape(rows) != np.shape(self.first):
                raise ValueError("first, second: must be of one shape (pairs, outcomes)")
            if not (np.min(rows) >= 0 and np.allclose(np.sum(rows, axis=1), 1, atol=1e-9)):
                raise ValueError("first, second: every row must be a distribution")

    def excesses(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`."""
        both = (self.first, self.second), (self.second, self.first)
        found = [hockey_sticks.excesses(*pair, t, self.error, self.spare) for pair in both]
        return _different(np.concatenate(found))

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        both = self.first, self.second
        least = [np.maximum(p - np.asarray(self.error) * p - self.spare, 0.0) for p in both]
        most = [p + np.asarray(self.error) * p + self.spare for p in both]
        return np.concatenate(least), np.concatenate(most[::-1])


@dataclass(frozen=True)
class Covered:
    """A family below mixtures of few pairs.

    cover: a row for each; every neighbouring pair's curve lies below a mixture of theirs, in both
    orders. played: pairs of neighbours that do exist, for the lower bound.
    """

    cover: Pairs
    played: Pairs

    def excesses(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`."""
        return self.cover.excesses(t)

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        return self.played.pairs()


@dataclass(frozen=True)
class Joined:
    """Pairs of which runs of neighbours, all alike, stand for each other.

    cover: rows in an order in which neighbours are alike; at each t the largest curve of `run` of
    them in a row counts for all, which lies above each. played: as in `Covered`.
    """

    cover: Pairs
    run: int
    played: Pairs

    def excesses(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`: worked out for few rows at a time."""
        rows, found = len(self.cover.first), []
        at_once = self.run * max(1, _AT_ONCE // (self.run * t.size))
        errors = self.cover.error, self.cover.spare
        for start in range(0, rows, at_once):
            some = slice(start, min(start + at_once, rows))
            both = self.cover.first[some], self.cover.second[some]
            for pair in (both, both[::-1]):
                each = hockey_sticks.excesses(*pair, t, *errors)
                found.append(np.maximum.reduceat(each, np.arange(0, len(each), self.run)))
        return _different(np.concatenate(found))

    def pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        return self.played.pairs()


def of_table(
    table: NDArray[np.float64], error: float, spare: float, *, negligible: float = 0.0
) -> Family:
    """Return the family of a label of two classes, of any number of teachers: one vote moves.

    >>> few = of_table(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.0, 0.0)
    >>> many = of_table(np.linspace([1, 0], [0, 1], 100_001), 0.0, 0.0)
    >>> len(few.excesses(np.ones(1))), len(many.excesses(np.arange(1.0, 3))) < 5_000
    (1, True)

    table: (K + 1, 2) Pr[label] at 0, ..., K votes for 1. error, spare: of its entries, as in
    `Pairs`. negligible: with more than MANY_TEACHERS, a label that has at most this probability
    before and after the move counts as one pair with the others of this kind; 2 Q times it is added
    to the delta of Q labels. If many pairs are left, runs of neighbours are joined.
    Source: docs/many-labels.md, "Very many teachers".
    """
    first, second = table[:-1], table[1:]
    if len(first) <= MANY_TEACHERS:
        return Pairs(first, second, error, spare)
    rare = table <= negligible
    far = (rare[:-1] & rare[1:]).any(axis=1)
    first, second = first[~far], second[~far]
    run = max(1, math.ceil(len(first) / _MOST_LISTED))
    played = Pairs(first[::run], second[::run], error, spare)  # near a tie none is far
    if far.any():
        # Half of the time its rare label tells everything, in one order or in the other.
        most = 2 * (negligible * (1 + error) + spare)
        first, second = np.vstack([first, [[1.0, most]]]), np.vstack([second, [[1.0, 0.0]]])
    return Joined(Pairs(first, second, error, spare), run, played)


def two_classes(ones: ArrayLike, zeros: ArrayLike | None = None, error: float = 1e-12) -> Pairs:
    """Return the family of a label of two classes: one vote moves.

    >>> two_classes([0.25, 0.75]).first
    array([[0.75, 0.25]])

    ones: (K + 1,) Pr[label 1] for 0, ..., K votes for 1. zeros: Pr[label 0]; give them if small
    ones matter, as 1 - ones loses digits, which the bounds then allow for. error: of ones and
    zeros, relative to themselves.
    """
    ones = np.asarray(ones, dtype=np.float64)
    spare = 0.0
    if zeros is None:
        zeros, spare = 1 - ones, np.array([error, 0.0])
    both = np.stack([np.asarray(zeros, dtype=np.float64), ones], axis=1)
    return Pairs(both[:-1], both[1:], error, spare)


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
        found = (1 - share) * self.above[place] + share * self.above[place + 1]
        return min(1.0, float(found) * (1 + _ROUNDING))

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
        found = self.logs[place - 1] + math.log1p(share * math.expm1(gap))
        return max(0.0, float(found) + _ROUNDING * self._size(place))

    def least_epsilon(self, delta: float) -> float:
        """A lower bound on epsilon at `delta`."""
        holds = np.flatnonzero((self.below >= delta) & (self.slopes < 0))
        if not holds.size:
            return 0.0
        last = holds[-1]
        steep = -self.slopes[last] * (1 + _ROUNDING)
        further = max(0.0, self.below[last] * (1 - _ROUNDING) - delta) / steep
        found = self.logs[last] + math.log1p(further)
        return max(0.0, float(found) - _ROUNDING * self._size(last))

    def _size(self, place: int) -> float:
        """What the rounding of a point's logarithm is relative to."""
        return max(abs(float(self.logs[place])), float(self.logs[1] - self.logs[0]))


@dataclass(frozen=True)
class Bounds:
    """A number that is known to lie between two others."""

    lower: float
    upper: float


def adaptive_epsilon(
    family: Family, labels: int, delta: float, *, fineness: float = FINE
) -> Bounds:
    """Return bounds on the epsilon of `labels` labels at `delta`, adaptively chosen.

    >>> label = two_classes([0.25, 0.75])  # randomised response: ln 3 a label
    >>> found = adaptive_epsilon(label, 10, 1e-3)
    >>> round(found.lower, 3), round(found.upper, 3)
    (10.968, 10.968)

    family: `two_classes`, `Pairs` or another one. labels: >= 1. delta: in (0, 1). fineness: of the
    grid. `upper` is an upper bound in floating point, infinite if losses without bound use delta
    up. Raises ValueError for numbers out of range. Source: DESIGN 5.12, docs/many-labels.md.
    """
    _check(labels, delta)
    width = _width(family) * math.sqrt(labels)
    guess = width**2 / 2 + width * math.sqrt(2 * math.log(1 / delta))
    # No finite losses add up to more.
    most = labels * float(np.abs(_losses(*family.pairs())).max()) + guess
    for _ in range(_TRIES):
        found = curve(family, labels, guess, delta, fineness=COARSE, lower=False).epsilon(delta)
        if math.isfinite(found):
            best = curve(family, labels, found, delta, fineness=fineness)
            return Bounds(best.least_epsilon(delta), min(best.epsilon(delta), found))
        if guess > most:
            break
        guess *= 2
    return Bounds(0.0, math.inf)


def adaptive_delta(
    family: Family, labels: int, epsilon: float, *, fineness: float = FINE
) -> Bounds:
    """Return bounds on the delta of `labels` labels at `epsilon`; as :func:`adaptive_epsilon`.

    >>> adaptive_delta(two_classes([0.25, 0.75]), 1, 0.0).upper >= 0.5
    True
    """
    _check(labels, 0.5)
    checks.finite(epsilon=epsilon, at_least=0)
    rough = curve(family, labels, epsilon, _LEAST_DELTA, fineness=COARSE, lower=False)
    rough = rough.delta(epsilon)
    best = curve(family, labels, epsilon, max(rough, _LEAST_DELTA), fineness=fineness)
    return Bounds(best.least_delta(epsilon), min(best.delta(epsilon), rough))


def least_scale(
    family_of: Callable[[float], Family],
    labels: int,
    epsilon: float,
    delta: float,
    start: float,
    *,
    fineness: float = FINE,
) -> float:
    """Return a scale, within SLACK of the least one, whose labels cost at most (epsilon, delta).

    family_of: the family at a scale > 0; delta falls as the scale grows. start: a scale near the
    least, for instance what the noisy counts need. Raises ValueError if none is found.
    """

    def curve_of(scale: float, points: float) -> Curve:
        given = {"fineness": points, "lower": False, "least": epsilon}
        return curve(family_of(scale), labels, epsilon, delta, **given)

    return least_scale_of_curves(curve_of, labels, epsilon, delta, start, fineness=fineness)


def least_scale_of_curves(
    curve_of: Callable[[float, float], Curve],
    labels: int,
    epsilon: float,
    delta: float,
    start: float,
    *,
    fineness: float = FINE,
) -> float:
    """Do as `least_scale` does, with what a caller makes of `curve` at a scale and a fineness."""
    _check(labels, delta)

    wanted = _shift(epsilon, delta)

    def height(scale: float, points: float) -> float:
        reached = curve_of(scale, points).delta(epsilon)
        near = math.log(_shift(epsilon, reached) / wanted)
        return min(near, 0.0) if reached <= delta else max(near, UNIT_ROUNDOFF)

    near = start * _more_noise(fineness)
    if fineness > 2 * COARSE:  # otherwise the coarse grid saves no time
        more = _more_noise(COARSE) / _more_noise(fineness)
        near = _crossing(lambda scale: height(scale, COARSE), near * more, 8 * SLACK) / more
    found = math.inf
    if math.isfinite(near):
        found = _crossing(lambda scale: height(scale, fineness), near, SLACK)
    if not math.isfinite(found):
        raise ValueError(f"no scale near {start} keeps ({epsilon}, {delta}) for {labels} labels")
    return found


def lost_delta(
    family: Family, labels: int, epsilon: float, delta: float, *, fineness: float = FINE
) -> float:
    """Return what a bound on the delta of that many labels is at least, however large the noise.

    It is what rounding, edges and a lattice are charged, so that for a smaller delta no noise is
    proven. family: at the noise of another proof; epsilon, delta: the budget, which chooses the
    grid.
    """
    _, kernels, _ = grid_and_kernels(family, labels, epsilon, delta, fineness=fineness)
    return -math.expm1(labels * math.log1p(-min(float(kernels.nothing.max()), 0.5)))


def share_of_scale(family: Family, labels: int, epsilon: float, delta: float) -> float:
    """Return about what share of its noise a family's labels need: where a search may start.

    >>> round(share_of_scale(two_classes([0.5, 0.55]), 100, 1.0, 1e-5), 2)
    3.75

    That of losses that add up to a normal law's and shrink as the noise grows.
    """
    family = family.cover if isinstance(family, Covered) else family
    return _width(family) * math.sqrt(labels) / _shift(epsilon, delta)


def _shift(epsilon: float, delta: float) -> float:
    """The shift of a normal law of width 1 that costs (epsilon, delta), about."""
    delta = min(max(delta, _LEAST_SHIFTED), 0.999)
    return largest(lambda mu: bool(gaussian_delta(mu, epsilon) <= delta), 1.0, relative=1e-6)


def _more_noise(fineness: float) -> float:
    """Return about by what factor a grid enlarges the least scale."""
    return 1 + _COARSENESS / fineness**2


def _crossing(height: Callable[[float], float], start: float, tolerance: float) -> float:
    """A scale of height <= 0 with one of height > 0 about `tolerance` below; infinite for none.

    The height falls about as fast as ln scale rises. Secants find the way, within what is known to
    be too little and enough; if they are slow, bisection does. The height may jump a little.
    """
    low, high, point, steep = 0.0, math.inf, start, -1.0
    last, known = math.nan, math.nan
    for count in range(_TRIES):
        place = height(point)
        if place <= 0:
            high = min(high, point)
        else:
            low = max(low, point)
        if high <= low * (1 + tolerance) or -tolerance <= place <= 0:
            return high
        if count:
            found = (place - known) / math.log(point / last)
            steep = min(max(found, -4.0), -1 / 8)
        last, known = point, place
        step = math.copysign(max(abs(place / steep - tolerance / 2), tolerance / 2), place)
        point *= math.exp(min(0.5, max(-0.5, step)))
        if 0 < low < high < math.inf and (count > 5 or not low < point < high):
            point = math.sqrt(low * high)
    return math.inf


def curve(
    family: Family,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    fineness: float = FINE,
    lower: bool = True,
    least: float | None = None,
) -> Curve:
    """Return the bounds around `epsilon`, where delta is thought to be about `delta`.

    Both only choose the grid: the bounds hold whatever they are. lower: whether lower bounds are
    wanted, too; else they are 0. least: the least epsilon at which bounds are wanted, the largest
    being `epsilon`, which saves time: upper bounds elsewhere are 1. All of the grid unless given.
    """
    grid, kernels, orders = grid_and_kernels(family, labels, epsilon, delta, fineness=fineness)
    wanted = None
    if least is not None:
        ends = (math.floor(each / grid.step) - grid.lowest for each in (least, epsilon))
        wanted = slice(max(0, next(ends) - 1), min(grid.size, next(ends) + 3))
    above = values_of_labels(kernels, grid, labels, delta, wanted)
    first = max(0, -grid.lowest - 1)  # the last point below epsilon = 0
    below = slopes = np.zeros(grid.size)
    if lower:
        below, slopes = values_below(*_dear(*family.pairs(), orders), grid, labels)
    return Curve(grid.logs()[first:], above[first:], below[first:], slopes[first:])


def grid_and_kernels(
    family: Family,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    fineness: float = FINE,
    width: float = 0.0,
) -> tuple[Grid, hockey_sticks.Kernels, NDArray[np.float64]]:
    """Return what `curve` works with, and the Renyi orders that decide; arguments as there.

    width: standard deviation of all losses together, if more than the labels is released.
    """
    spread = _width(family)
    width = max(width, spread * math.sqrt(labels))
    # e^-|ln y| bounds what lies further down.
    bottom, top = -min(5 * width, math.log(1 / delta) + 5), epsilon + 2 * width
    # A whole number of steps, so that two equal and opposite losses fall on the grid.
    points = math.ceil(fineness * max(1, _FINER / math.sqrt(labels)) * max(spread, 1.0))
    step = max(spread / points, (top - bottom) / _MOST_POINTS)
    reach = _reach(family, spread, _CUT * delta / labels, step)
    lowest, highest = math.floor(bottom / step) - 1, math.ceil(top / step) + 1
    rows = family.excesses(hockey_sticks.thresholds(step, reach))
    orders = (epsilon / width**2 + 0.5) * _ORDERS
    if len(rows) > _FEW:
        rows = hockey_sticks.gathered(rows, step, orders)
    near = math.ceil(_NEAR * spread / step) if labels >= _SEVERAL else None
    grid = Grid(step, lowest, highest - lowest + 1)
    return grid, hockey_sticks.kernels(rows, step, near), orders


def _check(labels: int, delta: float) -> None:
    checks.integer(labels=labels, at_least=1)
    checks.probability(delta=delta, zero=False, one=False)


def _losses(first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """ln(P' / P) where both are > 0, and 0 elsewhere."""
    both = (first > 0) & (second > 0)
    return np.log(np.where(both, second, 1.0) / np.where(both, first, 1.0))


def _different(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row once, found by a hash: sorting whole rows would take longer than everything else."""
    odd = np.cumprod(np.full(rows.shape[1], _ODD))
    keys = (rows + 0.0).view(np.uint64) @ odd  # no row has -0.0
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    if (rows[first][of] == rows).all():
        return rows[np.sort(first)]
    return np.unique(rows, axis=0)


def _width(family: Family) -> float:
    """The largest root mean square of a label's loss, which the grid is measured by."""
    first, second = family.pairs()
    found = float(np.sqrt((first * _losses(first, second) ** 2).sum(axis=1).max()))
    return max(found, 1e-9)


def _reach(family: Family, spread: float, cut: float, step: float) -> int:
    """How many points of the grid the kernels reach to either side."""
    furthest = min(_LARGEST_REACH * step, _FURTHEST)
    distances = np.minimum(spread * 1.25 ** np.arange(1, 60), furthest)
    # The excess falls with the distance: a few of them first, and then those before the first that
    # is far enough. What is lost at any distance is no reason to go further.
    few = np.append(np.arange(0, distances.size - 1, _STRIDE), distances.size - 1)
    excess = family.excesses(np.exp(distances[few])).max(axis=0)
    enough = cut + (1 + _CUT) * excess.min()
    last = int(np.argmax(excess <= enough))
    between = np.arange(few[last - 1] + 1 if last else 0, few[last])
    if between.size:
        excess = family.excesses(np.exp(distances[between])).max(axis=0)
    near = np.append(excess[: between.size] <= enough, True)  # few[last] is
    found = np.append(between, few[last])[np.argmax(near)]
    return max(1, math.ceil(distances[found] / step))


def _dear(first: NDArray, second: NDArray, orders: NDArray) -> tuple[NDArray, NDArray]:
    """The pairs that cost most at orders up to twice the largest, or by losses without bound."""
    losses = _losses(first, second)
    wanted = np.linspace(0, 2 * orders.max(), 17)[1:, None, None]
    costs = (first * np.expm1(np.minimum(-wanted * losses, 700))).sum(axis=2)
    lost = np.where(second == 0, first, 0.0).sum(axis=1)
    chosen = np.unique([*costs.argmax(axis=1), lost.argmax()])
    return first[chosen], second[chosen]
