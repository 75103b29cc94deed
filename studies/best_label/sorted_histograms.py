"""Histograms of votes up to the names of the classes, and all that one changed vote does to them.

A mechanism that treats all classes alike is one number per sorted histogram and tie group: the
probability of each class of that group (docs/best-label.md#one-distribution-per-sorted-histogram).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.audit.histograms import enumerate_sorted_histograms


@dataclass(frozen=True, eq=False)
class TieGroups:
    """All sorted histograms of K votes on C classes, and their tie groups.

    Attributes:
        counts: (histograms, C), each row in descending order, rows in lexicographic order.
        groups: (histograms, C), the tie group that a column belongs to, numbered row by row.
        sizes, votes, owners: (groups,) classes of a group, votes of each, its row.
        starts: (histograms,) each row's first group.
    """

    counts: NDArray[np.int64]
    groups: NDArray[np.int32]
    sizes: NDArray[np.int64]
    votes: NDArray[np.int64]
    owners: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def n_teachers(self) -> int:
        return int(self.counts[0].sum())

    @property
    def n_classes(self) -> int:
        return self.counts.shape[1]

    @cached_property
    def _keys(self) -> NDArray[np.bytes_]:
        return _keys(self.counts)

    def find_rows(self, descending: ArrayLike) -> NDArray[np.int64]:
        """Return the row of each of some sorted histograms, (queries,).

        Args:
            descending: (queries, C) int.

        Raises:
            ValueError: a histogram is not among them.
        """
        histograms = np.asarray(descending)
        rows = np.searchsorted(self._keys, _keys(histograms)).clip(max=len(self.counts) - 1)
        if not np.array_equal(self.counts[rows], histograms):
            raise ValueError(
                f"counts: every row must be {self.n_teachers} votes on {self.n_classes} classes"
            )
        return rows

    def groups_of(self, counts: ArrayLike) -> NDArray[np.int32]:
        """Return the tie group of each class of histograms in any order, (queries, C).

        Args:
            counts: (queries, C) int.

        Raises:
            ValueError: a histogram is not among them.

        >>> tie_groups(3, 3).groups_of([[0, 2, 1], [1, 1, 1]])
        array([[3, 1, 2],
               [0, 0, 0]], dtype=int32)
        """
        counts = np.asarray(counts)
        order = np.argsort(-counts, axis=1, kind="stable")
        rows = self.find_rows(np.take_along_axis(counts, order, axis=1))
        groups = np.empty(counts.shape, dtype=self.groups.dtype)
        np.put_along_axis(groups, order, self.groups[rows], axis=1)
        return groups


@dataclass(frozen=True, eq=False)
class Moves:
    """What one changed vote does, up to the names of the classes.

    All votes but the one that changes are a sorted histogram of K - 1 votes, the base.

    Attributes:
        placed: (placements, C) the tie groups in which its classes are once the last vote is
            placed, one row per inequivalent placement.
        bases: (placements,) ascending.
        tied: (placements,) bool, placements on the second class of a tie, which mirror the row
            before.
        pairs: (pairs, 2) rows of `placed` between which a vote changes: every pair of neighbouring
            histograms is one of these after renaming the classes, in one of both orders.
    """

    placed: NDArray[np.int32]
    bases: NDArray[np.int64]
    tied: NDArray[np.bool_]
    pairs: NDArray[np.int32]


@lru_cache(maxsize=8)
def tie_groups(n_teachers: int, n_classes: int) -> TieGroups:
    """Return all sorted histograms.

    Raises:
        ValueError: as `audit.histograms.enumerate_histograms` raises it.
    """
    counts = enumerate_sorted_histograms(n_teachers, n_classes)
    first = _mark_first_of_ties(counts)
    groups = (np.cumsum(first.ravel()) - 1).reshape(counts.shape)
    owners, columns = np.nonzero(first)
    return TieGroups(
        counts,
        groups.astype(np.int32),
        np.bincount(groups.ravel()),
        counts[owners, columns],
        owners,
        groups[:, 0].copy(),
    )


@lru_cache(maxsize=8)
def list_moves(n_teachers: int, n_classes: int) -> Moves:
    """Return what one changed vote does.

    Raises:
        ValueError: as `tie_groups` raises it.

    >>> kinds = list_moves(2, 2)  # one vote stays: the other joins it, or does not
    >>> kinds.placed.tolist(), kinds.pairs.tolist()
    ([[1, 2], [0, 0]], [[0, 1]])
    """
    after = tie_groups(n_teachers, n_classes)
    base = np.zeros((1, n_classes), dtype=np.int64)
    if n_teachers > 1:
        base = tie_groups(n_teachers - 1, n_classes).counts
    first = _mark_first_of_ties(base)
    second = np.zeros_like(first)
    second[:, 1:] = first[:, :-1] & ~first[:, 1:]
    bases, columns = np.nonzero(first | second)
    tied = second[bases, columns]
    # The vote goes to the first class of a tie, so that rows stay sorted; names are swapped after.
    counts = base[bases]
    row_numbers = np.arange(len(bases))
    counts[row_numbers, columns - tied] += 1
    placed = after.groups[after.find_rows(counts)]
    rows, tied_columns = row_numbers[tied], columns[tied]
    placed[rows, tied_columns - 1], placed[rows, tied_columns] = (
        placed[rows, tied_columns],
        placed[rows, tied_columns - 1].copy(),
    )
    return Moves(placed, bases, tied, _pair_placements(bases, tied))


def _pair_placements(bases: NDArray, tied: NDArray) -> NDArray[np.int32]:
    """Return pairs of two first classes of ties, or of the first and the second class of one."""
    pairs = []
    rows = np.arange(len(bases))
    for distance in range(1, int(np.bincount(bases).max(initial=0))):
        left, right = rows[:-distance], rows[distance:]
        is_same_base = bases[left] == bases[right]
        is_pair = ~tied[left] & ~tied[right]
        if distance == 1:
            is_pair |= tied[right]
        pairs.append(np.stack([left, right], axis=1)[is_same_base & is_pair])
    return np.concatenate(pairs).astype(np.int32)


def _mark_first_of_ties(counts: NDArray) -> NDArray[np.bool_]:
    first = np.ones(counts.shape, dtype=bool)
    first[:, 1:] = counts[:, 1:] != counts[:, :-1]
    return first


def _keys(rows: NDArray) -> NDArray[np.bytes_]:
    """Return one string of bytes per row, in the rows' lexicographic order."""
    big = np.ascontiguousarray(np.asarray(rows).astype(">u4"))
    return big.view(f"S{4 * big.shape[1]}").ravel()
