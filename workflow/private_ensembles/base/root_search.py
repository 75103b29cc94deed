"""Searches for where a claim begins to hold, behind every least noise and largest budget.

A claim is a function of one number that returns True or False, such as "labels with this noise keep
the budget". Each search has evaluated the claim at the very number that it returns, and it held, so
a proof by computation stays a proof. The search to use depends on what is known:

- `bisect`, `bisect_integers`: the claim holds at one end and fails at the other;
- `find_first_holding`: the claim is looked for along points, such as powers of two
  (`doubling_points`, `halving_points`), small steps up (`ascending_points`) or a grid, and it may
  hold, fail and hold again;
- `find_largest`, `find_largest_within`: the claim holds up to some number, or a cost grows and has
  to stay within a budget;
- `least_scale`: each evaluation takes long, and the cost falls smoothly as the scale grows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache

# The guide of `find_largest_within` comes relatively so close.
_CLOSE = 1e-9
_SMALLEST, _LARGEST = 1e-12, 1e12
# `least_scale` tries scales on a grid that is so much finer than its tolerance.
_FINER = 2.0**-12
_TRIES = 40


def bisect(
    holds: Callable[[float], bool], fails_at: float, holds_at: float, *, relative: float = 1e-10
) -> float:
    """Return a value at which the claim holds, within ``relative`` of one at which it fails.

    Args:
        holds: the claim.
        fails_at: a number >= 0 at which the claim fails; it may be above or below holds_at.
        holds_at: a number >= 0 at which the claim holds, which is taken on trust.
        relative: the largest distance of the two values, relative to the larger one.
    """
    while abs(holds_at - fails_at) > relative * max(fails_at, holds_at):
        middle = (fails_at + holds_at) / 2
        if holds(middle):
            holds_at = middle
        else:
            fails_at = middle
    return holds_at


def bisect_integers(holds: Callable[[int], bool], fails_at: int, holds_at: int) -> int:
    """Return an integer at which the claim holds while it fails at the next one to fails_at."""
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
    """Return where the claim first holds along some points; infinite if it holds at none of them.

    Args:
        holds: the claim.
        points: numbers >= 0, in the order in which they are tried.
        relative: how far :func:`bisect` then refines between the first point at which the claim
            holds and the one before it; infinite for not at all.

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
    """Return the first of ``points`` at which the claim fails; infinite if it fails at none."""
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
    """Return the largest x, from 1e-12 to 1e12, up to which a claim holds.

    The search doubles x from 1 on, and then halves it.

    Raises:
        ValueError: if the claim fails everywhere.
    """
    beyond = min(find_first_failing(holds, doubling_points(1.0, _LARGEST)), _LARGEST)
    largest = find_first_holding(holds, halving_points(beyond, _SMALLEST), relative=relative)
    if math.isinf(largest):
        raise ValueError(f"the claim fails at every x from {beyond:g} to {_SMALLEST:g}")
    return largest


def find_largest_within(
    cost: Callable[[float], float],
    budget: float,
    approximate_cost: Callable[[float], float] | None = None,
    *,
    relative: float = 1e-7,
) -> float:
    """Return the largest x > 0 whose cost is within a budget.

    This is :func:`find_largest` of that claim with fewer evaluations: secants first find a number
    near the result. The cost itself was evaluated at the number that is returned.

    Args:
        cost: grows with x.
        budget: what the cost may be.
        approximate_cost: nearly the cost, in less time; it guides the secants.
        relative: how close the result comes to the largest x.

    Raises:
        ValueError: if the cost exceeds the budget everywhere.

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
    if near > 0 and cost(beyond) > budget:  # otherwise the guide did not come near enough
        largest = find_largest(
            lambda x: x <= near or (x < beyond and cost(x) <= budget), relative=relative
        )
        if cost(largest) <= budget:
            return largest
    return find_largest(lambda x: cost(x) <= budget, relative=relative)


def least_scale(height: Callable[[float], float], start: float, tolerance: float) -> float:
    """Return a scale with height <= 0 such that one about ``tolerance`` below has height > 0.

    Secants find the way from ``start``, between the scales that are known to be too small and large
    enough; if they are slow, bisection does. Every scale is tried on a grid much finer than
    ``tolerance``: last bits of heights, which depend on the processor, then lead to the same scale.

    Args:
        height: such as the logarithm of cost / budget; it falls about as fast as ln scale rises,
            and may jump a little.
        start: the first scale.
        tolerance: relative to the scale, and absolute for the height.

    Returns:
        The scale, or infinity if none is found.
    """
    finest = tolerance * _FINER
    low, high, point, steepness = 0.0, math.inf, round_to_grid(start, finest), -1.0
    last_point, last_value = math.nan, math.nan
    for count in range(_TRIES):
        value = height(point)
        if value <= 0:
            high = min(high, point)
        else:
            low = max(low, point)
        if high <= low * (1 + tolerance) or -tolerance <= value <= 0:
            return high
        if count:
            slope = (value - last_value) / math.log(point / last_point)
            steepness = min(max(slope, -4.0), -1 / 8)
        last_point, last_value = point, value
        step = math.copysign(max(abs(value / steepness - tolerance / 2), tolerance / 2), value)
        point *= math.exp(min(0.5, max(-0.5, step)))
        if 0 < low < high < math.inf and (count > 5 or not low < point < high):
            point = math.sqrt(low * high)
        point = round_to_grid(point, finest)
    return math.inf


def round_to_grid(value: float, relative: float) -> float:
    """Return the nearest of numbers that are at most ``relative`` of themselves apart.

    >>> round_to_grid(0.7, 0.01), round_to_grid(math.nextafter(0.7, 1), 0.01)
    (0.69921875, 0.69921875)

    Args:
        value: finite.
        relative: above 0; the numbers are at least a quarter of it apart.
    """
    mantissa, exponent = math.frexp(value)
    bits = math.ceil(-math.log2(relative)) + 1
    return math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)
