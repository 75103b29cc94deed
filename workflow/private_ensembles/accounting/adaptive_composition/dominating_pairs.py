"""Dominating pairs of one label: what the account of many labels knows about it.

`dominating_pairs_from_table` and `two_class_dominating_pairs` are for a label of two classes,
`gaussian_maximum` for the largest noisy count, and `bounded_range_pairs` and `pure_pair` for labels
of which no more is known than a bound on their losses. Theorems and proofs: docs/many-labels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition import hockey_sticks
from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# The pairs' probabilities are no normal floats beyond this range of losses.
LARGEST_RANGE = 600.0
# A range of losses is divided into so many parts; each widens it by one.
_PARTS = 1000
# Probabilities of these pairs are off by this: exponentials and sums of a few terms.
_PAIR_ERROR = 1e-12
# Tables of more teachers are shortened, to about _MOST_LISTED pairs at most.
MANY_TEACHERS, _MOST_LISTED = 2000, 4000
# So many numbers of curves are worked on at a time.
_AT_ONCE = 1 << 21
# Powers of the golden ratio of 2^64 are the weights of a hash.
_ODD = np.uint64(0x9E3779B97F4A7C15)


class DominatingPairs(Protocol):
    """Dominating pairs of one label's distributions, in both orders of the neighbours."""

    def hockey_stick_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return upper bounds on hockey-stick divergences at t (n,), (rows, n).

        They are less (1 - t)_+, as `hockey_sticks.hockey_stick_divergences` returns them, and the
        curve of each neighbouring pair lies below a mixture of rows.
        """
        ...

    def attainable_pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return pairs that an adversary can choose, which bounds from below rest on.

        They are (pairs, outcomes) twice: no more than P, and no less than P'.
        """
        ...


@runtime_checkable
class PairsWithMaximum(DominatingPairs, Protocol):
    """Dominating pairs whose largest divergence is found without all rows."""

    def max_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest row of `hockey_stick_divergences` at each t, (n,)."""
        ...


@dataclass(frozen=True)
class NeighbourPairs:
    """Finitely many neighbouring pairs, each taken in both orders.

    Attributes:
        first: (pairs, outcomes), the laws P.
        second: (pairs, outcomes), the laws P'.
        relative_error: Each probability p is off by at most relative_error p + absolute_error.
            Both are >= 0: numbers, or one for each outcome, or for each pair and outcome.
        absolute_error: See relative_error.
        holds_reverses: Whether the reverse of each pair is among the pairs, so that one order of
            each is enough. Floats of both are alike up to the errors alone, and how many are
            equal would depend on the processor.

    Raises:
        ValueError: Rows that are no distributions.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    relative_error: float | NDArray[np.float64] = 0.0
    absolute_error: float | NDArray[np.float64] = 0.0
    holds_reverses: bool = False

    def __post_init__(self) -> None:
        for rows in (self.first, self.second):
            if np.ndim(rows) != 2 or np.shape(rows) != np.shape(self.first):
                raise ValueError("first, second: must be of one shape (pairs, outcomes)")
            if not (np.min(rows) >= 0 and np.allclose(np.sum(rows, axis=1), 1, atol=1e-9)):
                raise ValueError("first, second: every row must be a distribution")

    @upper_bound
    def hockey_stick_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `DominatingPairs`."""
        first, second = self.first, self.second
        # Pairs that are alike err alike, unless each has an error of its own.
        if np.ndim(self.relative_error) < 2 and np.ndim(self.absolute_error) < 2:
            distinct = _first_occurrences(np.hstack([first, second]))
            first, second = first[distinct], second[distinct]
        orders = [(first, second)] if self.holds_reverses else [(first, second), (second, first)]
        curves = [
            hockey_sticks.hockey_stick_divergences(
                *pair, t, self.relative_error, self.absolute_error
            )
            for pair in orders
        ]
        return _unique_rows(np.concatenate(curves))

    @lower_bound
    def attainable_pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `DominatingPairs`."""
        both = self.first, self.second
        lower = [
            np.maximum(p - np.asarray(self.relative_error) * p - self.absolute_error, 0.0)
            for p in both
        ]
        upper = [p + np.asarray(self.relative_error) * p + self.absolute_error for p in both]
        return np.concatenate(lower), np.concatenate(upper[::-1])


