"""What exact coins cost, by their floats."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.audit.coins import coins_delta


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 5.0])
def test_coins_cost_what_their_floats_say(epsilon):
    table = np.array([[0.9, 0.1], [0.7, 0.3], [0.25, 0.75], [0.4, 0.6]])
    ones = [Fraction(0.1), Fraction(0.3), 1 - Fraction(0.25), 1 - Fraction(0.4)]
    worst = max(
        max(p - Fraction(math.exp(epsilon)) * q, Fraction(0))
        for here, there in itertools.pairwise(ones)
        for a, b in ((here, there), (there, here))
        for p, q in ((a, b), (1 - a, 1 - b))
    )
    assert float(coins_delta(table, epsilon)) == pytest.approx(float(worst), rel=1e-12)


def test_neither_order_of_neighbours_is_overlooked():
    """Label 1 at 0.01 and at 0.4: only who knows the former's votes is told much by it."""
    table = np.array([[0.99, 0.01], [0.6, 0.4], [0.55, 0.45]])
    exact = Fraction(0.4) - Fraction(math.e) * Fraction(0.01)
    for rows in (table, table[::-1]):
        assert float(coins_delta(rows, 1.0)) == pytest.approx(float(exact), rel=1e-12)
