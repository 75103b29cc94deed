"""The least noise that an audit allows, where more noise does not always help."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_POINTS = 400


def least_holding(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the least value found in [low, high] at which a claim holds; it does hold there.

    holds(high) must be True (else ValueError). Wider leads may hold, fail and hold again as noise
    grows, so the range is walked upwards on a geometric grid of 400 points, and only between the
    first point that holds and the one before it does bisection, to 1e-9, take over.
    """
    if not 0 < low <= high:
        raise ValueError(f"low, high = {low}, {high}: must be 0 < low <= high")
    if not holds(high):
        raise ValueError(f"high = {high}: the claim must hold there")
    grid = np.geomspace(low, high, _POINTS)
    grid[-1] = high
    first = next(i for i, value in enumerate(grid) if holds(float(value)))
    if first == 0:
        return float(grid[0])
    below, above = float(grid[first - 1]), float(grid[first])
    while above - below > 1e-9 * above:
        middle = (below + above) / 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above
