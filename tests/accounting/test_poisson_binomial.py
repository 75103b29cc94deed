"""Poisson-binomial pmfs against enumeration of all outcomes."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from private_ensembles.accounting.poisson_binomial import (
    binomial_pmf,
    binomial_table,
    grouped_pmf,
    pmf,
)


def enumerate_pmf(p):
    out = np.zeros(len(p) + 1)
    for outcome in product((0, 1), repeat=len(p)):
        out[sum(outcome)] += np.prod(np.where(outcome, p, 1 - np.array(p)))
    return out


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_pmf_equals_enumeration_of_all_outcomes(n):
    p = np.random.default_rng(n).random((4, n))
    np.testing.assert_allclose(pmf(p), [enumerate_pmf(row) for row in p], atol=1e-14)


def test_pmf_of_certain_events_has_no_spread():
    assert pmf([0.0, 1.0, 1.0]).tolist() == [0, 0, 1, 0]


def test_pmf_sums_to_one_for_many_teachers():
    p = np.random.default_rng(0).random((3, 1001))
    np.testing.assert_allclose(pmf(p).sum(axis=-1), 1, atol=1e-12)


def test_binomial_table_equals_exact_binomials():
    table = binomial_table(20, 0.3)
    exact = [[comb(n, s) * 0.3**s * 0.7 ** (n - s) for s in range(21)] for n in range(21)]
    np.testing.assert_allclose(table, exact, atol=1e-15)
    np.testing.assert_array_equal(binomial_table(20, 0.3, 4), table[:, :4])


def test_grouped_pmf_equals_pmf_of_the_spelled_out_groups():
    expected = pmf([0.2] * 3 + [0.9] * 2 + [0.0])
    np.testing.assert_allclose(grouped_pmf([0.2, 0.9, 0.0], [3, 2, 1]), expected, atol=1e-15)


@pytest.mark.parametrize(
    "groups", [{0.9: 400, 0.95: 300}, {0.97: 500, 0.01: 200, 0.8: 300}, {0.999: 600, 1.0: 9}]
)
def test_large_groups_whose_least_sums_are_negligible_keep_their_places(groups):
    """Each begins where it is likely, and the sum where all of them do."""
    expected = pmf([p for p, size in groups.items() for _ in range(size)])
    found = grouped_pmf(list(groups), list(groups.values()))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert found[0] == 0
    assert (found[expected > 1e-14] > 0).all()


@pytest.mark.parametrize("size", [0, 1, 2, 11, 1001])
@pytest.mark.parametrize("probability", [0.0, 1e-6, 0.1, 0.5, 0.75, 1 - 1e-6, 1.0])
def test_binomial_pmf_equals_scipys(size, probability):
    expected = stats.binom.pmf(np.arange(size + 1), size, probability)
    ours = binomial_pmf(size, probability)
    np.testing.assert_allclose(ours, expected, rtol=3e-12, atol=1e-300)
    assert abs(ours.sum() - 1) < 1e-14
