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

from private_ensembles.pate.rdp import check_counts

# Numbers worked on at a time, and how many of them in one pass.
_CHUNK = 2_000_000
_BLOCK = 50_000


@dataclass(frozen=True)
class Merged:
    """Rows are distinct histograms up to order, pairs their distinct counts, largest first.

    gap: (pairs,) votes by which the row's largest count leads this one, >= 0. multiplicity:
    (pairs,) how many classes have it. row: (pairs,) the row of each pair. starts: (rows,) the first
    pair of each row. home: (queries, classes) the pair of every entry of the vote matrix.
    n_classes: C.
    """

    gap: NDArray[np.int64]
    multiplicity: NDArray[np.int64]
    row: NDArray[np.int64]
    starts: NDArray[np.int64]
    home: NDArray[np.int64]
    n_classes: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many pairs each row has, (rows,)."""
        return np.diff(np.append(self.starts, len(self.gap)))

    def part(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of these rows, in the rows' order, and where each row starts among them."""
        sizes = self.sizes[rows]
        first = np.cumsum(sizes) - sizes
        pairs = np.arange(sizes.sum()) + np.repeat(self.starts[rows] - first, sizes)
        return pairs, first

    def of(self, labels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The pair of one class of each query, (queries,), and which pairs these are, (pairs,)."""
        rows = self.home[np.arange(len(self.home)), labels]
        wanted = np.zeros(len(self.gap), dtype=bool)
        wanted[rows] = True
        return rows, wanted


def chunks(items: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Items (n,) in parts of about equal size, as much at a time as fits in a laptop's cache.

    sizes: (n,) numbers that each item takes.
    """
    return np.split(items, np.flatnonzero(np.diff(np.cumsum(sizes) // _CHUNK)) + 1)


def blocks(
    first: NDArray[np.int64], pairs: int, width: int
) -> Iterator[tuple[slice, slice, NDArray[np.int64]]]:
    """Rows a few at a time, as fit in a core's cache: rows, their pairs, starts among those.

    first: (rows,) where each row starts among that many `pairs`. width: numbers that a pair takes.
    """
    ends = np.append(first[1:], pairs)
    cuts = np.flatnonzero(np.diff(ends * width // _BLOCK)) + 1
    for low, high in itertools.pairwise([0, *cuts.tolist(), len(first)]):
        yield slice(low, high), slice(first[low], ends[high - 1]), first[low:high] - first[low]


def merge(counts: ArrayLike) -> Merged:
    """Merge a vote matrix, integers (queries, classes). Raises ValueError like `check_counts`."""
    counts = check_counts(counts)
    order = np.argsort(-counts, axis=1, kind="stable")
    descending = np.take_along_axis(counts, order, axis=1)
    gaps, which = np.unique(descending[:, :1] - descending, axis=0, return_inverse=True)
    new = np.ones(gaps.shape, dtype=bool)
    new[:, 1:] = gaps[:, 1:] != gaps[:, :-1]
    pair = np.cumsum(new.ravel()).reshape(gaps.shape) - 1
    home = np.empty_like(pair, shape=counts.shape)
    np.put_along_axis(home, order, pair[which.ravel()], axis=1)
    first = np.flatnonzero(new)
    return Merged(
        gap=gaps.ravel()[first],
        multiplicity=np.diff(np.append(first, gaps.size)),
        row=first // gaps.shape[1],
        starts=pair[:, 0],
        home=home,
        n_classes=counts.shape[1],
    )


def of_two(first: NDArray[np.int64], second: NDArray[np.int64], n_classes: int) -> Merged:
    """Return rows of votes for two classes alone as `Merged`, none of them left out.

    >>> of_two(np.array([1]), np.array([4]), 1000).gap
    array([0, 3, 4])

    first, second: (rows,) votes for either, each row with the same sum. n_classes: C >= 3. `home`
    is (rows, 3): the pairs of the first, of the second, and of all other classes, which have none.
    """
    rows = len(first)
    swapped = first < second
    gap = np.stack([np.zeros_like(first), np.abs(first - second), np.maximum(first, second)], 1)
    starts = 3 * np.arange(rows)
    return Merged(
        gap=gap.ravel(),
        multiplicity=np.tile([1, 1, n_classes - 2], rows),
        row=np.repeat(np.arange(rows), 3),
        starts=starts,
        home=np.stack([starts + swapped, starts + ~swapped, starts + 2], axis=1),
        n_classes=n_classes,
    )