@upper_bound
class PessimisticPairs(NeighbourPairs):
    """Pairs that dominate those of neighbours but need not be theirs: they give no lower bound."""


@dataclass(frozen=True)
class MergedPairs:
    """Dominating pairs of which runs of similar ones stand for each other.

    Attributes:
        dominating: Pairs in an order in which neighbouring rows are alike. At each t the largest
            curve of a run counts for the whole run, as it lies above each of them.
        run_length: How many rows a run has.
        attainable: Pairs of neighbours that do exist, which an adversary may choose.
    """

    dominating: NeighbourPairs
    run_length: int
    attainable: NeighbourPairs

    @upper_bound
    def hockey_stick_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `DominatingPairs`. Few rows are worked out at a time."""
        dominating = self.dominating
        curves = []
        at_once = self.run_length * max(1, _AT_ONCE // (self.run_length * t.size))
        for start in range(0, len(dominating.first), at_once):
            first = dominating.first[start : start + at_once]
            second = dominating.second[start : start + at_once]
            for p, q in ((first, second), (second, first)):
                rows = hockey_sticks.hockey_stick_divergences(
                    p, q, t, dominating.relative_error, dominating.absolute_error
                )
                starts = np.arange(0, len(rows), self.run_length)
                curves.append(np.maximum.reduceat(rows, starts))
        return _unique_rows(np.concatenate(curves))

    def attainable_pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `DominatingPairs`."""
        return self.attainable.attainable_pairs()


@upper_bound
def bounded_range_pairs(range_: float) -> PessimisticPairs:
    """Return pairs that dominate all whose likelihood ratios span a factor of e^range at most.

    A label's likelihood ratio, neighbour over truth, is between e^(-range) / N and 1 / N for an N
    in [e^(-range), 1]. Such a pair is dominated by the two outcomes at the ends; each row serves a
    cell of N.

    Args:
        range_: In (0, LARGEST_RANGE].

    Raises:
        ValueError: Another range.

    References:
        docs/many-labels.md; Dong, Durfee and Rogers 2020.

    >>> len(bounded_range_pairs(0.2).first)
    1000
    """
    checks.check_range(0, LARGEST_RANGE, range_=range_, low_allowed=False)
    up = range_ * np.arange(1, _PARTS + 1) / _PARTS
    down = -range_ * np.arange(_PARTS, 0, -1) / _PARTS
    # The ratios low < 1 < high have a mean of 1.
    rise, fall = np.expm1(up), -np.expm1(down)
    first = np.stack([rise, fall], axis=1) / (rise + fall)[:, None]
    second = first * np.stack([np.exp(down), np.exp(up)], axis=1)
    # _PAIR_ERROR covers e^x for |x| <= 600, and quotients of sums of such numbers. The last pair
    # is the reverse of the first, and so on.
    return PessimisticPairs(first, second, _PAIR_ERROR, holds_reverses=True)


