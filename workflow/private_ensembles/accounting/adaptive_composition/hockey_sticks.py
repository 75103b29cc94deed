"""Hockey-stick divergences of pairs as curves, and kernels on a grid that dominate many of them.

To a function W that is convex, does not increase and has W(0) = 1, what one label does is a
weighted sum of hockey-sticks: E_P[W(x P'/P)] rises with E(t) = sum over outcomes of (P - t P')_+
at every t > 0. So a pair whose curve lies above the curves of many others stands for all of them.
On a grid uniform in ln t the chords of a curve are the curve of a pair whose likelihood ratios lie
on the grid: a kernel. Proofs: docs/many-labels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.base.threads import run_on_one_thread

# Results are off by this, relative to what goes in: a threshold e^x, |x| <= 600, is off by
# (|x| + 8) UNIT_ROUNDOFF, and products, differences and sums add little.
_ROUNDING = 1024 * UNIT_ROUNDOFF
# If there are more pairs than _MANY, neighbours that cost little more together (_NEARLY), or no
# more than _CHEAP, are merged before others are looked for.
_MANY, _NEARLY, _CHEAP = 1000, 0.0003, 0.9
# The distances of thresholds grow by this factor beyond `near`, and so far.
_FEWER, _FURTHER = 1.3, 1e4
# So many curves are worked on at a time.
_AT_ONCE = 2048
# A power of a threshold with this logarithm is as good as infinite; no sum of them overflows.
_HIGHEST = 100.0
# Curves are checked in the longest floats that the machine has, of 64 bits on most.
_LONG = np.longdouble
_LONG_ROUNDOFF = float(np.finfo(_LONG).eps) / 2
# Every kernel loses this to its check's own exponentials, whatever the pairs.
LEAST_LOST = 2048 * _LONG_ROUNDOFF


@dataclass(frozen=True)
class Kernels:
    """Pairs that dominate one label, on a grid of `step` in the logarithm of the likelihood ratio.

    Attributes:
        masses: (kernels, 2 support_radius + 1) >= 0, Pr under P that the logarithm of P'/P is
            -support_radius step, ..., support_radius step.
        infinite_loss_mass: (kernels,), Pr under P that it is minus infinity.
        step: Distance of the logarithms.
    """

    masses: NDArray[np.float64]
    infinite_loss_mass: NDArray[np.float64]
    step: float

    @property
    def support_radius(self) -> int:
        """The largest loss, in steps."""
        return self.masses.shape[1] // 2

    @property
    def variance(self) -> float:
        """The largest mean square of a label's loss, in squares of `step`."""
        losses = np.arange(-self.support_radius, self.support_radius + 1, dtype=np.float64)
        return float((self.masses @ losses**2).max())


class MergedCurves(NamedTuple):
    """Maxima of runs of curves, and which run each curve is in.

    Attributes:
        divergences: (runs, n), the maxima.
        costs: (runs, orders), what the costliest member of each run costs.
        runs: (pairs,) int, the run of each pair.
    """

    divergences: NDArray[np.float64]
    costs: NDArray[np.float64]
    runs: NDArray[np.int64]


def thresholds(step: float, support_radius: int) -> NDArray[np.float64]:
    """Return t = e^(k step) for k = -support_radius, ..., support_radius; 1 is exact.

    step times support_radius must be at most 600.
    """
    return np.exp(step * np.arange(-support_radius, support_radius + 1))


@upper_bound
def hockey_stick_divergences(
    first: ArrayLike,
    second: ArrayLike,
    t: NDArray[np.float64],
    relative_error: float | NDArray[np.float64] = 0.0,
    absolute_error: float | NDArray[np.float64] = 0.0,
) -> NDArray[np.float64]:
    """Return upper bounds on hockey-stick divergences of pairs, less those of two equal laws.

    Args:
        first: (pairs, outcomes), the laws P.
        second: (pairs, outcomes), the laws P'.
        t: (n,) > 0, `thresholds` as floats.
        relative_error: Each probability p is off by at most relative_error p + absolute_error.
            Both are >= 0: numbers, or one for each outcome, or for each pair and outcome.
        absolute_error: See relative_error.

    Returns:
        (pairs, n), the sum of (P - t P')_+ less (1 - t)_+. For t < 1 it is computed as the sum of
        (t P' - P)_+, which is the same without the cancellation.

    >>> hockey_stick_divergences([[0.5, 0.5]], [[0.25, 0.75]], np.array([1.0])).round(12)
    array([[0.25]])
    """
    upper, lower = [], []
    for rows in (np.asarray(first), np.asarray(second)):
        upper.append((rows * (1 + relative_error + _ROUNDING) + absolute_error)[..., None])
        lower.append(
            np.maximum(rows * (1 - relative_error - _ROUNDING) - absolute_error, 0.0)[..., None]
        )
    low = t < 1
    total = np.zeros((len(upper[0]), t.size))
    # Taking outcome by outcome, and either side of 1 by itself, takes a third of the time.
    for outcome in range(upper[0].shape[1]):
        gains = np.empty_like(total)
        gains[:, low] = t[low] * upper[1][:, outcome] - lower[0][:, outcome]
        gains[:, ~low] = upper[0][:, outcome] - t[~low] * lower[1][:, outcome]
        total += np.maximum(gains, 0.0, out=gains)
    return total * (1 + _ROUNDING)


