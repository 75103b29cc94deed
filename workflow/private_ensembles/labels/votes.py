"""The vote cache: what each teacher voted on each query, one npz file, checked on reading.

It is the waist of the workflow (CONTRIBUTING.md): everything that makes votes is expensive and
runs once, everything that uses them is cheap. The file holds arrays only, and bytes that depend on
its contents alone.
"""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks, files
from private_ensembles.labels import ballots

# These facts of a Votes are stated. A file holds one only if it is not this default.
_STATED = {"absent": False, "teachers": None, "most_ones": None}
_ALL = slice(None)


@dataclass(frozen=True)
class Votes:
    """Votes of one ensemble on a list of queries; not for release, because they carry no noise.

    Exactly one of votes and counts is given. What is stated (absent, teachers, most_ones) is
    public, and nothing of it is read off the votes.

    Attributes:
        n_classes: How many classes there are.
        labels: (queries,) int64, the truth, -1 if unknown.
        votes: (queries, teachers) int, each below n_classes, and -1 for an absent ballot.
        counts: (queries, n_classes) unsigned int, how many votes each class has; every row has the
            same sum, the number of teachers.
        provenance: How the votes came about, JSON-able.
        ids: What a user's own file calls its queries, all different; None if it does not, as in
            every cache.
        absent: Whether ballots may be missing, so that rows of counts add up to at most the number
            of teachers.
        teachers: How many teachers there are; must be given for counts if ballots may be missing,
            and agree with what else tells it.
        most_ones: On how many queries a teacher votes 1 at most, of two classes: of more, the first
            ones count (`ballots.limit_ones`). Beside counts, as many as somebody has left of each
            teacher's.

    >>> votes = Votes(3, [-1, -1], np.array([[2, -1, 2], [-1, -1, 1]]), absent=True)
    >>> votes.n_teachers, votes.histogram().tolist()
    (3, [[1, 0, 2], [1, 2, 0]])
    """

    n_classes: int
    labels: NDArray[np.int64]
    votes: NDArray[np.integer] | None = None
    counts: NDArray[np.integer] | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    ids: tuple[str, ...] | None = None
    absent: bool = False
    teachers: int | None = None
    most_ones: int | None = None

    def __post_init__(self) -> None:
        """Bring arrays to their smallest types; raise ValueError for what the class rules out.

        An array that has its smallest type is not copied, because there may be little room for two.
        """
        if not 2 <= self.n_classes <= 1 << 32:
            raise ValueError(f"n_classes = {self.n_classes}: must be at least 2")
        if (self.votes is None) == (self.counts is None):
            raise ValueError("votes, counts: exactly one of them must be given")
        name = "votes" if self.counts is None else "counts"
        array = _require_integers(name, getattr(self, name), 2)
        if 0 in array.shape:
            raise ValueError(f"{name} has shape {array.shape}: must have a query and a teacher")
        self._check_stated()
        if name == "votes":
            self._check_votes(array)
            kind = np.min_scalar_type(-self.n_classes if self.absent else self.n_classes - 1)
        else:
            kind = np.min_scalar_type(self._check_counts(array))
        object.__setattr__(self, name, array.astype(kind, copy=False))
        labels = _require_integers("labels", self.labels, 1)
        if labels.shape != array.shape[:1]:
            raise ValueError(
                f"labels has shape {labels.shape}: must be ({len(array)},), one per query"
            )
        _require_range("labels", labels, -1, self.n_classes - 1)
        object.__setattr__(self, "labels", labels.astype(np.int64))
        if not isinstance(self.provenance, dict):
            raise ValueError("provenance: must be a JSON object")
        if self.ids is not None and not len(set(self.ids)) == len(self.ids) == len(labels):
            raise ValueError(f"ids: must be {len(labels)} different ones, one per query")

    def _check_stated(self) -> None:
        if not isinstance(self.absent, bool):
            raise ValueError(f"absent = {self.absent!r}: must be True or False")
        if self.teachers is not None:
            checks.check_integer(at_least=1, teachers=self.teachers)
        if self.most_ones is not None:
            checks.check_integer(at_least=1, most_ones=self.most_ones)
            if self.n_classes != 2 or self.absent:
                raise ValueError(
                    f"most_ones = {self.most_ones}: must be of two classes, without absent ballots"
                )
        if self.votes is not None and self.teachers not in (None, np.shape(self.votes)[1]):
            teachers = np.shape(self.votes)[1]
            raise ValueError(f"teachers: {self.teachers} of them: must be {teachers}, as in votes")

    def _check_votes(self, array: NDArray[np.integer]) -> None:
        _require_range("votes", array, ballots.ABSENT if self.absent else 0, self.n_classes - 1)

    def _check_counts(self, array: NDArray[np.integer]) -> int:
        """Return how many votes a row may hold; raise ValueError for other rows."""
        if array.shape[1] != self.n_classes:
            raise ValueError(
                f"counts has shape {array.shape}: must be (queries, n_classes = {self.n_classes})"
            )
        _require_range("counts", array, 0, (1 << 32) - 1)
        sums = array.sum(axis=1, dtype=np.int64)
        if self.teachers is None:
            if self.absent:
                raise ValueError("teachers = None: must be stated for counts of absent ballots")
            if (sums != sums[0]).any() or sums[0] < 1:
                row = int(np.argmax(sums != sums[0]))
                raise ValueError(
                    f"counts of query {row} add up to {sums[row]} and those of query 0 to "
                    f"{sums[0]}: must be the same positive number of teachers"
                )
            return int(sums[0])
        wrong = sums > self.teachers if self.absent else sums != self.teachers
        if wrong.any():
            row, most = int(np.argmax(wrong)), "at most " if self.absent else ""
            raise ValueError(
                f"counts of query {row} add up to {sums[row]}: must be {most}{self.teachers}, "
                f"those of {self.teachers} teachers"
            )
        return self.teachers

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.labels)

    @property
    def n_teachers(self) -> int:
        """The number of teachers."""
        if self.votes is not None:
            return self.votes.shape[1]
        if self.teachers is not None:
            return self.teachers
        assert self.counts is not None  # as votes are not given
        return int(self.counts[0].sum(dtype=np.int64))

    def select_queries(self, queries: NDArray) -> "Votes":
        """Return the same votes on some of the queries only.

        Args:
            queries: Their numbers, or a mask.
        """
        chosen: dict[str, Any] = {
            name: None if array is None else array[queries]
            for name, array in (("votes", self.votes), ("counts", self.counts))
        }
        if self.ids is not None:
            chosen["ids"] = tuple(np.array(self.ids, dtype=object)[queries])
        return replace(self, labels=self.labels[queries], **chosen)

    def limit_ones(self) -> "Votes":
        """Return the votes with `most_ones` ones of each teacher at most (`ballots.limit_ones`).

        Whoever asks for the `histogram` of a few queries after the other calls this first, as each
        call would look through all votes.
        """
        if self.votes is None or self.most_ones is None:
            return self
        votes = ballots.limit_ones(self.votes, self.most_ones)
        return replace(self, votes=votes, most_ones=None)

    def histogram(self, queries: NDArray | slice = _ALL) -> NDArray[np.int64]:
        """Return votes for each class, each row adding up to all teachers.

        Votes above `most_ones` count for class 0, and absent ballots are dealt out to the classes
        in turn (`ballots.deal_absent_ballots`).

        Args:
            queries: Their numbers, a mask or a slice. Ones count in all queries up to them.

        Returns:
            (queries, n_classes) int64.
        """
        cast = self.cast_histogram(queries)
        return ballots.deal_absent_ballots(cast, self.n_teachers) if self.absent else cast

    def cast_histogram(self, queries: NDArray | slice = _ALL) -> NDArray[np.int64]:
        """Return votes for each class, without absent ballots, (queries, n_classes) int64.

        queries: As in `histogram`.
        """
        if self.counts is not None:
            return self.counts[queries].astype(np.int64)
        votes = self.limit_ones().votes
        assert votes is not None  # as counts are not given
        return ballots.count_votes(votes[queries], self.n_classes)


