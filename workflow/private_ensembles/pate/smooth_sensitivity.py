"""Smooth sensitivity of GNMax's data-dependent cost (PATE, Appendix B), over a whole vote matrix.

Algorithms 3-5 with Theorem 24. Four facts replace the walk of Algorithm 4 from each histogram:

- The histogram that it reaches at distance d has a closed form (Proposition 19), so any distance
  can be asked for by itself. Integer gaps share one table of log tails, equal histograms merge.
- The sum S(d) over queries of the sensitivities at distance at most d does not fall with d, so
  e^(-beta d) S(d) <= e^(-beta a) S(b) on [a, b]. Branch and bound finds its maximum, the smooth
  sensitivity, from few distances. Nothing is interpolated.
- What a float of the sum cannot show, queries far from the plateau, is left out.
- Further away than where e^(-beta d) times the plateau of all queries drops below the best value
  found, nothing is asked for.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.rdp import check_counts

# Part of a sum that a float of it cannot show.
_NOTHING = 2.0**-60


class SensitivityProfile:
    """S(d): the sum over queries of the label cost's sensitivity at distance at most d.

    counts: (queries, classes); curve: one (sigma, order); weights: (queries,) >= 0, such as the
    chance of an answer, default 1. Values hold where `curve.check_conditions()` is empty. Where no
    histogram of so many teachers uses the data-dependent bound, the cost is constant and S is 0.

    Raises ValueError as `check_counts`, for other weights and another number of classes.
    """

    def __init__(
        self, counts: ArrayLike, curve: CostCurve, weights: ArrayLike | None = None
    ) -> None:
        counts = check_counts(counts)
        weights = np.ones(len(counts)) if weights is None else np.asarray(weights, dtype=np.float64)
        if weights.shape != (len(counts),) or not (weights >= 0).all():
            raise ValueError("weights: must be one number >= 0 per query")
        if counts.shape[1] != curve.n_classes:
            raise ValueError(f"counts: {counts.shape[1]} classes, must be {curve.n_classes}")
        self.curve = curve
        self.teachers = int(counts[0].sum())
        self._known: dict[int, float] = {}
        rows, weights = merge_equal(counts, weights)
        self.total_weight = float(weights.sum())
        self.plateau = curve.plateau() if curve.helps(self.teachers) else 0.0
        votes = _Votes(rows, curve.sigma)
        log_q = votes.log_q()
        rising = log_q < curve.log_q1()
        falling = log_q > curve.log_q0()
        self._on_plateau = float(weights[~rising & ~falling].sum())
        self._rising = _Rising(votes.take(rising), weights[rising], curve)
        self._falling = _Falling(votes.take(falling), weights[falling], curve, self.teachers)
        self._rising.drop_below(_NOTHING * self.at(0))

    def at(self, distance: int) -> float:
        """S(distance); the distance is an integer >= 0."""
        if self.plateau == 0:
            return 0.0
        if distance not in self._known:
            self._known[distance] = (
                self.plateau * self._on_plateau
                + self._rising.at(distance, self.plateau)
                + self._falling.at(distance, self.plateau)
            )
        return self._known[distance]

    def smooth(self, beta: float) -> float:
        """max over d of e^(-beta d) S(d): the beta-smooth sensitivity (Algorithm 5, Theorem 24).

        Raises ValueError for beta <= 0.
        """
        if not beta > 0:
            raise ValueError(f"beta = {beta}: must be > 0")
        peak = self.plateau * self.total_weight
        best = self.at(0)
        if peak == 0 or best >= peak:
            return best
        # Beyond the farthest, even the plateau of every query weighs less than what is known.
        farthest = self.teachers
        if best > 0:
            farthest = min(farthest, int(np.log(peak / best) / beta) + 1)
        best = max(best, np.exp(-beta * farthest) * self.at(farthest))

        def promise(low: int, high: int) -> float:
            return np.exp(-beta * (low + 1)) * self.at(high)

        open_ = [(-promise(0, farthest), 0, farthest)]
        while open_:
            bound, low, high = heapq.heappop(open_)
            if -bound <= best:
                break
            middle = (low + high) // 2
            if middle == low:
                continue
            best = max(best, np.exp(-beta * middle) * self.at(middle))
            for part in ((low, middle), (middle, high)):
                if part[1] - part[0] > 1:
                    heapq.heappush(open_, (-promise(*part), *part))
        return float(best)


def sensitivity_by_distance(
    counts: ArrayLike, curve: CostCurve, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """S(0), S(1), ... of :class:`SensitivityProfile` up to where it stays, non-decreasing.

    Raises ValueError as :class:`SensitivityProfile`.
    """
    profile = SensitivityProfile(counts, curve, weights)
    values = [profile.at(d) for d in range(profile.teachers + 1)]
    values = np.maximum.accumulate(values)
    return values[: int(np.argmax(values >= values[-1])) + 1]


def smooth_sensitivity(
    counts: ArrayLike, curve: CostCurve, beta: float, weights: ArrayLike | None = None
) -> float:
    """The beta-smooth sensitivity of the labels' total cost (Algorithm 5 with Theorem 24).

    Raises ValueError for beta <= 0 and as :class:`SensitivityProfile`.
    """
    return SensitivityProfile(counts, curve, weights).smooth(beta)


def merge_equal(
    counts: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Distinct histograms, each sorted downwards, and the sum of the weights of each."""
    ordered = np.ascontiguousarray(-np.sort(-counts, axis=1), dtype=np.int32)
    # A row's bytes are its key: far faster than np.unique(axis=0).
    keys = ordered.view(np.dtype((np.void, ordered.dtype.itemsize * ordered.shape[1]))).ravel()
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    return ordered[first].astype(np.int64), np.bincount(where.ravel(), weights=weights)


