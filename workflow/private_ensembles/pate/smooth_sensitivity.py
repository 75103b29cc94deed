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
import copy
import functools
import heapq
import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.label_walk import LabelWalk, Votes
from private_ensembles.pate.rdp import check_counts

# Part of a sum that a float of it cannot show.
NOTHING = 2.0**-60


class Profile(abc.ABC):
    """S(d), the sum over queries of how sensitive a cost is at distance at most d from the votes.

    Subclasses bound each query's local sensitivity on a set of votes that grows with d and, at d +
    1, holds what it holds at d for any neighbour: then `smooth` is a smooth bound (Theorem 24).
    """

    teachers: int
    # Distances worked out together: many if votes are few, to save on overhead.
    together: int = 1

    @abc.abstractmethod
    def _sums(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """S at integer distances >= 0, (distances,); does not fall with the distance."""

    @functools.cached_property
    def _known(self) -> dict[int, float]:
        return {}

    def at(self, *distances: int) -> NDArray[np.float64]:
        """S at each distance, worked out once."""
        new = sorted(set(distances) - set(self._known))
        if new:
            self._known.update(zip(new, self._sums(np.array(new)).tolist(), strict=True))
        return np.array([self._known[d] for d in distances])

    def at_least(self, beta: float) -> float:
        """What `smooth` is at least, by the distances worked out so far.

        A caller that chooses by it which distances are asked for should do so only if they are
        worked out one by one: of those worked out together, a sum's last digit depends on which.
        """
        return max((math.exp(-beta * d) * s for d, s in self._known.items()), default=0.0)

    def smooth(self, beta: float) -> float:
        """max over d of e^(-beta d) S(d): the beta-smooth sensitivity (Algorithm 5, Theorem 24).

        Raises ValueError for beta <= 0.
        """
        checks.number(beta=beta, above=0)
        best, peak = self.at(0, self.teachers)
        if best >= peak:
            return float(best)
        # Beyond the farthest, even the most that there is weighs less than what is known.
        farthest = self.teachers
        if best > 0:
            farthest = min(farthest, int(np.log(peak / best) / beta) + 1)
        best = max(best, np.exp(-beta * farthest) * self.at(farthest)[0])

        def promise(low: int, high: int) -> float:
            return np.exp(-beta * (low + 1)) * self._known[high]

        open_ = [(-promise(0, farthest), 0, farthest)]
        while open_ and -open_[0][0] > best:
            taken = [heapq.heappop(open_) for _ in range(min(self.together, len(open_)))]
            parts = [(low, (low + high) // 2, high) for _, low, high in taken if high - low > 1]
            middles = [middle for _, middle, _ in parts]
            best = max([best, *np.exp(-beta * np.array(middles)) * self.at(*middles)])
            for low, middle, high in parts:
                for part in ((low, middle), (middle, high)):
                    if part[1] - part[0] > 1 and promise(*part) > best:
                        heapq.heappush(open_, (-promise(*part), *part))
        return float(best)


class SensitivityProfile(Profile):
    """S(d) of the labels' total cost.

    counts: (queries, classes); curve: one (sigma, order); weights: (queries,) >= 0, such as the
    chance of an answer, default 1. Values hold where `curve.check_conditions()` is empty. If no
    histogram of that many teachers uses the data-dependent bound, the cost is constant and S is 0.

    Raises ValueError like `check_counts`, for other weights and another number of classes.
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
        rows, self._weights = merge_equal(counts, weights)
        self.together = together(rows)
        self._votes = Votes(rows, curve.tails)
        self._begin(curve)

    def _begin(self, curve: CostCurve) -> None:
        self.curve = curve
        self._walk = LabelWalk(self._votes, curve) if curve.helps(self.teachers) else None
        if self._walk and self._weights.any():
            self._walk.drop_below(NOTHING * self.at(0)[0] / self._weights.sum())

    def at_order(self, order: float) -> SensitivityProfile:
        """The profile of the same votes at another order; what it shares is worked out once."""
        other = copy.copy(self)
        other.__dict__.pop("_known", None)
        other._begin(replace(self.curve, order=float(order)))
        return other

    def _sums(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        if self._walk is None:
            return np.zeros(len(distances))
        return self._walk.local(distances)[0] @ self._weights


def together(counts: NDArray[np.int64]) -> int:
    """Distances to work out at a time: overhead is shared, memory stays below 50 MB or so."""
    return min(8, max(1, 2_000_000 // counts.size))


def smooth_sensitivity(
    counts: ArrayLike, curve: CostCurve, beta: float, weights: ArrayLike | None = None
) -> float:
    """The beta-smooth sensitivity of the labels' total cost (Algorithm 5 with Theorem 24).

    Raises ValueError for beta <= 0 and as :class:`SensitivityProfile`.

    >>> from private_ensembles.pate.cost_curve import CostCurve
    >>> counts = [[240, 10], [130, 120]]
    >>> f"{smooth_sensitivity(counts, CostCurve(40, 8.0, 2), beta=0.1):.1e}"
    '3.1e-06'
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
