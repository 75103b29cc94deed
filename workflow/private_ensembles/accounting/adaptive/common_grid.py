"""Several families of pairs on one grid: what the accounts of levels and of sequences share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive.account import (
    COARSE,
    Bounds,
    Curve,
    dear_pairs,
    deciding_orders,
    grid_of,
    kernels_on,
)
from private_ensembles.accounting.adaptive.backward_induction import Grid, values_below
from private_ensembles.accounting.adaptive.families import Family, largest_spread, losses_of
from private_ensembles.accounting.adaptive.hockey_sticks import Kernels

Lines = tuple[NDArray[np.float64], NDArray[np.float64]]

_TRIES = 40


@dataclass(frozen=True)
class Run:
    """So many labels of one family."""

    family: Family
    labels: int

    @property
    def spread(self) -> float:
        """The largest root mean square of a label's loss."""
        return largest_spread(self.family)

    @property
    def width(self) -> float:
        """The standard deviation of the losses of all labels, about."""
        return self.spread * math.sqrt(self.labels)

    @property
    def most(self) -> float:
        """What the finite losses of all labels add up to, at most."""
        return self.labels * float(np.abs(losses_of(*self.family.pairs())).max())


@dataclass(frozen=True)
class OnGrid:
    """Families on one grid: their kernels, and the Renyi orders that decide."""

    grid: Grid
    kernels: tuple[Kernels, ...]
    orders: NDArray[np.float64]

    def curve(self, above: NDArray[np.float64], lines: Lines | None = None) -> Curve:
        """Return the bounds at every epsilon >= 0 from those at the grid's points."""
        first = max(0, -self.grid.lowest - 1)  # the last point below epsilon = 0
        below, slopes = (np.zeros(self.grid.size),) * 2 if lines is None else lines
        return Curve(self.grid.logs()[first:], above[first:], below[first:], slopes[first:])

    def around(self, least: float, epsilon: float) -> slice:
        """Return the points of the grid next to these."""
        low = math.floor(least / self.grid.step) - self.grid.lowest
        high = math.floor(epsilon / self.grid.step) - self.grid.lowest
        return slice(max(0, low - 1), min(self.grid.size, high + 3))


def on_grid(
    runs: Sequence[Run],
    labels: int,
    width: float,
    epsilon: float,
    delta: float,
    fineness: float,
) -> OnGrid:
    """Return families on a grid for `labels` labels whose losses have this standard deviation.

    epsilon, delta: where bounds are wanted. All these only choose the grid.
    """
    grid = grid_of(width / math.sqrt(labels), labels, width, epsilon, delta, fineness)
    orders = deciding_orders(epsilon, width)
    kernels = (kernels_on(run.family, grid.step, labels, delta, orders, run.spread) for run in runs)
    return OnGrid(grid, tuple(kernels), orders)


def lines_of(run: Run, found: OnGrid, lines: Lines | None = None) -> Lines:
    """Return lines below W of a run's labels, added to those of `lines`."""
    return values_below(*dear_pairs(run.family, found.orders), found.grid, run.labels, lines)


def epsilon_by(
    curve: Callable[[float, float, bool], Curve],
    width: float,
    most: float,
    delta: float,
    fineness: float,
) -> Bounds:
    """Return bounds on epsilon at `delta` by curves on a coarse grid first, and then on a fine one.

    curve: at an epsilon and a fineness, and whether lower bounds are wanted. width, most: the
    standard deviation of all losses together, and their largest sum.
    """
    guess = width**2 / 2 + width * math.sqrt(2 * math.log(1 / delta))
    most += guess
    for _ in range(_TRIES):
        rough = curve(guess, COARSE, False).epsilon(delta)
        if math.isfinite(rough):
            best = curve(rough, fineness, True)
            return Bounds(best.least_epsilon(delta), min(best.epsilon(delta), rough))
        if guess > most:
            break
        guess *= 2
    return Bounds(0.0, math.inf)
