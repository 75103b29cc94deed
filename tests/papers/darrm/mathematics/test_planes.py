"""Planes of assignments against 40-digit enumeration."""

import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics import planes, worst_case
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    PrivacyProblem,
    assignment_counts,
)
from tests.papers.darrm.mathematics import oracle

K, M, EPSILON = 7, 2, 0.4
# zeros at (0,0), (D,0), (0,D); ones at (1,1), (1-D,1), (1,1-D): not both moved on the same side.
PURE = [(0, 1), (3, 1), (0, 5), (3, 5), (2, 1), (0, 4), (2, 4)]


def plane(mirrored):
    """Every assignment of pure moves: (teachers at H, teachers at the ones, counts)."""
    for i in range(K + 1):
        for b in range(K + 1 - i):
            for zero, one in PURE:
                counts = [0] * 8
                counts[7 if mirrored else 6] = i
                counts[zero], counts[one] = K - i - b, b
                yield i, b, counts


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("Delta", [0.0, 0.03])
def test_pure_moves_are_scored_exactly(Delta, mirrored):
    gamma = oracle.random_gamma(np.random.default_rng(1), K)
    problem = PrivacyProblem(K, M, EPSILON, Delta, 0.1)
    f, _ = planes.pure_move_costs(problem, problem.odd_vector(gamma), mirrored=mirrored)
    expected = np.full((K + 1, K + 1), -np.inf)
    for i, b, counts in plane(mirrored):
        cost = float(oracle.cost(gamma, M, EPSILON, Delta, counts))
        expected[i, b] = max(expected[i, b], cost)
    np.testing.assert_allclose(f, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("Delta", [0.0, 1e-3])
def test_strips_and_tails_leave_every_cost_as_it_is(monkeypatch, Delta):
    monkeypatch.setattr(planes, "STRIP", 5)
    size = 31
    problem = PrivacyProblem(size, M, EPSILON, Delta, 0.1)
    gamma = oracle.random_gamma(np.random.default_rng(5), size)
    g = problem.odd_vector(gamma)
    f, move = planes.pure_move_costs(problem, g)
    three = planes.three_corner_costs(problem, g)
    assert planes.move_probabilities(problem).shape[1] < size
    for i in range(size + 1):
        for b in range(0, size + 1 - i, 3):
            zero, one = planes.MOVES[move[i, b]][:2]
            counts = assignment_counts(**{"up": i, one: b}) + assignment_counts(
                **{zero: size - i - b}
            )
            assert f[i, b] == pytest.approx(problem.cost(gamma, counts), abs=1e-13)
            counts = assignment_counts(up=i, one_below=b, D_zero=size - i - b)
            assert three[i, b] == pytest.approx(problem.cost(gamma, counts), abs=1e-13)


@pytest.mark.parametrize("mirrored", [False, True])
def test_assignments_are_the_peaks_and_have_the_cost_that_was_seen(mirrored):
    gamma = oracle.random_gamma(np.random.default_rng(2), K)
    problem = PrivacyProblem(K, M, EPSILON, 0.03, 0.1)
    g = problem.odd_vector(gamma)
    f, _ = planes.pure_move_costs(problem, g, mirrored=mirrored)
    found = planes.pure_move_assignments(problem, g, 5, 0.0, mirrored=mirrored)
    costs = [float(oracle.cost(gamma, M, EPSILON, 0.03, counts)) for counts in found]
    assert 0 < len(costs) <= 5
    assert costs[0] == pytest.approx(f.max(), abs=1e-13)
    assert costs == sorted(costs, reverse=True)
    assert min(costs) > 0
    assert all(counts.sum() == K for counts in found)
    assert not planes.pure_move_assignments(problem, g, 5, f.max(), mirrored=mirrored)


def test_the_three_corners_are_one_of_the_pure_moves():
    gamma = oracle.random_gamma(np.random.default_rng(3), K)
    problem = PrivacyProblem(K, M, EPSILON, 0.03, 0.1)
    g = problem.odd_vector(gamma)
    three, (pure, _) = planes.three_corner_costs(problem, g), planes.pure_move_costs(problem, g)
    inside = np.isfinite(three)
    assert (inside == np.isfinite(pure)).all()
    assert (pure[inside] >= three[inside] - 1e-13).all()


def test_a_look_at_pure_moves_first_leaves_the_exact_maximum(monkeypatch):
    gamma = oracle.random_gamma(np.random.default_rng(4), 15)
    problem = PrivacyProblem(15, M, EPSILON, 0.01, 0.1)
    g = problem.odd_vector(gamma)
    plain, _ = worst_case.eight_corner_worst_case(problem, g)
    monkeypatch.setattr(worst_case, "SEEDED", 1)
    seeded, exact = worst_case.eight_corner_worst_case(problem, g)
    assert exact
    assert seeded.upper == pytest.approx(plain.upper, abs=1e-13)
