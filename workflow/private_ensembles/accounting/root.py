"""Where a claim begins to hold: the one root finder behind every least noise and largest budget.

A claim is a function of one number that says yes or no. It was asked about the very number that is
returned, and the answer was yes, so a proof by computation stays a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

_SMALLEST = 1e-12
_TRIES = 60
_AT_ONCE = 200  # points of a grid


def bisect(
    holds: Callable[[float], bool], fails_at: float, holds_at: float, *, relative: float = 1e-10
) -> float:
    """Return a value at which the claim holds, within ``relative`` of one at which it fails.

    The two ends, both >= 0, may be in either order; ``holds_at`` is taken on trust, so check it.
    """
    while abs(holds_at - fails_at) > relative * max(fails_at, holds_at):
        middle = (fails_at + holds_at) / 2
        if holds(middle):
            holds_at = middle
        else:
            fails_at = middle
    return holds_at


def bisect_integers(holds: Callable[[int], bool], fails_at: int, holds_at: int) -> int:
    """Return an integer at which the claim holds and beside which, towards fails_at, it fails."""
    while abs(holds_at - fails_at) > 1:
        middle = (fails_at + holds_at) // 2
        if holds(middle):
            holds_at = middle
        else:
            fails_at = middle
    return holds_at


def largest(holds: Callable[[float], bool], start: float, *, relative: float = 1e-10) -> float:
    """Return the largest x > 0 at which a claim holds that holds up to there.

    From ``start`` by doubling, at most to 1e12, or by halves. Raises ValueError if the claim fails
    all the way down to 1e-12.
    """
    high = start
    while holds(high) and high < 1 / _SMALLEST:
        high *= 2
    low = high
    while not holds(low):
        high, low = low, low / 2
        if low < _SMALLEST:
            raise ValueError(f"start = {start}: the claim fails at every x from there to 1e-12")
    return bisect(holds, high, low, relative=relative)


def largest_within(
    cost: Callable[[float], float], budget: float, start: float, *, relative: float = 1e-7
) -> float:
    """Return the largest x > 0, within ``relative``, whose cost, which grows with x, is in budget.

    As :func:`largest` of that claim, which it was asked, with fewer questions: costs tell how far.
    Raises ValueError as there.

    >>> round(largest_within(lambda x: x**2 + x, 2.0, 7.0), 6)
    1.0
    """
    low, high, point = 0.0, math.inf, start
    last, known, steep, push = math.nan, math.nan, 1.0, relative / 16
    for count in range(_TRIES):
        spent = cost(point)
        if spent <= budget:
            low = max(low, point)
        else:
            high = min(high, point)
        if high <= low * (1 + relative) or low > 1 / _SMALLEST:
            return low
        if high < _SMALLEST:
            raise ValueError(f"start = {start}: the claim fails at every x from there to 1e-12")
        if not 0 < spent < math.inf:
            step = math.copysign(1.0, budget - spent)
        else:
            if known > 0 and known != spent:
                steep = min(max(math.log(spent / known) / math.log(point / last), 0.25), 8.0)
            step = math.log(budget / spent) / steep
        last, known = point, spent if math.isfinite(spent) else math.nan
        # A little further than the crossing seems to be, so that it is soon between two points, and
        # ever further where it was thought to be near.
        push = 8 * push if abs(step) <= push else relative / 2
        step = math.copysign(min(abs(step) + push, 3.0), budget - spent)
        point *= math.exp(step)
        if 0 < low < high < math.inf and (count % 4 == 3 or not low < point < high):
            point = math.sqrt(low * high)
    return bisect(lambda x: cost(x) <= budget, high, low, relative=relative)


def least_holding(
    holds: Callable[[float], bool],
    low: float,
    high: float,
    *,
    points: int = 400,
    relative: float = 1e-9,
    fails: Callable[[np.ndarray], np.ndarray] | None = None,
) -> float:
    """Return the least value found in [low, high] at which a claim holds; it does hold there.

    For claims that hold, fail and hold again, as those on wider leads do while noise grows. The
    range is walked upwards on a geometric grid, and only between the first point that holds and the
    one before it does :func:`bisect` take over. ``fails`` saves time: of an array (A,) of points it
    tells (A,) at which the claim surely fails, and the walk asks the claim at the others only.
    Raises ValueError unless 0 < low <= high and the claim holds at high.
    """
    if not 0 < low <= high:
        raise ValueError(f"low, high = {low}, {high}: must be 0 < low <= high")
    if not holds(high):
        raise ValueError(f"high = {high}: the claim must hold there")
    grid = np.geomspace(low, high, points)
    grid[-1] = high
    first = next(i for i in _worth_asking(fails, grid) if holds(float(grid[i])))
    if first == 0:
        return float(grid[0])
    return bisect(holds, float(grid[first - 1]), float(grid[first]), relative=relative)


def _worth_asking(
    fails: Callable[[np.ndarray], np.ndarray] | None, grid: np.ndarray
) -> Iterator[int]:
    """Yield, ascending, the indices of the points of a grid at which a claim need not fail."""
    if fails is None:
        yield from range(len(grid))
        return
    for start in range(0, len(grid), _AT_ONCE):
        yield from start + np.flatnonzero(~fails(grid[start : start + _AT_ONCE]))
