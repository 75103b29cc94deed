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

    def log_sum(
        self, top: NDArray[np.int64], others: NDArray[np.int64], *more: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """log of min(1, the tails of top - others, those of the empty classes, and e^more)."""
        logs = [self.tails[top[:, None] - others], *(part[:, None] for part in more)]
        if self.empty:
            logs.append(np.log(self.empty) + self.tails[top][:, None])
        logs = np.concatenate(logs, axis=1)
        high = logs.max(axis=1)
        return np.minimum(0.0, high + np.log(np.exp(logs - high[:, None]).sum(axis=1)))


class _Rising:
    """Queries below the plateau: moving votes from the first to the second raises q fastest."""

    def __init__(self, votes: _Votes, curve: CostCurve) -> None:
        self.votes, self.curve = votes, curve
        self.gaps = votes.rows[:, 0] - votes.rows[:, 1]
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
            votes, far = self.votes.take(which), distances[at]
            second = votes.tails[gaps[at, which]]
            log_q = votes.log_sum(votes.rows[:, 0] - far, votes.rows[:, 2:], second)
            crossed = log_q > self.curve.log_q1()
            np.minimum.at(self.stopped, which[crossed], far[crossed])
            rise, here = self.curve.rise(log_q)
            sensitivity[at, which] = np.where(crossed, self.curve.plateau(), rise)
            cost[at, which] = np.where(crossed, self.curve.ceiling, here)
        return sensitivity, cost


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
