"""Vote histograms that somebody has in memory, checked and turned into `Votes`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.base.limits import MOST_TEACHERS
from private_ensembles.labels.votes import Votes


def votes_from_arrays(
    counts: ArrayLike,
    *,
    teachers: int | None = None,
    absent: bool = False,
    most_ones: int | None = None,
) -> Votes:
    """Return a table of votes per class as `Votes`, each teacher with one vote on a query.

    Args:
        counts: (queries, classes) int, votes for each class, as `private_ensembles.release_labels`
            takes them.
        teachers: How many teachers there are. None: as many as each row adds up to.
        absent: Whether ballots may be absent, so that rows may add up to less than `teachers`.
        most_ones: On how many queries a teacher votes 1 at most (`Votes.most_ones`).

    Returns:
        Votes without labels: the truth of every query is unknown, -1.

    Raises:
        ValueError: In one line, for arrays that are not such a table, and for what does not go
            together.

    >>> votes_from_arrays([[4, 1], [2, 3]]).n_teachers
    5
    """
    rows, sums = _require_rows(counts)
    if absent:
        stated: dict[str, Any] = {"teachers": teachers}  # None is refused, too
        checks.check_integer(at_least=2, at_most=MOST_TEACHERS, **stated)
        assert teachers is not None  # it is an integer
        if (sums > teachers).any():
            raise ValueError(f"counts: every row must add up to at most {teachers} teachers")
        return _votes(rows, most_ones, teachers=teachers, absent=True)
    # The refusal tells the number of teachers alone, which is public.
    if (sums != sums[0]).any() or not 2 <= sums[0] <= MOST_TEACHERS:
        raise ValueError(
            "counts: every row must add up to the same number of teachers, 2 to "
            f"{MOST_TEACHERS:,}; rows add up to {int(sums.min())} to {int(sums.max())}: if these "
            "are votes, count them for each class; if ballots may be absent say "
            "ensemble=Ensemble(TEACHERS, CLASSES, absent=True)"
        )
    if teachers is not None and sums[0] != teachers:
        raise ValueError(f"counts: every row must add up to {teachers} teachers")
    return _votes(rows, most_ones)


def _votes(
    rows: NDArray[np.integer],
    most_ones: int | None,
    *,
    teachers: int | None = None,
    absent: bool = False,
) -> Votes:
    unknown = np.full(len(rows), -1)
    return Votes(
        rows.shape[1],
        unknown,
        counts=rows,
        absent=absent,
        teachers=teachers,
        most_ones=most_ones,
    )


def _require_rows(counts: ArrayLike) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    """Return the table, and what each row adds up to; its own type may not hold that.

    More votes of a class than there may be teachers count as one more than these.
    """
    checks.check_unmasked(counts=counts)
    rows = np.asarray(counts)
    if rows.ndim != 2 or 0 in rows.shape or rows.shape[1] < 2 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"counts: {rows.dtype} {rows.shape}: must be integers (queries, classes), two "
            "classes at least"
        )
    if rows.min() < 0:
        raise ValueError("counts: must be numbers of votes, at least 0")
    # A large type may hold too many votes for any sum of them, so these are cut first.
    if rows.max() > MOST_TEACHERS:
        rows = rows.astype(np.uint64).clip(max=MOST_TEACHERS + 1).astype(np.int64)
    return rows, rows.sum(axis=1, dtype=np.int64)
