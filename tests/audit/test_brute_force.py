"""Every mechanism on three classes and up to nine teachers: the audit against all histograms.

Brute force goes through all tuples of counts, all pairs between which one vote moves, both
directions and all sets of outcomes. Distributions are the module's own, quadratures included, which
tests/pate and tests/nzc compare with their definitions.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.audit import (
    delta_curve,
    enumerate_histograms,
    exact_delta,
    exact_epsilon,
    neighbour_pairs,
    reduced_histograms,
    renyi_curve,
)
from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from private_ensembles.labels.laws import exponential, gumbel
from private_ensembles.labels.lnmax_quadrature import lnmax_distribution
from private_ensembles.papers.nzc.mathematics.mechanism import label_distribution
from private_ensembles.papers.pate.mathematics.rounds import confident_round
from tests.audit import oracle
from tests.papers.pate.mathematics.oracle import interactive_passes

ERRORS = {"relative_error": 2e-12, "absolute_error": 2e-12}


def answered(counts, passes):
    """No answer, or one of three labels."""
    passes = passes[:, None]
    return np.hstack([1 - passes, passes * gnmax_distribution(counts, 1.5)])


def confident(counts):
    return answered(counts, confident_round(counts, 5.0, 2.0, 1.5).answer_probability)


def interactive(counts):
    """With one student's scores, the same for all histograms: not symmetric in the classes."""
    scores = np.broadcast_to([0.6, 0.3, 0.1], counts.shape)
    return answered(counts, interactive_passes(counts, scores, 5.0, 2.0))


MECHANISMS = {
    "gnmax": lambda counts: gnmax_distribution(counts, 3.0),
    "lnmax": lambda counts: lnmax_distribution(counts, 3.0),
    "exponential": lambda counts: gumbel.label_probabilities(counts, 0.3),
    "permute_and_flip": lambda counts: exponential.label_probabilities(counts, 0.3),
    "confident_gnmax": confident,
    "interactive_gnmax": interactive,
    "nzc": lambda counts: label_distribution(counts, ties="random")[0],
}
ASYMMETRIC = ("interactive_gnmax",)


@pytest.mark.parametrize(
    "n_teachers", [1, 2, 5, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 4, 6, 7, 8, 9))]
)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_three_classes_agree_with_brute_force_over_all_histograms(n_teachers, mechanism):
    distribution = MECHANISMS[mechanism]
    everything = oracle.all_histograms(n_teachers, 3)
    pairs = oracle.all_pairs(everything)
    assert np.array_equal(enumerate_histograms(n_teachers, 3), everything)
    matrix, listed = distribution(everything), neighbour_pairs(everything)
    rows, reduced = reduced_histograms(n_teachers, 3)
    short = matrix if mechanism in ASYMMETRIC else distribution(rows)
    few = listed if mechanism in ASYMMETRIC else reduced
    for delta in (1e-4, 1e-2):
        true = float(oracle.epsilon(matrix, pairs, delta))
        for table, relation in ((matrix, listed), (short, few)):
            upper = exact_epsilon(table, relation, delta, relative_error=1e-14)
            assert upper == pytest.approx(true, abs=1e-10)
            lower = exact_epsilon(table, relation, delta, relative_error=1e-14, side="lower")
            assert lower == pytest.approx(true, abs=1e-10)
            # Outwards by what the quadratures grant, and no further than that is worth.
            assert true <= exact_epsilon(table, relation, delta, **ERRORS)
            assert exact_epsilon(table, relation, delta, side="lower", **ERRORS) <= true
    true = float(oracle.delta(matrix, pairs, Fraction(math.exp(0.2))))
    assert exact_delta(matrix, listed, 0.2, relative_error=1e-14) == pytest.approx(true, abs=1e-10)
    curve = delta_curve(short, few, [0.0, 0.2], relative_error=1e-14)
    assert curve[1] == pytest.approx(true, abs=1e-10)
    if mechanism == "nzc":
        assert renyi_curve(matrix, listed, [3.0])[0] == math.inf
        return
    both = np.array(pairs + [(b, a) for a, b in pairs])
    moments = (matrix[both[:, 0]] ** 3 / matrix[both[:, 1]] ** 2).sum(axis=1)
    found = renyi_curve(short, few, [3.0], relative_error=1e-14)[0]
    assert found == pytest.approx(math.log(moments.max()) / 2, abs=1e-10)
