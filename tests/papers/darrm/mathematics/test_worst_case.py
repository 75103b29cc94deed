"""Largest costs over families of corners: exact ones, bounds, and when to stop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.papers.darrm.mathematics import worst_case
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.papers.darrm.mathematics.worst_case import (
    eight_corner_worst_case,
    series_worst_case,
    three_corner_worst_case,
)
from tests.papers.darrm.mathematics import oracle


@st.composite
def problems(draw, largest=5):
    K = draw(st.sampled_from([k for k in (1, 3, 5, 7) if k <= largest]))
    m = draw(st.floats(1, K))
    epsilon = draw(st.floats(1e-3, 3))
    Delta = draw(st.sampled_from([0.0, 1e-9, 1e-5, 1e-3, 0.02, 0.05]))
    delta = min(0.9, Delta * draw(st.floats(1, 5)))
    half = draw(st.lists(st.floats(0, 1), min_size=(K + 1) // 2, max_size=(K + 1) // 2))
    return np.array(half[::-1] + half), m, epsilon, Delta, delta


@pytest.mark.keeps(
    "papers.darrm.mathematics.worst_case:WorstCase",
    "papers.darrm.mathematics.worst_case:series_worst_case",
)
@settings(max_examples=30)
@given(problems(largest=7), st.integers(1, 5))
def test_looser_bounds_are_never_below_the_exact_one(case, order):
    gamma, m, epsilon, Delta, delta = case
    problem = PrivacyProblem(len(gamma) - 1, m, epsilon, Delta, delta)
    g = problem.odd_vector(gamma)
    exact = eight_corner_worst_case(problem, g)[0].upper
    series = series_worst_case(problem, g, order)
    tolerance = 1e-12 * (1 + problem.c)
    assert series.upper >= exact - tolerance
    assert three_corner_worst_case(problem, g).upper <= exact + tolerance


@settings(max_examples=12)
@given(problems())
def test_what_is_left_out_never_changes_the_exact_maximum(case):
    gamma, m, epsilon, Delta, delta = case
    problem = PrivacyProblem(len(gamma) - 1, m, epsilon, Delta, delta)
    found, exact = eight_corner_worst_case(problem, problem.odd_vector(gamma))
    assert exact
    worst = float(oracle.worst_cost(gamma, m, epsilon, Delta))
    assert found.upper == pytest.approx(worst, abs=1e-12 * (1 + problem.c))


def test_effort_that_runs_out_leaves_a_looser_bound():
    rng = np.random.default_rng(9)
    problem = PrivacyProblem(21, 3, 0.2, 0.02, 0.06)
    g = problem.odd_vector(oracle.random_gamma(rng, 21))
    exact, is_exact = eight_corner_worst_case(problem, g)
    loose, is_loose = eight_corner_worst_case(problem, g, effort=10)
    assert is_exact
    assert not is_loose
    assert loose.upper > exact.upper
    assert loose.upper <= series_worst_case(problem, g).upper + 1e-12


@pytest.mark.parametrize("Delta", [0.0, 1e-5, 0.02])
def test_three_corners_are_exact_for_monotone_gamma(Delta):
    rng = np.random.default_rng(3)
    for K in (5, 9, 15):
        half = np.sort(rng.random((K + 1) // 2))
        gamma = np.concatenate([half[::-1], half])
        problem = PrivacyProblem(K, 2, 0.4, Delta, 0.1)
        g = problem.odd_vector(gamma)
        three, (eight, _) = three_corner_worst_case(problem, g), eight_corner_worst_case(problem, g)
        assert three.upper == pytest.approx(eight.upper, abs=1e-12 * (1 + problem.c))


def test_worst_assignment_attains_the_cost_that_is_claimed_for_it():
    rng = np.random.default_rng(5)
    gamma = oracle.random_gamma(rng, 5)
    problem = PrivacyProblem(5, 2, 0.5, 0.03, 0.06)
    worst, exact = eight_corner_worst_case(problem, problem.odd_vector(gamma))
    assert exact
    assert worst.counts.sum() == 5
    exact = oracle.cost(gamma, 2, 0.5, 0.03, worst.counts)
    assert float(exact) == pytest.approx(worst.upper, abs=1e-12)


def test_few_teachers_at_the_corner_and_its_image_are_looked_at_alone_where_they_exceed_the_floor():
    problem = PrivacyProblem(11, 2, 0.4, 0.02, 0.1)
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(1), 11))
    every = worst_case.search_corners(problem, g, 0.0)
    assert every.all_seen
    assert every.exact
    few = worst_case.search_corners(problem, g, 0.0, first=3)
    assert not few.all_seen
    assert max(counts[6:].sum() for _, counts in every.exceeding) > 3
    expected = [item for item in every.exceeding if item[1][6:].sum() <= 3]
    assert [value for value, _ in few.exceeding] == [value for value, _ in expected]
    assert every.exceeding[0][0] == pytest.approx(
        eight_corner_worst_case(problem, g)[0].upper, abs=1e-12
    )


@pytest.mark.parametrize("seed", [0, 1, 5, 7, 13, 26])
def test_a_look_ends_early_only_where_the_limit_is_exceeded_and_forgets_no_cost(seed):
    """The first guess, at three corners, need not be the worst; of the last three it is worse than
    all that a look meets before it ends.
    """
    problem = PrivacyProblem(9, 2, 0.4, 0.02, 0.1)
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(seed), 9))
    most = eight_corner_worst_case(problem, g)[0].upper
    known = three_corner_worst_case(problem, g).upper
    assert worst_case.search_corners(problem, g, 2 * most, first=0).all_seen
    for first in (0, 1, 2):
        early = worst_case.search_corners(problem, g, 0.5 * known, first=first)
        assert early.worst.upper >= known - 1e-12
        assert early.worst.upper >= early.exceeding[0][0] > 0.5 * known


@pytest.mark.parametrize("limit", [-1.0, 0.5, 0.95, 10.0])
def test_a_look_knows_the_worst_case_whatever_its_limit(limit):
    problem = PrivacyProblem(9, 2, 0.4, 0.02, 0.1)
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(4), 9))
    worst, _ = eight_corner_worst_case(problem, g)
    look = worst_case.search_corners(problem, g, limit * worst.upper)
    assert look.exact
    assert look.all_seen
    assert look.worst.upper == pytest.approx(worst.upper, abs=1e-13)
    assert bool(look.exceeding) == (limit < 1)
    assert all(value > limit * worst.upper for value, _ in look.exceeding)


@pytest.mark.parametrize("factor", [0.0, 1e-9, 0.3, 1 - 1e-9, 1.0])
def test_a_scaled_worst_case_bounds_the_scaled_gamma(factor):
    problem = PrivacyProblem(9, 2, 3.0, 0.02, 0.1)
    gamma = oracle.random_gamma(np.random.default_rng(7), 9)
    worst, _ = eight_corner_worst_case(problem, problem.odd_vector(gamma))
    scaled = worst.scale(problem, factor)
    direct, _ = eight_corner_worst_case(problem, problem.odd_vector(gamma * factor))
    exact = float(oracle.cost(gamma * factor, 2, 3.0, 0.02, worst.counts))
    assert scaled.upper >= exact - problem.rounding_bound()
    assert scaled.upper == pytest.approx(direct.upper, abs=1e-12 * (1 + problem.c))
    assert scaled.upper > worst.upper * factor


def test_what_no_effort_is_left_for_counts_by_its_bound():
    """From the first column on, or from a later one: nothing is forgotten.

    Where the search starts at the worst of all, rounding decides whether a column is left to be
    looked at. These three start below it, so that without effort nothing is exact.
    """
    starts_below = (4, 5, 7)
    problem = PrivacyProblem(9, 3, 0.3, 0.02, 0.06)
    for seed in range(8):
        g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(seed), 9))
        exact = eight_corner_worst_case(problem, g)[0].upper
        for effort in (0, 1):
            bound, is_exact = eight_corner_worst_case(problem, g, effort=effort)
            assert exact <= bound.upper + problem.rounding_bound()
            if is_exact:
                assert bound.upper <= exact + problem.rounding_bound()
            assert not (is_exact and seed in starts_below)
