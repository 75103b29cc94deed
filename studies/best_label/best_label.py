"""The best (epsilon, delta)-DP label of K votes on C classes, with its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from studies.best_label import interior_point
from studies.best_label.certificate import (
    TableCertificate,
    probabilities,
    repair,
    uniform_share,
    utility_lower_bound,
)
from studies.best_label.objective import correct_label_weights
from studies.best_label.program import Program
from studies.best_label.sorted_histograms import TieGroups

# More moves times classes than this take minutes.
MOST_MOVES = 100_000
# Rows are added at most so many times.
_ROUNDS = 40
# The label comes as near the bound as it can in a few rounds, and then near enough.
_SOLVED, _FEW, _NEARLY_SOLVED = 1e-9, 2, 1e-6
# Up to this epsilon, e^epsilon is a float.
_LARGEST_EPSILON = 700.0


@dataclass(frozen=True, eq=False)
class BestLabel:
    """A mechanism that releases one label of a vote count, optimal up to `certificate.gap`.

    Attributes:
        epsilon, delta: what the label costs.
        histograms: the sorted histograms and their tie groups.
        units: (groups,) int, the probability of each tie group, whose classes share it evenly, in
            multiples of 1 / UNITS; those of a histogram add up to UNITS.
        certificate: what is proven of it.
    """

    epsilon: float
    delta: float
    histograms: TieGroups
    units: NDArray[np.int64]
    certificate: TableCertificate

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Pr[each class of the tie group], (groups,), rounded once."""
        return probabilities(self.histograms, self.units)

    def distribution(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return Pr[label] of histograms in any order, (queries, classes), each rounded once.

        Args:
            counts: (queries, classes) int.

        Raises:
            ValueError: the counts are of other numbers of teachers or classes.
        """
        return self.probabilities[self.histograms.groups_of(counts)]


@lru_cache(maxsize=128)
def best_label(
    n_teachers: int, n_classes: int, epsilon: float, delta: float = 0.0, *, accuracy: float
) -> BestLabel:
    """Return the (epsilon, delta)-DP label that is right most often; solved once per arguments.

    Neighbours differ by one vote.

    Args:
        n_teachers, n_classes: the size of the votes.
        epsilon: in (0, 700].
        delta: in [0, 1).
        accuracy: of one teacher, in (1/C, 1). Expected right labels are maximised if each of K
            teachers is right with that probability and all errors are equally likely.

    Raises:
        ValueError: an argument is out of range, or the size would take minutes.

    References:
        docs/best-label.md.

    >>> best = best_label(11, 3, 0.2676, accuracy=0.7)
    >>> round(best.certificate.utility, 3), best.certificate.gap < 1e-5
    (0.648, True)
    """
    checks.check_range(0, _LARGEST_EPSILON, epsilon=epsilon, low_allowed=False)
    checks.check_probability(delta=delta, one=False)
    program = Program(n_teachers, n_classes, epsilon, delta)
    size = program.moves.pairs.size // 2 * n_classes
    if size > MOST_MOVES:
        raise ValueError(
            f"n_teachers = {n_teachers}, n_classes = {n_classes}: {size:,} moves times classes: "
            f"must be at most {MOST_MOVES:,}"
        )
    program.weights = correct_label_weights(program.histograms, accuracy)
    for count in range(_ROUNDS):
        p, multipliers = interior_point.solve(program)
        bound, rows = program.upper_bound(multipliers), program.row_count
        share = uniform_share(program, program.add_violated_rows(p))
        utility = (1 - share) * float(program.weights @ p) + share / n_classes
        gap = _SOLVED if count < _FEW else _NEARLY_SOLVED
        if utility > (1 - gap) * bound or program.row_count == rows:
            break
    table = repair(program, p)
    certificate = TableCertificate(
        table.delta <= delta,
        table.delta,
        table.uniform_share,
        utility_lower_bound(program, table.units),
        min(bound, 1.0),
    )
    return BestLabel(epsilon, delta, program.histograms, table.units, certificate)
