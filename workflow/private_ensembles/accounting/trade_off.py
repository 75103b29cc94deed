"""Gaussian differential privacy of finite pairs: trade-off functions, and the least mu below them.

The trade-off function of a pair (P, P') is T(a) = the least probability of missing P' of a test
that accuses P wrongly with probability at most a. A mechanism is mu-GDP if every T lies on or
above G_mu(a) = Phi(Phi^-1(1 - a) - mu) (Dong, Roth and Su 2022). Proofs: docs/method.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from private_ensembles.base import checks
from private_ensembles.base.rounding import TINY, UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# SciPy's normal quantile is granted this error (it documents below 1e-15 of itself).
_QUANTILE_ERROR = 1e-12
# A relative error r of a probability and of its complement moves its quantile by at most this
# times r.
_SENSITIVITY = 3.0
# Beyond this relative error nothing is claimed.
_LARGEST_ERROR = 0.1
# Likelihood ratios are cut off here.
_STEEPEST = 1e300


@upper_bound
@lower_bound
def least_mu(
    first: ArrayLike,
    second: ArrayLike,
    *,
    relative_error: float = 0.0,
    absolute_error: float = 0.0,
    side: str = "upper",
) -> NDArray[np.float64]:
    """Return an upper bound on the least mu for which each pair is mu-GDP, (pairs,).

    Only the sets R of outcomes of largest likelihood ratio count, and mu is the largest
    Phi^-1(1 - P(R)) - Phi^-1(1 - P'(R)) among them. Both orders of a pair have the same mu.

    Args:
        first: (pairs, outcomes), rows of probabilities P.
        second: (pairs, outcomes), rows of probabilities P'.
        relative_error: Each p is within relative_error p + absolute_error of the truth.
        absolute_error: See relative_error.
        side: "upper", or "lower" for what no true mu falls below.

    Returns:
        (pairs,), infinite if an outcome is possible on one side only, or may be.

    Raises:
        ValueError: Arrays of different shapes, or an unknown side.

    References:
        docs/method.md; Dong, Roth and Su 2022.

    >>> least_mu([[0.75, 0.25]], [[0.25, 0.75]]).round(4)  # 2 Phi^-1(3 / 4)
    array([1.349])
    """
    p, q = _pairs(first, second)
    checks.check_choice(("upper", "lower"), side=side)
    error = _relative_errors(p, q, relative_error, absolute_error)
    order = np.argsort(-_ratio(p, q), axis=1, kind="stable")
    p = np.take_along_axis(p, order, axis=1)
    q = np.take_along_axis(q, order, axis=1)
    wrong = np.cumsum(p, axis=1)[:, :-1]
    caught = np.cumsum(q, axis=1)[:, :-1]
    right = np.cumsum(p[:, :0:-1], axis=1)[:, ::-1]
    missed = np.cumsum(q[:, :0:-1], axis=1)[:, ::-1]
    # Sets that are nothing, or everything, to both sides separate nothing.
    separating = ((wrong > 0) | (caught > 0)) & ((right > 0) | (missed > 0))
    with np.errstate(invalid="ignore"):
        high, low = _quantile(right, wrong), _quantile(missed, caught)
        room = _QUANTILE_ERROR * (2 + np.abs(high) + np.abs(low))
        separation = high - low
    unknown = error > _LARGEST_ERROR
    slack = 2 * _SENSITIVITY * np.where(unknown, 0.0, error)[:, None] + room
    if side == "upper":
        bound = np.where(np.isinf(separation), np.inf, separation + slack)
        bound = np.where(separating, bound, 0.0)
        return np.where(unknown, np.inf, np.maximum(bound.max(axis=1, initial=0.0), 0.0))
    # If errors are absolute, what looks impossible need not be.
    endless = np.inf if absolute_error == 0 else 0.0
    with np.errstate(invalid="ignore"):
        bound = np.where(np.isinf(separation), endless, separation - slack)
    bound = np.where(separating, bound, 0.0).max(axis=1, initial=0.0)
    return np.where(unknown, 0.0, np.maximum(bound, 0.0))


@lower_bound
def trade_off(
    first: ArrayLike,
    second: ArrayLike,
    levels: ArrayLike,
    *,
    relative_error: float = 0.0,
    absolute_error: float = 0.0,
) -> NDArray[np.float64]:
    """Return a lower bound on the trade-off function T(a) of each pair at each level a.

    For every t >= 0, T(a) >= 1 - sum of (P' - t P)_+ - t a, with equality where t is the likelihood
    ratio at which the best test draws lots. So any float t will do.

    Args:
        first: (pairs, outcomes), rows of probabilities P; the order of the two counts.
        second: (pairs, outcomes), rows of probabilities P'.
        levels: (levels,) in [0, 1], probabilities of accusing `first` wrongly.
        relative_error: Each p is within relative_error p + absolute_error of the truth.
        absolute_error: See relative_error.

    Returns:
        (pairs, levels).

    Raises:
        ValueError: Levels out of range, or arrays of different shapes.

    References:
        docs/method.md; Dong, Roth and Su 2022.

    >>> trade_off([[0.75, 0.25]], [[0.25, 0.75]], [0.0, 0.25, 0.5]).round(4)
    array([[1.    , 0.25  , 0.1667]])
    """
    p, q = _pairs(first, second)
    levels = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    checks.check_probabilities(levels=levels)
    slack = 8 * UNIT_ROUNDOFF
    low = np.maximum(p * (1 - relative_error) - absolute_error, 0.0) * (1 - slack)
    high = (q * (1 + relative_error) + absolute_error) * (1 + slack)
    ratio = np.minimum(_ratio(low, high), _STEEPEST)
    order = np.argsort(-ratio, axis=1, kind="stable")
    steep = np.take_along_axis(ratio, order, axis=1)
    spent = np.cumsum(np.take_along_axis(low, order, axis=1), axis=1)
    misses = np.empty((len(p), len(levels)))
    for i, level in enumerate(levels):  # each step works on all pairs at once
        index = np.minimum((spent <= level).sum(axis=1), p.shape[1] - 1)
        slope = np.where(spent[:, -1] > level, steep[np.arange(len(p)), index], 0.0)
        gains = np.maximum(high - slope[:, None] * low * (1 - slack), 0.0).sum(axis=1)
        power = (gains + slope * level) * (1 + (p.shape[1] + 8) * 2 * UNIT_ROUNDOFF)
        misses[:, i] = np.maximum(1 - power, 0.0) * (1 - slack)
    return misses


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return both as float64 (pairs, outcomes); raise ValueError if they cannot be."""
    p = np.atleast_2d(np.asarray(first, dtype=np.float64))
    q = np.atleast_2d(np.asarray(second, dtype=np.float64))
    if p.shape != q.shape or p.ndim != 2:
        raise ValueError(f"first, second: shapes {p.shape}, {q.shape} must be (pairs, outcomes)")
    return p, q


def _ratio(p: NDArray, q: NDArray) -> NDArray[np.float64]:
    """Return P' / P; infinite if P alone is 0, and last in order if both are."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((p > 0) | (q > 0), q / p, -1.0)


def _relative_errors(
    p: NDArray, q: NDArray, relative: float, absolute: float
) -> NDArray[np.float64]:
    """Return the relative error of each pair's probabilities of sets of outcomes, (pairs,)."""
    outcomes = p.shape[1]
    # Sums are rounded, so are the ratios that order them, and rows do not quite add up to 1.
    error = np.full(len(p), relative + (4 * outcomes + 16) * UNIT_ROUNDOFF)
    for law in (p, q):
        error = error + np.abs(law.sum(axis=1) - 1)
        # A float below the normal range is off by more than a share of itself.
        error = np.where(((law > 0) & (law < TINY)).any(axis=1), np.inf, error)
    if absolute:
        with np.errstate(divide="ignore"):
            error = error + absolute / np.minimum(p, q).min(axis=1)
    return error


def _quantile(upper: NDArray, lower: NDArray) -> NDArray[np.float64]:
    """Return Phi^-1(upper), with upper + lower = 1, from the smaller of the two."""
    return np.where(upper < lower, ndtri(np.minimum(upper, 0.5)), -ndtri(np.minimum(lower, 0.5)))
