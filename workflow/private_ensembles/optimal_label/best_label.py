"""The best (epsilon, delta)-DP label of K votes on C classes, with its certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.optimal_label import first_order, interior
from private_ensembles.optimal_label.certificate import (
    UNITS,
    Certificate,
    needed_delta,
    probabilities,
    repair,
    utility_below,
)
from private_ensembles.optimal_label.objective import leaders, right_weights
from private_ensembles.optimal_label.program import Program
from private_ensembles.optimal_label.sorted_histograms import TieGroups

# Up to so many moves times classes a factorisation is faster, and finds the optimum itself.
FACTORISED = 100_000
# Rounds of rows, steps between two of them, and when solutions count as private.
_ROUNDS, _STEPS, _SOLVED = 40, 300, 1e-8
# How far a first-order method may stay below the bound, as a share of it.
GAP = 0.01


@dataclass(frozen=True, eq=False)
class BestLabel:
    """A mechanism that releases one label of a vote count, optimal up to `certificate.gap`.

    units: (G,) whole multiples of 1 / UNITS, the probability of each tie group, whose classes share
    it evenly; those of a histogram add up to UNITS.
    """

    epsilon: float
    delta: float
    histograms: TieGroups
    units: NDArray[np.int64]
    certificate: Certificate

    def distribution(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return Pr[label] of histograms (Q, C) in any order, (Q, C), each rounded once.

        Raises ValueError for counts of other numbers of teachers or classes.
        """
        groups = self.histograms.groups_of(counts)
        return (self.units / (UNITS * self.histograms.sizes.astype(np.float64)))[groups]


@lru_cache(maxsize=128)
def best_label(
    n_teachers: int,
    n_classes: int,
    epsilon: float,
    delta: float = 0.0,
    *,
    accuracy: float | None = None,
    lead: int | None = None,
) -> BestLabel:
    """Return the (epsilon, delta)-DP label that is right most often; solved once per arguments.

    >>> found = best_label(11, 3, 0.2676, accuracy=0.7)
    >>> round(found.certificate.utility, 3), found.certificate.gap < 1e-5
    (0.648, True)

    One vote moves between neighbours. accuracy: of one teacher, in (1/C, 1): expected right labels
    are maximised where each of K teachers is right with that probability and all errors are as
    likely. lead: in its place the least probability of the leader over all histograms with such a
    lead or a larger one, in votes, is maximised, for which no accuracy has to be known. epsilon >
    0; delta in [0, 1). Raises ValueError for arguments out of range, for both or neither of
    accuracy and lead, and for `lead` at sizes beyond FACTORISED. Source: docs/best-label.md.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon = {epsilon}: must be a finite number > 0")
    if not 0 <= delta < 1:
        raise ValueError(f"delta = {delta}: must be in [0, 1)")
    if (accuracy is None) == (lead is None):
        raise ValueError("accuracy, lead: exactly one of them must be given")
    program = Program(n_teachers, n_classes, epsilon, delta)
    small = program.moves.pairs.size * n_classes <= 2 * FACTORISED
    if accuracy is not None:
        program.weights = right_weights(program.histograms, accuracy)
        units, certificate = _factorised(program) if small else _by_steps(program)
    else:
        if not small:
            raise ValueError(f"lead = {lead}: is for smaller n_teachers, n_classes only")
        units, certificate = _factorised(program, leaders(program.histograms, lead))
    return BestLabel(epsilon, delta, program.histograms, units, certificate)


def _factorised(program: Program, least: NDArray | None = None) -> tuple[NDArray, Certificate]:
    """Solve, add what is violated, solve again."""
    for _ in range(_ROUNDS):
        p, multipliers, objective = interior.solve(program, least)
        bound = program.upper_bound(multipliers, objective)
        worst, _ = program.add_violated(p)
        if worst <= program.delta + _SOLVED:
            break
    return _certified(program, p, bound, least)


def _by_steps(program: Program) -> tuple[NDArray, Certificate]:
    """Steps from the exponential mechanism, rows as they are violated, until the gap is small."""
    at = first_order.Iterates(_exponential(program), np.zeros(len(program.singles)))
    bound, best, point = math.inf, -math.inf, at.p
    for _ in range(_ROUNDS):
        at = first_order.improve(program, at, _STEPS)
        bound = min(bound, program.upper_bound(at.multipliers))
        worst, places = program.add_violated(at.p)
        multipliers = np.zeros(len(program.singles) + program.events.shape[0])
        multipliers[places] = at.multipliers
        at.multipliers = multipliers
        over = max(worst - program.delta, 0.0)
        share = over / (over + program.delta + math.expm1(program.epsilon) / program.n_classes)
        about = (1 - share) * float(program.weights @ at.p) + share / program.n_classes
        if about > best:
            best, point = about, at.p
        if best > (1 - GAP) * bound:
            break
    return _certified(program, point, bound)


def _exponential(program: Program) -> NDArray[np.float64]:
    """Pr[class] = e^(epsilon n / 2) / sum: epsilon-DP (McSherry and Talwar 2007)."""
    given = program.histograms
    weights = np.exp(program.epsilon / 2 * (given.votes - given.votes[given.starts][given.owners]))
    return weights / np.add.reduceat(weights * given.sizes, given.starts)[given.owners]


def _certified(
    program: Program, p: NDArray, bound: float, least: NDArray | None = None
) -> tuple[NDArray, Certificate]:
    units, worst, mixed = repair(program, p)
    if least is None:
        utility = utility_below(program, units, program.weights)
    else:
        utility = float(probabilities(program, units)[least].min()) * (1 - 2**-52)
    return units, Certificate(worst <= program.delta, worst, mixed, utility, min(bound, 1.0))
