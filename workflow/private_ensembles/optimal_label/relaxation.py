"""A bound on every label of any number of votes and classes: two classes by name, the rest a crowd.

What a private label does to all histograms, averaged over those in which two classes have a and b
votes, satisfies a program over a and b alone. Its optimum is at least that of the label
(docs/best-label.md#a-bound-for-any-number-of-votes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF, round_up, sixty_digits, sum_above
from private_ensembles.optimal_label.interior_point import best_point
from private_ensembles.optimal_label.objective import right_votes, rises
from private_ensembles.votes.synthetic import ConsensusProfile


def bound_on_right(
    n_teachers: int, epsilon: float, profile: ConsensusProfile, delta: float = 0.0
) -> float:
    """Return a bound on Pr[a label is right] of every (epsilon, delta)-DP label on the profile.

    >>> three = ConsensusProfile(3, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=1.0)
    >>> round(bound_on_right(20, 0.3, three), 4)
    0.8042

    One vote moves between neighbours; labels are those that treat all classes alike. n_teachers: K,
    of which time grows faster than the square. epsilon: in (0, 20]; delta: in [0, 1). Weak duality
    from any multipliers that HiGHS finds, rounded outwards. Raises ValueError for arguments out of
    range and two classes, for which the ladder is known to be best, and RuntimeError if HiGHS
    gives up.
    """
    checks.within(0, 20, epsilon=epsilon, low_allowed=False)
    checks.probability(delta=delta, one=False)
    if n_teachers < 2 or profile.n_classes < 3:
        sizes = f"n_teachers, n_classes = {n_teachers}, {profile.n_classes}"
        raise ValueError(f"{sizes}: must be at least 2 and 3")
    return _Pairs(n_teachers, epsilon, profile, delta).bound()


@dataclass(frozen=True)
class _Pairs:
    """Pr[class 1] at votes (a, b) of classes 1 and 2, and Pr[one of the others].

    The first S variables are Pr[class 1] in the order of `votes`, which class 2 has at (b, a); the
    next S are Pr[each other class], of which those with a < b mean (b, a) and are not used.
    """

    n_teachers: int
    epsilon: float
    profile: ConsensusProfile
    delta: float = 0.0

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """All (a, b) with a + b <= K, (S, 2), lexicographic."""
        grid = np.stack(np.divmod(np.arange((self.n_teachers + 1) ** 2), self.n_teachers + 1), 1)
        return grid[grid.sum(axis=1) <= self.n_teachers]

    def places(self, votes: NDArray) -> NDArray[np.int64]:
        """The place of each (a, b)."""
        a, b = votes.T
        return a * (self.n_teachers + 1) - a * (a - 1) // 2 + b

    @cached_property
    def mirrored(self) -> NDArray[np.int64]:
        return self.places(self.votes[:, ::-1])

    @cached_property
    def crowd(self) -> NDArray[np.int64]:
        """The variable Pr[each other class] of every state."""
        return len(self.votes) + np.maximum(np.arange(len(self.votes)), self.mirrored)

    @cached_property
    def chances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Pr[a votes for the true class, b for another], (S,), and Pr[b | a]; each rounded once."""
        K, C = self.n_teachers, self.profile.n_classes
        a, b = self.votes.T
        with sixty_digits():
            right = right_votes(self.profile, K)
            confusion = Decimal(self.profile.confusion)
            single = rises(confusion * 1 / (C - 1), K)
            most = rises(confusion * (C - 2) / (C - 1), K)
            every = rises(confusion * (C - 1) / (C - 1), K)
            of_rival = single[b] * most[K - a - b] / every[K - a]
            return (right[a] * of_rival).astype(np.float64), of_rival.astype(np.float64)

    def private(self) -> sparse.csr_matrix:
        """Rows p - e^epsilon p' <= delta of all moves, in both orders, of every class."""
        before, after = [], []
        for step in ((1, -1), (1, 0)):  # from class 2 to 1, and from the crowd to 1
            there = self.votes + step
            kept = (there.min(axis=1) >= 0) & (there.sum(axis=1) <= self.n_teachers)
            here, there = np.flatnonzero(kept), self.places(there[kept])
            sides = (here, there), (self.mirrored[here], self.mirrored[there])
            for x, y in (*sides, (self.crowd[here], self.crowd[there])):
                before += [x, y]
                after += [y, x]
        rows = np.unique(np.stack([np.concatenate(before), np.concatenate(after)], axis=1), axis=0)
        rows = rows[rows[:, 0] != rows[:, 1]]
        with sixty_digits():
            growth = round_up(Decimal(self.epsilon).exp())
        shape = len(rows), 2 * len(self.votes)
        starts = np.arange(0, 2 * len(rows) + 1, 2)
        return sparse.csr_matrix((np.tile([1.0, -growth], len(rows)), rows.ravel(), starts), shape)

    def consistent(self) -> sparse.csr_matrix:
        """Rows = 0, one for each a: class 2 is any other class, however many votes it has."""
        of_rival, states = self.chances[1], np.arange(len(self.votes))
        first = sparse.csr_matrix(
            (of_rival, (self.votes[:, 0], self.mirrored)), (self.n_teachers + 1, 2 * len(states))
        )
        return first - sparse.csr_matrix((of_rival, (self.votes[:, 0], self.crowd)), first.shape)

    @cached_property
    def totals(self) -> sparse.csr_matrix:
        """Rows = 1: class 1, class 2 and the others, for each unordered pair of a and b."""
        states = np.flatnonzero(self.mirrored <= np.arange(len(self.votes)))
        rows, ones = np.arange(len(states)), np.ones(len(states))
        others = (self.profile.n_classes - 2) * ones
        columns = states, self.mirrored[states], self.crowd[states]
        parts = zip((ones, ones, others), columns, strict=True)
        shape = len(states), 2 * len(self.votes)
        return sum(sparse.csr_matrix((part, (rows, column)), shape) for part, column in parts)

    def bound(self) -> float:
        """Weak duality: reduced weights of each state's most worth class, rounding added."""
        weights = np.append(self.chances[0], np.zeros(len(self.votes)))
        private, consistent, totals = self.private(), self.consistent(), self.totals
        rows, growth = private.shape[0], math.exp(self.epsilon)
        upper = np.zeros(rows + consistent.shape[0] + totals.shape[0])
        upper[-totals.shape[0] :] = 1.0
        lower = upper.copy()
        lower[:rows], upper[:rows] = -np.inf, self.delta / growth
        matrix = sparse.vstack([private / growth, consistent, totals])
        dual = best_point(weights, matrix, lower, upper)[1][: -totals.shape[0]]
        dual[:rows] = np.maximum(dual[:rows], 0.0) / growth
        columns = sparse.vstack([private, consistent]).T.tocsr()
        reduced = weights - columns @ dual
        bulk = weights + abs(columns) @ abs(dual)
        state = totals.tocoo()

        def largest(values: NDArray) -> float:
            shares = np.full(totals.shape[0], -np.inf)
            np.maximum.at(shares, state.row, values[state.col] / state.data)
            return math.fsum(shares)

        # Terms of a column's sum, and roundings of weights, entries and quotients.
        terms = int(np.diff(columns.indptr).max()) + 16
        spared = float(sum_above(self.delta * dual[:rows]))
        bound = largest(reduced) + spared + 4 * terms * UNIT_ROUNDOFF * (largest(bulk) + spared)
        return min(1.0, bound)
