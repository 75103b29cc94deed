"""Rounding of privacy bounds to the safe side (docs/noise.md).

A claimed upper bound must hold for the float that is printed, so it is rounded away from the true
value. There are three ways, and what is computed decides between them:

- **One number.** Sixty decimal digits (:func:`sixty_digits`, the standard library's ``decimal``,
  whose ``exp``, ``ln`` and ``sqrt`` are correctly rounded) on the exact values of the floats given;
  only the last step rounds, by :func:`round_up` or :func:`round_down`.
- **A float after a few additions, products, quotients and roots** of numbers of one sign:
  :func:`round_float_up` and :func:`round_float_down`, given the number of roundings; sums have
  :func:`round_sum_up`.
- **Arrays.** A :class:`Ball` carries floats and bounds on their errors through every operation;
  ``upper`` and ``lower`` are its ends.

These errors are assumed of a single operation. IEEE arithmetic and square roots are rounded
correctly, by at most UNIT_ROUNDOFF of the result. NumPy's exp, expm1, log and log1p are off by at
most 4 units in the last place on every machine (numpy/numpy#19478 for the AVX-512 library; glibc:
1), which is 8 UNIT_ROUNDOFF; ELEMENTARY grants twice as much. Underflow costs at most TINY.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base.stated_bounds import lower_bound, upper_bound

UNIT_ROUNDOFF = 2.0**-53
ELEMENTARY = 16 * UNIT_ROUNDOFF
# Below the least normal number, a result may be lost altogether.
TINY = 2.0**-1022
# Exponents are wide because e^(k epsilon) over- and underflows a float long before a Decimal.
_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-(10**15), Emax=10**15)
# This relative headroom exceeds the error of a chain of 60-digit operations and is far below a
# float's own 1e-16.
SLACK = Decimal("1e-45")
# Radii are sums and products of numbers >= 0: this covers 2^30 roundings of their own.
_GROWTH = 1 + 2.0**-22


def sixty_digits(*beside_one: float) -> AbstractContextManager[Context]:
    """Return a context, for ``with``, in which Decimal has sixty digits and wide exponents.

    Args:
        beside_one: small numbers that are added to 1 or subtracted from it. Further digits are
            kept, so that sixty remain of each after its cancellation.
    """
    zeros = (-math.floor(math.log10(abs(value))) for value in beside_one if value)
    return localcontext(_CONTEXT, prec=60 + max(0, *zeros, 0))


@upper_bound
def round_up(value: Decimal) -> float:
    """Return the smallest float that is at least ``value`` (plus a 1e-45 relative headroom)."""
    with sixty_digits():
        return round_up_in_context(value)


@upper_bound
def round_up_in_context(value: Decimal) -> float:
    """Do what `round_up` does inside `sixty_digits`, which is faster for many numbers.

    >>> with sixty_digits():
    ...     round_up_in_context(Decimal("0.1"))
    0.1
    """
    if not value.is_finite():
        return float(value)
    bound = value + abs(value) * SLACK
    try:
        nearest = float(bound)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    if math.isfinite(nearest) and Decimal(nearest) < bound:
        nearest = math.nextafter(nearest, math.inf)
    return nearest


@lower_bound
def round_down(value: Decimal) -> float:
    """Return the largest float that is at most ``value`` (less a 1e-45 relative headroom)."""
    return -round_up(-value)


@upper_bound
def round_multiple_up(value: float, k: int) -> float:
    """Return the least float that is at least ``k`` times ``value`` >= 0, k an integer."""
    return round_fraction_up(Fraction(value) * int(k))


@upper_bound
def round_fraction_up(exact: Fraction | int) -> float:
    """Return the least float that is at least ``exact`` >= 0; infinite beyond all floats."""
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < exact else nearest


@overload
def round_float_up(value: float, roundings: float = 1) -> float: ...
@overload
def round_float_up(
    value: NDArray[Any], roundings: float | NDArray[Any] = 1
) -> NDArray[np.float64]: ...
@overload
def round_float_up(value: float, roundings: NDArray[Any]) -> NDArray[np.float64]: ...


@upper_bound
def round_float_up(
    value: float | NDArray[Any], roundings: float | NDArray[Any] = 1
) -> float | NDArray[np.float64]:
    """Return an upper bound on what ``value`` >= 0 is in exact arithmetic.

    Theorem: with k roundings the exact value is at most value (1 - u)^-k, u = UNIT_ROUNDOFF, and
    the float after the rounded value (1 + 4 u (k - 1)) is more, for k < 1e12. It does not hold for
    results that underflow.

    Args:
        value: computed in floating point, any shape.
        roundings: how many relative errors of u went into it, >= 1. Additions, products, quotients
            and roots of numbers of one sign add one each (a value that enters twice counts twice),
            an exponential or logarithm of NumPy adds 8.

    Returns:
        An array of the same shape, or a float for a float.
    """
    array = np.asarray(value, dtype=np.float64)
    rounded = np.nextafter(array * (1 + (roundings - 1) * (4 * UNIT_ROUNDOFF)), np.inf)
    return rounded if rounded.ndim else float(rounded)


@overload
def round_float_down(value: float, roundings: float = 1) -> float: ...
@overload
def round_float_down(
    value: NDArray[Any], roundings: float | NDArray[Any] = 1
) -> NDArray[np.float64]: ...
@overload
def round_float_down(value: float, roundings: NDArray[Any]) -> NDArray[np.float64]: ...


@lower_bound
def round_float_down(
    value: float | NDArray[Any], roundings: float | NDArray[Any] = 1
) -> float | NDArray[np.float64]:
    """Return a lower bound on what ``value`` >= 0 is exactly; see :func:`round_float_up`."""
    array = np.asarray(value, dtype=np.float64)
    rounded = np.nextafter(array * (1 - (roundings - 1) * (4 * UNIT_ROUNDOFF)), 0.0)
    return rounded if rounded.ndim else float(rounded)


@overload
def round_sum_up(values: NDArray[Any] | Sequence[float], axis: None = None) -> float: ...
@overload
def round_sum_up(values: NDArray[Any] | Sequence[float], axis: int) -> NDArray[np.float64]: ...


@upper_bound
def round_sum_up(
    values: NDArray[Any] | Sequence[float], axis: int | None = None
) -> float | NDArray[np.float64]:
    """Return an upper bound on the sum of ``values`` >= 0 along ``axis``.

    In whatever order n numbers are added, each goes through fewer than n roundings.
    """
    array = np.asarray(values, dtype=np.float64)
    terms = array.size if axis is None else array.shape[axis]
    return round_float_up(array.sum(axis=axis), max(terms, 1))


class Ball:
    """Arrays of real numbers, each known to lie within ``radius`` of the float ``middle``.

    Arithmetic with balls, arrays and numbers (taken as exact) gives balls that contain every result
    of numbers within the operands. If nothing is known (overflow, a root or logarithm of a ball
    that reaches 0), the radius is infinite or NaN, and ``upper`` is infinite. Errors do not cancel:
    write a formula so that small results are not differences of large numbers (expm1, log1p).

    Args:
        middle: the floats, any shape.
        radius: how far each true number may be from its float, >= 0; it broadcasts with middle.
    """

    __array_ufunc__ = None  # NumPy then leaves array * Ball to the Ball.
    __slots__ = ("middle", "radius")

    def __init__(self, middle: float | NDArray[Any], radius: float | NDArray[Any] = 0.0) -> None:
        self.middle: NDArray[np.float64] = np.asarray(middle, dtype=np.float64)
        self.radius = radius

    @property
    @upper_bound
    def upper(self) -> NDArray[np.float64]:
        """Upper bound on every number of the ball; infinite if nothing is known."""
        end = np.nextafter(self.middle + self.radius * _GROWTH, np.inf)
        return np.where(np.isnan(end), np.inf, end)

    @property
    @lower_bound
    def lower(self) -> NDArray[np.float64]:
        """Lower bound on every number of the ball; -infinite if nothing is known."""
        end = np.nextafter(self.middle - self.radius * _GROWTH, -np.inf)
        return np.where(np.isnan(end), -np.inf, end)

    def __neg__(self) -> Ball:
        return Ball(-self.middle, self.radius)

    def __add__(self, other: Ball | float | NDArray[Any]) -> Ball:
        ball = _ball(other)
        middle = self.middle + ball.middle
        return _rounded(middle, self.radius + ball.radius, UNIT_ROUNDOFF)

    def __sub__(self, other: Ball | float | NDArray[Any]) -> Ball:
        return self + -_ball(other)

    def __mul__(self, other: Ball | float | NDArray[Any]) -> Ball:
        ball = _ball(other)
        middle = self.middle * ball.middle
        # |a b - m n| <= |m| s + |n| r + r s for |a - m| <= r, |b - n| <= s.
        spread = np.abs(self.middle) * ball.radius
        spread = spread + self.radius * (np.abs(ball.middle) + ball.radius)
        return _rounded(middle, spread, UNIT_ROUNDOFF)

    def __truediv__(self, other: Ball | float | NDArray[Any]) -> Ball:
        ball = _ball(other)
        middle = self.middle / ball.middle
        # a / b - m / n = ((a - m) - (m / n) (b - n)) / b, and |b| >= |n| - s, which must be > 0.
        least = np.abs(ball.middle) - ball.radius
        spread = (self.radius + np.abs(middle) * ball.radius) / _positive(least)
        return _rounded(middle, spread, UNIT_ROUNDOFF)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rtruediv__(self, other: float | NDArray[Any]) -> Ball:
        return _ball(other) / self

    def sqrt(self) -> Ball:
        """Return a ball around the square root.

        |sqrt(a) - sqrt(m)| = |a - m| / (sqrt(a) + sqrt(m)) <= r / sqrt(m).
        """
        middle = np.sqrt(self.middle)
        is_positive = _positive(self.middle - self.radius) > 0
        spread = np.where(is_positive, self.radius / _positive(middle), np.inf)
        exact = (self.middle == 0) & (np.asarray(self.radius) == 0)
        return _rounded(middle, np.where(exact, 0.0, spread), UNIT_ROUNDOFF)

    def exp(self) -> Ball:
        """Return a ball around the exponential: |e^a - e^m| <= e^m (e^r - 1)."""
        middle = np.exp(self.middle)
        return _rounded(middle, middle * _expm1(self.radius), ELEMENTARY)

    def expm1(self) -> Ball:
        """Return a ball around e^x - 1, as :meth:`exp` does, with e^m <= 1 + |e^m - 1|."""
        middle = np.expm1(self.middle)
        return _rounded(middle, (1 + np.abs(middle)) * _expm1(self.radius), ELEMENTARY)

    def log(self) -> Ball:
        """Return a ball around the natural logarithm: |ln(a / m)| <= r / (m - r)."""
        spread = self.radius / _positive(self.middle - self.radius)
        return _rounded(np.log(self.middle), spread, ELEMENTARY)

    def log1p(self) -> Ball:
        """Return a ball around ln(1 + x): |ln((1 + a) / (1 + m))| <= r / (1 + m - r)."""
        # 1 + m - r is rounded twice, each time by less than 1 + m of it.
        least = (1 + self.middle) * (1 - 4 * UNIT_ROUNDOFF) - self.radius
        return _rounded(np.log1p(self.middle), self.radius / _positive(least), ELEMENTARY)


def log_sum(first: Ball, second: Ball) -> Ball:
    """Return a ball around ln(e^first + e^second), without overflow.

    The function moves by no more than the larger of its arguments does.
    """
    middle = np.logaddexp(first.middle, second.middle)
    # It is max + log1p(e^-|gap|), where the gap's rounding counts at most 1/e of its unit.
    size = np.maximum(np.abs(first.middle), np.abs(second.middle)) + 1
    return _rounded(middle, np.maximum(first.radius, second.radius) + ELEMENTARY * size, 0.0)


def _ball(value: Ball | float | NDArray[Any]) -> Ball:
    return value if isinstance(value, Ball) else Ball(value)


def _rounded(middle: NDArray[Any], spread: float | NDArray[Any], rounding: float) -> Ball:
    """Return the ball that holds an operation's spread and what its own rounding adds."""
    return Ball(middle, spread + (rounding * np.abs(middle) + TINY))


def _positive(value: NDArray[Any]) -> NDArray[np.float64]:
    """Return the value where it is > 0, and NaN, for nothing known, elsewhere."""
    return np.where(value > 0, value, np.nan)


def _expm1(radius: float | NDArray[Any]) -> NDArray[np.float64]:
    """Return an upper bound on e^r - 1 for r >= 0: r + r^2 up to r = 1, infinity beyond."""
    return np.where(np.asarray(radius) <= 1, radius * (1 + np.asarray(radius)), np.inf)


def normal_error(max_deviations: float) -> float:
    """Return the relative error of normal tails up to so many standard deviations.

    It covers the sums and products of such tails. An argument's rounding weighs as much as its
    square. Tails beyond 40 are below 1e-300, which is granted as an absolute error.
    """
    return 1e-12 * (1 + min(max_deviations, 40.0) ** 2)