def vote_histograms(votes: ArrayLike, n_classes: int) -> NDArray[np.int64]:
    """Return the histogram of each row of votes.

    Args:
        votes: (queries, teachers) int.
        n_classes: The number of classes.

    Returns:
        (queries, n_classes) int64.

    Raises:
        ValueError: For a vote outside 0..n_classes-1.
    """
    rows = _require_integers("votes", votes, 2)
    _require_range("votes", rows, 0, n_classes - 1)
    return ballots.count_votes(rows, n_classes)


def write_votes(path: str | Path, votes: Votes) -> None:
    """Write votes as npz, with their fields' names; equal contents give equal bytes."""
    ballots_or_counts = {"votes": votes.votes} if votes.counts is None else {"counts": votes.counts}
    stated = {name: getattr(votes, name) for name in _STATED}
    files.write_npz(
        path,
        **ballots_or_counts,
        **{name: np.array(value) for name, value in stated.items() if value != _STATED[name]},
        labels=votes.labels,
        n_classes=np.array(votes.n_classes, np.int64),
        provenance=np.array(json.dumps(votes.provenance, sort_keys=True)),
    )


def read_votes(path: str | Path) -> Votes:
    """Return the votes in a file, every promise of the format checked.

    Raises:
        ValueError: In one line that names the file, if it is not an npz, is truncated, holds
            pickles, lacks a key, or has a wrong shape, type or value.
        OSError: If it cannot be opened.
    """
    arrays = files.read_npz(path, required=("labels", "n_classes", "provenance"))
    try:
        n_classes = _require_integers("n_classes", arrays["n_classes"], 0)
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
            **{name: arrays[name].tolist() for name in _STATED if name in arrays},
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _require_integers(name: str, array: ArrayLike, n_dimensions: int) -> NDArray[np.integer]:
    """Return an integer array of that many dimensions; floats are refused, even whole ones."""
    checks.check_unmasked(**{name: array})
    array = np.asarray(array)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} has type {array.dtype}: must be whole numbers")
    if array.ndim != n_dimensions:
        raise ValueError(f"{name} has shape {array.shape}: must have {n_dimensions} dimensions")
    return array


def _require_range(name: str, array: NDArray[np.integer], low: int, high: int) -> None:
    """Raise ValueError that names the first entry of `array` outside low..high."""
    if array.size and (
        array.min() < low or array.max() > high
    ):  # no mask of a large array unless it is wrong
        outside = (array < low) | (array > high)
        index = np.unravel_index(int(np.argmax(outside)), array.shape)
        position = ", ".join(str(int(i)) for i in index)
        raise ValueError(f"{name}[{position}] = {array[index]}: must be {low} to {high}")
