"""Vote histograms made small: equal rows merge, and so do equal counts within a row.

What a noisy argmax does to a class depends on the histogram's gaps alone, so a vote matrix of many
queries and classes has far fewer different problems in it than entries.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Numbers worked on at a time, and how many of them in one pass.
_CHUNK = 2_000_000
_BLOCK = 50_000


def check_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """counts as int64 (queries, classes), which are not copied if they are that already.

    Raises ValueError for another rank, non-integers, negative counts, or rows that do not add up
    to the same positive number of teachers.
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
    """Rows are distinct histograms up to order, pairs their distinct counts, largest first.

    gap: (pairs,) votes by which the row's largest count leads this one, >= 0. multiplicity:
    (pairs,) how many classes have it. row: (pairs,) the row of each pair. starts: (rows,) the first
    pair of each row. n_classes: C. query, column, pair: (entries,) entries of the vote matrix and
    the pair of each. rest: (queries,) the pair of all others of a query.
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
        home = np.repeat(self.remaining_pair[:, None], self.n_classes, axis=1)
        home[self.query, self.column] = self.pair
        return home

    @property
    def pairs_per_row(self) -> NDArray[np.int64]:
        """How many pairs each row has, (rows,)."""
        return np.diff(np.append(self.starts, len(self.gap)))

    def select_row_pairs(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of these rows, in the rows' order, and where each row starts among them."""
        sizes = self.pairs_per_row[rows]
        first = np.cumsum(sizes) - sizes
        pairs = np.arange(sizes.sum()) + np.repeat(self.starts[rows] - first, sizes)
        return pairs, first

    def select_label_pairs(self, labels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The pair of one class of each query, (queries,), and which pairs these are, (pairs,)."""
        rows = self.remaining_pair.copy()
        mine = self.column == np.asarray(labels)[self.query]
        rows[self.query[mine]] = self.pair[mine]
        wanted = np.zeros(len(self.gap), dtype=bool)
        wanted[rows] = True
        return rows, wanted


def split_into_chunks(
    items: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Items (n,) in parts of about equal size, as much at a time as fits in a laptop's cache.

    sizes: (n,) numbers that each item takes.
    """
    return np.split(items, np.flatnonzero(np.diff(np.cumsum(sizes) // _CHUNK)) + 1)


def iterate_blocks(
    first: NDArray[np.int64], pairs: int, width: int
) -> Iterator[tuple[slice, slice, NDArray[np.int64]]]:
    """Rows a few at a time, as fit in a core's cache: rows, their pairs, starts among those.

    first: (rows,) where each row starts among that many `pairs`. width: numbers that a pair takes.
    """
    ends = np.append(first[1:], pairs)
    cuts = np.flatnonzero(np.diff(ends * width // _BLOCK)) + 1
    for low, high in itertools.pairwise([0, *cuts.tolist(), len(first)]):
        yield slice(low, high), slice(first[low], ends[high - 1]), first[low:high] - first[low]


def merge_histograms(counts: ArrayLike) -> MergedHistograms:
    """Merge a vote matrix, integers (queries, classes). Raises ValueError like `check_counts`.

    Works on the votes that are there: with few teachers nearly all of very many classes have none.
    """
    counts = check_counts(counts)
    queries, n_classes = counts.shape
    row, column = np.divmod(np.flatnonzero(counts.ravel() != 0), n_classes)
    largest = counts.max(axis=1)
    # Each query's gaps, ascending, and how many classes have each; classes without votes last.
    votes = counts[row, column]
    width = int(largest.max()) + 1
    keys = row * width + (largest[row] - votes)
    keys, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    none = n_classes - np.bincount(row, minlength=queries)
    some = np.flatnonzero(none)
    keys = np.concatenate([keys, some * width + largest[some]])
    times = np.concatenate([times, none[some]])
    order = np.argsort(keys)
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.arange(len(keys))
    query, gap = np.divmod(keys[order], width)
    times = times[order]
    first = np.searchsorted(query, np.arange(queries))
    number = np.arange(len(query)) - first[query]
    # Rows that agree in all gaps and numbers are one; the larger the votes, the earlier.
    runs = np.zeros((queries, number.max() + 1, 2), dtype=np.int64)
    runs[query, number] = np.stack([gap, -times], axis=1)
    _, kept, of = np.unique(
        runs.reshape(queries, -1), axis=0, return_index=True, return_inverse=True
    )
    sizes = np.bincount(query, minlength=queries)[kept]
    starts = np.cumsum(sizes) - sizes
    pairs = np.arange(sizes.sum()) + np.repeat(first[kept] - starts, sizes)
    # Where each query's pairs are among those that are kept.
    moved = starts[of.ravel()] - first
    rest = np.zeros(queries, dtype=np.int64)
    rest[some] = moved[some] + place[len(keys) - len(some) :]
    return MergedHistograms(
        gap=gap[pairs],
        multiplicity=times[pairs],
        row=np.repeat(np.arange(len(kept)), sizes),
        starts=starts,
        n_classes=n_classes,
        query=row,
        column=column,
        pair=moved[row] + place[which.ravel()],
        remaining_pair=rest,
    )
