"""Exact samplers: classes in proportion to e^score, and Bernoulli variables of exactly e^x.

Floating-point samplers of such laws (a sum of exponentials, or the largest of scores with Gumbel
noise) have probabilities that differ from them in low bits and lose rare classes altogether, which
no account of the real law covers. Here floats only say where to look: integers decide what is
drawn, and where these are not enough, more digits do. Theorems: docs/other-labels.md,
docs/noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

# A point is drawn among 2^BITS.
BITS = 62
# This share of the points is left over, to hold what rounding adds to the classes' intervals.
_LEFT = 2.0**-20
# The float of e^(s - largest) times a constant has at most this relative error: it is a difference
# of at most 800 and NumPy's exponential, which is off by at most 4 units in the last place
# (docs/noise.md).
_ERROR = 2.0**-40
# A point is refined by so many bits at a time.
_MORE = 64
# e^x is less than 2^-(62 + n) if x is below -700 - n.
_FURTHEST = 700


@dataclass(frozen=True)
class ClassIntervals:
    """Consecutive intervals of the classes on a line of 2^BITS points.

    Class j owns the part of its interval that is below its true size, factor e^(s_j - largest), a
    real number.

    Attributes:
        scores: (classes,) floats.
        largest: the largest score.
        factor: the size of a class that has the largest score.
        ends: (classes,) int64, the ends of the intervals, which are at least as long as the true
            sizes.
        sure_lengths: (classes,) int64, integers that do not exceed the true sizes.
    """

    scores: NDArray[np.float64]
    largest: float
    factor: float
    ends: NDArray[np.int64]
    sure_lengths: NDArray[np.int64]

    def exponent(self, class_index: int) -> Fraction:
        """Return s_j - largest exactly, for class j."""
        return Fraction(float(self.scores[class_index])) - Fraction(self.largest)


class _IntervalArrays(NamedTuple):
    """The fields of `ClassIntervals` for each row of scores."""

    scores: NDArray[np.float64]
    largest: NDArray[np.float64]
    factors: NDArray[np.float64]
    ends: NDArray[np.int64]
    sure_lengths: NDArray[np.int64]


def class_intervals(scores: ArrayLike) -> ClassIntervals:
    """Return the intervals of classes with these scores.

    Args:
        scores: (classes,) floats, -inf for a class that is never drawn.

    Raises:
        ValueError: for scores that are neither finite nor -inf, and if all are -inf.
    """
    row = np.asarray(scores, dtype=np.float64)
    if row.ndim != 1:
        raise ValueError("scores: must be finite, or -inf for a class that is never drawn")
    return _intervals_of_row(_interval_arrays(row[None]), 0)


def _interval_arrays(scores: NDArray[np.float64]) -> _IntervalArrays:
    """Return the intervals for each row of scores (queries, classes)."""
    largest = scores.max(axis=1, initial=-math.inf)
    if not np.isfinite(largest).all():  # NaN and +inf are the largest
        raise ValueError("scores: must be finite, or -inf for a class that is never drawn")
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.exp(scores - largest[:, None])
        factors = 2.0**BITS * (1 - _LEFT) / sizes.sum(axis=1)
        sizes *= factors[:, None]
        sure_lengths, lengths = _bracket_sizes(sizes)
    lengths[np.isneginf(scores)] = 0
    ends = np.cumsum(lengths, axis=1)
    if (ends[:, -1] > 1 << BITS).any():  # only more than 2^30 classes can reach this
        raise ValueError(f"scores: {scores.shape[1]:,} classes are too many")
    return _IntervalArrays(scores, largest, factors, ends, sure_lengths)


def _intervals_of_row(arrays: _IntervalArrays, row: int) -> ClassIntervals:
    scores, largest, factors, ends, sure = arrays
    return ClassIntervals(
        scores[row], float(largest[row]), float(factors[row]), ends[row], sure[row]
    )


def _bracket_sizes(sizes: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return integers below and above the true sizes, given their floats."""
    sure = (sizes * (1 - _ERROR)).astype(np.int64)
    return sure, (sizes * (1 + _ERROR)).astype(np.int64) + 1


def draw(scores: ArrayLike, bits: Callable[[int], int]) -> int:
    """Draw class j with a probability of exactly e^(s_j) / (sum of e^(s_i)), if `bits` are fair.

    A point is drawn on the line of `class_intervals`. If it is within the true size of a class,
    that class is returned. Otherwise another point is drawn, which happens one time in a million.
    The time does not depend on the scores, except if a point is next to the end of a true size,
    which is rarer still.

    Args:
        scores: (classes,) floats, -inf for a class that is never drawn.
        bits: returns a uniform integer of as many bits as it is asked for.

    Raises:
        ValueError: as for `class_intervals`.

    >>> import secrets
    >>> draw([-np.inf, 3.0], secrets.randbits)
    1
    """
    line = class_intervals(scores)
    while True:
        point = bits(BITS)
        class_index = int(np.searchsorted(line.ends, point, side="right"))
        if class_index == line.ends.size:
            continue
        start = int(line.ends[class_index - 1]) if class_index else 0
        if is_accepted(line, class_index, point - start, bits):
            return class_index


