"""The best (epsilon, delta)-DP label of K votes on C classes, with its certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.optimal_label import first_order, interior_point
from private_ensembles.optimal_label.certificate import (
    UNITS,
    TableCertificate,
    probabilities,
    repair,
    uniform_share,
    utility_below,
)
from private_ensembles.optimal_label.objective import leaders, weights_of
from private_ensembles.optimal_label.program import Program
from private_ensembles.optimal_label.sorted_histograms import TieGroups
from private_ensembles.votes.synthetic import ConsensusProfile

# Up to this many moves times classes a factorisation is faster, and finds the optimum itself.
FACTORISED = 100_000
# Rounds of rows, and steps between two of them.
_ROUNDS, _STEPS = 40, 400
# How near the bound a factorisation comes: as near as it can in a few rounds, then near enough.
_SOLVED, _FEW, _NEARLY_SOLVED = 1e-9, 2, 1e-6
# Searches for a private point after a round, and when what is left to repair is too little.
_PROJECTIONS, _PRIVATE = 4, 1e-8
# e^epsilon is a float up to here.
_LARGEST_EPSILON = 700.0
# How far a first-order method may stay below the bound, as a share of it.
GAP = 0.01


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A mechanism that releases one label of a vote count, optimal up to `certificate.gap`.

    units: (G,) whole multiples of 1 / UNITS, the probability of each tie group, whose classes share
    it evenly; those of a histogram add up to UNITS.
    """

    histograms: TieGroups
    units: NDArray[np.int64]
    certificate: TableCertificate

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Pr[each class of the tie group], (G,), rounded once."""
        return self.units / (UNITS * self.histograms.sizes.astype(np.float64))

    def shares(self, counts: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return units and tie groups of histograms (Q, C) in any order, (Q, C) each.

        units: those of a tie group are at its first class, all others are 0: a class drawn by
        these weights, and then one of its tie group by a fair die, has exactly the probability
        that is certified. Raises ValueError like `distribution`.
        """
        groups = self.histograms.groups_of(counts)
        classes = np.arange(groups.shape[1])
        first = (groups[:, :, None] == groups[:, None, :]).argmax(axis=1) == classes
        return np.where(first, self.units[groups], 0), groups

    def distribution(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return Pr[label] of histograms (Q, C) in any order, (Q, C), each rounded once.

        Raises ValueError for counts of other numbers of teachers or classes.
        """
        return self.probabilities[self.histograms.groups_of(counts)]


@dataclass(frozen=True, eq=False)
class BestLabel(LabelTable):
    """One label that is (epsilon, delta)-DP."""

    epsilon: float
    delta: float


@lru_cache(maxsize=128)
def best_label(
    n_teachers: int,
    n_classes: int,
    epsilon: float,
    delta: float = 0.0,
    *,
    accuracy: float | None = None,
    profile: ConsensusProfile | None = None,
    lead: int | None = None,
    gap: float | None = None,
    start: Callable[[NDArray, float], NDArray] | None = None,
) -> BestLabel:
    """Return the (epsilon, delta)-DP label that is right most often; solved once per arguments.

    >>> best = best_label(11, 3, 0.2676, accuracy=0.7)
    >>> round(best.certificate.utility, 3), best.certificate.gap < 1e-5
    (0.648, True)

    One vote moves between neighbours. accuracy: of one teacher, in (1/C, 1): expected right labels
    are maximised if each of K teachers is right with that probability and all errors are equally
    likely. profile: in its place, if queries are easy or hard, and taken for few other classes
    or many, as it says. lead: in its place the least probability of the leader over all histograms
    with such a lead or a larger one, in votes, is maximised, for which nothing has to be known of
    the teachers. epsilon: in (0, 700]; delta: in [0, 1). gap: the share of the bound that may be
    missing, in (0, 1), found in less time; by default the optimum itself up to FACTORISED, and GAP
    beyond. start: a private label to begin with if there is a gap, Pr[label] (H, C) of
    histograms and epsilon; what is returned is never right less often; the exponential mechanism by
    default. Raises ValueError for arguments out of range, unless one of accuracy, profile and lead
    is given, and for `lead` with a gap or at sizes beyond FACTORISED. Source: docs/best-label.md.
    """
    checks.within(0, _LARGEST_EPSILON, epsilon=epsilon, low_allowed=False)
    checks.probability(delta=delta, one=False)
    if sum(choice is not None for choice in (accuracy, profile, lead)) != 1:
        raise ValueError("accuracy, profile, lead: exactly one of them must be given")
    if gap is not None:
        checks.probability(gap=gap, zero=False, one=False)
    program = Program(n_teachers, n_classes, epsilon, delta)
    small = program.moves.pairs.size * n_classes <= 2 * FACTORISED
    if lead is None:
        program.weights = weights_of(program.histograms, accuracy, profile)
        least = GAP if gap is None else gap
        units, certificate = _right_most_often(program, small and gap is None, least, start)
    else:
        if not small or gap is not None:
            raise ValueError(f"lead = {lead}: is for smaller n_teachers, n_classes and no gap")
        units, certificate = _factorised(program, leaders(program.histograms, lead))
    return BestLabel(program.histograms, units, certificate, epsilon, delta)


def _right_most_often(
    program: Program,
    exact: bool,
    gap: float,
    begin: Callable[[NDArray, float], NDArray] | None,
) -> tuple[NDArray, TableCertificate]:
    """Solve by factorisations, or by steps if they are not wanted or HiGHS gives up."""
    if exact:
        try:
            return _factorised(program)
        except RuntimeError:
            pass
    return _by_steps(program, gap, begin)


def _factorised(program: Program, least: NDArray | None = None) -> tuple[NDArray, TableCertificate]:
    """Solve, add what is violated, solve again."""

    def worth(p: NDArray) -> float:
        return float(program.weights @ p) if least is None else float(p[least].min())

    for count in range(_ROUNDS):
        p, multipliers, objective = interior_point.solve(program, least)
        bound = program.upper_bound(multipliers, objective)
        rows = program.rows
        utility, p = _nearly_private(program, p, worth)
        near = _SOLVED if count < _FEW else _NEARLY_SOLVED
        if utility > (1 - near) * bound or program.rows == rows:
            break
    return _certified(program, p, bound, least)


def _by_steps(
    program: Program, gap: float, begin: Callable[[NDArray, float], NDArray] | None
) -> tuple[NDArray, TableCertificate]:
    """Steps from a private label, rows as they are violated, until the gap is small."""
    point = np.empty(program.size)
    counts = program.histograms.counts
    point[program.histograms.groups] = (begin or exponential)(counts, program.epsilon)
    at = first_order.start(program, point, first_order.least_weight(program, point))
    bound, best = math.inf, float(program.weights @ point)
    for _ in range(_ROUNDS):
        at = first_order.improve(program, at, _STEPS)
        bound = min(bound, program.upper_bound(program.extended(at.multipliers, at.singles)))
        utility, p = _nearly_private(program, at.p, lambda p: float(program.weights @ p))
        if utility > best:
            best, point = utility, p
        if best > (1 - gap) * bound:
            break
    return _certified(program, point, bound)


def _nearly_private(
    program: Program, p: NDArray, worth: Callable[[NDArray], float]
) -> tuple[float, NDArray]:
    """What the best point found near p is worth once it is private, and the point; adds rows."""
    candidates = []
    for count in range(1 + _PROJECTIONS):
        if count:
            p = first_order.nearest(program, p, _STEPS // 4)
        share = uniform_share(program, program.add_violated(p))
        candidates.append(((1 - share) * worth(p) + share / program.n_classes, count, p))
        if share < _PRIVATE:
            break
    utility, _, p = max(candidates)
    return utility, p


def exponential(counts: NDArray, epsilon: float) -> NDArray[np.float64]:
    """Return Pr[class] = e^(epsilon n / 2) / sum: epsilon-DP (McSherry and Talwar 2007)."""
    weights = np.exp(epsilon / 2 * (counts - counts.max(axis=1, keepdims=True)))
    return weights / weights.sum(axis=1, keepdims=True)


def _certified(
    program: Program, p: NDArray, bound: float, least: NDArray | None = None
) -> tuple[NDArray, TableCertificate]:
    units, worst, mixed = repair(program, p)
    if least is None:
        utility = utility_below(program, units, program.weights)
    else:
        utility = float(probabilities(program, units)[least].min()) * (1 - 2**-52)
    return units, TableCertificate(worst <= program.delta, worst, mixed, utility, min(bound, 1.0))
