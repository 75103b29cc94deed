"""Which count is largest after continuous Gaussian noise, exactly.

A float cannot hold a Gaussian number, but a label needs no number: it needs to know which of them
is largest. Every noise is sigma Q(V), where Q(v) is exceeded with probability v and V is uniform on
(0, 1), of which so many bits are drawn as the comparison needs. Floats say where noise lies only
with a wide margin, and where they do not decide, more digits do. Theorem: docs/noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base.softmax import draw_words

# So many bits of each V are drawn for every count, and later MORE_BITS for those still in question.
FIRST_BITS = 16
MORE_BITS = 64
# SciPy's normal quantile is granted this error, relative to 1 + its size. It errs by 1e-15.
MARGIN = 2.0**-30
# V is at least 2^-bits, so its digits and so many more say where Q(V) is.
_MORE_DIGITS = 30
# So many counts are held at a time, and one query at least.
_AT_ONCE = 1 << 18


def draw_argmax(
    counts: NDArray[np.integer], sigma: float, bits: Callable[[int], int]
) -> NDArray[np.int64]:
    """Draw argmax_j n_j + N(0, sigma^2) for each row, with noise of every count's own.

    The label has exactly the law that continuous noise gives it, if `bits` are fair. Two such
    numbers are never equal. As many bits are asked for whatever the counts are, except if two
    noisy counts are among the largest and next to each other.

    Args:
        counts: Integers (queries, classes), below 2^52 in size.
        sigma: Of the noise, in votes, finite and > 0.
        bits: Returns a uniform integer of as many bits as it is asked for.

    Returns:
        The classes, (queries,) int64.

    References:
        docs/noise.md, theorem 6.

    >>> import secrets
    >>> draw_argmax(np.array([[0, 900], [900, 0]]), 1.0, secrets.randbits)
    array([1, 0])
    """
    queries, classes = counts.shape
    labels = np.empty(queries, dtype=np.int64)
    # Few counts need fewer brackets than there are values of the first bits.
    listed = counts.size >= 1 << FIRST_BITS
    table = _bracket_noise(np.arange(1 << FIRST_BITS), FIRST_BITS, sigma) if listed else None
    step = max(1, _AT_ONCE // classes)
    for start in range(0, queries, step):
        block = counts[start : start + step]
        leads = block.astype(np.float64)
        leads -= leads.max(axis=1, keepdims=True)
        points = draw_words(block.size, 2, bits).reshape(block.shape)
        if table is None:
            least, most = _bracket_noise(points.astype(np.int64), FIRST_BITS, sigma)
        else:
            least, most = table[0][points], table[1][points]
        surpassed = _surpassed((leads + least).max(axis=1, keepdims=True))
        possible = leads + most >= surpassed
        labels[start : start + step] = possible.argmax(axis=1)
        for row in np.flatnonzero(possible.sum(axis=1) > 1).tolist():
            places = np.flatnonzero(possible[row])
            chosen = _decide(leads[row, places], points[row, places], sigma, bits)
            labels[start + row] = places[chosen]
    return labels


def _decide(
    leads: NDArray[np.float64], points: NDArray, sigma: float, bits: Callable[[int], int]
) -> int:
    """Return the index of the largest lead + sigma Q(V), given the first bits of each V."""
    left, points, drawn = np.arange(len(points)), points.astype(object), FIRST_BITS
    while len(left) > 1:
        # An object array holds integers of any size.
        points = (points << MORE_BITS) | np.array([bits(MORE_BITS) for _ in left], dtype=object)
        drawn += MORE_BITS
        if drawn == FIRST_BITS + MORE_BITS:
            least, most = _bracket_noise(points, drawn, sigma)
            possible = leads + most >= _surpassed((leads + least).max())
        else:
            lower, upper = _bracket_sums(leads, points, sigma, drawn)
            possible = upper >= lower.max()
        left, leads, points = left[possible], leads[possible], points[possible]
    return int(left[0])


def bracket_quantiles(
    points: NDArray, drawn: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return floats below and above Q(v) for all v from point / 2^drawn to (point + 1) / 2^drawn.

    They rest on SciPy's quantile, within MARGIN.

    Args:
        points: Integers from 0 to 2^drawn - 1, of type object if 64 bits do not hold them.
        drawn: How many bits they have.
    """
    lowest, highest = (_quantiles(end, 1 << drawn) for end in (points + 1, points))
    return lowest - MARGIN * (1 + np.abs(lowest)), highest + MARGIN * (1 + np.abs(highest))


def _quantiles(points: NDArray, size: int) -> NDArray[np.float64]:
    """Return Q(point / size): how large a standard Gaussian is that more than so many exceed."""
    from scipy.special import ndtri  # late: jobs that train teachers would wait for it

    # The smaller tail is the one that a float holds.
    tails = (np.minimum(points, size - points) / size).astype(np.float64)
    return np.where(2 * points <= size, -1.0, 1.0) * ndtri(tails)


