"""beta(q), the cost of a GNMax label that misses the plurality with probability q (PATE, B.1-B.4).

Names follow the paper: q0 is the largest q for which the data-dependent bound is used, q1 =
B_L(q0), and [q1, q0] is the plateau on which the local sensitivity is greatest. All q are handled
as log q, so that no gap of votes underflows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import check_orders
from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.papers.pate.mathematics.rdp import gnmax_independent_rdp, gnmax_rdp_of_log_q
from private_ensembles.papers.pate.mathematics.tails import Tails, tails_of

# Differences of costs below this part of the ceiling are rounding (a cost is good to 1e-13 of it).
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CostCurve:
    """beta(q) of GNMax at one (sigma, order) for m classes, with its bounds at neighbours.

    Attributes:
        sigma: noise of the labels, in votes, > 0.
        order: Rényi order lambda > 1.
        n_classes: m >= 2.
        noise: as in `papers.pate.mathematics.tails`; it says how far a vote changes q, while beta
            itself depends on q alone.

    Raises:
        ValueError: an attribute is outside its range.
    """

    sigma: float
    order: float
    n_classes: int
    noise: str = "reproducible"

    def __post_init__(self) -> None:
        tails_of(self.noise, self.sigma)  # checks both
        check_orders(self.order)
        checks.check_integer(n_classes=self.n_classes, at_least=2)

    @property
    def tails(self) -> Tails:
        """The tails of the noise."""
        return tails_of(self.noise, self.sigma)

    @property
    @upper_bound
    def ceiling(self) -> float:
        """The data-independent lambda / sigma^2 (Proposition 8), beta* of C5, rounded up."""
        return float(gnmax_independent_rdp(self.sigma, self.order))

    def bound(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Return the lesser of Theorem 6 and Proposition 8 at log q (any shape)."""
        log_q = np.asarray(log_q, dtype=np.float64)
        flat = gnmax_rdp_of_log_q(log_q.ravel(), self.sigma, self.order)[:, 0]
        return flat.reshape(log_q.shape)

    def beta(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Return the Rényi cost at log q (any shape): `bound` up to q0, then the ceiling (C5)."""
        return np.where(np.asarray(log_q) <= self.log_q0(), self.bound(log_q), self.ceiling)

    def _close_gaps(self, log_q: ArrayLike, votes: int) -> NDArray[np.float64]:
        # q is taken to be made up of m - 1 equal gaps, each of which is closed by this many votes.
        log_rivals = np.log(self.n_classes - 1)
        log_tail = np.minimum(np.asarray(log_q, dtype=np.float64) - log_rivals, 0.0)
        closed = self.tails.log_overtake_probability_after(log_tail, votes)
        return np.minimum(log_rivals + closed, 0.0)

    def upper(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Return log B_U(q): no neighbour has a larger q (Proposition 21)."""
        return self._close_gaps(log_q, 2)

    def lower(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Return log B_L(q): no neighbour has a smaller q (Proposition 21)."""
        return self._close_gaps(log_q, -2)

    @functools.lru_cache(maxsize=1024)  # noqa: B019 (small frozen curves, one an order)
    def log_q0(self) -> float:
        """Return the log of the largest q <= 1/2 with a data-dependent bound below lambda/sigma^2.

        -inf if there is none. The bound grows with q (condition C5, see `check_conditions`), so
        a search on ever finer grids finds where it meets the constant.
        """

        def useful(log_q: NDArray[np.float64]) -> NDArray[np.bool_]:
            return self.bound(log_q) < self.ceiling * (1 - 1e-12)

        low, high = -1e6, float(np.log(0.5))
        at_ends = useful(np.array([low, high]))
        if at_ends[1]:
            return high
        if not at_ends[0]:
            return -np.inf
        while high - low > 1e-13 * abs(low):  # sixty-fold narrower each time
            grid = -np.geomspace(-low, -high, 61)
            last = int(np.flatnonzero(useful(grid[:-1]))[-1])
            if grid[last] == low and grid[last + 1] == high:
                break
            low, high = float(grid[last]), float(grid[last + 1])
        return low

    @functools.lru_cache(maxsize=1024)  # noqa: B019
    def log_q1(self) -> float:
        """Return log B_L(q0); -inf if the data-dependent bound applies nowhere."""
        return float(self.lower(self.log_q0())) if np.isfinite(self.log_q0()) else -np.inf

    @functools.lru_cache(maxsize=1024)  # noqa: B019
    def plateau(self) -> float:
        """Return the greatest local sensitivity, on [q1, q0]: ceiling - beta(q1), 0 without q0.

        Algorithm 3 has beta(B_U(q1)) = beta(q0) in place of the ceiling. If beta jumps at q0
        (condition C5 allows it, though GNMax's does not) that is too little for q just above q1.
        """
        if not np.isfinite(self.log_q0()):
            return 0.0
        return self.ceiling - float(self.beta(self.log_q1()))

    def rise(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Return beta(B_U(q)) - beta(q): Algorithm 3 below q1, the larger difference by C6."""
        above, here = self.beta(np.stack([self.upper(log_q), log_q]))  # one call: it is small
        return above - here

    def fall(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Return ceiling - beta(B_L(q)): Algorithm 3 above q0, where beta is constant."""
        return self.ceiling - self.beta(self.lower(log_q))

    @functools.lru_cache(maxsize=1024)  # noqa: B019
    def check_conditions(self, points: int = 2000) -> tuple[str, ...]:
        """Return which of the conditions C5 and C6 are violated on a grid of log q; () if none is.

        C5: beta is non-decreasing up to q0 <= 1/2 and B_U(q0) < 1. C6: beta(B_U(q)) - beta(q) is
        non-decreasing up to B_L(q0). Differences below 1e-9 of the ceiling are rounding.
        """
        log_q0 = self.log_q0()
        if not np.isfinite(log_q0):
            return ("q0: the data-dependent bound applies nowhere",)
        tolerance = _ROUNDING * self.ceiling
        violated = []
        depth = -log_q0 * np.geomspace(1, max(60.0, 800 / max(-log_q0, 1e-9)), points)
        grid = -depth[::-1]
        if (np.diff(self.beta(grid)) < -tolerance).any() or float(self.upper(log_q0)) >= 0:
            violated.append("C5")
        grid = grid[grid <= self.log_q1()]
        if len(grid) > 1 and (np.diff(self.rise(grid)) < -tolerance).any():
            violated.append("C6")
        return tuple(violated)

    def is_below_ceiling(self, teachers: int) -> bool:
        """Tell whether any histogram of so many votes uses the data-dependent bound (B.2's check).

        The most favourable one is unanimous: q0 >= q([n, 0, ..., 0]).
        """
        unanimous = self.tails.log_overtake_probability(teachers) + np.log(self.n_classes - 1)
        return bool(unanimous <= self.log_q0())
