"""The exact audit of K independent private teachers that all see all data, for two classes.

DaRRM's model (`shared_data`): a neighbouring data set changes the output distribution of every
teacher, teacher i says 1 with probability p_i on one and p'_i on the other, and (p_i, p'_i) is any
pair that (epsilon, Delta)-DP allows. A mechanism is the list a(l) = Pr[release 1 | l teachers say
1], l = 0..K, and A(p) = E a(L) with L ~ PoissonBinomial(p), so that

    delta(x) = max over both labels and all feasible (p, p') of Pr[label | p] - e^x Pr[label | p'].

A(p) - e^x A(p') is affine in every (p_i, p'_i), so its maximum is at the eight vertices of the
feasible region (DaRRM, Lemma 5.1), and by symmetry depends on how many teachers are at each: all
C(K + 7, 7) choices are enumerated. Results are upper bounds in floating point. For symmetric noise
functions at larger K use `darrm.certify`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.audit.histograms import check_two_class
from private_ensembles.base import checks
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import upper_bound

_LARGEST_EPSILON = 700.0
LARGEST_K = 15  # There are 170,544 choices of corners; with more, memory runs out.


@dataclass(frozen=True)
class WorstInputs:
    """An exact epsilon and the two inputs between which it arises."""

    epsilon: float
    first: NDArray
    second: NDArray


def teacher_corners(epsilon: float, Delta: float) -> NDArray[np.float64]:
    """Return the vertices (p, p') of what an (epsilon, Delta)-DP teacher may do on two data sets.

    The region is p <= e^epsilon p' + Delta, 1 - p <= e^epsilon (1 - p') + Delta, and both with p
    and p' exchanged.

    Args:
        epsilon: in nats, finite and >= 0.
        Delta: in [0, 1].

    Returns:
        (8, 2) probabilities that the teacher says 1.

    Raises:
        ValueError: for arguments out of range.
    """
    checks.check_finite(epsilon=epsilon, at_least=0)
    checks.check_probability(Delta=Delta)
    decay = math.exp(-epsilon)
    high, low = (1 + Delta * decay) / (1 + decay), (1 - Delta) * decay / (1 + decay)
    zeros, ones = [(0, 0), (0, Delta), (Delta, 0)], [(1, 1), (1, 1 - Delta), (1 - Delta, 1)]
    return np.array([*zeros, *ones, (high, low), (low, high)])


def shared_data_delta(
    probability_of_one: ArrayLike, teacher_epsilon: float, teacher_Delta: float, epsilon: float
) -> float:
    """Return the least delta with which the label is (epsilon, delta)-DP, for the worst teachers.

    Args:
        probability_of_one: (K + 1,) in [0, 1], Pr[release 1 | l teachers say 1], K <= LARGEST_K.
        teacher_epsilon: of each teacher, in nats.
        teacher_Delta: of each teacher.
        epsilon: of the label, in nats, >= 0.

    Raises:
        ValueError: for another shape, and for arguments out of range.
    """
    checks.check_number(epsilon=epsilon, at_least=0)
    return float(shared_data_curve(probability_of_one, teacher_epsilon, teacher_Delta, epsilon)[0])


@upper_bound
def shared_data_curve(
    probability_of_one: ArrayLike,
    teacher_epsilon: float,
    teacher_Delta: float,
    epsilons: ArrayLike,
) -> NDArray[np.float64]:
    """Return :func:`shared_data_delta` at each of ``epsilons`` (E,) >= 0, shape (E,)."""
    values = _check(probability_of_one)
    epsilons = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    if not np.all(epsilons >= 0):
        raise ValueError("epsilons: must be numbers >= 0")
    worst = np.zeros(epsilons.shape)
    for above, below in _sides(values, teacher_epsilon, teacher_Delta):
        for i, epsilon in enumerate(epsilons):  # each step is array code over all corners
            growth = math.exp(min(epsilon, _LARGEST_EPSILON)) * (1 - 4 * UNIT_ROUNDOFF)
            worst[i] = max(worst[i], float((above - growth * below).max()))
    return np.minimum(1.0, worst * (1 + 8 * UNIT_ROUNDOFF))


@upper_bound
def shared_data_epsilon(
    probability_of_one: ArrayLike, teacher_epsilon: float, teacher_Delta: float, delta: float
) -> float:
    """Return the least epsilon with which the label is (epsilon, delta)-DP, for the worst teachers.

    Args:
        probability_of_one: as for :func:`shared_data_delta`.
        teacher_epsilon: of each teacher, in nats.
        teacher_Delta: of each teacher.
        delta: of the label, in [0, 1].

    Returns:
        Epsilon in nats; infinite if none is enough, and if leaks alone use up delta, up to a
        round-off.
    """
    return worst_teachers(probability_of_one, teacher_epsilon, teacher_Delta, delta).epsilon


def worst_teachers(
    probability_of_one: ArrayLike, teacher_epsilon: float, teacher_Delta: float, delta: float
) -> WorstInputs:
    """Return :func:`shared_data_epsilon` with the teachers that attain it.

    The arguments are the same. The two inputs of the result are Pr[teacher says 1], (K,), on the
    two data sets.
    """
    values = _check(probability_of_one)
    checks.check_probability(delta=delta)
    worst, worst_row = -1.0, 0
    for above, paid in _sides(values, teacher_epsilon, teacher_Delta):
        room = above - delta
        with np.errstate(divide="ignore", invalid="ignore"):
            gain, price = np.log(np.maximum(room, 0)), np.log(paid)
            # A logarithm's rounding is relative to itself, and dominates for tiny probabilities.
            slack = 8 * UNIT_ROUNDOFF * (1 + np.abs(gain) + np.abs(price))
            losses = np.where(room > 0, gain - price + slack, -np.inf)
        if losses.max() > worst:
            worst, worst_row = float(losses.max()), int(np.argmax(losses))
    corners = teacher_corners(teacher_epsilon, teacher_Delta)
    chosen = corners[corner_multisets(len(values) - 1)[worst_row]]
    return WorstInputs(max(worst, 0.0), chosen[:, 0], chosen[:, 1])


def _check(probability_of_one: ArrayLike) -> NDArray[np.float64]:
    values = check_two_class(probability_of_one)
    if len(values) - 1 > LARGEST_K:
        raise ValueError(
            f"K = {len(values) - 1}: must be at most {LARGEST_K} to enumerate; use darrm.certify"
        )
    return values


def _sides(values: NDArray, epsilon: float, Delta: float) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield, for each label, Pr[label | p] rounded up and Pr[label | p'] rounded down.

    There is one number for each choice of corners. All are sums and products of probabilities whose
    complements are computed separately, so that errors are relative: 4 K round-offs for K steps, 8
    per teacher for its corner, K + 3 for the rest. What is 0 stays 0.
    """
    first, second = corner_pmfs(len(values) - 1, epsilon, Delta)
    slack = 16 * (len(values) + 2) * UNIT_ROUNDOFF
    for chosen in (values, 1 - values):
        yield (first @ chosen) * (1 + slack), (second @ chosen) * (1 - slack)


