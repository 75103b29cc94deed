"""Integrals of products over classes, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.labels.histograms import merge_histograms
from private_ensembles.labels.product_integrals import gauss_legendre, leave_one_out_integrals


def exact(factors):
    """The integral over [0, 1] of the product of 1 - q t, over all q, in fractions."""
    # In whole multiples of 1 / unit to the power of how many factors there are: Fraction would look
    # for a common divisor at each step.
    unit = max((q.denominator for q in factors), default=1)
    polynomial = [1]
    for q in factors:
        multiple = int(q * unit)
        longer = [unit * coefficient for coefficient in polynomial] + [0]
        for power, coefficient in enumerate(polynomial):
            longer[power + 1] -= multiple * coefficient
        polynomial = longer
    terms = (Fraction(coefficient, power + 1) for power, coefficient in enumerate(polynomial))
    return sum(terms) / unit ** len(factors)


# Few classes; so many that the product is nothing beyond t = 1 / 7, and one class that leads.
@pytest.mark.parametrize("row", [[3, 2, 2, 0], [1] * 300, [9] + [0] * 299, [5, 4] + [1] * 100])
def test_integrals_are_within_their_bound_of_fractions(row):
    merged = merge_histograms(np.array([row]))
    chances = np.exp(-0.1 * merged.gap)
    found = leave_one_out_integrals(merged, chances, np.ones(len(chances), dtype=bool))
    for j, value in enumerate(found):
        others = []
        for i, (q, times) in enumerate(zip(chances, merged.multiplicity, strict=True)):
            others += [Fraction(float(q))] * int(times - (i == j))
        wanted = exact(others)
        assert abs(Fraction(float(value)) - wanted) <= Fraction(1e-16) + Fraction(1e-12) * wanted


def test_nodes_are_kept_and_cannot_be_written_to():
    nodes, weights = gauss_legendre(5)
    assert gauss_legendre(5)[0] is nodes
    with pytest.raises(ValueError, match="read-only"):
        weights[0] = 0.0
