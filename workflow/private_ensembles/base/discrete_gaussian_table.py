"""Draws of the discrete Gaussian N_Z(0, sigma^2) from a table of its tails, exactly.

X is at least k in size if a uniform U is below Pr[|X| >= k], and its sign is a fair bit. The table
holds whole numbers on both sides of every such tail, with which bits of U are compared, so nothing
is rounded. Where these bits do not decide, more are drawn and the tails are worked out to more
digits. Theorem: docs/noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base.softmax import draw_words

# Beyond this sigma tables are long and decimal digits slow.
LARGEST_SIGMA = 2.0**12
# Every number takes a bit for its sign and the first of U; where they do not decide, the next ones,
# and then more, so many at a time.
FIRST_BITS, NEXT_BITS, MORE_BITS = 15, 48, 64
_BITS = FIRST_BITS + NEXT_BITS
# Tails beyond so many sigma are 2^-100 at most.
_REACH = 12
# So much may a listed tail be off, relatively: the exponents are up to 73 in size and carry three
# round-offs, a sum of up to 49,154 positive terms carries one for each.
_ERROR = 2.0**-36
# So many numbers are drawn at a time.
_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Table:
    """Pr[|X| >= k] for k = 1, 2, ... in units of 2^-63, descending, and what the first bits say.

    Attributes:
        sigma: The noise's parameter.
        sure: (sizes,) int64, at most the tails.
        most: (sizes,) int64, at least the tails.
        least_sizes: (2^FIRST_BITS,) int64, the least size for every value of U's first bits.
        most_sizes: (2^FIRST_BITS,) int64, the largest of the table.
    """

    sigma: float
    sure: NDArray[np.int64]
    most: NDArray[np.int64]
    least_sizes: NDArray[np.int64]
    most_sizes: NDArray[np.int64]


@lru_cache(maxsize=16)
def table(sigma: float) -> Table:
    """Return the table of N_Z(0, sigma^2).

    Args:
        sigma: In (0, LARGEST_SIGMA].
    """
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-np.square(np.arange(1, math.ceil(_REACH * sigma) + 3) / sigma) / 2)
    tails = 2 * np.cumsum(weights[::-1])[::-1]
    tails *= 2.0**_BITS / (1 + tails[0])
    sure = (tails * (1 - _ERROR)).astype(np.int64)
    # One for what is cut off by the type, and one for what lies beyond the table.
    most = (tails * (1 + _ERROR)).astype(np.int64) + 2
    first = np.arange(1 << FIRST_BITS) << NEXT_BITS
    return Table(
        sigma,
        sure,
        most,
        _count_above(sure, first + ((1 << NEXT_BITS) - 1)),
        _count_above(most, first),
    )


def draw(number: int, sigma: float, bits: Callable[[int], int]) -> NDArray[np.int64]:
    """Draw independent numbers from N_Z(0, sigma^2), exactly, if `bits` are fair.

    Args:
        number: How many.
        sigma: The noise's parameter, in (0, LARGEST_SIGMA].
        bits: Returns a uniform integer of as many bits as it is asked for.

    Returns:
        (number,) int64.

    References:
        docs/noise.md, theorem 8.

    >>> import secrets
    >>> draw(3, 0.01, secrets.randbits)
    array([0, 0, 0])
    """
    listed, drawn = table(float(sigma)), np.empty(number, dtype=np.int64)
    for start in range(0, number, _AT_ONCE):
        chunk = drawn[start : start + _AT_ONCE]
        words = draw_words(len(chunk), 2, bits)
        points, negative = words >> np.uint16(1), words & np.uint16(1)
        sizes = listed.least_sizes[points]
        unsure = np.flatnonzero(sizes != listed.most_sizes[points])
        sizes[unsure] = _next_sizes(listed, points[unsure].astype(np.int64), bits)
        chunk[:] = np.where(negative, -sizes, sizes)
    return drawn


def _next_sizes(
    listed: Table, points: NDArray[np.int64], bits: Callable[[int], int]
) -> NDArray[np.int64]:
    """Return sizes, given the first bits of U."""
    words = draw_words(len(points), 8, bits) >> np.uint64(64 - NEXT_BITS)
    points = points << NEXT_BITS | words.astype(np.int64)
    sizes = _count_above(listed.sure, points)
    for place in np.flatnonzero(sizes != _count_above(listed.most, points)).tolist():
        sizes[place] = _decide(listed.sigma, int(points[place]), bits)
    return sizes


def _count_above(tails: NDArray[np.int64], points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of the descending tails are larger than each point."""
    return np.searchsorted(-tails, -points, side="left")


def _decide(sigma: float, point: int, bits: Callable[[int], int]) -> int:
    """Return the size, given the first _BITS of U; more of them are drawn until it is certain."""
    drawn = _BITS
    while True:
        point, drawn = point << MORE_BITS | bits(MORE_BITS), drawn + MORE_BITS
        least, most = bracket_size(sigma, point, drawn)
        if least == most:
            return least


def bracket_size(sigma: float, point: int, drawn: int) -> tuple[int, int]:
    """Return the least and the largest size for U from point / 2^drawn to (point + 1) / 2^drawn.

    Where U may be too small for the digits, the latter is one more than what they show, and larger
    ones are possible.

    Args:
        sigma: The noise's parameter.
        point: From 0 to 2^drawn - 1.
        drawn: How many bits it has.

    >>> bracket_size(1.0, 1 << 127, 128)  # Pr[|X| >= 1] is 0.601, Pr[|X| >= 2] is 0.117
    (1, 1)
    """
    with localcontext(Context(prec=math.ceil(0.302 * drawn) + 40)) as context:
        # Weights e^(-k^2 / (2 sigma^2)) are products of odd powers of e^(-1 / (2 sigma^2)).
        power = (-1 / (2 * Decimal(sigma) ** 2)).exp()
        square, weights = power * power, []
        weight, smallest = power, Decimal(10) ** -context.prec
        while weight > smallest:
            weights.append(weight)
            power *= square
            weight *= power
        # Up to 10^5 weights are off by up to 10^10 units of their last digits, relatively; those
        # that are left out add up to less.
        off = smallest * 10**15
        total, tail = 1 + 2 * sum(weights), Decimal(0)
        lowest, highest = Decimal(point) / (1 << drawn), Decimal(point + 1) / (1 << drawn)
        least = most = 0
        for size in range(len(weights), 0, -1):
            tail += 2 * weights[size - 1] / total
            if most == 0 and tail + off > lowest:
                most = size
            if tail - off >= highest:
                least = size
                break
        return least, most if lowest > 2 * off else len(weights) + 1
