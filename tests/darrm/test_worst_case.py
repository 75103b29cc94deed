"""Largest costs over families of corners: exact ones, bounds, and when to stop."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.darrm import worst_case
from private_ensembles.darrm.privacy_cost import CORNERS, PrivacyProblem
from private_ensembles.darrm.worst_case import (
    eight_corner_worst_case,
    series_worst_case,
    three_corner_worst_case,
)

from . import oracle


@st.composite
def problems(draw, largest=5):
    K = draw(st.sampled_from([k for k in (1, 3, 5, 7) if k <= largest]))
    m = draw(st.floats(1, K))
    epsilon = draw(st.floats(1e-3, 3))
    Delta = draw(st.sampled_from([0.0, 1e-9, 1e-5, 1e-3, 0.02, 0.05]))
    delta = min(0.9, Delta * draw(st.floats(1, 5)))
    half = draw(st.lists(st.floats(0, 1), min_size=(K + 1) // 2, max_size=(K + 1) // 2))
    return np.array(half[::-1] + half), m, epsilon, Delta, delta


@settings(max_examples=60, deadline=None, derandomize=True)
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


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(largest=7))
def test_pruning_never_changes_the_exact_maximum(case):
    gamma, m, epsilon, Delta, delta = case
    problem = PrivacyProblem(len(gamma) - 1, m, epsilon, Delta, delta)
    g = problem.odd_vector(gamma)
    pruned, _ = eight_corner_worst_case(problem, g)
    full, exact = eight_corner_worst_case(problem, g, prune=False)
    assert exact
    assert pruned.upper == pytest.approx(full.upper, abs=1e-12 * (1 + problem.c))


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


def test_the_remainder_bounds_the_terms_that_are_left_out():
    """A difference of order r > R is at most 2^(r - R) times those of order R."""
    problem = PrivacyProblem(1001, 3, 0.1, 1e-6, 1e-5)
    for n in (3, 10, 1000):
        sizes = [1.0, 0.8, 0.5, 0.3]
        left_out = sum(
            math.comb(n, r) * problem.Delta**r * problem.c * 0.3 * 2.0 ** (r - 3)
            for r in range(3, min(n, 40) + 1)
        )
        assert worst_case._remainder(problem, n, sizes) >= left_out > 0
    assert worst_case._remainder(problem, 2, sizes) == 0


def test_every_teacher_at_an_end_moves_where_it_gains_most():
    rng = np.random.default_rng(2)
    problem = PrivacyProblem(5, 2, 0.1, 1e-3, 3e-3)
    t, n, D, c = 2, 3, problem.Delta, problem.c
    for _ in range(50):
        V = rng.uniform(-1, 1, (t + 1, n + 1))
        for i, b in ((0, 1), (1, 2), (2, 1), (1, 0), (1, 3)):
            here, there = V[i], V[t - i]
            gains = {"0,0": 0.0, "1,1": 0.0}
            if b < n:
                gains["D,0"] = D * (here[b + 1] - here[b])
                gains["0,D"] = -c * D * (there[b + 1] - there[b])
            if b > 0:
                gains["1-D,1"] = -D * (here[b] - here[b - 1])
                gains["1,1-D"] = c * D * (there[b] - there[b - 1])
            found = dict(zip(CORNERS, worst_case._corner_choice(problem, V, i, b), strict=True))
            for size, ends in ((n - b, ("0,0", "0,D", "D,0")), (b, ("1,1", "1-D,1", "1,1-D"))):
                if size:
                    best = max((end for end in ends if end in gains), key=gains.get)
                    assert found[best] == size


def test_the_bound_holds_terms_of_the_second_order():
    problem = PrivacyProblem(5, 2, 0.1, 1e-2, 3e-2)
    V = np.random.default_rng(6).uniform(-1, 1, (3, 4))
    box, sizes = (slice(0, 3), slice(0, 4)), [1.0, 2.0, 4.0, 8.0, 16.0]
    f = worst_case._first_order(problem, V, box)
    found = worst_case._bound(problem, V, box, f, sizes)
    least = f + worst_case._remainder(problem, 3, sizes)
    assert (found >= least).all()
    second = math.comb(3, 2) * problem.Delta**2 * np.abs(np.diff(V, 2, axis=1)).min()
    assert (found - least).max() >= second > 0


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_bounds_order_by_order_are_the_bounds_above_the_floor(share):
    problem = PrivacyProblem(25, 2, 0.1, 1e-2, 3e-2)
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(8), 25))
    for t, (V, sizes, _) in enumerate(worst_case._boxes(problem, g, 3, -np.inf)):
        box = slice(0, t + 1), slice(0, 26 - t)
        every = worst_case._bound(problem, V, box, worst_case._first_order(problem, V, box), sizes)
        floor = float(np.quantile(every, share))
        (rows, columns), some = worst_case._bounds_above(problem, V, box, sizes, floor)
        np.testing.assert_allclose(some, every[rows, columns], rtol=0, atol=1e-14)
        left_out = np.ones_like(every, dtype=bool)
        left_out[rows, columns] = False
        assert (every[left_out] <= floor + 1e-14).all()


def test_few_teachers_at_the_corner_and_its_image_are_looked_at_alone_where_they_exceed_the_floor():
    problem = PrivacyProblem(11, 2, 0.4, 0.02, 0.1)
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(1), 11))
    every = worst_case.look(problem, g, 0.0)
    assert every.all_seen
    assert every.exact
    few = worst_case.look(problem, g, 0.0, first=3)
    assert not few.all_seen
    assert max(counts[6:].sum() for _, counts in every.found) > 3
    expected = [item for item in every.found if item[1][6:].sum() <= 3]
    assert [value for value, _ in few.found] == [value for value, _ in expected]
    assert every.found[0][0] == pytest.approx(
        eight_corner_worst_case(problem, g)[0].upper, abs=1e-12
    )
