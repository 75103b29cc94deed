"""The best label for several: as often right as a Rényi divergence of one order allows, or a total.

What is best for one label spends its budget on losses of one size, which compose badly. The largest
Rényi divergence of a move, at an order that suits the total, composes by adding up, and labels of
at most so much are a convex set: cutting planes find the best of them
(docs/best-label.md#the-best-label-for-several).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive.account import Bounds, adaptive_epsilon
from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.accounting.rounding import ELEMENTARY, UNIT_ROUNDOFF
from private_ensembles.optimal_label.best_label import FACTORISED, LabelTable, exponential
from private_ensembles.optimal_label.certificate import (
    UNITS,
    TableCertificate,
    utility_below,
    whole_units,
)
from private_ensembles.optimal_label.interior_point import best_point
from private_ensembles.optimal_label.objective import weights_of
from private_ensembles.optimal_label.program import Program
from private_ensembles.votes.synthetic import ConsensusProfile

# Rounds of cuts, and how near the bound is near enough, as a share of it.
_ROUNDS, _NEAR = 30, 1e-3
# Of the uniform label, so that no probability is 0; moves this near the limit are cut as well.
_LEAST_SHARE, _TIGHT = 1e-9, 0.7
# Ratios beyond e^5 tell the solver nothing but large numbers.
_LARGEST_LOSS = 5.0
_HALVINGS = 20
# e^709 is a float.
_LARGEST_POWER = 700.0
# Orders of `best_within`, of 2 ln(1 / delta) / epsilon: it suits Gaussian noise of a small total.
_SUITED = 0.6, 1.0
# How much of the total may be left, and how often a divergence is tried.
_SPENT, _TRIES = 0.99, 8
# The total grows with the divergence about as this power.
_POWER = 0.6


@dataclass(frozen=True, eq=False)
class LabelForMany(LabelTable):
    """One label of which every move has a Rényi divergence of at most `divergence` at `order`."""

    order: float
    divergence: float

    def pairs(self, program: Program) -> Pairs:
        """Return what all moves of a vote do to the label, for `accounting.adaptive`."""
        first, second = program.moves.pairs.T
        placed = program.moves.placed
        return Pairs(
            self.probabilities[placed[first]], self.probabilities[placed[second]], 2.0**-52, 1e-300
        )

    def total(self, labels: int, delta: float) -> Bounds:
        """Return bounds on the epsilon of that many such labels at delta, adaptively chosen."""
        program = Program(self.histograms.n_teachers, self.histograms.n_classes, 1.0, 0.0)
        return adaptive_epsilon(self.pairs(program), labels, delta)


@lru_cache(maxsize=128)
def best_for_many(
    n_teachers: int,
    n_classes: int,
    order: float,
    divergence: float,
    *,
    accuracy: float | None = None,
    profile: ConsensusProfile | None = None,
) -> LabelForMany:
    """Return the label that is right most often of those with such a Rényi divergence.

    >>> best = best_for_many(11, 3, 8.0, 0.05, accuracy=0.7)
    >>> best.certificate.holds, round(best.certificate.utility, 2), best.certificate.gap < 2e-3
    (True, 0.52, True)

    One vote moves between neighbours, in both orders. order: in [1.1, 64]. divergence: in nats, in
    (0, 10]. accuracy, profile: one of them, as in `best_label`. The certificate's worst is a bound
    on the divergence, in floating point. Raises ValueError for numbers out of range, and for more
    moves times classes than FACTORISED.
    """
    checks.within(1.1, 64, order=order)
    checks.within(0, 10, divergence=divergence, low_allowed=False)
    if (accuracy is None) == (profile is None):
        raise ValueError("accuracy, profile: exactly one of them must be given")
    program = Program(n_teachers, n_classes, 1.0, 0.0)
    if program.moves.pairs.size * n_classes > 2 * FACTORISED:
        raise ValueError(f"n_teachers = {n_teachers}: has too many moves for a factorisation")
    program.weights = weights_of(program.histograms, accuracy, profile)
    p, bound = _Cuts(program, order, divergence).solve()
    units, worst, mixed = _repaired(program, p, order, divergence)
    utility = utility_below(program, units, program.weights)
    certificate = TableCertificate(worst <= divergence, worst, mixed, utility, min(bound, 1.0))
    return LabelForMany(program.histograms, units, certificate, order, divergence)


def best_within(
    n_teachers: int,
    n_classes: int,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    orders: Sequence[float] | None = None,
    accuracy: float | None = None,
    profile: ConsensusProfile | None = None,
) -> LabelForMany:
    """Return a label of which `labels` cost at most (epsilon, delta), adaptively chosen.

    >>> best = best_within(11, 3, 10, 2.0, 1e-5, accuracy=0.7)
    >>> 1.98 < best.total(10, 1e-5).upper <= 2.0
    True

    It is the best of its Rényi divergence; its total is the account of what each move does to it
    (`accounting.adaptive`), which is less than that divergence alone would prove. labels: >= 1.
    epsilon: in (0, 20]; delta: in (0, 1). orders: in [1.1, 64], of which the best is taken; by
    default two that suit the total.
    Raises ValueError for numbers out of range, as `best_for_many`, and if no label keeps the
    total.
    """
    checks.within(0, 20, epsilon=epsilon, low_allowed=False)
    checks.probability(delta=delta, zero=False, one=False)
    checks.integer(labels=labels, at_least=1)
    if orders is None:
        suited = 2 * math.log(1 / delta) / epsilon
        orders = [min(64.0, max(1.5, 1 + share * suited)) for share in _SUITED]
    size, prior = (n_teachers, n_classes), {"accuracy": accuracy, "profile": profile}
    tried = [_of_order(size, labels, epsilon, delta, order, prior) for order in orders]
    within = [label for label in tried if label is not None]
    if not within:
        raise ValueError(f"labels = {labels}: no label found that keeps ({epsilon}, {delta})")
    return max(within, key=lambda label: label.certificate.utility)


def _of_order(
    size: tuple[int, int], labels: int, epsilon: float, delta: float, order: float, prior: dict
) -> LabelForMany | None:
    """The label of about the largest divergence that keeps the total; None if none was found."""
    # Of Gaussian noise with about this total.
    divergence = order * epsilon**2 / (4 * math.log(1 / delta) + 4 * epsilon) / labels
    best, low, high = None, 0.0, math.inf
    for _ in range(_TRIES):
        divergence = min(10.0, divergence)
        tried = best_for_many(*size, order, divergence, **prior)
        spent = tried.total(labels, delta).upper
        if spent <= epsilon:
            best, low = tried, divergence
            if spent >= _SPENT * epsilon or divergence == 10.0:
                break
        else:
            high = divergence
        aim = (1 + _SPENT) / 2 * epsilon
        divergence *= (aim / spent) ** (1 / _POWER) if spent < math.inf else 0.5
        if not low < divergence < high:
            divergence = math.sqrt(low * high) if low else high / 2
    return best


class _Cuts:
    """Tangents to the moments of all moves, found where a solution leaves the convex set.

    The moment of a move is the sum over classes of p^order p'^(1 - order), at most `limit`. Each
    term is the largest of order r^(order - 1) p - (order - 1) r^order p' over all ratios r >= 0.
    """

    def __init__(self, program: Program, order: float, divergence: float) -> None:
        self.program, self.order = program, order
        self.limit = math.exp((order - 1) * divergence)
        self.most = min(6 * math.sqrt(divergence) + 0.1, _LARGEST_LOSS)
        sides = list(program.both_orders())
        self.x = np.concatenate([x for x, _ in sides])
        self.y = np.concatenate([y for _, y in sides])
        self.rows: list[sparse.csr_matrix] = []
        counts, size = program.histograms.counts, 2 * math.sqrt(2 * divergence / order)
        self.inside = np.empty(program.size)
        # Of bounded range: its divergence is at most divergence (Cesar and Rogers 2021).
        self.inside[program.histograms.groups] = exponential(counts, size)

    def solve(self) -> tuple[NDArray[np.float64], float]:
        """Return a point about inside, and a bound on the objective of all that are."""
        weights, bound = self.program.weights, math.inf
        self.cut(self.inside, self.moments(self.inside) > 0)
        for _ in range(_ROUNDS):
            point, outer_bound = self.outermost()
            bound = min(bound, outer_bound)
            edge = self.edge(point)
            near = self.moments(edge) > 1 + _TIGHT * (self.limit - 1)
            if weights @ edge > weights @ self.inside:
                self.inside = edge
            if weights @ self.inside > (1 - _NEAR) * bound:
                break
            self.cut(edge, near)
            self.cut(point, self.moments(point) > self.limit)
        return self.inside, bound

    def moments(self, p: NDArray) -> NDArray[np.float64]:
        p = np.maximum(p, 1e-12)
        with np.errstate(over="ignore"):  # beyond floats is beyond the limit
            return (p[self.x] * (p[self.x] / p[self.y]) ** (self.order - 1)).sum(axis=1)

    def cut(self, p: NDArray, moves: NDArray[np.bool_]) -> None:
        """Add the tangents of some moves at p."""
        p, order = np.maximum(p, 1e-12), self.order
        x, y = self.x[moves], self.y[moves]
        losses = np.clip(np.log(p[x] / p[y]), -self.most, self.most)
        ratios = np.exp(losses)
        rows = np.repeat(np.arange(len(x)), x.shape[1])
        shape = len(x), self.program.size
        gains = order * ratios ** (order - 1), -(order - 1) * ratios**order
        parts = zip(gains, (x, y), strict=True)
        self.rows.append(
            sum(
                sparse.csr_matrix((entries.ravel(), (rows, at.ravel())), shape)
                for entries, at in parts
            )
        )

    def outermost(self) -> tuple[NDArray[np.float64], float]:
        """Return the best point within the cuts and, by weak duality, a bound on all inside."""
        cuts, totals = sparse.vstack(self.rows).tocsr(), self.program.totals()
        # The largest entry of a row becomes 1: HiGHS' tolerances are absolute.
        scale = 1 / abs(cuts).max(axis=1).toarray().ravel()
        upper = np.append(self.limit * scale, np.ones(totals.shape[0]))
        lower = np.append(np.full(len(scale), -np.inf), np.ones(totals.shape[0]))
        matrix = sparse.vstack([sparse.diags(scale) @ cuts, totals])
        weights, sizes = self.program.weights, self.program.histograms.sizes
        point, dual = best_point(weights, matrix, lower, upper)
        y = np.maximum(dual[: len(scale)], 0.0) * scale
        columns, starts = cuts.T.tocsr(), self.program.histograms.starts
        spared = float(self.limit * y.sum())
        bound = np.maximum.reduceat((weights - columns @ y) / sizes, starts).sum() + spared
        bulk = np.maximum.reduceat((weights + abs(columns) @ y) / sizes, starts).sum() + spared
        # Roundings: of the longest sum, and of powers of up to e^(order losses).
        terms = len(y) + len(starts) + 64 * int(self.order * (1 + self.most))
        return point, float(bound + 4 * terms * UNIT_ROUNDOFF * bulk)

    def edge(self, point: NDArray) -> NDArray[np.float64]:
        """Return the last point inside on the way from the best one inside to another."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            between = self.inside + middle * (point - self.inside)
            low, high = (
                (middle, high) if self.moments(between).max() <= self.limit else (low, middle)
            )
        return self.inside + low * (point - self.inside)


