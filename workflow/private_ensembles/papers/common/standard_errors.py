"""How far a difference of two means may lie from 0 if its variance is estimated from few runs.

The variance of such a difference is a sum of parts, each a multiple of a variance that was
estimated with some degrees of freedom: infinitely many if it is known. With few of them three
standard errors are no longer what they are of a normal variable, and Student's quantile of the
same level takes their place (docs/reproduce.md).
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from scipy.special import ndtr, stdtrit

from private_ensembles.base import checks

# This is the probability that a normal variable lies more than three standard deviations below its
# mean.
_TAIL = float(ndtr(-3.0))


class VariancePart(NamedTuple):
    """A part of a variance, and the degrees of freedom that it was estimated with."""

    variance: float
    freedom: float


class StandardError(NamedTuple):
    """A standard error and its degrees of freedom; both NaN if it is not known."""

    size: float
    freedom: float


def standard_error(parts: Iterable[VariancePart]) -> StandardError:
    """Return the standard error whose variance is the sum of parts.

    A sum V of independent estimates V_i, each with f_i degrees of freedom, is taken for one with
    V^2 / sum V_i^2 / f_i of them, which gives its variance the right value. Parts may themselves be
    such sums. A sum of 0 is known and has infinitely many. The result is NaN if a part is.

    References:
        Welch (1947), Satterthwaite (1946).

    >>> standard_error([VariancePart(4.0, 4), VariancePart(12.0, 12)])
    StandardError(size=4.0, freedom=16.0)
    """
    parts = list(parts)
    total = math.fsum(part.variance for part in parts)
    if math.isnan(total):
        return StandardError(math.nan, math.nan)
    squares_over_freedom = math.fsum(
        part.variance**2 / part.freedom for part in parts if part.variance
    )
    return StandardError(
        math.sqrt(total), total**2 / squares_over_freedom if squares_over_freedom else math.inf
    )


def tolerance_factor(freedom: float) -> float:
    """Return how many standard errors contain a difference as often as three of a normal variable.

    It is Student's quantile at 1 - 0.00135, two-sided 0.9973.

    Args:
        freedom: degrees of freedom, above 0; NaN or infinite for a standard error that is known.

    Raises:
        ValueError: the degrees of freedom are not above 0.

    >>> [round(tolerance_factor(freedom), 3) for freedom in (4, 8, 30, math.inf)]
    [6.62, 4.277, 3.27, 3.0]
    """
    if math.isnan(freedom) or math.isinf(freedom):
        return 3.0
    checks.check_number(freedom=freedom, above=0)
    return -float(stdtrit(freedom, _TAIL))
