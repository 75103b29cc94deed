"""Where a claim begins to hold: the one search behind every least noise and largest budget.

A claim is a function of one number that says yes or no, such as "labels with this noise keep the
budget". It was asked about the very number that is returned, and the answer was yes, so a proof by
computation stays a proof. Which search to use:

- `bisect`, `bisect_integers`: one end is known to hold, the other one to fail;
- `first_holding`: a way is known on which the claim is first met, as powers of two (`doubling`,
  `halving`), small steps up (`ascending`) or a grid, on which it may hold, fail and hold again;
- `largest`, `largest_within`: nothing is known but that the claim holds up to there, or that a cost
  which grows is to stay within a budget;
- `least_scale`: each question takes long, and the cost falls smoothly as the scale grows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache

# How close the guide of `largest_within` comes.
_CLOSE = 1e-9
_SMALLEST, _LARGEST = 1e-12, 1e12
_TRIES = 40


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


def find_first_holding(
    holds: Callable[[float], bool], points: Iterable[float], *, relative: float = 1e-10
) -> float:
    """Return where the claim holds first on the way along ``points``; infinite if at none of them.

    :func:`bisect` goes on between the first point that holds and the one before it, down to
    ``relative``, or not at all if that is infinite.

    >>> find_first_holding(lambda x: x >= 5, doubling_points(1.0), relative=1e-3)
    5.0
    """
    fails_at = None
    for point in points:
        if holds(point):
            return point if fails_at is None else bisect(holds, fails_at, point, relative=relative)
        fails_at = point
    return math.inf


def find_first_failing(holds: Callable[[float], bool], points: Iterable[float]) -> float:
    """Return the first of ``points`` at which the claim fails; infinite if it holds at them all."""
    return next((point for point in points if not holds(point)), math.inf)


def doubling_points(start: float, most: float = sys.float_info.max) -> Iterator[float]:
    """Yield start > 0 and its doubles, up to ``most``."""
    while start <= most:
        yield start
        start *= 2


def halving_points(start: float, least: float = sys.float_info.min) -> Iterator[float]:
    """Yield start and its halves, down to ``least`` > 0."""
    while start >= least:
        yield start
        start /= 2


def ascending_points(start: float, step: float) -> Iterator[float]:
    """Yield start, then start (1 + step), start (1 + 2 step), start (1 + 4 step) and so on."""
    yield start
    for share in doubling_points(step, _LARGEST):
        yield start * (1 + share)


def find_largest(holds: Callable[[float], bool], *, relative: float) -> float:
    """Return the largest x, from 1e-12 to 1e12, at which a claim holds that holds up to there.

    From 1 by doubling, and back by halves. Raises ValueError if the claim fails everywhere.
    """
    beyond = min(find_first_failing(holds, doubling_points(1.0, _LARGEST)), _LARGEST)
    found = find_first_holding(holds, halving_points(beyond, _SMALLEST), relative=relative)
    if math.isinf(found):
        raise ValueError(f"the claim fails at every x from {beyond:g} to {_SMALLEST:g}")
    return found


def find_largest_within(
    cost: Callable[[float], float],
    budget: float,
    approximate_cost: Callable[[float], float] | None = None,
    *,
    relative: float = 1e-7,
) -> float:
    """Return the largest x > 0, within ``relative``, whose cost, which grows with x, is in budget.

    As :func:`largest` of that claim, with fewer questions: a closer one, found by secants or by
    ``about``, nearly the cost in less time, answers most of them. What is returned was asked of the
    cost itself. Raises ValueError as there.

    >>> round(find_largest_within(lambda x: x**2 + x, 2.0), 6)
    1.0
    """
    cost = cache(cost)
    guide = cache(approximate_cost) if approximate_cost else cost
    start = find_largest(lambda x: guide(x) <= budget, relative=1.0)

    def height(inverse: float) -> float:
        share = guide(1 / inverse) / budget
        return math.log(min(max(share, _SMALLEST), _LARGEST)) / 2  # costs may grow as x^8

    near = 1 / least_scale(height, 1 / start, _CLOSE / 4)
    beyond = near * (1 + 2 * _CLOSE)
    if near > 0 and cost(beyond) > budget:  # otherwise it is not near enough
        found = find_largest(
            lambda x: x <= near or (x < beyond and cost(x) <= budget), relative=relative
        )
        if cost(found) <= budget:
            return found
    return find_largest(lambda x: cost(x) <= budget, relative=relative)


def least_scale(height: Callable[[float], float], start: float, tolerance: float) -> float:
    """Return a scale of height <= 0 with one of height > 0 about ``tolerance`` below.

    The height, as the logarithm of a cost over the budget, falls about as fast as ln scale rises.
    Secants find the way from ``start``, within what is known to be too little and enough; if they
    are slow, bisection does. The height may jump a little. Infinite if no scale is found.
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
            slope = (place - known) / math.log(point / last)
            steep = min(max(slope, -4.0), -1 / 8)
        last, known = point, place
        step = math.copysign(max(abs(place / steep - tolerance / 2), tolerance / 2), place)
        point *= math.exp(min(0.5, max(-0.5, step)))
        if 0 < low < high < math.inf and (count > 5 or not low < point < high):
            point = math.sqrt(low * high)
    return math.inf