@upper_bound
def kernels(divergences: ArrayLike, step: float, near: int | None = None) -> Kernels:
    """Return kernels whose curves lie on or above the given ones everywhere.

    Args:
        divergences: (kernels, 2 support_radius + 1) >= 0, upper bounds at `thresholds(step,
            support_radius)` on the largest of several pairs' curves, as `hockey_stick_divergences`
            returns them. Each pair's curve is convex, so that its chords lie above it.
        step: Distance of the thresholds' logarithms.
        near: From how many steps on chords are longer than one, so that kernels have fewer
            masses; >= 1, or None for never.

    References:
        docs/many-labels.md, "The grid".
    """
    divergences = np.atleast_2d(np.asarray(divergences, dtype=np.float64))
    size = divergences.shape[1]
    ks = np.arange(size) - size // 2
    kept = np.ones(size, dtype=bool) if near is None else _is_chord_threshold(np.abs(ks), near)
    ks, divergences = ks[kept], divergences[:, kept]
    t = np.exp(step * ks)
    # Slopes of the curve: from (0, 0) to the first threshold, between thresholds, and 0 after them.
    # The masses are what they change by.
    slopes = np.diff(divergences, axis=1, prepend=0.0) / np.diff(t, prepend=0.0)
    after = np.concatenate([slopes[:, 1:], np.zeros((len(divergences), 1))], axis=1)
    change = after - slopes
    change[:, ks == 0] += 1.0  # (1 - t)_+ itself bends here
    masses = np.zeros((len(divergences), size))
    masses[:, kept] = np.maximum(change, 0.0) * t
    infinite_loss_mass = _missing_mass(divergences, masses[:, kept], ks, step)
    return Kernels(masses[:, ::-1].copy(), infinite_loss_mass, step)


def _is_chord_threshold(distance: NDArray[np.int64], near: int) -> NDArray[np.bool_]:
    """Return which thresholds chords join: all up to `near`, and then ever fewer."""
    marks = np.rint(near * _FEWER ** np.arange(1 + math.log(_FURTHER, _FEWER)))
    return (distance <= near) | np.isin(distance, marks) | (distance == distance.max())


def _missing_mass(
    divergences: NDArray, masses: NDArray, ks: NDArray, step: float
) -> NDArray[np.float64]:
    """Return what the masses' own curves fall short of, at most, with all that rounding may hide.

    masses: at the ratios 1 / t, t = e^(ks step). Their curve at t_k is sum_{j > k} masses_j (1 -
    t_k / t_j), nothing at the last t, and the sum of all masses at t = 0, where 1 is needed.
    """
    t = np.exp(_LONG(step) * ks)  # as the grid has it
    long = masses.astype(_LONG)
    above = np.cumsum(long[:, ::-1], axis=1)[:, ::-1]
    weighted = np.cumsum((long / t)[:, ::-1], axis=1)[:, ::-1]
    wanted = divergences + np.maximum(1 - t, 0)
    shortfall = (wanted[:, :-1] - (above[:, 1:] - t[:-1] * weighted[:, 1:])).max(axis=1)
    shortfall = np.maximum(np.maximum(shortfall, 1 - above[:, 0]), divergences[:, -1])
    # This covers sums of so many products, and two exponentials of at most 600 each.
    rounding = 8 * t.size * _LONG_ROUNDOFF + LEAST_LOST
    return (np.maximum(shortfall, 0) + rounding).astype(np.float64) * (1 + _ROUNDING)


