"""Composition bounds against exact enumeration, dp-accounting and the papers' own numbers."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.accounting import composition
from private_ensembles.accounting.composition import (
    general_composition,
    optimal_composition,
    rdp_to_dp,
    simple_composition,
)
from tests.accounting.bound_samplers import leaking_response_delta

# Printed in DaRRM's Tables 2, 5, 7 and 9: (epsilon, m, Q, epsilon_total, delta_total).
PRINTED = [
    ("0.0892", 1, 20, "1.704", "0.002"),
    ("0.0892", 1, 100, "4.202", "0.010"),
    ("0.0892", 3, 20, "5.352", "0.006"),
    ("0.0892", 3, 50, "9.901", "0.015"),
    ("0.0892", 3, 100, "15.044", "0.030"),
    ("0.0852", 3, 100, "14.219", "0.030"),
    ("0.0892", 5, 50, "18.428", "0.025"),
    ("0.0852", 7, 100, "42.873", "0.068"),
]


@pytest.mark.parametrize(("epsilon", "m", "queries", "total", "delta_total"), PRINTED)
def test_general_composition_gives_the_printed_totals(epsilon, m, queries, total, delta_total):
    per_query = float(Fraction(epsilon) * m), float(Fraction("0.0001") * m)
    result = general_composition(*per_query, queries, 1e-4)
    assert f"{result.epsilon:.3f}" == total
    assert f"{result.delta:.3f}" == delta_total


@settings(max_examples=60, deadline=None)
@given(
    epsilon=st.floats(1e-4, 4),
    delta=st.sampled_from([0.0, 1e-9, 1e-4, 0.05]),
    k=st.integers(1, 7),
    slack=st.floats(1e-9, 0.9),
)
def test_optimal_composition_is_the_least_epsilon_that_enumeration_allows(epsilon, delta, k, slack):
    with mpmath.workdps(50):
        leaked = leaking_response_delta(0.0, delta, k, 0)
        target = float(leaked + slack * (1 - delta) ** k * 0.999)
        result = optimal_composition(epsilon, delta, k, target)
        assert leaking_response_delta(epsilon, delta, k, result.epsilon) <= target
        if result.epsilon > 0:
            below = result.epsilon * (1 - 1e-9) - 1e-12
            assert leaking_response_delta(epsilon, delta, k, below) > target


def test_optimal_composition_agrees_with_the_printed_points_of_its_theorem():
    epsilon, k = 0.7, 6
    for i in range(k // 2 + 1):
        # delta_i of Theorem 3.3 as printed by Kairouz, Oh and Viswanath.
        terms = (
            math.comb(k, j) * (math.exp((k - j) * epsilon) - math.exp((k - 2 * i + j) * epsilon))
            for j in range(i)
        )
        delta_i = math.fsum(terms) / (1 + math.exp(epsilon)) ** k
        found = optimal_composition(epsilon, 0.0, k, delta_i * (1 + 1e-12)).epsilon
        assert found == pytest.approx((k - 2 * i) * epsilon, abs=1e-9)


def test_optimal_composition_never_exceeds_general_or_simple():
    for epsilon, delta, k in itertools.product([0.01, 0.2676, 2.0], [0.0, 3e-4], [1, 2, 20, 501]):
        published = general_composition(epsilon, delta, k, 1e-4)
        assert optimal_composition(epsilon, delta, k, published.delta).epsilon <= published.epsilon
        assert simple_composition(epsilon, delta, k).epsilon >= published.epsilon


def test_leaks_beyond_the_total_delta_leave_no_finite_epsilon():
    assert optimal_composition(0.1, 0.01, 10, 0.05).epsilon == math.inf
    assert optimal_composition(0.1, 1.0, 10, 0.5).epsilon == math.inf
    assert optimal_composition(0.1, 0.01, 10, 1.0).epsilon == 0


def test_optimal_composition_of_thousands_of_releases_neither_overflows_nor_underflows():
    result = optimal_composition(5.0, 0.0, 3000, 1e-5)
    assert 0.98 * 15000 * math.tanh(2.5) < result.epsilon < 15000


def test_simple_composition_rounds_up_exactly():
    assert simple_composition(1.0, 0.125, 5) == composition.Composition(5.0, 0.625)
    total = simple_composition(0.2676, 3e-4, 20)
    assert (
        Fraction(total.epsilon)
        >= 20 * Fraction(0.2676)
        > Fraction(math.nextafter(total.epsilon, 0))
    )
    assert simple_composition(1.0, 0.3, 9).delta == 1


def test_rdp_to_dp_bounds_the_gaussian_mechanism_and_improved_is_tighter():
    orders = np.arange(1.5, 200, 0.5)
    sigma, delta = 2.0, 1e-5
    rdp = orders / (2 * sigma**2)
    classic, _ = rdp_to_dp(orders, rdp, delta, "classic")
    improved, order = rdp_to_dp(orders, rdp, delta, "improved")
    # Balle and Wang (2018): the exact epsilon of sensitivity 1, sigma 2, delta 1e-5.
    normal = mpmath.ncdf
    exact = mpmath.findroot(
        lambda e: (
            normal(1 / (2 * sigma) - e * sigma)
            - mpmath.exp(e) * normal(-1 / (2 * sigma) - e * sigma)
            - delta
        ),
        2.0,
    )
    assert exact < improved < classic
    assert order in orders
    from dp_accounting.rdp import compute_epsilon

    assert improved == pytest.approx(compute_epsilon(orders, rdp, delta)[0], rel=1e-12)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: rdp_to_dp([2.0, 3.0], [1.0], 0.1), "shapes"),
        (lambda: rdp_to_dp([2.0], [1.0], 0.1, "best"), "conversion"),
    ],
)
def test_arguments_out_of_range_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
