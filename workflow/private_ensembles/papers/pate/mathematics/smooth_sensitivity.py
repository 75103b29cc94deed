"""Smooth sensitivity of GNMax's data-dependent cost (PATE, Appendix B), over a whole vote matrix.

Algorithms 3-5 with Theorem 24. Four facts replace the walk of Algorithm 4 from each histogram:

- The histogram that it reaches at distance d has a closed form (Proposition 19), so any distance
  can be worked out by itself. Integer gaps share one table of log tails, equal histograms merge.
- The sum S(d) over queries of the sensitivities at distance at most d does not fall with d, so
  e^(-beta d) S(d) <= e^(-beta a) S(b) on [a, b]. Branch and bound finds its maximum, the smooth
  sensitivity, from few distances. Nothing is interpolated.
- What a float of the sum cannot show, queries far from the plateau, is left out.
- Further away than where e^(-beta d) times the largest S drops below the best value found, nothing
  is worked out.
"""

from __future__ import annotations

import copy
import functools
import heapq
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import lower_bound
from private_ensembles.labels.histograms import check_counts
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.tails import Tails

# A float of a sum cannot show this part of it.
_NOTHING = 2.0**-60
# Every row's q is kept at so many distances: rows x 8 bytes each, both ways.
_MOST_CACHED = 256


