"""What any number of labels cost an adversary who chooses neighbours as labels come in.

x is the likelihood ratio, neighbour over truth, of the labels so far. V_0(x) = max(0, 1 - e^epsilon
x), V_{q+1}(x) = max over neighbouring pairs of E_P[V_q(x P'/P)], and delta(epsilon) = V_Q(1).
In y = e^epsilon x one pass serves every epsilon: delta(epsilon) = W_Q(e^epsilon).
Proofs: docs/many-labels.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.hockey_sticks import Kernels
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import lower_bound, upper_bound
from private_ensembles.base.threads import run_on_one_thread

# So many points of the grid are taken at once, as their windows must fit a processor's cache.
_AT_ONCE = 512
# If few points are wanted, labels are followed over at most so many standard deviations of their
# losses.
WIDE = 7.5
# Exponentials, subtractions and products at the edges are off by this.
_ROUNDING = 64 * UNIT_ROUNDOFF
# An adversary of the lower bound may forgo outcomes of this probability, per label.
_NEGLIGIBLE = 1e-13


@dataclass(frozen=True)
class Grid:
    """A grid of thresholds y with ln y = (lowest + i) step for i = 0, ..., size - 1."""

    step: float
    lowest: int
    size: int

    def logs(self) -> NDArray[np.float64]:
        """Return ln y at all points, (size,)."""
        return self.step * (self.lowest + np.arange(self.size, dtype=np.float64))


@upper_bound
@run_on_one_thread
def value_upper_bounds(
    kernels: Kernels,
    grid: Grid,
    labels: int,
    values: NDArray[np.float64] | None = None,
    wanted: slice | None = None,
    wide: float = WIDE,
) -> NDArray[np.float64]:
    """Return upper bounds on W_labels at the grid's points, (size,).

    Chords between points are upper bounds, too, since W is convex. So is the last point's bound
    above it, since W does not increase, and below the first point the chord from W(0) = 1. Below
    y = 1 the bounds follow from those at 1 / y, as pairs of neighbours come in both orders.

    Args:
        kernels: Of the grid's step; each pair of neighbours, in either order, lies below one of
            them.
        grid: The points.
        labels: How many labels are released.
        values: Upper bounds (size,) that hold for other labels, to which these are added.
        wanted: The points at which bounds are wanted, all unless given; elsewhere they are 1.
        wide: Each label is worked out only where labels before and after it are likely to lead,
            this many standard deviations of their losses; bounds beyond serve elsewhere.

    References:
        docs/many-labels.md.
    """
    reach, size, from_start = kernels.support_radius, grid.size, values is None
    if values is None:
        values = -np.expm1(np.minimum(grid.logs(), 0.0)) * (1 + _ROUNDING)
    if not labels:
        return values
    down = np.exp(-grid.step * np.arange(size + reach, 0, -1)) * (1 - _ROUNDING)
    # This covers a sum of so many products >= 0, in whatever order, and the constant, all of them
    # far above underflow.
    rounding = 1 + (2 * reach + 8) * 2 * UNIT_ROUNDOFF
    padded = np.empty(size + 2 * reach)
    windows = sliding_window_view(padded, 2 * reach + 1)
    used = np.flatnonzero(kernels.masses.any(axis=0))
    masses = np.hstack([kernels.masses[:, used], kernels.infinite_loss_mass[:, None]])
    # Bounds at the points below y = 1 are these, and these times those at 1 / y.
    center = -grid.lowest
    logs = grid.logs()[: max(0, center)]
    least, share = -np.expm1(logs) * (1 + _ROUNDING), np.exp(logs) * (1 + _ROUNDING)
    # `values` are those of the points from here on.
    values_start, part = 0, np.ones((used.size + 1, _AT_ONCE))
    for low, high in _ranges(kernels, grid, labels, wanted, wide, from_start=from_start):
        # Values within reach are padded with bounds on either side of them.
        end, first = high - low + 2 * reach, values_start - low + reach
        start = min(max(0, first), end)
        stop = max(start, min(end, first + len(values)))
        padded[start:stop] = values[start - first : stop - first]
        before = down[down.size - first :][:start]
        padded[:start] = 1 - before * (1 - values[0]) + _ROUNDING
        padded[stop:end] = values[-1]
        values_start, values = low, np.zeros(high - low)
        # Points from `mirrored` up to the middle have their 1 / y among the points.
        middle = center if low < center < high else low
        mirrored = max(low, 2 * middle - high + 1)
        for first, last in ((low, mirrored), (middle, high)):
            for start in range(first - low, last - low, _AT_ONCE):
                stop = min(start + _AT_ONCE, last - low)
                neighbours = part[:, : stop - start]
                neighbours[:-1] = windows[start:stop].T[used]
                np.maximum.reduce(masses @ neighbours, axis=0, out=values[start:stop])
        values *= rounding
        above = values[middle + 1 - low : 2 * middle - mirrored + 1 - low][::-1]
        below = slice(mirrored, middle)
        values[mirrored - low : middle - low] = least[below] + share[below] * above
        np.minimum(values, 1.0, out=values)
    if wanted is None:
        return values
    everywhere = np.ones(size)
    everywhere[wanted] = values
    return everywhere


def _ranges(
    kernels: Kernels,
    grid: Grid,
    labels: int,
    wanted: slice | None,
    wide: float,
    *,
    from_start: bool,
) -> list[tuple[int, int]]:
    """Return where W_1, ..., W_labels are worked out, the last at the points wanted.

    Any ranges serve; what they leave out is bounded from its neighbours. from_start: whether W_0 is
    (1 - y)_+, so that the labels before matter near y = 1 alone.
    """
    if wanted is None:
        return [(0, grid.size)] * labels
    variance = kernels.variance
    count = np.arange(1, labels + 1)
    width = np.sqrt(variance * count) * wide + variance * grid.step / 2 * count
    width = np.minimum(width, grid.size).astype(np.int64) + kernels.support_radius
    after = np.append(width[-2::-1], 0)
    low, high = wanted.start - after, wanted.stop + after
    if from_start:  # the last label is worked out wherever it is wanted
        center = -grid.lowest
        distance = max(wanted.start - center, center - wanted.stop)
        if distance > width[-1] - 2 * kernels.support_radius:
            # Labels are not likely to lead there, so that all of them matter, as far as they lead.
            low[:-1], high[:-1] = 0, grid.size
        low[:-1] = np.maximum(low, center - width)[:-1]
        high[:-1] = np.minimum(high, center + width)[:-1]
    low = np.clip(low, 0, grid.size - 1)
    high = np.maximum(low + 1, np.minimum(high, grid.size))
    return list(zip(low.tolist(), high.tolist(), strict=True))


@lower_bound
@run_on_one_thread
def value_lower_lines(
    first: NDArray,
    second: NDArray,
    grid: Grid,
    labels: int,
    start_lines: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lines below W_labels, one for each of the grid's points: its value and slope there.

    Where a likelihood ratio leads between points, the line of the nearest point counts.

    Args:
        first: (pairs, outcomes) P or less, of an adversary who plays these pairs.
        second: (pairs, outcomes) P' or more.
        grid: The points.
        labels: How many labels are released.
        start_lines: Such lines of other labels, to which these are added.

    Returns:
        Values and slopes, (size,) each. A slope is that in y times the point's y.

    References:
        docs/many-labels.md.
    """
    step, size = grid.step, grid.size
    logs = grid.logs()
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.log(second / first) / step
    # Outcomes that are left out count as 0, which is less than their share.
    near = np.isfinite(shift) & (first > _NEGLIGIBLE) & (np.abs(shift) <= size)
    reach = int(np.ceil(np.abs(shift[near]).max(initial=1.0)))
    steps = np.where(near, np.rint(shift), 0).astype(np.int64)
    with np.errstate(invalid="ignore"):
        beyond = np.where(near, np.expm1((shift - steps) * step), 0.0)
    weight, rise = np.zeros((2, len(first), 2 * reach + 1))
    pairs = np.arange(len(first))[:, None].repeat(first.shape[1], axis=1)
    np.add.at(weight, (pairs, steps + reach), np.where(near, first, 0.0))
    np.add.at(rise, (pairs, steps + reach), np.where(near, first * beyond, 0.0))
    lost = np.where((second == 0) & (first > 0), first, 0.0).sum(axis=1)[:, None]
    # A line is its value at the grid's point, and its slope times the point's y.
    falling = np.minimum(logs, 0.0)
    values, slopes = -np.expm1(falling), np.where(logs < 0, -np.exp(falling), 0.0)
    if start_lines is not None:
        values, slopes = start_lines[0].copy(), start_lines[1].copy()
    low = np.exp(logs[0] - step * np.arange(reach, 0, -1))
    padded = np.zeros((2, size + 2 * reach))
    windows = sliding_window_view(padded, 2 * reach + 1, axis=1)
    for _ in range(labels):
        padded[:, :reach] = 1 - low, -low
        padded[0, reach : reach + size], padded[1, reach : reach + size] = values, slopes
        for start in range(0, size, _AT_ONCE):
            stretch = slice(start, start + _AT_ONCE)
            level, tilt = windows[0, stretch].T.copy(), windows[1, stretch].T.copy()
            turned = rise @ tilt
            heights, slant = weight @ level + turned + lost, weight @ tilt + turned
            best = heights.argmax(axis=0)[None]
            values[stretch] = np.take_along_axis(heights, best, 0)[0]
            slopes[stretch] = np.take_along_axis(slant, best, 0)[0]
        values, slopes = _keep_highest_lines(values, slopes, step)
        values = values - (2 * reach + 8) * _ROUNDING * (np.abs(values) - slopes)
        # The line 0 is the better one below 0.
        values, slopes = np.where(values > 0, values, 0.0), np.where(values > 0, slopes, 0.0)
    return values, slopes


def _keep_highest_lines(values: NDArray, slopes: NDArray, step: float) -> tuple[NDArray, NDArray]:
    """Return each point's own line or a neighbour's, whichever is higher there.

    Otherwise lines would touch the curve further and further from their points, label by label.
    """
    lines = [(values, slopes)]
    for here, there, away in (
        (slice(1, None), slice(-1), step),
        (slice(-1), slice(1, None), -step),
    ):
        value, slope = values.copy(), slopes.copy()
        value[here] = values[there] + slopes[there] * np.expm1(away)
        slope[here] = slopes[there] * np.exp(away)
        lines.append((value, slope))
    heights, slant = np.array(lines).swapaxes(0, 1)
    best = heights.argmax(axis=0)[None]
    return np.take_along_axis(heights, best, 0)[0], np.take_along_axis(slant, best, 0)[0]
