"""What NZC states of its own mathematics, worked out again: what its labels cost, and two lemmas.

As `statements_of_darrm`; the rows are in ``nzc_statements.csv`` and, of the printed costs, in
``nzc_table1.csv``.
"""

import math
from collections.abc import Mapping

from private_ensembles.noise.laplace import log_difference_tail
from private_ensembles.nzc.truth import (
    claimed_readings,
    delta_by_lead,
    immutability_constant,
    lead_one_epsilon,
)

Cell = Mapping[str, str]

# Table 1: c, gamma (read as a scale), labels and delta of the two data sets; half a unit of "≈ 0".
CONSTANT, SCALE = 1e100, 1e10
LABELS = {"mnist": 9000, "svhn": 10000}
DELTA = {"mnist": 1e-5, "svhn": 1e-6}
ALMOST_NOTHING = 0.005
# Lemma 1: its chance of failure tau, for two classes and noise of scale 1.
CLASSES, TAU = 2, 1e-5


def cost_of_one_label(cell: Cell) -> float:
    """Table 1's epsilon: that of a single label where one vote decides (docs/nzc.md)."""
    return lead_one_epsilon(CONSTANT, SCALE, DELTA[cell["dataset"]])


def theorem_4_forgets_the_constant(cell: Cell) -> bool:
    """Theorem 4 gives "≈ 0" for counts that differ by 1, while c moves with the ArgMax."""
    dataset = cell["dataset"]
    claimed = claimed_readings(SCALE, LABELS[dataset], DELTA[dataset])["scale"]
    differs = cost_of_one_label(cell) > ALMOST_NOTHING
    return cell["published"] == "0" and claimed < ALMOST_NOTHING and differs


def failure_of_lemma_1(cell: Cell) -> float:
    """Lemma 1: how often noise changes the label of two tied classes, over its tau.

    The label changes if the other class's noise exceeds the raised one's by c.
    """
    c = immutability_constant(CLASSES, TAU, gamma=1.0)
    return math.exp(float(log_difference_tail(c))) / TAU


def lemma_1_bounds_single_noises(cell: Cell) -> bool:
    """At Lemma 1's c a single noise exceeds it with tau / L, a difference of two more often."""
    c = immutability_constant(CLASSES, TAU, gamma=1.0)
    single = CLASSES * math.exp(-c) / TAU
    holds = math.isclose(single, 1.0, rel_tol=1e-9) and failure_of_lemma_1(cell) > 1
    return cell["published"] == "1" and holds


def delta_beyond_a_lead_of_two(cell: Cell) -> float:
    """Theorem 3: the largest delta at epsilon = 0 of 9 votes in 3 classes with a larger lead."""
    kind = {"ties": "first", "constant": CONSTANT, "noise_scale": SCALE}
    rows = delta_by_lead(9, 3, 0.0, **kind)
    return max(row.most for row in rows if row.lead > 2)
