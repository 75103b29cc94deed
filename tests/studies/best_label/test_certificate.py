"""Repair and check: what leaves is private in rational arithmetic, whatever came in."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from studies.best_label import certificate
from studies.best_label.certificate import UNITS, needed_delta, repair, uniform_share
from studies.best_label.objective import correct_label_weights
from studies.best_label.program import Program

from . import oracle
from .test_program import draw_table


def exact(program, units):
    return oracle.exact_delta(
        SimpleNamespace(epsilon=program.epsilon, histograms=program.histograms, units=units)
    )


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize(("K", "C"), [(4, 3), (5, 2)])
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 30.0])
def test_any_table_becomes_a_private_one(K, C, epsilon, delta):
    program = Program(K, C, epsilon, delta)
    for seed in range(3):
        p = draw_table(program, seed)
        units, needed, share = repair(program, p)
        np.testing.assert_array_equal(np.add.reduceat(units, program.histograms.starts), UNITS)
        assert (units >= 0).all()
        assert exact(program, units) <= needed <= delta
        # No more of the uniform label than the violation asks for.
        worst = uniform_share(program, program.add_violated_rows(p))
        assert share == pytest.approx(worst, rel=1e-4, abs=1e-9)


def test_what_is_needed_is_a_bound_and_near():
    program = Program(5, 3, 0.4, 0.0)
    for seed in range(5):
        units = certificate.round_to_units(program, draw_table(program, seed))
        found = needed_delta(program, units)
        assert exact(program, units) <= found
        assert found == pytest.approx(float(exact(program, units)), abs=1e-14)


def test_an_epsilon_that_floats_cannot_tell_from_0_is_refused_or_repaired():
    program = Program(4, 3, 1e-17, 0.0)
    with pytest.raises(ArithmeticError, match="no repair of a table that is off by"):
        repair(program, draw_table(program, 0))


def test_the_utility_is_a_lower_bound():
    """Of a dozen tables the nearest float is above the sum of some."""
    program = Program(5, 3, 0.4, 0.0)
    program.weights = correct_label_weights(program.histograms, 0.6)
    sizes = program.histograms.sizes.tolist()
    for seed in range(12):
        units, _, _ = repair(program, draw_table(program, seed))
        found = certificate.utility_lower_bound(program, units)
        terms = zip(program.weights.tolist(), units.tolist(), sizes, strict=True)
        value = sum(Fraction(w) * Fraction(u, UNITS * m) for w, u, m in terms)
        assert 0 <= value - Fraction(found) < Fraction(1, 10**13), seed