def keep_maximal_curves(divergences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the curves (rows, n) that lie below no other one; of several equal ones, the first.

    >>> curves = [[0.1, 0.2, 0.1], [0.1, 0.3, 0.1], [0.2, 0.2, 0.1], [0.1, 0.3, 0.1]]
    >>> keep_maximal_curves(np.array(curves))
    array([[0.1, 0.3, 0.1],
           [0.2, 0.2, 0.1]])
    """
    below = (divergences[:, None] <= divergences).all(axis=2)
    rows = np.arange(len(divergences))
    earlier = rows < rows[:, None]
    return divergences[~(below & (~below.T | earlier)).any(axis=1)]


@upper_bound
@run_on_one_thread
def merge_curves(
    divergences: NDArray[np.float64], step: float, orders: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return few curves such that each given one lies below one of them: their maxima in groups.

    At each order a group costs at most what the costliest of all pairs costs there, but for what
    neighbours add that are merged first (`_NEARLY`). Which pairs share a group decides how tight
    the result is, never whether it holds.

    Args:
        divergences: (pairs, 2 support_radius + 1), as `hockey_stick_divergences` returns them.
        step: Distance of the thresholds' logarithms.
        orders: (orders,) > 0, of the Rényi divergences that decide.

    Returns:
        (groups, 2 support_radius + 1).
    """
    t = thresholds(step, divergences.shape[1] // 2)
    # E_P[(P/P')^a] - 1 = a (a + 1) int E(t) t^(a - 1) dt.
    powers = np.exp(np.minimum(np.log(t)[:, None] * orders, _HIGHEST))
    weights = powers * (orders * (orders + 1) * step)
    costs = divergences @ weights
    scale = costs.max(axis=0)
    weights = weights / np.where(scale > 0, scale, 1.0)
    costs = _cost(divergences, weights)
    rows = np.argsort(costs.max(axis=1), kind="stable")
    # The first group holds as many of the cheapest as fit.
    first, cheap = _merge_cheapest(divergences, rows, weights)
    rest = rows[cheap:]
    if rest.size > _MANY:
        rest = np.sort(rest)  # neighbours are alike
        divergences, costs, _ = merge_neighbouring_curves(
            divergences[rest], costs[rest], weights, _NEARLY, _CHEAP
        )
        rest = np.argsort(costs.max(axis=1), kind="stable")
    return _group_greedily(first, divergences[rest[::-1]], weights)


def _cost(divergences: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what curves cost at each order, (pairs, orders), to ten decimals.

    Several pairs cost the same, and the costliest 1. Last bits of these sums depend on the
    processor, and would decide which pairs share a group.
    """
    return np.round(divergences @ weights, 10)


def _merge_cheapest(
    divergences: NDArray[np.float64], rows: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Return the maximum of as many first rows as cost no more than the costliest, and how many.

    The maximum is (0 or 1, n). weights: as `_group_greedily` takes them.
    """
    maximum, count = divergences[:0], 0
    for start in range(0, rows.size, _AT_ONCE):
        part = np.concatenate([maximum, divergences[rows[start : start + _AT_ONCE]]])
        together = np.maximum.accumulate(part, axis=0, out=part)[len(maximum) :]
        fit = int((_cost(together, weights).max(axis=1) <= 1.0).sum())
        if fit:
            maximum, count = together[fit - 1 : fit].copy(), count + fit
        if fit < len(together):
            break
    return maximum, count


def merge_neighbouring_curves(
    divergences: NDArray[np.float64],
    costs: NDArray[np.float64],
    weights: NDArray[np.float64],
    nearly: float,
    cheap: float,
) -> MergedCurves:
    """Return maxima of runs of neighbouring curves that cost little together.

    Args:
        divergences: (pairs, n), as `hockey_stick_divergences` returns them.
        costs: (pairs, orders), what each costs at some orders, divergences @ weights.
        weights: (n, orders).
        nearly: At each order a run costs at most this more than its costliest member, or a few
            times this, as runs have powers of two of members.
        cheap: A run may also cost this, whatever its members cost.
    """
    finished, costliest = [], []
    runs, done = np.arange(len(divergences)), 0
    active = np.ones(len(divergences), dtype=bool)  # the pairs whose runs may still grow
    while True:
        both = np.maximum(divergences[:-1:2], divergences[1::2])
        larger_costs = np.maximum(costs[:-1:2], costs[1::2])
        fits = (_cost(both, weights) <= np.maximum(larger_costs + nearly, cheap)).all(axis=1)
        alone = np.ones(len(divergences), dtype=bool)
        alone[: 2 * fits.size] = np.repeat(~fits, 2)
        finished.append(divergences[alone])
        costliest.append(costs[alone])
        # Runs that grow no more are numbered as they are listed, the others by their new place.
        ended = active.copy()
        ended[active] = alone[runs[active]]
        runs[ended] = (done + np.cumsum(alone) - 1)[runs[ended]]
        active &= ~ended
        runs[active] = (np.cumsum(fits) - 1)[runs[active] // 2]
        done += int(alone.sum())
        if not fits.any():
            return MergedCurves(np.concatenate(finished), np.concatenate(costliest), runs)
        divergences, costs = both[fits], larger_costs[fits]


def _group_greedily(
    first: NDArray[np.float64],
    divergences: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the groups of `merge_curves`: curves join one by one, in the order given.

    first: a group that is there, or none, (0 or 1, 2 support_radius + 1). weights: relative to what
    the costliest of all pairs costs.
    """
    count = len(first)
    curves = np.empty((count + len(divergences), first.shape[1]))
    cost = np.empty((len(curves), weights.shape[1]))
    curves[:count], cost[:count] = first, _cost(first, weights)
    for row, own in zip(divergences, _cost(divergences, weights), strict=True):
        merged = np.maximum(curves[:count], row)
        joint = _cost(merged, weights)
        fits = np.flatnonzero((joint <= 1.0).all(axis=1))
        if fits.size:
            group = fits[(joint - cost[:count]).max(axis=1)[fits].argmin()]
            curves[group], cost[group] = merged[group], joint[group]
        else:
            curves[count], cost[count] = row, own
            count += 1
    return curves[:count].copy()
