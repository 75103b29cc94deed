"""Smooth sensitivity of GNMax's data-dependent cost (PATE, Appendix B), over a whole vote matrix.

Algorithms 3-5 with Theorem 24. Four facts replace the walk of Algorithm 4 from each histogram:

- The histogram that it reaches at distance d has a closed form (Proposition 19), so any distance
  can be asked for by itself. Integer gaps share one table of log tails, equal histograms merge.
- The sum S(d) over queries of the sensitivities at distance at most d does not fall with d, so
  e^(-beta d) S(d) <= e^(-beta a) S(b) on [a, b]. Branch and bound finds its maximum, the smooth
  sensitivity, from few distances. Nothing is interpolated.
- What a float of the sum cannot show, queries far from the plateau, is left out.
- Further away than where e^(-beta d) times the largest S drops below the best value found, nothing
  is asked for.
"""

from __future__ import annotations

import abc
import functools
import heapq

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.label_walk import LabelWalk
from private_ensembles.pate.rdp import check_counts

# Part of a sum that a float of it cannot show.
NOTHING = 2.0**-60


class Profile(abc.ABC):
    """S(d), the sum over queries of how sensitive a cost is at distance at most d from the votes.

    Subclasses bound each query's local sensitivity on a set of votes that grows with d and, at d +
    1, holds what it holds at d for any neighbour: then `smooth` is a smooth bound (Theorem 24).
    """

    teachers: int

    @abc.abstractmethod
    def _sum(self, distance: int) -> float:
        """S at an integer distance >= 0; does not fall with it."""

    @functools.cached_property
    def _known(self) -> dict[int, float]:
        return {}

    def at(self, distance: int) -> float:
        """S(distance), worked out once."""
        if distance not in self._known:
            self._known[distance] = self._sum(distance)
        return self._known[distance]

    def smooth(self, beta: float) -> float:
        """max over d of e^(-beta d) S(d): the beta-smooth sensitivity (Algorithm 5, Theorem 24).

        Raises ValueError for beta <= 0.
        """
        if not beta > 0:
            raise ValueError(f"beta = {beta}: must be > 0")
        best, peak = self.at(0), self.at(self.teachers)
        if best >= peak:
            return best
        # Beyond the farthest, even the most that there is weighs less than what is known.
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


class SensitivityProfile(Profile):
    """S(d) of the labels' total cost.

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
        rows, self._weights = merge_equal(counts, weights)
        self._walk = LabelWalk(rows, curve) if curve.helps(self.teachers) else None
        if self._walk and self._weights.any():
            self._walk.drop_below(NOTHING * self._sum(0) / self._weights.sum())

    def _sum(self, distance: int) -> float:
        if self._walk is None:
            return 0.0
        return float(self._weights @ self._walk.local(distance)[0])


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
    counts: NDArray[np.int64], weights: NDArray[np.float64], *more: NDArray[np.int64]
) -> tuple[NDArray, ...]:
    """Distinct histograms, each sorted downwards, the sum of the weights of each, and `more`.

    more: whole numbers (queries,), which must be equal, too, for queries to merge.
    """
    ordered = -np.sort(-counts, axis=1)
    table = np.ascontiguousarray(np.column_stack([ordered, *more]), dtype=np.int32)
    # A row's bytes are its key: far faster than np.unique(axis=0).
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel()
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    merged = np.bincount(where.ravel(), weights=weights)
    return ordered[first], merged, *(part[first] for part in more)