@upper_bound
def pure_pair(epsilon: float) -> PessimisticPairs:
    """Return the pair that dominates all that is (epsilon, 0)-DP: randomised response.

    Args:
        epsilon: In (0, LARGEST_RANGE].

    Raises:
        ValueError: Another epsilon.

    References:
        Kairouz, Oh and Viswanath 2015.

    >>> pure_pair(math.log(3)).first.round(12)
    array([[0.75, 0.25]])
    """
    checks.check_range(0, LARGEST_RANGE, epsilon=epsilon, low_allowed=False)
    lie = 1 / (1 + math.exp(epsilon))
    first = np.array([[math.exp(epsilon) * lie, lie]])
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
    """Return the dominating pairs of a label of two classes, of any number of teachers: votes move.

    Args:
        table: (K + 1, 2), Pr[label] at 0, ..., K votes for class 1. If the probability of class 1
            rises with the votes in the table, it must do so exactly; if it does not, every number
            of votes that may move is listed.
        relative_error: Of the table's entries, as in `NeighbourPairs`.
        absolute_error: Of the table's entries, as in `NeighbourPairs`.
        negligible: If there are more than MANY_TEACHERS, a label that has at most this probability
            before and after the move counts as one pair with the others of this kind; 2 Q times it
            is added to the delta of Q labels. If many pairs are left, runs of similar ones are
            merged.
        group_size: How many votes may move at most, 1 to K.
        rows_left_out: Whether rows beyond the first and the last were left out, which are
            negligible.

    References:
        docs/many-labels.md, "Very many teachers" and "Groups".

    >>> few = dominating_pairs_from_table(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.0, 0.0)
    >>> len(few.hockey_stick_divergences(np.ones(1)))
    1
    >>> many = dominating_pairs_from_table(np.linspace([1, 0], [0, 1], 100_001), 0.0, 0.0)
    >>> len(many.hockey_stick_divergences(np.arange(1.0, 3))) < 5_000
    True
    """
    rises = bool((np.diff(table[:, 1]) >= 0).all() and (np.diff(table[:, 0]) <= 0).all())
    steps = [group_size] if rises else range(1, group_size + 1)
    first = np.concatenate([table[:-step] for step in steps])
    second = np.concatenate([table[step:] for step in steps])
    if len(first) <= MANY_TEACHERS and not rows_left_out:
        return NeighbourPairs(first, second, relative_error, absolute_error)
    far = ((first <= negligible) & (second <= negligible)).any(axis=1)
    first, second = first[~far], second[~far]
    run_length = max(1, math.ceil(len(first) / _MOST_LISTED))
    # No pair near a tie is far, so an adversary can choose these.
    attainable = NeighbourPairs(
        first[::run_length], second[::run_length], relative_error, absolute_error
    )
    if far.any() or rows_left_out:
        # The rare label tells everything half of the time, in one order or in the other.
        rare = 2 * (negligible * (1 + relative_error) + absolute_error)
        first, second = np.vstack([first, [[1.0, rare]]]), np.vstack([second, [[1.0, 0.0]]])
    dominating = NeighbourPairs(first, second, relative_error, absolute_error)
    return MergedPairs(dominating, run_length, attainable)


def two_class_dominating_pairs(
    ones: ArrayLike, zeros: ArrayLike | None = None, relative_error: float = 1e-12
) -> NeighbourPairs:
    """Return the dominating pairs of a label of two classes: one vote moves.

    Args:
        ones: (K + 1,), Pr[label 1] for 0, ..., K votes for class 1.
        zeros: (K + 1,), Pr[label 0]. Give them if small ones matter, as 1 - ones loses digits,
            which the bounds then allow for.
        relative_error: Of ones and zeros.

    >>> two_class_dominating_pairs([0.25, 0.75]).first
    array([[0.75, 0.25]])
    """
    ones = np.asarray(ones, dtype=np.float64)
    absolute_error: float | NDArray[np.float64] = 0.0
    if zeros is None:
        zeros, absolute_error = 1 - ones, np.array([relative_error, 0.0])
    both = np.stack([np.asarray(zeros, dtype=np.float64), ones], axis=1)
    return NeighbourPairs(both[:-1], both[1:], relative_error, absolute_error)


def log_likelihood_ratios(first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """Return ln(P' / P) where both are > 0, and 0 elsewhere; any shape."""
    both = (first > 0) & (second > 0)
    return np.log(np.where(both, second, 1.0) / np.where(both, first, 1.0))


def max_loss_deviation(dominating_pairs: DominatingPairs) -> float:
    """Return the largest root mean square of a label's loss, which the grid is measured by."""
    first, second = dominating_pairs.attainable_pairs()
    mean_square = (first * log_likelihood_ratios(first, second) ** 2).sum(axis=1).max()
    return max(float(np.sqrt(mean_square)), 1e-9)


def _unique_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each row once."""
    return rows[_first_occurrences(rows)]


def _first_occurrences(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return where each row stands first, found by a hash, as sorting whole rows takes longer."""
    odd = np.cumprod(np.full(rows.shape[1], _ODD))
    keys = np.ascontiguousarray(rows + 0.0).view(np.uint64) @ odd  # no row has -0.0
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if (rows[first][inverse] == rows).all():
        return np.sort(first)
    return np.unique(rows, axis=0, return_index=True)[1]