class LabelWalk:
    """Sensitivity of each query's label at distance at most d (Algorithm 4)."""

    def __init__(self, votes: SortedHistograms, curve: CostCurve) -> None:
        self.votes, self.curve = votes, curve
        # Below the plateau q rises fastest if votes move from the first to the second; above it
        # votes move to the first from whichever is second, one by one.
        self._rising = np.flatnonzero(votes.log_q < curve.log_q1())
        self._falling = np.flatnonzero(votes.log_q > curve.log_q0())
        # A query is known to have met the plateau from these distances on.
        self._risen = votes.gaps[self._rising] // 2 + 1
        self._fallen = np.full(len(self._falling), len(votes.tails))
        # A rising query counts up to this gap of the first two.
        self._largest_gap = len(votes.tails)

    def local_sensitivities(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest local sensitivity within each distance, (distances, rows)."""
        rising, falling = self._rising, self._falling
        plateau = self.curve.plateau()
        sensitivity = np.full((len(distances), len(self.votes.rows)), plateau)

        walking = self._risen > distances[:, None]
        sensitivity[:, rising] = np.where(walking, 0.0, plateau)
        gaps = self.votes.gaps[rising] - 2 * distances[:, None]
        distance_index, query = np.nonzero(walking & (gaps <= self._largest_gap))
        if len(distance_index):
            distance_of_query = distances[distance_index]
            log_q = self.votes.log_q_after_raising(rising[query], distance_of_query)
            has_crossed = log_q > self.curve.log_q1()
            np.minimum.at(self._risen, query[has_crossed], distance_of_query[has_crossed])
            rise = self.curve.rise(log_q)
            sensitivity[distance_index, rising[query]] = np.where(has_crossed, plateau, rise)

        distance_index, query = np.nonzero(self._fallen > distances[:, None])
        if len(distance_index):
            distance_of_query = distances[distance_index]
            log_q = self.votes.log_q_after_lowering(falling[query], distance_of_query)
            has_crossed = log_q <= self.curve.log_q0()
            np.minimum.at(self._fallen, query[has_crossed], distance_of_query[has_crossed])
            is_falling = ~has_crossed
            sensitivity[distance_index[is_falling], falling[query[is_falling]]] = self.curve.fall(
                log_q[is_falling]
            )
        return sensitivity

    def drop_below(self, least: float) -> None:
        """Count as 0, from now on, those rising queries that stay below `least`.

        q' is at most (m - 1) times the tail of the two largest counts' gap. A query of that q' has
        a sensitivity of at most beta(B_U(q')).
        """
        tails = np.log(self.curve.n_classes - 1) + self.votes.tails
        upper_bounds = self.curve.beta(self.curve.upper(np.minimum(tails, 0.0)))
        gaps_that_count = np.flatnonzero(upper_bounds > least)
        self._largest_gap = int(gaps_that_count[-1]) if len(gaps_that_count) else -1


class SortedHistograms:
    """Sorted histograms and where walks from them lead, whatever the order of their cost.

    A row's q is kept for each distance: walks at neighbouring orders need much the same.

    Args:
        rows: (rows, classes) int, each sorted downwards, of equally many votes.
        tails: those of the noise.
    """

    def __init__(self, rows: NDArray[np.int64], tails: Tails) -> None:
        # Trailing columns without a vote are kept as a number of classes.
        used = max(2, int(np.count_nonzero(rows.any(axis=0))))
        self.rows = rows[:, :used]
        self.empty = rows.shape[1] - used
        self.teachers = int(rows[0].sum())
        # One table of log tails serves every integer gap.
        self.tails = tails.log_overtake_probability(np.arange(self.teachers + 1))
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
    def _gaps_behind(self) -> NDArray[np.int64]:
        """Gaps to the third and those after it; then a column for the second, one for the empty."""
        gaps = np.zeros((len(self.rows), self.rows.shape[1] - 1 + bool(self.empty)), np.int64)
        gaps[:, : self.rows.shape[1] - 2] = self.rows[:, :1] - self.rows[:, 2:]
        return gaps

    @functools.cached_property
    def _prefix(self) -> NDArray[np.int64]:
        return np.cumsum(self.rows[:, 1:], axis=1)

    @functools.cached_property
    def _votes_to_cut(self) -> NDArray[np.int64]:
        """Votes that it takes to cut the k largest of the others down to the k-th of them."""
        return self._prefix - np.arange(1, self.rows.shape[1]) * self.rows[:, 1:]

    def log_q_after_raising(
        self, which: NDArray[np.int64], far: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return log q once the first of these rows has given `far` votes to the second."""
        return self._look_up(self._raised, self._raise, which, far)

    def log_q_after_lowering(
        self, which: NDArray[np.int64], far: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return log q once `far` votes of these rows went to the first from the current second."""
        return self._look_up(self._lowered, self._lower, which, far)

    def _look_up(
        self,
        tables: dict[int, NDArray[np.float64]],
        compute: Callable[[NDArray[np.int64], int], NDArray[np.float64]],
        which: NDArray[np.int64],
        far: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        values = np.empty(len(which))
        for distance in np.unique(far).tolist():
            is_at_distance = far == distance
            if distance not in tables and len(tables) >= _MOST_CACHED:
                values[is_at_distance] = compute(which[is_at_distance], distance)
                continue
            table = tables.setdefault(distance, np.full(len(self.rows), np.nan))
            rows = which[is_at_distance]
            unknown = rows[np.isnan(table[rows])]
            if len(unknown):
                table[unknown] = compute(unknown, distance)
            values[is_at_distance] = table[rows]
        return values

    def _raise(self, which: NDArray[np.int64], far: int) -> NDArray[np.float64]:
        index = np.take(self._gaps_behind, which, axis=0)
        index -= far
        # The columns for the second and the empty have no gap of their own: they are filled below.
        logs = np.take(self.tails, index, mode="clip")
        # The second trails by least, so that its tail is the largest.
        second = self.tails[self.gaps[which] - 2 * far]
        logs[:, self.rows.shape[1] - 2] = second
        if self.empty:
            logs[:, -1] = np.log(self.empty) + self.tails[self.rows[which, 0] - far]
        return _log_sum(logs, second)

    def _lower(self, which: NDArray[np.int64], far: int) -> NDArray[np.float64]:
        rows, prefix = self.rows[which], self._prefix
        is_cut = self._votes_to_cut[which] <= far
        n_cut = is_cut.sum(axis=1)
        remaining = prefix[which, n_cut - 1] - far
        # Unanimous once no vote is left to take; then the first has all of them.
        unanimous = prefix[which, -1] <= far
        level = np.where(unanimous, 0, -(-remaining // n_cut))
        n_extra = np.where(unanimous, 0, n_cut * level - remaining)
        top = np.where(unanimous, prefix[which, -1], far) + rows[:, 0]
        others = np.where(is_cut, level[:, None], rows[:, 1:])
        # So many of those at the level gave one vote more.
        others -= np.arange(others.shape[1]) < n_extra[:, None]
        return self._log_q(top, others)

    def _log_q(self, top: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log of min(1, the tails of top - others, and those of the empty classes)."""
        logs = self.tails[top[:, None] - others]
        if self.empty:
            logs = np.column_stack([logs, np.log(self.empty) + self.tails[top]])
        return _log_sum(logs, logs.max(axis=1))


def _log_sum(logs: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of min(1, the sum of e^logs) of each row, whose largest is `high`.

    logs are overwritten.
    """
    logs -= high[:, None]
    return np.minimum(0.0, high + np.log(np.exp(logs, out=logs).sum(axis=1)))


class SensitivityProfile:
    """S(d), the sum over queries of how sensitive a label's cost is at distance at most d.

    Values hold if `curve.check_conditions()` is empty. If no histogram of that many teachers uses
    the data-dependent bound, the cost is constant and S is 0.

    Args:
        counts: (queries, classes) int.
        curve: the cost at one (sigma, order).
        weights: (queries,) >= 0, such as the probability of an answer; by default 1.

    Raises:
        ValueError: the weights are others, the number of classes is not the curve's, or as
            `check_counts` raises it.
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
        self.teachers = int(counts[0].sum())
        rows, self._weights = _merge_equal(counts, weights)
        # So many distances are worked out together: that shares the overhead of few votes. With
        # many votes each distance is dear, and the next one is chosen by all that are known.
        self.batch_size = 8 if rows.size <= 250_000 else 1
        self._votes = SortedHistograms(rows, curve.tails)
        self._start_walk(curve)

    def _start_walk(self, curve: CostCurve) -> None:
        self.curve = curve
        self._walk = (
            LabelWalk(self._votes, curve) if curve.is_below_ceiling(self.teachers) else None
        )
        if self._walk and self._weights.any():
            self._walk.drop_below(_NOTHING * self.sensitivities(0)[0] / self._weights.sum())

    def copy_for_order(self, order: float) -> SensitivityProfile:
        """Return the profile of the same votes at another order; shared parts are computed once."""
        other = copy.copy(self)
        other.__dict__.pop("_known", None)
        other._start_walk(replace(self.curve, order=float(order)))
        return other

    @functools.cached_property
    def _known(self) -> dict[int, float]:
        return {}

    def sensitivities(self, *distances: int) -> NDArray[np.float64]:
        """Return S at each distance, worked out once."""
        unknown = sorted(set(distances) - set(self._known))
        if unknown:
            self._known.update(
                zip(unknown, self._sum_sensitivities(np.array(unknown)).tolist(), strict=True)
            )
        return np.array([self._known[d] for d in distances])

    @lower_bound
    def smooth_lower_bound(self, beta: float) -> float:
        """Return a lower bound on `smooth_sensitivity`, by the distances worked out so far.

        A caller that chooses by it which distances come next should do so only if they are worked
        out one by one: of those worked out together, a sum's last digit depends on which they are.
        """
        return max((math.exp(-beta * d) * s for d, s in self._known.items()), default=0.0)

    def smooth_sensitivity(self, beta: float) -> float:
        """Return the beta-smooth sensitivity, max over d of e^(-beta d) S(d).

        Raises:
            ValueError: beta <= 0.

        References:
            PATE 2018, Algorithm 5 and Theorem 24.
        """
        checks.check_number(beta=beta, above=0)
        best, peak = self.sensitivities(0, self.teachers)
        if best >= peak:
            return float(best)
        # Even the largest S weighs less than the best known value beyond the farthest distance.
        farthest = self.teachers
        if best > 0:
            farthest = min(farthest, int(np.log(peak / best) / beta) + 1)
        best = max(best, np.exp(-beta * farthest) * self.sensitivities(farthest)[0])

        def promise(low: int, high: int) -> float:
            return np.exp(-beta * (low + 1)) * self._known[high]

        open_ = [(-promise(0, farthest), 0, farthest)]
        while open_ and -open_[0][0] > best:
            popped = [heapq.heappop(open_) for _ in range(min(self.batch_size, len(open_)))]
            intervals = [
                (low, (low + high) // 2, high) for _, low, high in popped if high - low > 1
            ]
            middles = [middle for _, middle, _ in intervals]
            best = max([best, *np.exp(-beta * np.array(middles)) * self.sensitivities(*middles)])
            for low, middle, high in intervals:
                for interval in ((low, middle), (middle, high)):
                    if interval[1] - interval[0] > 1 and promise(*interval) > best:
                        heapq.heappush(open_, (-promise(*interval), *interval))
        return float(best)

    def _sum_sensitivities(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return S at integer distances >= 0, (distances,); it does not fall with the distance."""
        if self._walk is None:
            return np.zeros(len(distances))
        return self._walk.local_sensitivities(distances) @ self._weights


def smooth_sensitivity(
    counts: ArrayLike, curve: CostCurve, beta: float, weights: ArrayLike | None = None
) -> float:
    """Return the beta-smooth sensitivity of the labels' total cost.

    Args:
        counts: (queries, classes) int.
        curve: the cost at one (sigma, order).
        beta: > 0.
        weights: (queries,) >= 0, such as the probability of an answer; by default 1.

    Raises:
        ValueError: beta <= 0, or as `SensitivityProfile` raises it.

    References:
        PATE 2018, Algorithm 5 with Theorem 24.

    >>> from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
    >>> counts = [[240, 10], [130, 120]]
    >>> f"{smooth_sensitivity(counts, CostCurve(40, 8.0, 2), beta=0.1):.1e}"
    '3.1e-06'
    """
    return SensitivityProfile(counts, curve, weights).smooth_sensitivity(beta)


def _merge_equal(
    counts: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return distinct histograms, each sorted downwards, and the sum of the weights of each."""
    ordered = -np.sort(-counts, axis=1)
    table = np.ascontiguousarray(ordered, dtype=np.int32)
    # A row's bytes are its key: far faster than np.unique(axis=0).
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel()
    _, first, histogram_of_query = np.unique(keys, return_index=True, return_inverse=True)
    return ordered[first], np.bincount(histogram_of_query.ravel(), weights=weights)