@functools.lru_cache(maxsize=4)
def corner_pmfs(K: int, epsilon: float, Delta: float) -> tuple[NDArray, NDArray]:
    """Return the pmfs of the number of ones at every multiset of K corners, on both data sets.

    Multisets grow by one teacher at a time, whose corner never comes before the last one.

    Args:
        K: how many teachers there are.
        epsilon: of each teacher, in nats.
        Delta: of each teacher.

    Returns:
        Two arrays (C(K + 7, 7), K + 1).
    """
    corners = teacher_corners(epsilon, Delta)
    # 1 - p of every corner is p of another one, so no difference is taken and nothing cancels.
    complements = corners[[3, 4, 5, 0, 1, 2, 7, 6]]
    groups = [np.zeros((0, 2, 1)) for _ in corners]
    groups[0] = np.ones((1, 2, 1))  # groups are by the largest corner so far, of no teacher yet
    for _ in range(K):
        grown = []
        for last, (p, rest) in enumerate(zip(corners, complements, strict=True)):
            rows = np.concatenate(groups[: last + 1])
            wider = np.zeros((*rows.shape[:2], rows.shape[2] + 1))
            wider[..., :-1] = rows * rest[:, None]
            wider[..., 1:] += rows * p[:, None]
            grown.append(wider)
        groups = grown
    rows = np.concatenate(groups)
    return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])


@functools.lru_cache(maxsize=4)
def corner_multisets(K: int) -> NDArray[np.uint8]:
    """Return the corners of K teachers, ascending in each row, in the order of `corner_pmfs`."""
    groups = [np.zeros((0, 0), np.uint8) for _ in range(8)]
    groups[0] = np.zeros((1, 0), np.uint8)
    for _ in range(K):
        groups = [
            np.pad(np.concatenate(groups[: last + 1]), ((0, 0), (0, 1)), constant_values=last)
            for last in range(8)
        ]
    return np.concatenate(groups)
