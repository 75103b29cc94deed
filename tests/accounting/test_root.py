"""The root finder: what is returned was asked and held, and lies beside what fails."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.accounting.root import (
    bisect,
    bisect_integers,
    largest,
    largest_within,
    least_holding,
)


@given(st.floats(1e-6, 1e6), st.booleans())
def test_bisection_ends_beside_the_boundary_on_the_side_that_holds(boundary, above):
    def holds(x):
        return x >= boundary if above else x <= boundary

    ends = (0.0, 2e6) if above else (2e6, 0.0)
    found = bisect(holds, *ends, relative=1e-9)
    assert holds(found)
    assert found == pytest.approx(boundary, rel=1.1e-9)


@given(st.integers(-50, 50), st.integers(1, 60), st.integers(0, 60))
def test_integers_next_to_each_other_differ(boundary, below, above):
    assert bisect_integers(lambda n: n >= boundary, boundary - below, boundary + above) == boundary
    assert bisect_integers(lambda n: n <= boundary, boundary + below, boundary - above) == boundary


@given(st.floats(1e-5, 1e5), st.floats(1e-3, 1e3))
def test_the_largest_is_found_from_wherever_the_search_starts(boundary, start):
    found = largest(lambda x: x <= boundary, start, relative=1e-7)
    assert boundary * (1 - 1.1e-7) <= found <= boundary


@given(st.floats(1e-5, 1e5), st.floats(1e-3, 1e3), st.sampled_from([0.5, 1.0, 2.0, 7.0]))
def test_costs_show_the_way_to_the_largest_within_a_budget(boundary, start, power):
    asked = []

    def cost(x):
        asked.append(x)
        return (x / boundary) ** power + 0.1 * x / boundary

    found = largest_within(cost, 1.1, start)
    assert cost(found) <= 1.1 < cost(found * (1 + 1.1e-7))
    assert found in asked
    assert len(asked) <= 45


@given(st.floats(0.01, 100.0), st.floats(0.01, 100.0))
def test_steps_and_costs_without_end_are_searched_as_well(boundary, start):
    for cost in (
        lambda x: math.ceil(8 * x / boundary),
        lambda x: math.inf if x > boundary else 8 * x / boundary,
        lambda x: 0.0 if x < boundary / 2 else 7.0 if x <= boundary else 9.0,
    ):
        found = largest_within(cost, 8.0, start)
        assert boundary * (1 - 1.1e-7) <= found <= boundary * (1 + 1e-12)


def test_what_holds_everywhere_or_nowhere_ends_the_search():
    assert math.isfinite(largest(lambda x: True, 1.0))
    with pytest.raises(ValueError, match="start"):
        largest(lambda x: False, 1.0)
    assert largest_within(lambda x: 0.0, 1.0, 1.0) > 1e9
    for nowhere in (2.0, math.inf):
        with pytest.raises(ValueError, match="start"):
            largest_within(lambda x, cost=nowhere: cost, 1.0, 1.0)


@given(st.floats(0.1, 0.9), st.floats(1.01, 5))
def test_least_noise_is_found_where_noise_does_not_always_help(start, width):
    def holds(noise):  # holds, fails again, holds for good
        return start <= noise < start * 1.02 * width or noise >= 8

    assert least_holding(holds, 0.05, 10.0) == pytest.approx(start, rel=1e-8)
    assert holds(least_holding(holds, 0.05, 10.0))


def test_points_at_which_the_claim_surely_fails_are_not_asked():
    asked = []

    def holds(noise):
        asked.append(noise)
        return noise >= 3

    plain = least_holding(holds, 0.05, 10.0, points=1000)
    every, asked[:] = len(asked), []
    assert least_holding(holds, 0.05, 10.0, points=1000, fails=lambda noise: noise < 2.9) == plain
    assert len(asked) < every / 10
    assert least_holding(holds, 0.05, 10.0, points=1000, fails=lambda noise: noise < 0) == plain


def test_a_grid_is_refused_where_nothing_can_be_proven():
    with pytest.raises(ValueError, match="low, high"):
        least_holding(lambda noise: True, 2.0, 1.0)
    with pytest.raises(ValueError, match="high"):
        least_holding(lambda noise: False, 1.0, 2.0)


def test_the_low_end_is_found_where_the_claim_holds_from_there_on():
    assert least_holding(lambda noise: True, 0.05, 10.0) == 0.05
    assert least_holding(lambda noise: noise < 0.1 or noise > 9, 0.05, 10.0) == 0.05
