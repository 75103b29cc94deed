"""The linear program of the best label: rows found as they are needed.

A mechanism p (one number per tie group) is (epsilon, delta)-DP if and only if, for every pair of
neighbours and both orders, the sum over classes of (p - e^epsilon p')_+ is at most delta: one row
per set of classes. Few sets matter. The program starts from moves to and from the leader and grows
by the rows that its solution violates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from private_ensembles.base.rounding import UNIT_ROUNDOFF
from studies.best_label.sorted_histograms import Moves, TieGroups, list_moves, tie_groups

# So many table entries are looked at together.
_CHUNK = 1 << 21
# Rows this close to being tight, relative to their larger side, are taken along with violated ones.
NEARLY_TIGHT = 0.05


@dataclass
class Program:
    """Rows p_x - e^epsilon p_y <= delta, and rows of several classes, over K votes on C classes.

    Attributes:
        weights: (groups,) the objective; 0 if none is given.
        singles: (rows, 2) int, tie groups x, y.
        events: rows of more classes, a sparse matrix; there are none for delta = 0.
    """

    n_teachers: int
    n_classes: int
    epsilon: float
    delta: float
    weights: NDArray[np.float64] | None = None
    singles: NDArray[np.int64] = field(init=False)
    events: sparse.csr_matrix = field(init=False)

    def __post_init__(self) -> None:
        self.histograms: TieGroups = tie_groups(self.n_teachers, self.n_classes)
        self.moves: Moves = list_moves(self.n_teachers, self.n_classes)
        self.growth = math.exp(self.epsilon)
        self.size = len(self.histograms.sizes)
        if self.weights is None:
            self.weights = np.zeros(self.size)
        self.singles = self._distinct(*_leader_rows(self.moves))
        self.events = sparse.csr_matrix((0, self.size))

    @property
    def row_count(self) -> int:
        """How many rows were found so far."""
        return len(self.singles) + self.events.shape[0]

    def matrix(self) -> sparse.csr_matrix:
        """Return all rows found so far, singles first: matrix @ p <= delta."""
        rows = len(self.singles)
        entries = np.tile([1.0, -self.growth], rows)
        starts = np.arange(0, 2 * rows + 1, 2)
        moves = sparse.csr_matrix((entries, self.singles.ravel(), starts), (rows, self.size))
        return sparse.vstack([moves, self.events]).tocsr()

    def totals(self) -> sparse.csr_matrix:
        """Return the rows that add up each histogram's probabilities to 1."""
        groups = np.arange(self.size)
        starts = np.append(self.histograms.starts, self.size)
        shape = len(self.histograms.counts), self.size
        return sparse.csr_matrix((self.histograms.sizes.astype(float), groups, starts), shape)

    def add_violated_rows(self, p: NDArray[np.float64]) -> float:
        """Add the rows that p violates, and single ones that are near; return the delta it needs.

        That delta is rounded to nearest: `certificate.needed_delta` is a bound.
        """
        worst, above, below, events = 0.0, [], [], []
        for x, y in self.iterate_moves():
            differences = p[x] - self.growth * p[y]
            hockey_stick = np.maximum(differences, 0.0).sum(axis=1)
            worst = max(worst, float(hockey_stick.max(initial=0.0)))
            is_nearly_tight = differences > self.delta - NEARLY_TIGHT * p[x]
            above.append(x[is_nearly_tight])
            below.append(y[is_nearly_tight])
            for row in np.flatnonzero((hockey_stick > self.delta * (1 + 1e-9)) & (self.delta > 0)):
                is_gain = differences[row] > 0
                if is_gain.sum() > 1:
                    events.append((x[row][is_gain], y[row][is_gain]))
        self.singles = self._distinct(
            np.concatenate([self.singles[:, 0], *above]),
            np.concatenate([self.singles[:, 1], *below]),
        )
        self._add_events(events)
        return worst

    def iterate_moves(self):
        """Yield tie groups (chunk, C) of all classes on both sides of all moves, in both orders."""
        pairs, placed = self.moves.pairs, self.moves.placed
        size = max(1, _CHUNK // self.n_classes)
        for start in range(0, len(pairs), size):
            before, after = pairs[start : start + size].T
            first, second = placed[before], placed[after]
            yield first, second
            yield second, first

    def upper_bound(self, multipliers: NDArray[np.float64]) -> float:
        """Return a bound on weights @ p of every private mechanism, rounding included.

        Weak duality from any multipliers >= 0 of the rows of `matrix` (negative ones are taken as
        0): weights @ p <= delta sum y + the largest of (weights - y @ matrix) @ p over all tables
        of probabilities, which is the sum over histograms of the largest reduced weight per class.

        Args:
            multipliers: (rows,).

        References:
            docs/best-label.md#a-bound-on-every-mechanism has theorem and rounding.
        """
        weights = self.weights
        matrix, y = self.matrix(), np.maximum(multipliers, 0.0)
        columns, sizes = matrix.T.tocsr(), self.histograms.sizes
        reduced, bulk = weights - columns @ y, weights + abs(columns) @ y
        starts = self.histograms.starts
        bound = np.maximum.reduceat(reduced / sizes, starts).sum() + self.delta * y.sum()
        largest = np.maximum.reduceat(bulk / sizes, starts).sum() + self.delta * y.sum()
        # These are the terms of the longest sum, and the factors' roundings (weights: at most 8).
        terms = len(y) + len(starts) + int(np.diff(columns.indptr).max(initial=0)) + 16
        return float(bound + 4 * terms * UNIT_ROUNDOFF * largest)

    def _distinct(self, x: NDArray, y: NDArray) -> NDArray[np.int64]:
        """Return rows p_x - e^epsilon p_y, each once; p_x - e^epsilon p_x is none."""
        codes = np.unique(self._codes(np.stack([x, y], axis=1)[x != y]))
        return np.stack([codes // self.size, codes % self.size], axis=1)

    def _codes(self, rows: NDArray) -> NDArray[np.int64]:
        return rows[:, 0].astype(np.int64) * self.size + rows[:, 1]

    def _add_events(self, events: list[tuple[NDArray, NDArray]]) -> None:
        if not events:
            return
        lengths = [2 * len(x) for x, _ in events]
        columns = np.concatenate([groups for pair in events for groups in pair])
        entries = np.concatenate([np.repeat([1.0, -self.growth], len(x)) for x, _ in events])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        rows = sparse.csr_matrix((entries, columns, starts), (len(events), self.size))
        rows.sum_duplicates()
        self.events = sparse.vstack([self.events, rows]).tocsr()


def _leader_rows(moves: Moves) -> tuple[NDArray, NDArray]:
    """Return x and y of the moves between the leader and another class, by far the costliest.

    A vote that leaves the leader costs it and helps all others.
    """
    first = np.flatnonzero(np.diff(moves.bases, prepend=-1))
    leader = moves.placed[first[moves.bases]]
    x = np.where(np.arange(leader.shape[1]) == 0, leader, moves.placed)
    y = np.where(np.arange(leader.shape[1]) == 0, moves.placed, leader)
    return x.ravel(), y.ravel()