def draw_each(scores: ArrayLike, bits: Callable[[int], int]) -> NDArray[np.int64]:
    """Do what `draw` does for each row of scores, in one pass over them.

    Args:
        scores: (queries, classes) floats, -inf for a class that is never drawn.
        bits: as for `draw`.

    Returns:
        A class for each row, (queries,) int64.

    Raises:
        ValueError: as for `class_intervals`.

    >>> import secrets
    >>> draw_each([[-np.inf, 3.0], [0.0, -np.inf]], secrets.randbits)
    array([1, 0])
    """
    arrays = _interval_arrays(np.asarray(scores, dtype=np.float64))
    table, ends, sure = arrays.scores, arrays.ends, arrays.sure_lengths
    rows, points = np.arange(len(table)), _points(len(table), bits)
    chosen = (ends <= points[:, None]).sum(axis=1)
    classes = np.minimum(chosen, table.shape[1] - 1)
    inside = points - np.where(classes > 0, ends[rows, classes - 1], 0)
    unsure = (chosen > classes) | (inside >= sure[rows, classes])
    for row in np.flatnonzero(unsure).tolist():  # about one row in a million
        class_index = int(classes[row])
        beyond = chosen[row] > class_index
        line = _intervals_of_row(arrays, row)
        if beyond or not is_accepted(line, class_index, int(inside[row]), bits):
            chosen[row] = draw(table[row], bits)
    return chosen


def draw_bernoulli_exp(exponents: ArrayLike, bits: Callable[[int], int]) -> NDArray[np.bool_]:
    """Draw independent Bernoulli variables with a probability of exactly e^exponent.

    A point is drawn among 2^BITS and compared with 2^BITS e^exponent. If 62 bits do not decide,
    more are drawn.

    Args:
        exponents: floats <= 0, any shape.
        bits: returns a uniform integer of as many bits as it is asked for.

    Returns:
        Booleans of the same shape.

    Raises:
        ValueError: for other exponents.

    >>> import secrets
    >>> draw_bernoulli_exp([0.0, -1e6], secrets.randbits)
    array([ True, False])
    """
    powers = np.asarray(exponents, dtype=np.float64)
    if not (powers <= 0).all():
        raise ValueError("exponents: must be numbers that are at most 0")
    with np.errstate(under="ignore"):
        sure, most = _bracket_sizes(2.0**BITS * np.exp(powers))
    points = _points(powers.size, bits).reshape(powers.shape)
    tossed: NDArray[np.bool_] = (points < sure) | (powers == 0)
    for index in zip(*np.nonzero(~tossed & (points < most)), strict=True):
        exponent, point = Fraction(float(powers[index])), int(points[index])
        tossed[index] = _is_below(Fraction(1 << BITS), exponent, point, bits)
    return tossed


def _points(number: int, bits: Callable[[int], int]) -> NDArray[np.int64]:
    """Return so many uniform integers below 2^BITS."""
    return (draw_words(number, 8, bits) >> np.uint64(64 - BITS)).astype(np.int64)


def draw_words(number: int, width: int, bits: Callable[[int], int]) -> NDArray[np.unsignedinteger]:
    """Return so many uniform unsigned integers.

    Args:
        number: How many.
        width: Their bytes: 1, 2, 4 or 8.
        bits: Returns a uniform integer of as many bits as it is asked for.

    >>> draw_words(2, 2, lambda number: 0x12345).tolist()
    [9029, 1]
    """
    drawn = bits(8 * width * number).to_bytes(width * number, "little")
    return np.frombuffer(drawn, dtype=f"<u{width}")


def is_accepted(
    line: ClassIntervals, class_index: int, offset: int, bits: Callable[[int], int]
) -> bool:
    """Return whether a point in a class's interval is below the class's true size.

    Args:
        line: the intervals of all classes.
        class_index: the class in whose interval the point is.
        inside: the point is uniform in [inside, inside + 1), counted from the interval's start.
        bits: returns a uniform integer of as many bits as it is asked for; they refine the point as
            far as it matters.
    """
    if offset < line.sure_lengths[class_index]:
        return True
    return _is_below(Fraction(line.factor), line.exponent(class_index), offset, bits)


def _is_below(
    factor: Fraction, exponent: Fraction, inside: int, bits: Callable[[int], int]
) -> bool:
    """Return whether a point, uniform in [inside, inside + 1), is below factor e^exponent."""
    drawn_bits = BITS
    while True:
        below, above = bracket_exponential(factor, exponent, drawn_bits - BITS)
        if inside + 1 <= below:
            return True
        if inside >= above:
            return False
        inside, drawn_bits = inside << _MORE | bits(_MORE), drawn_bits + _MORE


def bracket_exponential(factor: Fraction, exponent: Fraction, extra_bits: int) -> tuple[int, int]:
    """Return integers below and above 2^extra_bits factor e^exponent.

    They are one or two apart, or 0 and 1 if the number is tiny. The decimal module rounds its
    exponential and its quotients correctly.

    Args:
        factor: at most 2^BITS.
        exponent: at most 0.
        extra_bits: by how many bits the number is scaled up.
    """
    if exponent < -_FURTHEST - extra_bits:
        return 0, 1
    digits = math.ceil(0.302 * (BITS + extra_bits)) + 30
    with localcontext(Context(prec=digits)):
        power = Decimal(exponent.numerator) / Decimal(exponent.denominator)
        size = Decimal(factor.numerator) / Decimal(factor.denominator) * power.exp() * 2**extra_bits
        # Each step is off by less than a unit of its last digit, and so is the power.
        off = size * (abs(power) + 16) * Decimal(10) ** (1 - digits)
        return max(0, math.floor(size - off)), math.ceil(size + off)
