"""From a solver's point to a mechanism that is private for certain, and what it is worth.

Nothing here trusts a solver. Probabilities become whole multiples of a unit, whose sums are exact;
mixing with the uniform label makes up for what is violated; the result is checked over all moves
with every rounding counted against it (docs/best-label.md#the-repair).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base.rounding import UNIT_ROUNDOFF, round_float_down
from studies.best_label.objective import WEIGHT_ROUNDINGS
from studies.best_label.program import Program
from studies.best_label.sorted_histograms import TieGroups

# Probabilities of tie groups are whole multiples of one part in this many.
UNITS = 1 << 52
_TRIES = 60
# The uniform label has at least this share, if it is needed: a few units for every class.
_LEAST_SHARE = 2.0**-44
# A violation is off by this in floats: e^epsilon, two quotients, a product, a difference.
_ROUNDING = 16 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class TableCertificate:
    """What is proven of a table.

    Attributes:
        holds: it is private as claimed, over all moves.
        worst: a bound on the delta that it needs, in floating point.
        uniform_share: the share of the uniform label.
        utility: a lower bound on the objective.
        upper_bound: a bound on the objective of every mechanism that is as private.
    """

    holds: bool
    worst: float
    uniform_share: float
    utility: float
    upper_bound: float

    @property
    def gap(self) -> float:
        """How much better any mechanism can be, as a share of the bound."""
        return 1 - self.utility / self.upper_bound


class RepairedTable(NamedTuple):
    """A table that is private for certain.

    Attributes:
        units: (groups,) int, its probabilities in multiples of 1 / UNITS.
        delta: its `needed_delta`.
        uniform_share: the share of the uniform label.
    """

    units: NDArray[np.int64]
    delta: float
    uniform_share: float


def needed_delta(program: Program, units: NDArray[np.int64]) -> float:
    """Return a bound on the delta at which a table is epsilon-DP over all moves.

    Args:
        program: of the table's size and epsilon.
        units: (groups,) int; the exact probability of each class of group g is units_g / (UNITS
            sizes_g).
    """
    p = probabilities(program.histograms, units)
    # The bound counts two round-offs of each p, those of the growth and of the product, and the
    # sum's.
    growth = program.growth * (1 - _ROUNDING)
    worst = 0.0
    for x, y in program.iterate_moves():
        differences = np.maximum(p[x] * (1 + _ROUNDING) - growth * p[y], 0.0)
        worst = max(worst, float(differences.sum(axis=1).max()))
    return worst * (1 + program.n_classes * _ROUNDING)


def probabilities(histograms: TieGroups, units: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Pr[each class of the tie group], (groups,), rounded once."""
    return units / (UNITS * histograms.sizes.astype(np.float64))


def repair(program: Program, p: NDArray[np.float64]) -> RepairedTable:
    """Return a private table near p.

    If p needs v > delta, (1 - s) p + s / C needs at most (1 - s) v - s (e^epsilon - 1) / C. The
    uniform label, s = 1, is private for every epsilon.

    Args:
        program: of the table's size, epsilon and delta.
        p: about the best probabilities, (groups,).

    Raises:
        ArithmeticError: floats cannot tell the two apart, as for an epsilon near 1e-15.
    """
    C = program.n_classes
    share = 0.0
    for count in range(_TRIES):
        units = round_to_units(program, (1 - share) * p + share / C)
        delta = needed_delta(program, units)
        if delta <= program.delta:
            return RepairedTable(units, delta, share)
        step = (1 - share) * uniform_share(program, delta + 8 * C * _ROUNDING)
        # No class may be left without a unit if e^epsilon is beyond UNITS.
        share = min(1.0, max(share + step, _LEAST_SHARE * 2.0**count))
    raise ArithmeticError(f"no repair of a table that is off by {delta}")


def uniform_share(program: Program, needed: float) -> float:
    """Return the share of the uniform label that makes up for a delta that is too large."""
    over = max(needed - program.delta, 0.0)
    return over / (over + program.delta + math.expm1(program.epsilon) / program.n_classes)


def round_to_units(program: Program, p: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return units near p, whole numbers that add up to UNITS in every histogram, (groups,)."""
    sizes, starts = program.histograms.sizes, program.histograms.starts
    masses = np.maximum(p, 0.0) * sizes
    masses /= np.add.reduceat(masses, starts)[program.histograms.owners]
    units = np.floor(masses * UNITS).astype(np.int64)
    missing_units = UNITS - np.add.reduceat(units, starts)
    is_largest = np.maximum.reduceat(masses, starts)[program.histograms.owners] == masses
    largest = np.flatnonzero(is_largest)
    _, first_of_histogram = np.unique(program.histograms.owners[largest], return_index=True)
    units[largest[first_of_histogram]] += missing_units
    return units


def utility_lower_bound(program: Program, units: NDArray[np.int64]) -> float:
    """Return a lower bound on the sum of the program's weights times probabilities, both >= 0."""
    terms = program.weights * probabilities(program.histograms, units)
    return float(round_float_down(math.fsum(terms), WEIGHT_ROUNDINGS + 4))
