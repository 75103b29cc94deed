"""Neighbouring pairs of one label's distributions: what the account of many labels is told of it.

`of_table` and `two_classes` make a family of a label of two classes, `gaussian_maximum` one of the
largest noisy count, `bounded_range_pairs` and `pure_pair` one of labels of which no more is known
than a bound on their losses. Theorems and proofs: docs/many-labels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition import hockey_sticks
from private_ensembles.base import checks

# Beyond this range of losses the pairs' probabilities are no normal floats.
LARGEST_RANGE = 600.0
# In how many parts a range of losses is divided; each widens it by one.
_PARTS = 1000
# Of these pairs' probabilities: exponentials and sums of a few terms.
_PAIR_ERROR = 1e-12
# Tables of more teachers are shortened, to about so many pairs at most.
MANY_TEACHERS, _MOST_LISTED = 2000, 4000
# Curves' numbers that are worked on at a time.
_AT_ONCE = 1 << 21
# The golden ratio of 2^64, whose powers are the weights of a hash.
_ODD = np.uint64(0x9E3779B97F4A7C15)


class DominatingPairs(Protocol):
    """Neighbouring pairs of one label's distributions, in both orders.

    excesses: (rows, n) upper bounds on hockey-sticks, as `hockey_sticks.hockey_stick_divergences` gives them; the
    curve of each neighbouring pair lies below a mixture of rows. pairs: some that an adversary can
    choose, (pairs, outcomes) twice, for the lower bound: no more than P, no less than P'.
    """

    def hockey_stick_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def attainable_pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...


@runtime_checkable
class PairsWithMaximum(DominatingPairs, Protocol):
    """A family whose largest row is found without the others.

    largest: (n,) the largest row of `excesses` at each t.
    """

    def max_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class NeighbourPairs:
    """A finite family: P and P', (pairs, outcomes), each taken in both orders.

    error, spare: each probability p is off by at most error p + spare, >= 0; numbers, or one for
    each outcome, or for each pair and outcome. Raises ValueError for rows that are no
    distributions.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    relative_error: ArrayLike = 0.0
    absolute_error: ArrayLike = 0.0

    def __post_init__(self) -> None:
        for rows in (self.first, self.second):
            if np.ndim(rows) != 2 or np.shape(rows) != np.shape(self.first):
                raise ValueError("first, second: must be of one shape (pairs, outcomes)")
            if not (np.min(rows) >= 0 and np.allclose(np.sum(rows, axis=1), 1, atol=1e-9)):
                raise ValueError("first, second: every row must be a distribution")

    def hockey_stick_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`."""
        first, second = self.first, self.second
        if (
            np.ndim(self.relative_error) < 2 and np.ndim(self.absolute_error) < 2
        ):  # pairs that are alike err alike
            each = _first_occurrences(np.hstack([first, second]))
            first, second = first[each], second[each]
        both = (first, second), (second, first)
        curves = [
            hockey_sticks.hockey_stick_divergences(
                *pair, t, self.relative_error, self.absolute_error
            )
            for pair in both
        ]
        return _unique_rows(np.concatenate(curves))

    def attainable_pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        both = self.first, self.second
        least = [
            np.maximum(p - np.asarray(self.relative_error) * p - self.absolute_error, 0.0)
            for p in both
        ]
        most = [p + np.asarray(self.relative_error) * p + self.absolute_error for p in both]
        return np.concatenate(least), np.concatenate(most[::-1])


class PessimisticPairs(NeighbourPairs):
    """Pairs that dominate those of neighbours, who may be worth less: no lower bound is theirs."""


@dataclass(frozen=True)
class MergedPairs:
    """Pairs of which runs of neighbours, all alike, stand for each other.

    cover: rows in an order in which neighbours are alike; at each t the largest curve of `run` of
    them in a row counts for all, which lies above each. played: pairs of neighbours that do exist,
    which an adversary may choose.
    """

    dominating: NeighbourPairs
    run_length: int
    attainable: NeighbourPairs

    def hockey_stick_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Family`: worked out for few rows at a time."""
        cover = self.dominating
        curves = []
        at_once = self.run_length * max(1, _AT_ONCE // (self.run_length * t.size))
        for start in range(0, len(cover.first), at_once):
            first = cover.first[start : start + at_once]
            second = cover.second[start : start + at_once]
            for p, q in ((first, second), (second, first)):
                of_rows = hockey_sticks.hockey_stick_divergences(
                    p, q, t, cover.relative_error, cover.absolute_error
                )
                curves.append(
                    np.maximum.reduceat(of_rows, np.arange(0, len(of_rows), self.run_length))
                )
        return _unique_rows(np.concatenate(curves))

    def attainable_pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Family`."""
        return self.attainable.attainable_pairs()


def bounded_range_pairs(range_: float) -> PessimisticPairs:
    """Return pairs that dominate all whose likelihood ratios span a factor of e^range at most.

    >>> len(bounded_range_pairs(0.2).first)
    1000

    range_: in (0, LARGEST_RANGE]. A label's likelihood ratio, neighbour over truth, is between
    e^(-range) / N and 1 / N for an N in [e^(-range), 1]. Such a pair is dominated by the two
    outcomes at the ends; each row serves a cell of N. Raises ValueError for a range that is not.
    Source: docs/many-labels.md; Dong, Durfee and Rogers 2020.
    """
    checks.check_range(0, LARGEST_RANGE, range_=range_, low_allowed=False)
    up = range_ * np.arange(1, _PARTS + 1) / _PARTS
    down = -range_ * np.arange(_PARTS, 0, -1) / _PARTS
    # Ratios low < 1 < high have a mean of 1.
    rise, fall = np.expm1(up), -np.expm1(down)
    first = np.stack([rise, fall], axis=1) / (rise + fall)[:, None]
    # e^x for |x| <= 600, and quotients of sums of such numbers.
    return PessimisticPairs(
        first, first * np.stack([np.exp(down), np.exp(up)], axis=1), _PAIR_ERROR
    )


