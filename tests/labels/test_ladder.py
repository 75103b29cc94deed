"""The optimal ladder: private to the last bit, and no better release exists (linear programs)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.audit import exact_delta, two_class_pairs
from private_ensembles.labels.ladder import ladder_probabilities
from tests.labels.two_classes import certified, optimal_two_class

BUDGETS = st.tuples(st.floats(1e-3, 20), st.sampled_from([0.0, 1e-9, 3e-4, 0.1, 0.6]))


def symmetric_utility(weights):
    """(K + 1, 2): weights[n] where the majority's label is released, half of it at a tie."""
    K = len(weights) - 1
    n = np.arange(K + 1)
    ones = np.where(2 * n == K, 0.5, 2 * n > K)
    return np.stack([(1 - ones) * weights, ones * weights], axis=1)


def ladder_matrix(n_teachers, epsilon, delta):
    return ladder_probabilities(n_teachers, epsilon, delta, np.arange(n_teachers + 1))


def ladder_flips(n_teachers, epsilon, delta):
    """The minority's column."""
    table = ladder_matrix(n_teachers, epsilon, delta)
    return np.where(2 * np.arange(n_teachers + 1) > n_teachers, table[:, 0], table[:, 1])


def test_design_value_at_the_published_budget():
    assert ladder_flips(11, 0.2676, 3e-4)[[0, 11]] == pytest.approx(0.113, abs=5e-4)


@pytest.mark.parametrize("n_teachers", [1, 2, 11, 40])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2676, 3e-4), (1.0, 0.0), (0.05, 0.03)])
def test_flips_have_the_closed_form(n_teachers, epsilon, delta):
    flips = ladder_flips(n_teachers, epsilon, delta)
    start = 0.5 if n_teachers % 2 == 0 else (1 - delta) / (1 + math.exp(epsilon))
    spare = delta / math.expm1(epsilon)
    for n, flip in enumerate(flips):
        j = abs(2 * n - n_teachers) // 2
        closed = max(0.0, math.exp(-j * epsilon) * (start + spare) - spare)
        assert flip == pytest.approx(closed, rel=1e-10, abs=1e-14)


@given(BUDGETS, st.integers(1, 60))
def test_flips_are_private_as_they_stand_and_just_so(budget, n_teachers):
    epsilon, delta = budget
    flips = ladder_flips(n_teachers, epsilon, delta)
    assert certified(flips, epsilon, delta)
    np.testing.assert_array_equal(flips, flips[::-1])
    assert (np.diff(flips[: n_teachers // 2 + 1]) >= 0).all()
    if n_teachers % 2 and delta < 1:  # one ulp less noise in the middle, and the claim is false
        less = flips.copy()
        less[[n_teachers // 2, n_teachers // 2 + 1]] *= 1 - 2.0**-50
        assert not certified(less, epsilon, delta)


@given(BUDGETS, st.integers(1, 30))
def test_audit_finds_the_budget_that_is_spent(budget, n_teachers):
    epsilon, delta = budget
    matrix, pairs = ladder_matrix(n_teachers, epsilon, delta), two_class_pairs(n_teachers)
    exact = exact_delta(matrix, pairs, epsilon, relative_error=2.0**-52)
    # An even ensemble cannot leak more than a tie decides.
    spent = delta if n_teachers % 2 else min(delta, 0.5)
    assert exact == pytest.approx(spent, abs=1e-10 * (1 + math.exp(epsilon) * 1e-3))


@given(st.integers(0, 10**9), st.integers(1, 14), st.floats(0.02, 3), st.sampled_from([0, 0.01]))
def test_no_release_is_better_for_a_symmetric_utility(seed, n_teachers, epsilon, delta):
    half = np.random.default_rng(seed).random(n_teachers + 1)
    utility = symmetric_utility(half + half[::-1])
    _, best = optimal_two_class(utility, epsilon, delta)
    mine = float((utility * ladder_matrix(n_teachers, epsilon, delta)).sum())
    assert best == pytest.approx(mine, rel=1e-6)
    assert best <= mine * (1 + 1e-9)  # the program's answer is private, so it cannot win


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: ladder_matrix(0, 0.1, 0.0), "n_teachers"),
        (lambda: ladder_matrix(11, 0.0, 0.0), "epsilon"),
        (lambda: ladder_matrix(11, math.inf, 0.0), "epsilon"),
        (lambda: ladder_matrix(11, 0.1, 1.5), "delta"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
