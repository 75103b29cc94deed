"""The exact privacy of a mechanism with finitely many inputs, from its table of probabilities.

A mechanism is a function from vote counts to label probabilities. It is tabulated on every
histogram, and rows are compared across every move of a vote. `FiniteMechanism` then answers every
question about it with a rigorous bound on what the table implies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.trade_off import least_mu, trade_off
from private_ensembles.accounting.zero_concentrated import least_rho
from private_ensembles.audit.divergence import (
    WorstPair,
    delta_curve,
    exact_delta,
    exact_epsilon,
    renyi_curve,
    worst_pair,
)
from private_ensembles.audit.histograms import both_counts, vote_neighbours
from private_ensembles.audit.shared_data import (
    LARGEST_K,
    corner_multisets,
    corner_pmfs,
    teacher_corners,
)
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# The trade-off curves of so many pairs are worked on at once.
_CHUNK = 1 << 16


@dataclass(frozen=True)
class FiniteMechanism:
    """A table of probabilities with its pairs of neighbours, and what it says about privacy.

    Each true probability p and its entry q satisfy |p - q| <= relative_error q + absolute_error.
    Methods raise ValueError if the table is not one of probabilities (`audit.exact_delta`).

    Attributes:
        inputs: (H, ...), the input of each row.
        matrix: (H, L), Pr[label | input].
        pairs: (P, 2), neighbouring rows; each pair counts in both orders.
        neighbours: what a neighbour is, in one word.
        relative_error: of the matrix.
        absolute_error: of the matrix.
    """

    inputs: NDArray
    matrix: NDArray[np.float64]
    pairs: NDArray[np.int64]
    neighbours: str = "moved_vote"
    relative_error: float = 0.0
    absolute_error: float = 0.0

    @property
    def errors(self) -> dict[str, float]:
        """The two errors of the matrix, as keyword arguments of `audit.exact_delta`."""
        return {"relative_error": self.relative_error, "absolute_error": self.absolute_error}

    @upper_bound
    @lower_bound
    def epsilon(self, delta: float, side: str = "upper") -> float:
        """Return the least epsilon at delta, as an ``upper`` or a ``lower`` bound."""
        return exact_epsilon(self.matrix, self.pairs, delta, side=side, **self.errors)

    @upper_bound
    @lower_bound
    def delta(self, epsilon: float, side: str = "upper") -> float:
        """Return the least delta at epsilon, as an ``upper`` or a ``lower`` bound."""
        return exact_delta(self.matrix, self.pairs, epsilon, side=side, **self.errors)

    @upper_bound
    def curve(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Return the least delta at each epsilon, (E,), as `audit.delta_curve` bounds it."""
        return delta_curve(self.matrix, self.pairs, epsilons, **self.errors)

    def worst_pair(self, delta: float) -> WorstPair:
        """Return where epsilon at delta arises: two rows, and the labels of the event."""
        return worst_pair(self.matrix, self.pairs, delta=delta, **self.errors)

    @upper_bound
    def renyi(self, orders: ArrayLike) -> NDArray[np.float64]:
        """Return the Rényi divergence at each order, (A,), as `audit.renyi_curve` bounds it."""
        return renyi_curve(self.matrix, self.pairs, orders, **self.errors)

    @upper_bound
    def rho(self) -> float:
        """Return the least rho for which the mechanism is rho-zCDP, as `least_rho` bounds it."""
        return least_rho(self.renyi, self.epsilon(0.0))

    @upper_bound
    @lower_bound
    def mu(self, side: str = "upper") -> float:
        """Return the least mu for which the mechanism is mu-GDP, as `least_mu` bounds it."""
        bounds = [least_mu(*ends, side=side, **self.errors).max() for ends in self._ends()]
        return float(max(bounds))

    @lower_bound
    def trade_off(self, levels: ArrayLike) -> NDArray[np.float64]:
        """Return the trade-off function: the least type II error at each level, over all pairs.

        Args:
            levels: (A,) in [0, 1], type I errors of tests that tell neighbours apart.

        Returns:
            (A,), as `accounting.trade_off` bounds it.
        """
        both = (ends[::step] for ends in self._ends() for step in (1, -1))
        return np.min([trade_off(*ends, levels, **self.errors).min(axis=0) for ends in both], 0)

    def verdict(self, epsilon: float, delta: float) -> str:
        """Judge the claim that the mechanism is (epsilon, delta)-DP.

        Returns:
            ``holds`` if the table proves it, and ``fails`` if a pair and an event refute it.
            ``undecided`` if the claim lies between the two bounds, which the stated errors and
            rounding keep apart; so it is with a claim that is exactly tight.
        """
        if self.delta(epsilon) <= delta:
            return "holds"
        return "fails" if self.delta(epsilon, "lower") > delta else "undecided"

    def _ends(self) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield the distributions of both members of the pairs, a chunk of pairs at a time."""
        for start in range(0, len(self.pairs), _CHUNK):
            first, second = self.pairs[start : start + _CHUNK].T
            yield self.matrix[first], self.matrix[second]


def audit_function(
    probabilities: Callable[[NDArray], ArrayLike],
    n_teachers: int,
    n_classes: int,
    *,
    neighbours: str = "moved_vote",
    relative_error: float = 1e-12,
    absolute_error: float = 0.0,
) -> FiniteMechanism:
    """Tabulate a mechanism on every histogram, for an exact audit of its privacy.

    Args:
        probabilities: counts (n, C) -> (n, L), the probabilities of L outcomes (labels, and one
            for no answer if there may be none); rows add up to 1. It is called once for each
            number of votes.
        n_teachers: how many teachers vote.
        n_classes: how many classes they choose from.
        neighbours: as for `vote_neighbours`.
        relative_error: of the function's floats.
        absolute_error: of the function's floats.

    Raises:
        ValueError: as for `vote_neighbours`, and if the function returns no such table.

    >>> def respond(counts):  # randomised response on the vote of one teacher
    ...     return 0.25 + 0.5 * (counts > 0)
    >>> audited = audit_function(respond, 1, 2)
    >>> round(audited.epsilon(0.0), 4), round(audited.mu(), 4)  # ln 3, 2 Phi^-1(3 / 4)
    (1.0986, 1.349)
    """
    rows, pairs = vote_neighbours(n_teachers, n_classes, neighbours)
    totals = rows.sum(axis=1)
    parts = [
        _tabulate_function(probabilities, rows[totals == total]) for total in np.unique(totals)
    ]
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise ValueError(f"probabilities: {widths} outcomes: must be as many for any votes")
    return FiniteMechanism(
        rows, np.concatenate(parts), pairs, neighbours, relative_error, absolute_error
    )


def audit_shared_data(
    probabilities: Callable[[NDArray], ArrayLike],
    n_teachers: int,
    teacher_epsilon: float,
    teacher_Delta: float,
    *,
    relative_error: float = 1e-12,
) -> FiniteMechanism:
    """Tabulate a mechanism whose teachers all see all data: DaRRM's model, two classes.

    Teachers are independent and each (teacher_epsilon, teacher_Delta)-DP; a neighbour may change
    them all. An input is Pr[teacher says 1] of each, (K,), its row is the distribution of the label
    of such teachers, and there is a pair for each choice of corners (`audit.shared_data`).

    Hockey-stick divergences and sum P^a P'^(1 - a) are convex in (P, P'), which is affine in each
    teacher's pair of probabilities, so their maxima are at corners. So is that of mu, which
    hockey-stick divergences decide.

    Args:
        probabilities: as for :func:`audit_function`.
        n_teachers: at most 15.
        teacher_epsilon: of each teacher, in nats.
        teacher_Delta: of each teacher.
        relative_error: of the function's floats.

    Raises:
        ValueError: for more than 15 teachers, and as for :func:`audit_function`.

    References:
        Dong, Roth and Su 2022, Proposition 2.12.
    """
    if not 1 <= n_teachers <= LARGEST_K:
        raise ValueError(f"n_teachers = {n_teachers}: must be at most {LARGEST_K} for shared data")
    values = _tabulate_function(probabilities, both_counts(n_teachers))
    first, second = corner_pmfs(n_teachers, teacher_epsilon, teacher_Delta)
    # Sums and products of so many factors add this to the error (`shared_data`).
    error = relative_error + 32 * (n_teachers + 3) * UNIT_ROUNDOFF
    pairs = np.arange(2 * len(first)).reshape(2, -1).T
    teachers = teacher_corners(teacher_epsilon, teacher_Delta)[corner_multisets(n_teachers)]
    inputs = np.concatenate([teachers[..., 0], teachers[..., 1]])
    matrix = np.concatenate([first @ values, second @ values])
    return FiniteMechanism(inputs, matrix, pairs, "private_teachers", error)


def _tabulate_function(probabilities: Callable, rows: NDArray) -> NDArray[np.float64]:
    """Return the function's table on these histograms; its shape and type are checked here."""
    table = probabilities(rows.copy())
    if np.ma.is_masked(table):
        raise ValueError("probabilities: a masked array: every one must be there")
    table = np.asarray(table)
    if table.ndim != 2 or len(table) != len(rows) or table.shape[1] < 2:
        raise ValueError(
            f"probabilities: shape {table.shape}: must be ({len(rows)}, outcomes), two or more"
        )
    try:
        # Objects may be numbers, such as fractions. Complex ones are refused, because NumPy would
        # drop their imaginary parts.
        if table.dtype.kind not in "fiubO":
            raise TypeError
        matrix = table.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"probabilities: type {table.dtype}: must be real numbers") from None
    if np.isnan(matrix).any():
        row = rows[np.isnan(matrix).any(axis=1)][0].tolist()
        raise ValueError(f"probabilities: NaN at counts {row}: must be in [0, 1]")
    return matrix