def _bracket_noise(points: NDArray, drawn: int, sigma: float) -> tuple[NDArray, NDArray]:
    """Return floats below and above sigma Q(v), as `bracket_quantiles` does without sigma."""
    lowest, highest = bracket_quantiles(points, drawn)
    return np.nextafter(sigma * lowest, -np.inf), np.nextafter(sigma * highest, np.inf)


def _surpassed(least: NDArray) -> NDArray:
    """Return what is surpassed for sure by the largest of the numbers that `least` rounds.

    A number that surpasses it is not less as a float, since rounding keeps the order.
    """
    return np.nextafter(least, -np.inf)


def _bracket_sums(
    leads: NDArray[np.float64], points: NDArray, sigma: float, drawn: int
) -> tuple[NDArray, NDArray]:
    """Return decimal numbers below and above lead + sigma Q(v), as `bracket_quantiles` does."""
    factor, lower, upper = Decimal(sigma), [], []
    with localcontext(_context(drawn)) as context:
        for lead, point in zip(map(Decimal, leads.tolist()), points, strict=True):
            ends = bracket_quantile(point + 1, drawn)[0], bracket_quantile(point, drawn)[1]
            context.rounding = ROUND_FLOOR
            lower.append(lead + factor * ends[0])
            context.rounding = ROUND_CEILING
            upper.append(lead + factor * ends[1])
    return np.array(lower, dtype=object), np.array(upper, dtype=object)


def bracket_quantile(point: int, drawn: int) -> tuple[Decimal, Decimal]:
    """Return decimal numbers below and above Q(point / 2^drawn), closer than floats can be.

    What is returned was checked by `bracket_tail`, which says on which side of Q a number is.

    Args:
        point: From 0 to 2^drawn.
        drawn: How many bits it has.

    >>> below, above = bracket_quantile(1 << 127, 128)
    >>> bool(below < 0 < above < below + Decimal("1e-50"))
    True
    """
    from scipy.special import ndtri

    size = 1 << drawn
    if 2 * point > size:
        below, above = bracket_quantile(size - point, drawn)
        return above.copy_negate(), below.copy_negate()  # a minus sign would round
    if point == 0:
        return (Decimal("Infinity"),) * 2
    with localcontext(_context(drawn)):
        tail = Decimal(point) / size
        at = Decimal(-float(ndtri(point / size)))
        while True:  # Newton's method, which doubles the digits each time
            density = (-at * at / 2).exp() / (2 * _pi()).sqrt()
            near = Decimal("1e-20") / size / density
            below, above = bracket_tail(at, drawn)
            step = ((below + above) / 2 - tail) / density
            at += step
            if abs(step) < near:
                break
        while not (bracket_tail(at - near, drawn)[0] >= tail >= bracket_tail(at + near, drawn)[1]):
            near *= 2
        return at - near, at + near


def bracket_tail(at: Decimal, drawn: int) -> tuple[Decimal, Decimal]:
    """Return decimal numbers below and above Pr[N(0, 1) > at], to some 10^-30 of 2^-drawn.

    It is 1/2 - phi(at) (at + at^3 / 3 + at^5 / (3 5) + ...), a sum of numbers of one sign.

    Args:
        at: At most 40 in size.
        drawn: How small a tail may be, in bits.
    """
    with localcontext(_context(drawn)) as context:
        unit = Decimal(10) ** (1 - context.prec)
        square, term, total, number = at * at, abs(at), abs(at), 1
        # From the place on where terms at least halve, all that follow are less than the last.
        while number < 2 * square or term > unit * total:
            number += 2
            term *= square / number
            total += term
        off = 8 * number * unit
        inside = total * (-square / 2).exp() / (2 * _pi()).sqrt()
        inside = inside.copy_sign(at)
        return Decimal("0.5") - inside - off, Decimal("0.5") - inside + off


def _context(drawn: int) -> Context:
    """Return a context whose numbers have the digits of so many bits and some more."""
    return Context(prec=math.ceil(0.302 * drawn) + _MORE_DIGITS)


def _pi() -> Decimal:
    """Return pi to the context's digits, by 16 arctan(1/5) - 4 arctan(1/239)."""
    with localcontext() as context:
        context.prec += 5
        unit = Decimal(10) ** -context.prec

        def arctangent_of_inverse(number: int) -> Decimal:
            power, total, odd = Decimal(1) / number, Decimal(0), 1
            while power > unit:
                total += power / odd if odd % 4 == 1 else -power / odd
                power, odd = power / number**2, odd + 2
            return total

        pi = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239)
    return +pi