class _Votes:
    """Sorted histograms, trailing columns without a vote kept as a number of classes."""

    def __init__(self, rows: NDArray[np.int64], sigma: float) -> None:
        used = max(2, int(np.count_nonzero(rows.any(axis=0))))
        self.rows = rows[:, :used]
        self.empty = rows.shape[1] - used
        teachers = int(rows[0].sum())
        # One table of log tails serves every integer gap.
        self.tails = log_ndtr(-np.arange(teachers + 1) / (np.sqrt(2) * sigma))

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

    def __init__(self, votes: _Votes, weights: NDArray[np.float64], curve: CostCurve) -> None:
        gaps = votes.rows[:, 0] - votes.rows[:, 1]
        by_gap = np.argsort(gaps, kind="stable")
        self.votes, self.weights, self.curve = votes.take(by_gap), weights[by_gap], curve
        self.gaps = gaps[by_gap]
        # From this distance on a query is known to have met the plateau.
        self.stopped = self.gaps // 2 + 1
        self.reach = self.gaps[-1] if len(gaps) else 0

    def drop_below(self, least: float) -> None:
        """Leave out from now on what cannot add `least` to a sum, however often.

        q' is at most (m - 1) times the tail of the two largest counts' gap, and a query of that q'
        adds at most beta(B_U(q')) times its weight.
        """
        tails = np.log(self.curve.n_classes - 1) + self.votes.tails
        most = self.curve.beta(self.curve.upper(np.minimum(tails, 0.0)))
        matters = np.flatnonzero(most * self.weights.sum() > least)
        self.reach = int(matters[-1]) if len(matters) else -1

    def at(self, distance: int, plateau: float) -> float:
        near = int(np.searchsorted(self.gaps, self.reach + 2 * distance, side="right"))
        stopped, weights = self.stopped[:near], self.weights[:near]
        walking = np.flatnonzero(stopped > distance)
        reached = weights[stopped <= distance].sum()
        if not len(walking):
            return plateau * reached
        votes = self.votes.take(walking)
        second = votes.tails[self.gaps[walking] - 2 * distance]
        log_q = votes.log_sum(votes.rows[:, 0] - distance, votes.rows[:, 2:], second)
        crossed = log_q > self.curve.log_q1()
        self.stopped[walking[crossed]] = distance
        weights = weights[walking]
        reached += weights[crossed].sum()
        return plateau * reached + weights[~crossed] @ self.curve.rise(log_q[~crossed])


class _Falling:
    """Queries above the plateau: votes move to the first from whichever is second, one by one."""

    def __init__(
        self, votes: _Votes, weights: NDArray[np.float64], curve: CostCurve, teachers: int
    ) -> None:
        self.votes, self.weights, self.curve = votes, weights, curve
        self.prefix = np.cumsum(votes.rows[:, 1:], axis=1)
        # Cutting the k largest of the others down to the k-th of them takes this many votes.
        self.cost = self.prefix - np.arange(1, votes.rows.shape[1]) * votes.rows[:, 1:]
        self.stopped = np.full(len(weights), teachers + 1)

    def at(self, distance: int, plateau: float) -> float:
        walking = np.flatnonzero(self.stopped > distance)
        reached = self.weights[self.stopped <= distance].sum()
        if not len(walking):
            return plateau * reached
        votes = self.votes.take(walking)
        cut = self.cost[walking] <= distance
        size = cut.sum(axis=1)
        left = self.prefix[walking, size - 1] - distance
        # Unanimous once no vote is left to take; then the first has all of them.
        unanimous = self.prefix[walking, -1] <= distance
        level = np.where(unanimous, 0, -(-left // size))
        lower = np.where(unanimous, 0, size * level - left)
        top = np.where(unanimous, self.prefix[walking, -1], distance) + votes.rows[:, 0]
        others = np.where(cut, level[:, None], votes.rows[:, 1:])
        # `lower` of those at the level gave one vote more.
        others -= np.arange(others.shape[1]) < lower[:, None]
        log_q = votes.log_sum(top, others)
        crossed = log_q <= self.curve.log_q0()
        self.stopped[walking[crossed]] = distance
        weights = self.weights[walking]
        reached += weights[crossed].sum()
        return plateau * reached + weights[~crossed] @ self.curve.fall(log_q[~crossed])
