"""The vote cache: what each teacher voted on each query, one npz file, checked on reading.

The waist of the workflow (docs/architecture.md): everything that makes votes is expensive and runs
once, everything that uses them is cheap. The file holds arrays only, and bytes that depend on its
contents alone.
"""

import json
from dataclasses import dataclass, field, replace

import numpy as np

from private_ensembles.jobs import io

_PIECE = 1 << 22  # votes that are counted at a time


@dataclass(frozen=True)
class Votes:
    """Votes of one ensemble on a list of queries; not for release, because they carry no noise.

    Exactly one of votes and counts is given. votes: unsigned integers (queries, teachers), each
    below n_classes. counts: unsigned integers (queries, n_classes), how many teachers chose each
    class; every row has the same sum, the number of teachers. labels: int64 (queries,), the truth,
    -1 if unknown. provenance: how the votes came about, JSON-able. ids: what a user's own file
    calls its queries, all different; None if it does not, as in every cache.
    """

    n_classes: int
    labels: np.ndarray
    votes: np.ndarray | None = None
    counts: np.ndarray | None = None
    provenance: dict = field(default_factory=dict)
    ids: tuple[str, ...] | None = None

    def __post_init__(self):
        """Bring arrays to their smallest types; ValueError for anything the class rules out."""
        if not 2 <= self.n_classes <= 1 << 32:
            raise ValueError(f"n_classes = {self.n_classes}: must be at least 2")
        if (self.votes is None) == (self.counts is None):
            raise ValueError("votes, counts: exactly one of them must be given")
        name = "votes" if self.counts is None else "counts"
        array = _whole(name, getattr(self, name), 2)
        if 0 in array.shape:
            raise ValueError(f"{name} has shape {array.shape}: must have a query and a teacher")
        if name == "votes":
            _within("votes", array, 0, self.n_classes - 1)
            largest = self.n_classes - 1
        else:
            if array.shape[1] != self.n_classes:
                raise ValueError(
                    f"counts has shape {array.shape}: must be (queries, n_classes = "
                    f"{self.n_classes})"
                )
            _within("counts", array, 0, (1 << 32) - 1)
            teachers = array.sum(axis=1, dtype=np.int64)
            if (teachers != teachers[0]).any() or teachers[0] < 1:
                row = int(np.argmax(teachers != teachers[0]))
                raise ValueError(
                    f"counts of query {row} add up to {teachers[row]} and those of query 0 to "
                    f"{teachers[0]}: must be the same positive number of teachers"
                )
            largest = int(teachers[0])
        object.__setattr__(self, name, array.astype(np.min_scalar_type(largest)))
        labels = _whole("labels", self.labels, 1)
        if labels.shape != array.shape[:1]:
            raise ValueError(
                f"labels has shape {labels.shape}: must be ({len(array)},), one per query"
            )
        _within("labels", labels, -1, self.n_classes - 1)
        object.__setattr__(self, "labels", labels.astype(np.int64))
        if not isinstance(self.provenance, dict):
            raise ValueError("provenance: must be a JSON object")
        if self.ids is not None and not len(set(self.ids)) == len(self.ids) == len(labels):
            raise ValueError(f"ids: must be {len(labels)} different ones, one per query")

    @property
    def n_queries(self):
        """Number of queries."""
        return len(self.labels)

    @property
    def n_teachers(self):
        """Number of teachers."""
        if self.votes is not None:
            return self.votes.shape[1]
        return int(self.counts[0].sum(dtype=np.int64))

    def of(self, queries):
        """The same votes on some of the queries only, given by an array of their places."""
        chosen = {
            name: None if array is None else array[queries]
            for name, array in (("votes", self.votes), ("counts", self.counts))
        }
        if self.ids is not None:
            chosen["ids"] = tuple(np.array(self.ids, dtype=object)[queries])
        return replace(self, labels=self.labels[queries], **chosen)

    def histogram(self):
        """Votes per class, int64 (queries, n_classes); each row adds up to the teachers."""
        if self.counts is not None:
            return self.counts.astype(np.int64)
        return counts(self.votes, self.n_classes)


def counts(votes, n_classes):
    """Histogram of each row: votes, integers (queries, teachers) -> int64 (queries, n_classes).

    Raises ValueError for a vote outside 0..n_classes-1.
    """
    votes = _whole("votes", votes, 2)
    _within("votes", votes, 0, n_classes - 1)
    histograms = np.empty((len(votes), n_classes), np.int64)
    step = max(1, _PIECE // max(1, votes.shape[1]))
    for start in range(0, len(votes), step):
        piece = votes[start : start + step].astype(np.int64)
        rows = np.arange(len(piece), dtype=np.int64)[:, None] * n_classes
        flat = np.bincount((piece + rows).ravel(), minlength=len(piece) * n_classes)
        histograms[start : start + step] = flat.reshape(-1, n_classes)
    return histograms


def write_votes(path, votes):
    """Write a Votes as npz, with its fields' names; equal contents give equal bytes."""
    cast = {"votes": votes.votes} if votes.counts is None else {"counts": votes.counts}
    io.write_npz(
        path,
        **cast,
        labels=votes.labels,
        n_classes=np.array(votes.n_classes, np.int64),
        provenance=np.array(json.dumps(votes.provenance, sort_keys=True)),
    )


def read_votes(path):
    """The Votes in the file at `path`, every promise of the format checked.

    Raises ValueError, one line that names the file, for a file that is not an npz, is truncated,
    holds pickles, lacks a key, or has a wrong shape, type or value; OSError if it cannot be opened.
    """
    arrays = io.read_npz(path, required=("labels", "n_classes", "provenance"))
    try:
        n_classes = _whole("n_classes", arrays["n_classes"], 0)
        text = arrays["provenance"]
        if text.dtype.kind != "U" or text.shape != ():
            raise ValueError(f"provenance is {text.dtype} {text.shape}: must be one string")
        try:
            provenance = json.loads(str(text))
        except ValueError as error:
            raise ValueError(f"provenance is not JSON: {error}") from None
        return Votes(
            int(n_classes),
            arrays["labels"],
            arrays.get("votes"),
            arrays.get("counts"),
            provenance,
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _whole(name, array, n_dimensions):
    """`array` as an integer array of that many dimensions; floats are refused, even whole ones."""
    array = np.asarray(array)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} has type {array.dtype}: must be whole numbers")
    if array.ndim != n_dimensions:
        raise ValueError(f"{name} has shape {array.shape}: must have {n_dimensions} dimensions")
    return array


def _within(name, array, low, high):
    """ValueError that names the first entry of `array` outside low..high."""
    if array.size and (array.min() < low or array.max() > high):  # no table of a large array
        outside = (array < low) | (array > high)
        where = np.unravel_index(int(np.argmax(outside)), array.shape)
        place = ", ".join(str(int(i)) for i in where)
        raise ValueError(f"{name}[{place}] = {array[where]}: must be {low} to {high}")