def _repaired(
    program: Program, p: NDArray, order: float, divergence: float
) -> tuple[NDArray[np.int64], float, float]:
    """Units near p of at most the divergence, a bound on theirs, and the share of the uniform.

    The moment is convex and 1 for the uniform label: (1 - s) v + s bounds that of the mixture.
    """
    share, limit = _LEAST_SHARE, math.exp((order - 1) * divergence)
    for _ in range(_HALVINGS):
        units = whole_units(program, (1 - share) * p + share / program.n_classes)
        worst = divergence_above(program, units, order)
        if worst <= divergence:
            return units, worst, share
        moment = math.exp(min((order - 1) * worst, 700.0)) * (1 + 1e-12)
        share += (1 - share) * (max(moment - limit, 0.0) / (moment - 1) + 1e-14)
    raise ArithmeticError(f"no repair of a table of divergence {worst}")


def divergence_above(program: Program, units: NDArray[np.int64], order: float) -> float:
    """Return a bound on the largest Rényi divergence of a move, in nats, rounding included.

    Infinite if a class that one side may release has no unit on the other, and beyond floats.
    """
    p = units / (UNITS * program.histograms.sizes.astype(np.float64))
    logs = np.full(p.shape, -np.inf)
    np.log(p, out=logs, where=p > 0)
    worst = 0.0
    for x, y in program.both_orders():
        possible, possible_there = p[x] > 0, p[y] > 0
        if (possible & ~possible_there).any():
            return math.inf
        first, second = np.where(possible, logs[x], 0.0), np.where(possible, logs[y], 0.0)
        # Of p two round-offs, of logarithms in proportion: an error of the exponent.
        error = 2 * ELEMENTARY * (2 + np.abs(first) + np.abs(second))
        powers = (order - 1) * (first - second + error)
        if powers.max() > _LARGEST_POWER:
            return math.inf
        worst = max(worst, float((p[x] * np.exp(powers)).sum(axis=1).max()))
    worst *= 1 + (program.n_classes + 8) * ELEMENTARY
    return math.log(worst) / (order - 1) * (1 + ELEMENTARY)