def pure_pair(epsilon: float) -> PessimisticPairs:
    """Return the pair that dominates all that is (epsilon, 0)-differentially private.

    >>> pure_pair(math.log(3)).first.round(12)
    array([[0.75, 0.25]])

    epsilon: in (0, LARGEST_RANGE]. Randomised response. Raises ValueError for one that is not.
    Source: Kairouz, Oh and Viswanath 2015.
    """
    checks.check_range(0, LARGEST_RANGE, epsilon=epsilon, low_allowed=False)
    least = 1 / (1 + math.exp(epsilon))
    first = np.array([[math.exp(epsilon) * least, least]])
    return PessimisticPairs(first, first[:, ::-1], _PAIR_ERROR)


def dominating_pairs_from_table(
    table: NDArray[np.float64],
    relative_error: float,
    absolute_error: float,
    *,
    negligible: float = 0.0,
    group_size: int = 1,
    rows_left_out: bool = False,
) -> DominatingPairs:
    """Return the family of a label of two classes, of any number of teachers: votes move.

    >>> few = dominating_pairs_from_table(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.0, 0.0)
    >>> many = dominating_pairs_from_table(np.linspace([1, 0], [0, 1], 100_001), 0.0, 0.0)
    >>> len(few.hockey_stick_divergences(np.ones(1))), len(many.hockey_stick_divergences(np.arange(1.0, 3))) < 5_000
    (1, True)

    table: (K + 1, 2) Pr[label] at 0, ..., K votes for 1. error, spare: of its entries, as in
    `Pairs`. negligible: with more than MANY_TEACHERS, a label that has at most this probability
    before and after the move counts as one pair with the others of this kind; 2 Q times it is added
    to the delta of Q labels. If many pairs are left, runs of neighbours are joined. moved: how many
    votes may move at most, 1 to K. What is exact must rise with the votes; of a table that does
    not, every number of votes that may move is listed. rest: whether rows beyond the first and the
    last were left out, which are negligible.
    Source: docs/many-labels.md, "Very many teachers" and "Groups".
    """
    rises = bool((np.diff(table[:, 1]) >= 0).all() and (np.diff(table[:, 0]) <= 0).all())
    steps = [group_size] if rises else range(1, group_size + 1)
    first = np.concatenate([table[:-step] for step in steps])
    second = np.concatenate([table[step:] for step in steps])
    if len(first) <= MANY_TEACHERS and not rows_left_out:
        return NeighbourPairs(first, second, relative_error, absolute_error)
    far = ((first <= negligible) & (second <= negligible)).any(axis=1)
    first, second = first[~far], second[~far]
    run = max(1, math.ceil(len(first) / _MOST_LISTED))
    played = NeighbourPairs(
        first[::run], second[::run], relative_error, absolute_error
    )  # near a tie none is far
    if far.any() or rows_left_out:
        # Half of the time its rare label tells everything, in one order or in the other.
        most = 2 * (negligible * (1 + relative_error) + absolute_error)
        first, second = np.vstack([first, [[1.0, most]]]), np.vstack([second, [[1.0, 0.0]]])
    return MergedPairs(NeighbourPairs(first, second, relative_error, absolute_error), run, played)


def two_class_dominating_pairs(
    ones: ArrayLike, zeros: ArrayLike | None = None, relative_error: float = 1e-12
) -> NeighbourPairs:
    """Return the family of a label of two classes: one vote moves.

    >>> two_class_dominating_pairs([0.25, 0.75]).first
    array([[0.75, 0.25]])

    ones: (K + 1,) Pr[label 1] for 0, ..., K votes for 1. zeros: Pr[label 0]; give them if small
    ones matter, as 1 - ones loses digits, which the bounds then allow for. error: of ones and
    zeros, relative to themselves.
    """
    ones = np.asarray(ones, dtype=np.float64)
    spare = 0.0
    if zeros is None:
        zeros, spare = 1 - ones, np.array([relative_error, 0.0])
    both = np.stack([np.asarray(zeros, dtype=np.float64), ones], axis=1)
    return NeighbourPairs(both[:-1], both[1:], relative_error, spare)


def log_likelihood_ratios(first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """ln(P' / P) where both are > 0, and 0 elsewhere."""
    both = (first > 0) & (second > 0)
    return np.log(np.where(both, second, 1.0) / np.where(both, first, 1.0))


def max_loss_deviation(dominating_pairs: DominatingPairs) -> float:
    """The largest root mean square of a label's loss, which the grid is measured by."""
    first, second = dominating_pairs.attainable_pairs()
    spread = (first * log_likelihood_ratios(first, second) ** 2).sum(axis=1).max()
    return max(float(np.sqrt(spread)), 1e-9)


def _unique_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row once."""
    return rows[_first_occurrences(rows)]


def _first_occurrences(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Where each row stands first, found by a hash: sorting whole rows would take longest."""
    odd = np.cumprod(np.full(rows.shape[1], _ODD))
    keys = np.ascontiguousarray(rows + 0.0).view(np.uint64) @ odd  # no row has -0.0
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    if (rows[first][of] == rows).all():
        return np.sort(first)
    return np.unique(rows, axis=0, return_index=True)[1]
