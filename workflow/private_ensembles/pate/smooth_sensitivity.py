"""Smooth sensitivity of GNMax's data-dependent cost (PATE, Appendix B), over a whole vote matrix.

Names follow the paper: q bounds the chance that the plurality is not released, beta(q) is the
Rényi cost of one label at a fixed order, q0 the largest q for which the data-dependent bound is
used, q1 = B_L(q0). All q are handled as log q.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from private_ensembles.pate.gnmax import check_sigma
from private_ensembles.pate.rdp import check_counts, check_orders, gnmax_rdp_of_log_q


@dataclass(frozen=True)
class CostCurve:
    """beta(q) of GNMax at one (sigma, order) for m classes, with its bounds at neighbours.

    Raises ValueError for sigma <= 0, order <= 1 or fewer than two classes.
    """

    sigma: float
    order: float
    n_classes: int

    def __post_init__(self) -> None:
        check_sigma(self.sigma)
        check_orders(self.order)
        if self.n_classes < 2:
            raise ValueError(f"n_classes = {self.n_classes}: must be at least 2")

    def beta(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Rényi cost at log q (any shape): Theorem 6 up to q0, lambda / sigma^2 beyond."""
        log_q = np.asarray(log_q, dtype=np.float64)
        flat = gnmax_rdp_of_log_q(log_q.ravel(), self.sigma, self.order)[:, 0]
        return flat.reshape(log_q.shape)

    def _shifted(self, log_q: ArrayLike, shift: float) -> NDArray[np.float64]:
        # (m-1)/2 erfc(erfc^-1(2q/(m-1)) + s/sigma) = (m-1) Phi(Phi^-1(q/(m-1)) - sqrt(2) s/sigma).
        others = np.log(self.n_classes - 1)
        z = ndtri_exp(np.minimum(np.asarray(log_q, dtype=np.float64) - others, 0.0))
        return np.minimum(others + log_ndtr(z - np.sqrt(2) * shift / self.sigma), 0.0)

    def upper(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """log B_U(q): no neighbour has a larger q (Proposition 21)."""
        return self._shifted(log_q, -1.0)

    def lower(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """log B_L(q): no neighbour has a smaller q (Proposition 21)."""
        return self._shifted(log_q, 1.0)

    @functools.lru_cache(maxsize=64)  # noqa: B019 (a handful of small frozen curves a run)
    def log_q0(self) -> float:
        """log of the largest q <= 1/2 at which the data-dependent bound is below lambda/sigma^2.

        -inf where there is none. The bound grows with q (condition C5, see `check_conditions`), so
        bisection finds where it meets the constant.
        """
        ceiling = self.order / self.sigma**2

        def useful(log_q: float) -> bool:
            return float(self.beta(log_q)) < ceiling * (1 - 1e-12)

        low, high = -1e6, float(np.log(0.5))
        if useful(high):
            return high
        if not useful(low):
            return -np.inf
        while high - low > 1e-13 * abs(low):  # about 60 halvings
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            low, high = (middle, high) if useful(middle) else (low, middle)
        return low

    def local_sensitivity(self, log_q: ArrayLike) -> NDArray[np.float64]:
        """Algorithm 3: an upper bound on how far beta moves when one teacher changes its vote."""
        log_q0 = self.log_q0()
        log_q = np.asarray(log_q, dtype=np.float64)
        log_q1 = float(self.lower(log_q0)) if np.isfinite(log_q0) else -np.inf
        log_q = np.where((log_q >= log_q1) & (log_q <= log_q0), log_q1, log_q)
        here = self.beta(log_q)
        return np.maximum(self.beta(self.upper(log_q)) - here, here - self.beta(self.lower(log_q)))

    def check_conditions(self, points: int = 2000) -> list[str]:
        """Conditions C5 and C6 on a grid of log q; returns the violated ones, [] if none.

        C5: beta is non-decreasing up to q0 <= 1/2 and B_U(q0) < 1. C6: beta(B_U(q)) - beta(q) is
        non-decreasing up to B_L(q0). Differences below 1e-9 of the ceiling are rounding.
        """
        log_q0 = self.log_q0()
        if not np.isfinite(log_q0):
            return ["q0: the data-dependent bound applies nowhere"]
        tolerance = 1e-9 * self.order / self.sigma**2
        violated = []
        depth = -log_q0 * np.geomspace(1, max(60.0, 800 / max(-log_q0, 1e-9)), points)
        grid = -depth[::-1]
        if (np.diff(self.beta(grid)) < -tolerance).any() or float(self.upper(log_q0)) >= 0:
            violated.append("C5")
        grid = grid[grid <= float(self.lower(log_q0))]
        if len(grid) > 1:
            growth = self.beta(self.upper(grid)) - self.beta(grid)
            if (np.diff(growth) < -tolerance).any():
                violated.append("C6")
        return violated


def sensitivity_by_distance(
    counts: ArrayLike,
    curve: CostCurve,
    weights: ArrayLike | None = None,
    *,
    decay: float = 0.0,
) -> NDArray[np.float64]:
    """Theorem 24's sum over queries of the local sensitivity at distance at most d, for d = 0, 1...

    Algorithm 4 for all queries at once (its line 19 put right: the sum runs over all classes).
    counts: (queries, classes); weights: (queries,) >= 0, such as the chance of an answer, default
    1. decay: the smoothness beta; where > 0, distances end as soon as none further away can be the
    maximum of e^(-decay d) times the sum. Returns (distances,), non-decreasing.

    Raises ValueError as `check_counts`, and for other weights.
    """
    counts = check_counts(counts)
    weights = np.ones(len(counts)) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(counts),) or not (weights >= 0).all():
        raise ValueError("weights: must be one number >= 0 per query")
    if counts.shape[1] != curve.n_classes:
        raise ValueError(f"counts: {counts.shape[1]} classes, must be {curve.n_classes}")
    # Equal histograms, up to the order of the classes, are worked out once.
    rows, where = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
    weight = np.bincount(where.ravel(), weights=weights, minlength=len(rows))
    walk = _Walk(rows, curve)
    peak = float(curve.local_sensitivity(walk.log_q1)) * weight.sum()
    totals, best = [], 0.0
    for d in range(int(rows.sum(axis=1).max()) + 1):  # ends earlier: every walk stops
        walk.advance(d)
        totals.append(float(weight @ walk.sensitivity))
        best = max(best, np.exp(-decay * d) * totals[-1])
        if not walk.active.any() or (decay > 0 and np.exp(-decay * (d + 1)) * peak <= best):
            break
    return np.array(totals)


def smooth_sensitivity(
    counts: ArrayLike, curve: CostCurve, beta: float, weights: ArrayLike | None = None
) -> float:
    """The beta-smooth sensitivity of the total cost (Algorithm 5 with Theorem 24).

    max over d of e^(-beta d) times `sensitivity_by_distance`. Raises ValueError for beta <= 0.
    """
    if not beta > 0:
        raise ValueError(f"beta = {beta}: must be > 0")
    totals = sensitivity_by_distance(counts, curve, weights, decay=beta)
    return float(np.max(np.exp(-beta * np.arange(len(totals))) * totals))


class _Walk:
    """Algorithm 4's walk away from each histogram, towards the plateau [q1, q0] of sensitivity."""

    def __init__(self, rows: NDArray[np.int64], curve: CostCurve) -> None:
        self.curve = curve
        self.log_q0 = curve.log_q0()
        self.log_q1 = float(curve.lower(self.log_q0)) if np.isfinite(self.log_q0) else -np.inf
        self.rows = rows.copy()
        self.teachers = rows.sum(axis=1)
        # One table of log tails serves every integer gap, negative ones included.
        reach = int(self.teachers.max()) * 3
        self.zero = reach
        self.tails = log_ndtr(-np.arange(-reach, reach + 1) / (np.sqrt(2) * curve.sigma))
        self.moved = rows.copy()
        log_q = self._log_q(rows)
        plateau = (log_q >= self.log_q1) & (log_q <= self.log_q0)
        self.rising = log_q < self.log_q1
        self.active = np.ones(len(rows), dtype=bool)
        self.sensitivity = np.zeros(len(rows))
        self._finish(plateau, self.log_q1)

    def _log_q(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Proposition 7 for rows whose first column is the plurality."""
        return np.minimum(0.0, logsumexp(self.tails[self.zero + rows[:, :1] - rows[:, 1:]], axis=1))

    def _finish(self, which: NDArray[np.bool_], log_q: float) -> None:
        """Stop these walks at the sensitivity of log q; what was met on the way counts as well."""
        if which.any():
            value = float(self.curve.local_sensitivity(log_q))
            self.sensitivity[which] = np.maximum(self.sensitivity[which], value)
            self.active[which] = False

    def advance(self, d: int) -> None:
        """Take in distance d."""
        up = np.nonzero(self.active & self.rising)[0]
        crossing = self.rows[up, 0] - self.rows[up, 1] < 2 * d
        self._finish_rows(up[crossing], self.log_q1)
        up = up[~crossing]
        if len(up):
            moved = self.rows[up].copy()
            moved[:, 0] -= d
            moved[:, 1] += d
            log_q = self._log_q(moved)
            self._finish_rows(up[log_q > self.log_q1], self.log_q0)
            self._record(up[log_q <= self.log_q1], log_q[log_q <= self.log_q1])
        down = np.nonzero(self.active & ~self.rising)[0]
        if not len(down):
            return
        if d:
            self.moved[down, 0] += 1
            second = 1 + np.argmax(self.moved[down, 1:], axis=1)
            self.moved[down, second] -= np.minimum(1, self.moved[down, second])
        unanimous = self.rows[down, 1:].sum(axis=1) <= d
        ends = down[unanimous]
        if len(ends):
            full = np.zeros((len(ends), self.rows.shape[1]), dtype=np.int64)
            full[:, 0] = self.teachers[ends]
            self._record(ends, self._log_q(full))
            self.active[ends] = False
        down = down[~unanimous]
        if len(down):
            log_q = self._log_q(self.moved[down])
            self._finish_rows(down[log_q < self.log_q0], self.log_q0)
            self._record(down[log_q >= self.log_q0], log_q[log_q >= self.log_q0])

    def _finish_rows(self, rows: NDArray[np.int64], log_q: float) -> None:
        which = np.zeros(len(self.active), dtype=bool)
        which[rows] = True
        self._finish(which, log_q)

    def _record(self, rows: NDArray[np.int64], log_q: NDArray[np.float64]) -> None:
        if len(rows):
            values = self.curve.local_sensitivity(log_q)
            self.sensitivity[rows] = np.maximum(self.sensitivity[rows], values)


def gnss_rdp(order: float, beta: float, sigma: float, *, formula: str = "exact") -> float:
    """Rényi cost of publishing f + SS_beta * N(0, sigma^2) (GNSS, Definition 22).

    ``exact``: lambda e^(-2 beta) / (2 sigma^2 r) + (ln(r) / 2 + lambda beta) / (1 - lambda), with
    r = 1 - lambda + lambda e^(-2 beta) > 0, that is beta < ln(lambda / (lambda - 1)) / 2.
    It is attained where SS(D') = e^(-beta) SS(D) and |f(D) - f(D')| = SS(D'), so it cannot be
    improved (DESIGN 5.9). ``paper``: Theorem 23 as printed, which fails for lambda beta > 1/4; for
    comparison only. Infinite where beta is too large for the order.

    Raises ValueError for order <= 1, beta <= 0, sigma <= 0 or another formula.
    """
    order = float(check_orders(order)[0])
    sigma = check_sigma(sigma)
    if not beta > 0:
        raise ValueError(f"beta = {beta}: must be > 0")
    if formula == "paper":
        if 2 * order * beta >= 1:
            return np.inf
        spread = beta * order - 0.5 * np.log1p(-2 * order * beta)
        return float(order * np.exp(2 * beta) / sigma**2 + spread / (order - 1))
    if formula != "exact":
        raise ValueError(f"formula = {formula!r}: must be exact or paper")
    shrink = np.exp(-2 * beta)
    r = 1 + order * np.expm1(-2 * beta)
    if r <= 0:
        return np.inf
    cost = order * shrink / (2 * sigma**2 * r) - (0.5 * np.log(r) + order * beta) / (order - 1)
    return float(cost * (1 + 1e-12) + 1e-15)
