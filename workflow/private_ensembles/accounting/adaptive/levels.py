"""What labels cost whose noise is chosen query by query, from levels that share one budget.

Level i has noise of its own, fixed in advance, and a label of it costs u_i whole units of a budget
of U. The analyst chooses the level of each query after seeing all labels so far. Backward induction
over what is left of the budget gives the cost between two bounds. Theorems and proofs:
docs/sessions.md.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive import common_grid, hockey_sticks
from private_ensembles.accounting.adaptive.account import COARSE, FINE, Bounds, Curve
from private_ensembles.accounting.adaptive.backward_induction import WIDE, Grid, values_above
from private_ensembles.accounting.adaptive.common_grid import Run
from private_ensembles.accounting.adaptive.families import Family
from private_ensembles.accounting.adaptive.hockey_sticks import Kernels
from private_ensembles.accounting.adaptive.label_blocks import MANY
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF

# Exponentials, subtractions and products.
_ROUNDING = 64 * UNIT_ROUNDOFF
# Of a sum of two numbers in [-1, 1] and of an exponential.
_SUM = 8 * UNIT_ROUNDOFF
# So many times `MANY` units are taken in as many blocks, or in blocks of `MANY` labels of the
# dearest level; losses are followed as in label_blocks.
_BLOCKS, _CUT, _BEYOND = 4, 1e-4, 1.2
_LEAST_DELTA = 1e-14


@dataclass(frozen=True)
class _Level:
    """As many labels of a level as the budget allows for it alone, its units and its reserve."""

    alone: Run
    units: int
    reserve: int


def levels_epsilon(
    families: Sequence[Family],
    units: Sequence[int],
    total: int,
    delta: float,
    *,
    reserves: Sequence[int] | None = None,
    fineness: float = FINE,
) -> Bounds:
    """Return bounds on the epsilon at `delta` of labels whose levels are chosen adaptively.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> plain, clear = two_classes([0.48, 0.52]), two_classes([0.472, 0.528])
    >>> both = levels_epsilon([plain, clear], [1, 2], 60, 1e-5)
    >>> either = [levels_epsilon([plain], [1], 60, 1e-5), levels_epsilon([clear], [2], 60, 1e-5)]
    >>> round(both.upper, 2), [round(alone.upper, 2) for alone in either]
    (2.48, [2.48, 2.4])

    Args:
        families: the pairs of one label of each level, at its noise.
        units: what a label of each level costs, whole numbers >= 1.
        total: units in all, at least as many as the cheapest level costs.
        delta: in (0, 1).
        reserves: how many units a label of each level has to leave, >= 0, none unless given. They
            keep labels of little noise from the end of the budget, where the choice costs most.
        fineness: points of the grid per standard deviation of a label's loss.

    Returns:
        Bounds. `upper` holds in floating point for whoever chooses levels and queries after seeing
        all labels so far and stops when no unit is left or before; infinite if losses without bound
        use delta up. `lower` is what some level costs alone.

    Raises:
        ValueError: for numbers out of range.

    Source: docs/sessions.md, theorem 1.
    """
    checks.probability(delta=delta, zero=False, one=False)
    levels = _affordable(families, units, total, reserves)
    return common_grid.epsilon_by(
        lambda epsilon, fine, lower: levels_curve(
            families,
            units,
            total,
            epsilon,
            delta,
            reserves=reserves,
            fineness=fine,
            lower=lower,
        ),
        max(level.alone.width for level in levels),
        max(level.alone.most for level in levels),
        delta,
        fineness,
    )


def levels_delta(
    families: Sequence[Family],
    units: Sequence[int],
    total: int,
    epsilon: float,
    *,
    reserves: Sequence[int] | None = None,
    fineness: float = FINE,
) -> Bounds:
    """Return bounds on the delta at `epsilon` of labels whose levels are chosen adaptively.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> coin = two_classes([0.25, 0.75])
    >>> levels_delta([coin, coin], [1, 2], 2, 0.0).upper >= 0.5
    True

    Args:
        families, units, total, reserves, fineness: as in :func:`levels_epsilon`.
        epsilon: >= 0.

    Returns:
        Bounds, on delta, that hold as those of :func:`levels_epsilon` do.

    Raises:
        ValueError: for numbers out of range.

    Source: docs/sessions.md, theorem 1.
    """
    checks.finite(epsilon=epsilon, at_least=0)
    given = families, units, total, epsilon
    options = {"reserves": reserves, "least": epsilon}
    rough = levels_curve(*given, _LEAST_DELTA, fineness=COARSE, lower=False, **options)
    rough = rough.delta(epsilon)
    about = min(max(rough, _LEAST_DELTA), 0.5)
    best = levels_curve(*given, about, fineness=fineness, **options)
    return Bounds(best.least_delta(epsilon), min(best.delta(epsilon), rough))


def levels_curve(
    families: Sequence[Family],
    units: Sequence[int],
    total: int,
    epsilon: float,
    delta: float,
    *,
    reserves: Sequence[int] | None = None,
    fineness: float = FINE,
    lower: bool = True,
    least: float | None = None,
) -> Curve:
    """Return the bounds around `epsilon`, where delta is thought to be about `delta`.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> coin = two_classes([0.25, 0.75])
    >>> bool(levels_curve([coin], [1], 1, 0.0, 0.5).delta(0.0) >= 0.5)
    True

    Args:
        families, units, total, reserves, fineness: as in :func:`levels_epsilon`.
        epsilon, delta: they choose the grid only, and the bounds hold whatever they are.
        lower: whether lower bounds are wanted, too; else they are 0.
        least: the least epsilon at which bounds are wanted, `epsilon` being the largest, which
            saves time: upper bounds elsewhere are 1. All of the grid unless given.

    Returns:
        Curve, of bounds on delta that hold as those of :func:`levels_epsilon` do.

    Raises:
        ValueError: for numbers out of range.

    Source: docs/sessions.md, theorem 1.
    """
    levels = _affordable(families, units, total, reserves)
    runs = [level.alone for level in levels]
    labels, width = max(run.labels for run in runs), max(run.width for run in runs)
    found = common_grid.on_grid(runs, labels, width, epsilon, delta, fineness)
    wanted = None if least is None else found.around(least, epsilon)
    costs = [level.units for level in levels]
    kept = [level.reserve for level in levels]
    above = values_of_levels(found.kernels, costs, total, found.grid, delta, kept, wanted)
    lines = None
    if lower:
        below, slopes = np.array([common_grid.lines_of(run, found) for run in runs]).swapaxes(0, 1)
        best = below.argmax(axis=0)[None]
        lines = np.take_along_axis(below, best, 0)[0], np.take_along_axis(slopes, best, 0)[0]
    return found.curve(above, lines)


def values_of_levels(
    kernels: Sequence[Kernels],
    units: Sequence[int],
    total: int,
    grid: Grid,
    delta: float,
    reserves: Sequence[int] | None = None,
    wanted: slice | None = None,
) -> NDArray[np.float64]:
    """Return bounds from above on W(y, total) at the grid's points.

    kernels: those of each level, of the grid's step. units, total, reserves: as in
    :func:`levels_epsilon`. delta: about that of all labels; it only chooses how far losses of
    blocks are followed. wanted: the points at which bounds are wanted, all unless given; elsewhere
    they may be 1. Source: docs/sessions.md, theorems 1 and 2.
    """
    # In multiples of what divides all units: what is left over is never spent.
    whole = math.gcd(*units)
    total, over = divmod(total, whole)
    reserves = [0] * len(units) if reserves is None else reserves
    kept = [max(0, -((over - left) // whole)) for left in reserves]
    units = [cost // whole for cost in units]
    most = max(units)
    if total < _BLOCKS * MANY:
        return _unit_by_unit(kernels, units, total, kept, grid, wanted)
    # A block ends before the label that it cannot pay for, with up to most - 1 units left.
    count = max(_BLOCKS, total // (MANY * most))
    size = total // count
    rest = total - count * (size - most + 1)
    values = _unit_by_unit(kernels, units, rest, kept, grid, None)
    return values_above(_block(kernels, units, size, _CUT * delta / count), grid, count, values)


def _block(kernels: Sequence[Kernels], units: Sequence[int], size: int, cut: float) -> Kernels:
    """A kernel that dominates whatever an adversary makes of that many units."""
    step = kernels[0].step
    wide = _BEYOND * math.sqrt(2 * math.log(1 / cut))
    reach = max(1, math.ceil(wide * math.sqrt(size * _variance(kernels, units))))
    grid = Grid(step, -reach, 2 * reach + 1)
    curve = _unit_by_unit(kernels, units, size, [0] * len(units), grid, slice(0, grid.size))
    curve = curve + np.expm1(np.minimum(grid.logs(), 0.0))
    return hockey_sticks.kernels(np.maximum(curve, 0.0) + _SUM, step)


def _unit_by_unit(
    kernels: Sequence[Kernels],
    units: Sequence[int],
    total: int,
    reserves: Sequence[int],
    grid: Grid,
    wanted: slice | None,
) -> NDArray[np.float64]:
    """W(y, u) for u = 0, ..., total, of which the last is returned."""
    nothing = values_above(kernels[0], grid, 0)
    known = deque([nothing], maxlen=max(units))
    windows = _windows(kernels, units, total, grid, wanted)
    for spent, window in enumerate(windows, start=1):
        affordable = [
            _one_more(kernel, grid, known[-cost], window)
            for kernel, cost, kept in zip(kernels, units, reserves, strict=True)
            if cost + kept <= spent
        ]
        known.append(np.max(affordable, axis=0) if affordable else nothing)
    values = known[-1]
    if wanted is None:
        return values
    everywhere = np.ones(grid.size)
    everywhere[wanted] = values[wanted]
    return everywhere


def _one_more(
    kernels: Kernels, grid: Grid, values: NDArray[np.float64], window: slice | None
) -> NDArray[np.float64]:
    """Values of one more label, worked out in a window and bounded from its ends elsewhere."""
    found = values_above(kernels, grid, 1, values, wanted=window)
    if window is not None:
        low, high = window.start, window.stop
        found[high:] = found[high - 1]
        down = np.exp(-grid.step * np.arange(low, 0, -1)) * (1 - _ROUNDING)
        found[:low] = np.minimum(1 - down * (1 - found[low]) + _ROUNDING, 1.0)
    return found


def _windows(
    kernels: Sequence[Kernels],
    units: Sequence[int],
    total: int,
    grid: Grid,
    wanted: slice | None,
) -> list[slice | None]:
    """Where W(y, u) is worked out for u = 1, ..., total units.

    Only where units before are likely to lead from y = 1, and units after from what is wanted. Any
    windows serve, as in `backward_induction.values_above`.
    """
    if wanted is None:
        return [None] * total
    variance = _variance(kernels, units)
    reach = max(kernel.reach for kernel in kernels)
    count = np.arange(total + 1)
    width = np.sqrt(variance * count) * WIDE + variance * grid.step / 2 * count
    width = np.minimum(width, grid.size).astype(np.int64) + reach
    windows = []
    for spent in range(1, total + 1):
        before, after = int(width[spent]), int(width[total - spent])
        low, high = wanted.start - after, wanted.stop + after
        if spent < total:
            low, high = max(low, -grid.lowest - before), min(high, -grid.lowest + before)
        low = min(max(low, 0), grid.size - 1)
        windows.append(slice(low, max(low + 1, min(high, grid.size))))
    return windows


def _variance(kernels: Sequence[Kernels], units: Sequence[int]) -> float:
    """The largest mean square of a label's loss for each unit, in squares of the step."""
    return max(kernel.variance / cost for kernel, cost in zip(kernels, units, strict=True))


def _affordable(
    families: Sequence[Family], units: Sequence[int], total: int, reserves: Sequence[int] | None
) -> list[_Level]:
    """The levels that the budget pays for, checked.

    Raises ValueError for units that are no whole numbers >= 1, reserves that are none >= 0, or a
    total that pays for nothing.
    """
    kept = [0] * len(families) if reserves is None else reserves
    if not families or not len(families) == len(units) == len(kept):
        raise ValueError(
            f"units, reserves = {list(units)}, {list(kept)}: must be one for each of the "
            f"{len(families)} levels, of which there must be one"
        )
    for cost, left in zip(units, kept, strict=True):
        checks.integer(units=cost, at_least=1)
        checks.integer(reserves=left, at_least=0)
    checks.integer(total=total, at_least=min(np.add(units, kept).tolist()))
    return [
        _Level(Run(family, (total - left) // cost), cost, left)
        for family, cost, left in zip(families, units, kept, strict=True)
        if cost + left <= total
    ]
