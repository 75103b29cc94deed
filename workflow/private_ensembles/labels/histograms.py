"""Vote histograms made small: equal rows merge, and so do equal counts within a row.

What a noisy argmax does to a class depends on the gaps between the counts alone, so a vote matrix
of many queries and classes has far fewer different problems in it than entries.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

# _CHUNK numbers are worked on at a time, _BLOCK of them in one pass.
_CHUNK = 2_000_000
_BLOCK = 50_000


def check_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """Return counts as int64, which are not copied if they are that already.

    Args:
        counts: (queries, classes) int, votes for each class.

    Returns:
        (queries, classes) int64.

    Raises:
        ValueError: For another rank, numbers that are not integers, negative counts, or rows that
            do not add up to the same positive number of teachers.
    """
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape:
        raise ValueError(f"counts: shape {counts.shape} must be (queries, classes)")
    if counts.dtype.kind not in "iu":
        raise ValueError(f"counts: type {counts.dtype} must be whole numbers")
    counts = counts.astype(np.int64, copy=False)
    if counts.min() < 0:
        raise ValueError(f"counts: {counts.min()} must be at least 0")
    teachers = counts.sum(axis=1)
    if teachers[0] < 1 or (teachers != teachers[0]).any():
        row = int(np.argmax(teachers != teachers[0]))
        raise ValueError(
            f"counts of query {row} add up to {teachers[row]}, those of query 0 to {teachers[0]}: "
            "must be the same positive number of teachers"
        )
    return counts


@dataclass(frozen=True)
class MergedHistograms:
    """Distinct histograms of a vote matrix up to order (rows), as pairs of a count and its
    multiplicity.

    Attributes:
        gap: (pairs,) votes by which the row's largest count leads this one, >= 0; largest counts
            first.
        multiplicity: (pairs,) how many classes have this count.
        row: (pairs,) the row of each pair.
        starts: (rows,) the first pair of each row.
        n_classes: C.
        query: (entries,) the query of each entry of the vote matrix that is not 0.
        column: (entries,) its class.
        pair: (entries,) its pair.
        remaining_pair: (queries,) the pair of all other classes of a query, which have no votes.
    """

    gap: NDArray[np.int64]
    multiplicity: NDArray[np.int64]
    row: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_classes: int
    query: NDArray[np.int64]
    column: NDArray[np.int64]
    pair: NDArray[np.int64]
    remaining_pair: NDArray[np.int64]

    @property
    def entry_pairs(self) -> NDArray[np.int64]:
        """The pair of every entry of the vote matrix, (queries, classes)."""
        pairs = np.repeat(self.remaining_pair[:, None], self.n_classes, axis=1)
        pairs[self.query, self.column] = self.pair
        return pairs

    @property
    def pairs_per_row(self) -> NDArray[np.int64]:
        """The number of pairs of each row, (rows,)."""
        return np.diff(np.append(self.starts, len(self.gap)))

    def select_row_pairs(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs of these rows, in the rows' order, and where each row starts among them.

        Args:
            rows: (n,) numbers of rows.

        Returns:
            (pairs of these rows,) numbers of pairs, and (n,) the place of each row's first one in
            them.
        """
        sizes = self.pairs_per_row[rows]
        first = np.cumsum(sizes) - sizes
        pairs = np.arange(sizes.sum()) + np.repeat(self.starts[rows] - first, sizes)
        return pairs, first

    def select_label_pairs(self, labels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the pair of one class of each query, and a mask of these pairs.

        Args:
            labels: (queries,) int, a class of each query.

        Returns:
            (queries,) numbers of pairs, and (pairs,) bool, which pairs these are.
        """
        pairs = self.remaining_pair.copy()
        is_label = self.column == np.asarray(labels)[self.query]
        pairs[self.query[is_label]] = self.pair[is_label]
        wanted = np.zeros(len(self.gap), dtype=bool)
        wanted[pairs] = True
        return pairs, wanted


class Block(NamedTuple):
    """A few rows, the pairs of all of them, and where each row starts among those pairs."""

    rows: slice
    pairs: slice
    starts: NDArray[np.int64]


def split_into_chunks(
    items: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Return items in parts of about equal size, each of which fits in a laptop's cache.

    Args:
        items: (n,) int.
        sizes: (n,) how many numbers each item takes.

    Returns:
        The parts, in the items' order.
    """
    return np.split(items, np.flatnonzero(np.diff(np.cumsum(sizes) // _CHUNK)) + 1)


def iterate_blocks(first: NDArray[np.int64], pairs: int, width: int) -> Iterator[Block]:
    """Yield a few rows at a time, as many as fit in a core's cache.

    Args:
        first: (rows,) where each row starts among the pairs.
        pairs: The number of pairs.
        width: How many numbers a pair takes.
    """
    ends = np.append(first[1:], pairs)
    cuts = np.flatnonzero(np.diff(ends * width // _BLOCK)) + 1
    for low, high in itertools.pairwise([0, *cuts.tolist(), len(first)]):
        pairs_of_block = slice(first[low], ends[high - 1])
        yield Block(slice(low, high), pairs_of_block, first[low:high] - first[low])


def merge_histograms(counts: ArrayLike) -> MergedHistograms:
    """Merge equal histograms of a vote matrix, and equal counts within each.

    The work is in proportion to the entries with votes: with few teachers nearly all of very many
    classes have none.

    Args:
        counts: (queries, classes) int, votes for each class.

    Returns:
        The distinct histograms, and where each entry of the matrix is among them.

    Raises:
        ValueError: As `check_counts` does.
    """
    counts = check_counts(counts)
    queries, n_classes = counts.shape
    row, column = np.divmod(np.flatnonzero(counts.ravel() != 0), n_classes)
    largest = counts.max(axis=1)
    # List each query's gaps, ascending, and how many classes have each; classes without votes
    # come last.
    votes = counts[row, column]
    width = int(largest.max()) + 1
    keys = row * width + (largest[row] - votes)
    keys, key_of_entry, multiplicity = np.unique(keys, return_inverse=True, return_counts=True)
    without_votes = n_classes - np.bincount(row, minlength=queries)
    with_empty = np.flatnonzero(without_votes)
    keys = np.concatenate([keys, with_empty * width + largest[with_empty]])
    multiplicity = np.concatenate([multiplicity, without_votes[with_empty]])
    order = np.argsort(keys)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys))
    query, gap = np.divmod(keys[order], width)
    multiplicity = multiplicity[order]
    first = np.searchsorted(query, np.arange(queries))
    number = np.arange(len(query)) - first[query]
    # Rows that agree in all gaps and multiplicities are one; the larger the votes, the earlier.
    runs = np.zeros((queries, number.max() + 1, 2), dtype=np.int64)
    runs[query, number] = np.stack([gap, -multiplicity], axis=1)
    _, kept, row_of_query = np.unique(
        runs.reshape(queries, -1), axis=0, return_index=True, return_inverse=True
    )
    sizes = np.bincount(query, minlength=queries)[kept]
    starts = np.cumsum(sizes) - sizes
    pairs = np.arange(sizes.sum()) + np.repeat(first[kept] - starts, sizes)
    # The shift leads from a query's pairs to those of the row that is kept for it.
    shift = starts[row_of_query.ravel()] - first
    remaining_pair = np.zeros(queries, dtype=np.int64)
    remaining_pair[with_empty] = shift[with_empty] + rank[len(keys) - len(with_empty) :]
    return MergedHistograms(
        gap=gap[pairs],
        multiplicity=multiplicity[pairs],
        row=np.repeat(np.arange(len(kept)), sizes),
        starts=starts,
        n_classes=n_classes,
        query=row,
        column=column,
        pair=shift[row] + rank[key_of_entry.ravel()],
        remaining_pair=remaining_pair,
    )
