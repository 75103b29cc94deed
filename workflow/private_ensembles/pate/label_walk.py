"""Algorithm 4 of PATE for many histograms at once, at any distance by itself.

The histogram of the largest (or least) q at distance d has a closed form (Proposition 19): votes
move from the first to the second, or from whichever is second to the first. Integer gaps share one
table of log tails.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.tails import Tails


class LabelWalk:
    """Sensitivity and cost of each query's label at distance at most d.

    rows: (rows, classes) histograms, each sorted downwards, of equally many votes.
    """

    def __init__(self, rows: NDArray[np.int64], curve: CostCurve) -> None:
        self.curve = curve
        self.size = len(rows)
        votes = _Votes(rows, curve.tails)
        log_q = votes.log_q()
        rising, falling = log_q < curve.log_q1(), log_q > curve.log_q0()
        self.log_q = log_q
        self._rising = _Rising(votes.take(rising), curve)
        self._falling = _Falling(votes.take(falling), curve)
        self._where = np.flatnonzero(rising), np.flatnonzero(falling)

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
        """Count as 0 from now on, of rising queries, what stays below `least`."""
        self._rising.drop_below(least)


class _Votes:
    """Sorted histograms, trailing columns without a vote kept as a number of classes."""

    def __init__(self, rows: NDArray[np.int64], tails: Tails) -> None:
        used = max(2, int(np.count_nonzero(rows.any(axis=0))))
        self.rows = rows[:, :used]
        self.empty = rows.shape[1] - used
        teachers = int(rows[0].sum())
        # One table of log tails serves every integer gap.
        self.tails = tails.log_overtakes(np.arange(teachers + 1))

    def take(self, which: NDArray) -> _Votes:
        """Some of the rows, by number or by truth value."""
        other = object.__new__(_Votes)
        other.rows, other.empty, other.tails = self.rows[which], self.empty, self.tails
        return other

    def log_q(self) -> NDArray[np.float64]:
        """Proposition 7."""
        return self.log_sum(self.rows[:, 0], self.rows[:, 1:])

    def log_sum(self, top: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
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

    def __init__(self, votes: _Votes, curve: CostCurve) -> None:
        self.votes, self.curve = votes, curve
        self.gaps = votes.rows[:, 0] - votes.rows[:, 1]
        # Gaps to the third and those after it; then a place for the second, and one for the empty.
        self.others = np.zeros((len(votes.rows), votes.rows.shape[1] - 1 + bool(votes.empty)), int)
        self.others[:, : votes.rows.shape[1] - 2] = votes.rows[:, :1] - votes.rows[:, 2:]
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
            log_q = self._log_q(which, far)
            crossed = log_q > self.curve.log_q1()
            np.minimum.at(self.stopped, which[crossed], far[crossed])
            rise, here = self.curve.rise(log_q)
            sensitivity[at, which] = np.where(crossed, self.curve.plateau(), rise)
            cost[at, which] = np.where(crossed, self.curve.ceiling, here)
        return sensitivity, cost

    def _log_q(self, which: NDArray[np.int64], far: NDArray[np.int64]) -> NDArray[np.float64]:
        """log q once the first of these rows has given `far` votes to the second."""
        tails, rows = self.votes.tails, self.votes.rows
        index = np.take(self.others, which, axis=0)
        index -= far[:, None]
        # Places have no index of their own.
        logs = np.take(tails, index, mode="clip")
        # The second trails by least, so that its tail is the largest.
        second = tails[self.gaps[which] - 2 * far]
        logs[:, rows.shape[1] - 2] = second
        if self.votes.empty:
            logs[:, -1] = np.log(self.votes.empty) + tails[rows[which, 0] - far]
        return _log_sum(logs, second)


class _Falling:
    """Queries above the plateau: votes move to the first from whichever is second, one by one."""

    def __init__(self, votes: _Votes, curve: CostCurve) -> None:
        self.votes, self.curve = votes, curve
        self.prefix = np.cumsum(votes.rows[:, 1:], axis=1)
        # Cutting the k largest of the others down to the k-th of them takes this many votes.
        self.cost = self.prefix - np.arange(1, votes.rows.shape[1]) * votes.rows[:, 1:]
        self.stopped = np.full(len(votes.rows), len(votes.tails))

    def local(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        sensitivity = np.full((len(distances), len(self.stopped)), self.curve.plateau())
        at, which = np.nonzero(self.stopped > distances[:, None])
        if not len(at):
            return sensitivity
        votes, far = self.votes.take(which), distances[at]
        cut = self.cost[which] <= far[:, None]
        size = cut.sum(axis=1)
        left = self.prefix[which, size - 1] - far
        # Unanimous once no vote is left to take; then the first has all of them.
        unanimous = self.prefix[which, -1] <= far
        level = np.where(unanimous, 0, -(-left // size))
        lower = np.where(unanimous, 0, size * level - left)
        top = np.where(unanimous, self.prefix[which, -1], far) + votes.rows[:, 0]
        others = np.where(cut, level[:, None], votes.rows[:, 1:])
        # `lower` of those at the level gave one vote more.
        others -= np.arange(others.shape[1]) < lower[:, None]
        log_q = votes.log_sum(top, others)
        crossed = log_q <= self.curve.log_q0()
        np.minimum.at(self.stopped, which[crossed], far[crossed])
        sensitivity[at[~crossed], which[~crossed]] = self.curve.fall(log_q[~crossed])
        return sensitivity
