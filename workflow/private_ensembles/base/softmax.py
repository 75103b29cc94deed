"""Classes in exact proportion to e^score and coins of exactly e^x, for the floats that are given.

Floating-point samplers of such laws (a sum of exponentials, or the largest of scores with Gumbel
noise) have probabilities that differ from them in low bits and lose rare classes altogether, which
no account of the real law covers. Here floats only say where to look; what is drawn is decided by
whole numbers, and where these are not enough, by more digits. Theorems: docs/tokens.md,
docs/discrete-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

# A point is drawn among so many, as bits.
BITS = 62
# Of these a part is left over, so that what rounding adds to the classes' parts fits.
_LEFT = 2.0**-20
# What e^(s - largest) times a constant may be off by, in floats: a difference of at most 800 and
# NumPy's exponential, of which 4 units in the last place are known (docs/rounding.md).
_ERROR = 2.0**-40
# Bits by which a point is known better, if that is needed.
_MORE = 64
# Below the exponent -700 less n, e^x is less than 2^-(62 + n).
_FURTHEST = 700


@dataclass(frozen=True)
class ClassIntervals:
    """Where each class is on a line of 2^BITS points: of class j the part below its true size.

    The true size of class j is factor e^(s_j - largest), a real number. ends: int64 (classes,), the
    ends of places that are at least as long, one after the other; sure: int64 (classes,), whole
    numbers that are no longer. scores, largest: as given; factor: a float.
    """

    scores: NDArray[np.float64]
    largest: float
    factor: float
    ends: NDArray[np.int64]
    sure_lengths: NDArray[np.int64]

    def exponent(self, class_index: int) -> Fraction:
        """Return s_j - largest exactly."""
        return Fraction(float(self.scores[class_index])) - Fraction(self.largest)


def class_intervals(scores: ArrayLike) -> ClassIntervals:
    """Return where classes of these scores are; one array of floats, -inf for none.

    Raises ValueError for scores that are not finite or -inf, or all -inf.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError("scores: must be finite, or -inf for a class that is never drawn")
    return _intervals_of_row(_interval_arrays(scores[None]), 0)


def _interval_arrays(scores: NDArray[np.float64]) -> tuple[NDArray, ...]:
    """The fields of `Parts` for each row of scores, (queries, classes)."""
    largest = scores.max(axis=1, initial=-math.inf)
    if not np.isfinite(largest).all():  # NaN and +inf are the largest
        raise ValueError("scores: must be finite, or -inf for a class that is never drawn")
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.exp(scores - largest[:, None])
        factors = 2.0**BITS * (1 - _LEFT) / sizes.sum(axis=1)
        sizes *= factors[:, None]
        sure, places = _bracket_sizes(sizes)
    places[np.isneginf(scores)] = 0
    ends = np.cumsum(places, axis=1)
    if (ends[:, -1] > 1 << BITS).any():  # of more than 2^30 classes
        raise ValueError(f"scores: {scores.shape[1]:,} classes are too many")
    return scores, largest, factors, ends, sure


def _intervals_of_row(lines: tuple[NDArray, ...], row: int) -> ClassIntervals:
    scores, largest, factors, ends, sure = lines
    return ClassIntervals(
        scores[row], float(largest[row]), float(factors[row]), ends[row], sure[row]
    )


