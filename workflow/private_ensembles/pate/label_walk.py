"""Algorithm 4 of PATE for many histograms at once, at any distance by itself.

The histogram of the largest (or least) q at distance d has a closed form (Proposition 19): votes
move from the first to the second, or from whichever is second to the first. Integer gaps share one
table of log tails.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.tails import Tails

# Distances of which every row's q is kept: rows x 8 bytes each, both ways.
_KEPT = 256


class LabelWalk:
    """Sensitivity and cost of each query's label at distance at most d."""

    def __init__(self, votes: Votes, curve: CostCurve) -> None:
        self.curve = curve
        self.size = len(votes.rows)
        rising, falling = votes.log_q < curve.log_q1(), votes.log_q > curve.log_q0()
        self._where = np.flatnonzero(rising), np.flatnonzero(falling)
        self._rising = _Rising(votes, self._where[0], curve)
        self._falling = _Falling(votes, self._where[1], curve)

    def local(
        self, distances: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Largest local sensitivity and largest cost within each distance, (distances, rows)."""
        shape = len(distances), self.size
        sensitivity = np.full(shape, self.curve.plateau())
        cost = np.full(shape, self.curve.ceiling)
        rising, falling = self._where
        if len(rising):
            sensitivity[:, rising], cost[:, rising] = self._rising.local(distances)
        if len(falling):
            sensitivity[:, falling] = self._falling.local(distances)
        return sensitivity, cost

    def drop_below(self, least: float) -> None:
        """From now on, count as 0 those rising queries that stay below `least`."""
        self._rising.drop_below(least)


class Votes:
    """Sorted histograms and where walks from them lead, whatever the order of their cost.

    rows: (rows, classes), each sorted downwards, of equally many votes. What a distance makes of a
    row's q is kept: walks at neighbouring orders ask for much the same.
    """

    def __init__(self, rows: NDArray[np.int64], tails: Tails) -> None:
        # Trailing columns without a vote are kept as a number of classes.
        used = max(2, int(np.count_nonzero(rows.any(axis=0))))
        self.rows = rows[:, :used]
        self.empty = rows.shape[1] - used
        self.teachers = int(rows[0].sum())
        # One table of log tails serves every integer gap.
        self.tails = tails.log_overtakes(np.arange(self.teachers + 1))
        self._raised: dict[int, NDArray[np.float64]] = {}
        self._lowered: dict[int, NDArray[np.float64]] = {}

    @functools.cached_property
    def log_q(self) -> NDArray[np.float64]:
        """log q of each row by Proposition 7."""
        return self._log_q(self.rows[:, 0], self.rows[:, 1:])

    @functools.cached_property
    def gaps(self) -> NDArray[np.int64]:
        """Votes by which the first leads the second."""
        return self.rows[:, 0] - self.rows[:, 1]

    @functools.cached_property
    def _behind(self) -> NDArray[np.int64]:
        """Gaps to the third and those after it; then a place for the second, one for the empty."""
        gaps = np.zeros((len(self.rows), self.rows.shape[1] - 1 + bool(self.empty)), np.int64)
        gaps[:, : self.rows.shape[1] - 2] = self.rows[:, :1] - self.rows[:, 2:]
        return gaps

    @functools.cached_property
    def _prefix(self) -> NDArray[np.int64]:
        return np.cumsum(self.rows[:, 1:], axis=1)

    @functools.cached_property
    def _cost(self) -> NDArray[np.int64]:
        """Cutting the k largest of the others down to the k-th of them takes this many votes."""
        return self._prefix - np.arange(1, self.rows.shape[1]) * self.rows[:, 1:]

    def raised(self, which: NDArray[np.int64], far: NDArray[np.int64]) -> NDArray[np.float64]:
        """log q once the first of these rows has given `far` votes to the second."""
        return self._known(self._raised, self._raise, which, far)

    def lowered(self, which: NDArray[np.int64], far: NDArray[np.int64]) -> NDArray[np.float64]:
        """log q once `far` votes of these rows went to the first from whichever was second."""
        return self._known(self._lowered, self._lower, which, far)

    def _known(
        self,
        known: dict[int, NDArray[np.float64]],
        work_out: Callable[[NDArray[np.int64], int], NDArray[np.float64]],
        which: NDArray[np.int64],
        far: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        values = np.empty(len(which))
        for distance in np.unique(far).tolist():
            here = far == distance
            if distance not in known and len(known) >= _KEPT:
                values[here] = work_out(which[here], distance)
                continue
            table = known.setdefault(distance, np.full(len(self.rows), np.nan))
            rows = which[here]
            new = rows[np.isnan(table[rows])]
            if len(new):
                table[new] = work_out(new, distance)
            values[here] = table[rows]
        return values

    def _raise(self, which: NDArray[np.int64], far: int) -> NDArray[np.float64]:
        index = np.take(self._behind, which, axis=0)
        index -= far
        # Places have no index of their own.
        logs = np.take(self.tails, index, mode="clip")
        # The second trails by least, so that its tail is the largest.
        second = self.tails[self.gaps[which] - 2 * far]
        logs[:, self.rows.shape[1] - 2] = second
        if self.empty:
            logs[:, -1] = np.log(self.empty) + self.tails[self.rows[which, 0] - far]
        return _log_sum(logs, second)

    def _lower(self, which: NDArray[np.int64], far: int) -> NDArray[np.float64]:
        rows, prefix = self.rows[which], self._prefix
        cut = self._cost[which] <= far
        size = cut.sum(axis=1)
        left = prefix[which, size - 1] - far
        # Unanimous once no vote is left to take; then the first has all of them.
        unanimous = prefix[which, -1] <= far
        level = np.where(unanimous, 0, -(-left // size))
        lower = np.where(unanimous, 0, size * level - left)
        top = np.where(unanimous, prefix[which, -1], far) + rows[:, 0]
        others = np.where(cut, level[:, None], rows[:, 1:])
        # `lower` of those at the level gave one vote more.
        others -= np.arange(others.shape[1]) < lower[:, None]
        return self._log_q(top, others)

    def _log_q(self, top: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """log of min(1, the tails of top - others, and those of the empty classes)."""
        logs = self.tails[top[:, None] - others]
        if self.empty:
            logs = np.column_stack([logs, np.log(self.empty) + self.tails[top]])
        return _log_sum(logs, logs.max(axis=1))


def _log_sum(logs: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """log of min(1, the sum of e^logs) of each row, whose largest is `high`; logs are lost."""
    logs -= high[:, None]
    return np.minimum(0.0, high + np.log(np.exp(logs, out=logs).sum(axis=1)))


class _Rising:
    """Queries below the plateau: moving votes from the first to the second raises q fastest."""

    def __init__(self, votes: Votes, where: NDArray[np.int64], curve: CostCurve) -> None:
        self.votes, self.where, self.curve = votes, where, curve
        self.gaps = votes.gaps[where]
        # From this distance on a query is known to have met the plateau.
        self.stopped = self.gaps // 2 + 1
        # Up to this gap of the first two a query counts.
        self.reach = len(votes.tails)

    def drop_below(self, least: float) -> None:
        """q' is at most (m - 1) times the tail of the two largest counts' gap.

        A query of that q' has a sensitivity, and a cost, of at most beta(B_U(q')).
        """
        tails = np.log(self.curve.n_classes - 1) + self.votes.tails
        most = self.curve.beta(self.curve.upper(np.minimum(tails, 0.0)))
        matters = np.flatnonzero(most > least)
        self.reach = int(matters[-1]) if len(matters) else -1

    def local(
        self, distances: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        gaps = self.gaps - 2 * distances[:, None]
        walking = self.stopped > distances[:, None]
        sensitivity = np.where(walking, 0.0, self.curve.plateau())
        cost = np.where(walking, 0.0, self.curve.ceiling)
        at, which = np.nonzero(walking & (gaps <= self.reach))
        if len(at):
            far = distances[at]
            log_q = self.votes.raised(self.where[which], far)
            crossed = log_q > self.curve.log_q1()
            np.minimum.at(self.stopped, which[crossed], far[crossed])
            rise, here = self.curve.rise(log_q)
            sensitivity[at, which] = np.where(crossed, self.curve.plateau(), rise)
            cost[at, which] = np.where(crossed, self.curve.ceiling, here)
        return sensitivity, cost


class _Falling:
    """Queries above the plateau: votes move to the first from whichever is second, one by one."""

    def __init__(self, votes: Votes, where: NDArray[np.int64], curve: CostCurve) -> None:
        self.votes, self.where, self.curve = votes, where, curve
        self.stopped = np.full(len(where), len(votes.tails))

    def local(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        sensitivity = np.full((len(distances), len(self.stopped)), self.curve.plateau())
        at, which = np.nonzero(self.stopped > distances[:, None])
        if not len(at):
            return sensitivity
        far = distances[at]
        log_q = self.votes.lowered(self.where[which], far)
        crossed = log_q <= self.curve.log_q0()
        np.minimum.at(self.stopped, which[crossed], far[crossed])
        sensitivity[at[~crossed], which[~crossed]] = self.curve.fall(log_q[~crossed])
        return sensitivity