def _bracket_sizes(sizes: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole numbers below and above true sizes, of which the given ones are rounded."""
    sure = (sizes * (1 - _ERROR)).astype(np.int64)
    return sure, (sizes * (1 + _ERROR)).astype(np.int64) + 1


def draw(scores: ArrayLike, bits: Callable[[int], int]) -> int:
    """Return j with a probability of exactly e^(s_j) / (sum of e^(s_i)), if `bits` are fair.

    >>> import secrets
    >>> draw([-np.inf, 3.0], secrets.randbits)
    1

    scores: (classes,), floats, -inf for a class that is never drawn. bits: a whole number of as
    many fair bits as it is asked for. A point is drawn on the line of `parts`. If it is in the true
    part of a class, which is as long as it should be, it is that class; else another point is
    drawn, one time in a million. Time does not depend on the scores, except if a point is next to
    an end of a true part, which is rarer still. Raises ValueError as `parts`.
    """
    line = class_intervals(scores)
    while True:
        point = bits(BITS)
        place = int(np.searchsorted(line.ends, point, side="right"))
        if place == line.ends.size:
            continue
        start = int(line.ends[place - 1]) if place else 0
        if is_accepted(line, place, point - start, bits):
            return place


def draw_each(scores: ArrayLike, bits: Callable[[int], int]) -> NDArray[np.int64]:
    """Do what `draw` does for each row of scores (queries, classes), in one pass over them.

    >>> import secrets
    >>> draw_each([[-np.inf, 3.0], [0.0, -np.inf]], secrets.randbits)
    array([1, 0])
    """
    lines = _interval_arrays(np.asarray(scores, dtype=np.float64))
    scores, *_, ends, sure = lines
    rows, points = np.arange(len(scores)), _points(len(scores), bits)
    chosen = (ends <= points[:, None]).sum(axis=1)
    place = np.minimum(chosen, scores.shape[1] - 1)
    inside = points - np.where(place > 0, ends[rows, place - 1], 0)
    unsure = (chosen > place) | (inside >= sure[rows, place])
    for row in np.flatnonzero(unsure).tolist():  # one in a million
        here = int(place[row])
        free = chosen[row] > here
        if free or not is_accepted(_intervals_of_row(lines, row), here, int(inside[row]), bits):
            chosen[row] = draw(scores[row], bits)
    return chosen


def draw_bernoulli_exp(exponents: ArrayLike, bits: Callable[[int], int]) -> NDArray[np.bool_]:
    """Toss one coin per exponent, any shape: True with a probability of exactly e^exponent.

    >>> import secrets
    >>> draw_bernoulli_exp([0.0, -1e6], secrets.randbits)
    array([ True, False])

    exponents: floats <= 0. A point is drawn among 2^BITS; it is below 2^BITS e^exponent or not,
    and if 62 bits do not tell, more are drawn. Raises ValueError for others.
    """
    exponents = np.asarray(exponents, dtype=np.float64)
    if not (exponents <= 0).all():
        raise ValueError("exponents: must be numbers that are at most 0")
    with np.errstate(under="ignore"):
        sure, most = _bracket_sizes(2.0**BITS * np.exp(exponents))
    points = _points(exponents.size, bits).reshape(exponents.shape)
    tossed = (points < sure) | (exponents == 0)
    for place in zip(*np.nonzero(~tossed & (points < most)), strict=True):
        exponent, point = Fraction(float(exponents[place])), int(points[place])
        tossed[place] = _is_below(Fraction(1 << BITS), exponent, point, bits)
    return tossed


def _points(number: int, bits: Callable[[int], int]) -> NDArray[np.int64]:
    """So many uniform whole numbers below 2^BITS."""
    drawn = bits(64 * number).to_bytes(8 * number, "little")
    return (np.frombuffer(drawn, dtype="<u8") >> np.uint64(64 - BITS)).astype(np.int64)


def is_accepted(
    line: ClassIntervals, class_index: int, inside: int, bits: Callable[[int], int]
) -> bool:
    """Return whether a point that is uniform in [inside, inside + 1) is below a class' true size.

    Its further bits are drawn as far as they matter.
    """
    if inside < line.sure_lengths[class_index]:
        return True
    return _is_below(Fraction(line.factor), line.exponent(class_index), inside, bits)


def _is_below(
    factor: Fraction, exponent: Fraction, inside: int, bits: Callable[[int], int]
) -> bool:
    """Whether a point that is uniform in [inside, inside + 1) is below factor e^exponent."""
    known = BITS
    while True:
        below, above = bracket_exponential(factor, exponent, known - BITS)
        if inside + 1 <= below:
            return True
        if inside >= above:
            return False
        inside, known = inside << _MORE | bits(_MORE), known + _MORE


def bracket_exponential(factor: Fraction, exponent: Fraction, extra_bits: int) -> tuple[int, int]:
    """Return whole numbers around 2^more factor e^exponent, for factor <= 2^BITS, exponent <= 0.

    They are one or two apart, unless the number is below 1: then they are 0 and 1 if it is tiny.
    The decimal module's exponential is rounded correctly, and so are its quotients.
    """
    if exponent < -_FURTHEST - extra_bits:
        return 0, 1
    digits = math.ceil(0.302 * (BITS + extra_bits)) + 30
    with localcontext(Context(prec=digits)):
        power = Decimal(exponent.numerator) / Decimal(exponent.denominator)
        size = Decimal(factor.numerator) / Decimal(factor.denominator) * power.exp() * 2**extra_bits
        # Each step is off by less than a unit of the last digit, and the power by one of its own.
        off = size * (abs(power) + 16) * Decimal(10) ** (1 - digits)
        return max(0, math.floor(size - off)), math.ceil(size + off)
