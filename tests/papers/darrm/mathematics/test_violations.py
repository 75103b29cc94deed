"""violations: rows that a gamma violates are found, and gamma scaled down is private."""

import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics import violations
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling, mirror_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    PrivacyProblem,
    assignment_counts,
)
from private_ensembles.papers.darrm.mathematics.violations import Cuts, Violations
from private_ensembles.papers.darrm.mathematics.worst_case import eight_corner_worst_case
from tests.papers.darrm.mathematics import oracle

POINTS = [(9, 2, 0.3, 0.0), (9, 2, 0.3, 0.01), (11, 3, 0.1, 1e-5)]


def asked_about(K, m, epsilon, Delta, *, monotone=False):
    problem = PrivacyProblem(K, m, epsilon, Delta, m * Delta)
    return Violations(problem, Cuts(problem), monotone=monotone)


def worst(problem, x):
    """How large f is at x, all corners looked at, in units of what is allowed."""
    return eight_corner_worst_case(problem, problem.odd_vector(mirror_gamma(x)))[0].upper / (
        problem.allowance
    )


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("seed", range(3))
def test_scaled_down_by_its_excess_a_gamma_is_private(point, seed):
    asked = asked_about(*point)
    x = np.random.default_rng(seed).random((point[0] + 1) // 2)
    new, excess, all_seen = asked.add(x, np.inf, 1e-3)
    assert all_seen
    assert 1 + excess == pytest.approx(max(1.0, worst(asked.problem, x)), rel=1e-6)
    if excess > 1e-6:
        assert new > 0
        assert (asked.known.rows @ x).max() == pytest.approx(1 + excess, rel=1e-6)
    private, proof = asked.scale_down(x, excess)
    assert worst(asked.problem, private) <= 1 + 1e-6
    if point[3]:  # the look at all corners was at this x: it proves what it scales to
        assert proof is not None
        assert proof[0].upper >= worst(asked.problem, private) * asked.problem.allowance
    assert certify(mirror_gamma(private * (1 - 1e-6)), *point[1:]).holds


def test_what_is_known_already_is_not_new():
    asked = asked_about(*POINTS[1])
    x = np.ones(5)
    assert asked.add(x, np.inf, 1e-3)[0] > 0
    assert asked.add(x, np.inf, 1e-3)[0] == 0


def test_a_private_gamma_exceeds_nothing():
    asked = asked_about(*POINTS[1])
    assert asked.add(np.full(5, 1e-3), 0.0, 1e-3) == (0, 0.0, True)


def test_far_off_on_planes_all_corners_are_not_asked():
    asked = asked_about(*POINTS[1])
    _, excess, all_seen = asked.add(np.ones(5), 1e-9, 1e-3)
    assert excess > 1e-9
    assert not all_seen
    assert asked.scale_down(np.ones(5), excess)[1] is None


def test_monotone_gammas_are_asked_at_three_corners():
    asked = asked_about(*POINTS[1], monotone=True)
    x = np.linspace(0.1, 1, 5)
    _, excess, all_seen = asked.add(x, 0.0, 1e-3)
    assert all_seen
    assert worst(asked.problem, x / (1 + excess)) <= 1 + 1e-6


@pytest.fixture
def problem():
    return PrivacyProblem(9, 1, 0.3, 0.01, 0.01)


def test_edges_hold_teachers_at_the_corner_and_at_one_end():
    edges = violations.edge_assignments(9)
    assert len({tuple(counts) for counts in edges}) == 19
    assert all(counts.sum() == 9 for counts in edges)


@pytest.mark.parametrize("search", ["find_three_corner_violations", "find_first_order_violations"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_found_is_violated_and_a_private_gamma_violates_nothing(problem, search, seed):
    find = getattr(violations, search)
    wild = oracle.random_gamma(np.random.default_rng(seed), 9, low=0.6)
    found = find(problem, problem.odd_vector(wild), problem.allowance)
    assert found
    # To first order in Delta f is off by (K Delta)^2.
    assert all(problem.cost(wild, counts) > problem.allowance - 0.01 for counts in found)
    private = gamma_subsampling(9, 1) * 0.9
    assert not find(problem, problem.odd_vector(private), problem.allowance)


def test_cuts_lie_apart(problem):
    wild = oracle.random_gamma(np.random.default_rng(0), 9)
    found = violations.find_first_order_violations(problem, problem.odd_vector(wild), 0.0)
    far = [np.abs(a - b).sum() for k, a in enumerate(found) for b in found[:k]]
    assert min(far) > violations.LEAST_DISTANCE


@pytest.mark.parametrize("seed", range(3))
def test_exact_corners_exceed_the_limit_and_miss_nothing(problem, seed):
    gamma = oracle.random_gamma(np.random.default_rng(seed), 9)
    g = problem.odd_vector(gamma)
    bound = eight_corner_worst_case(problem, g)[0].upper
    found, look = violations.find_exact_violations(problem, g, 10.0)
    assert not found
    assert look.all_seen
    assert look.worst.upper == pytest.approx(bound, abs=1e-13)
    limit = bound - 0.01
    found, look = violations.find_exact_violations(problem, g, limit)
    costs = [float(oracle.cost(gamma, 1, 0.3, 0.01, counts)) for counts in found]
    assert costs
    assert min(costs) > limit
    assert look.worst.upper == pytest.approx(max(costs), abs=1e-12)
    assert max(costs) <= bound
    assert violations.find_exact_violations(problem, g, bound)[0] == []


def test_a_search_that_takes_too_long_leaves_a_bound(problem, monkeypatch):
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(1), 9))
    exact = eight_corner_worst_case(problem, g)[0].upper
    monkeypatch.setattr(violations, "EFFORT", 0)
    found, look = violations.find_exact_violations(problem, g, exact - 0.01)
    assert not found
    assert not look.exact
    assert look.worst.upper >= exact - 1e-12


@pytest.fixture
def cuts(problem):
    return Cuts(problem)


def test_an_assignment_is_taken_up_once(cuts):
    x, known = np.ones(5), len(cuts.rows)
    found = [assignment_counts(up=4, D_zero=3, one_below=2), assignment_counts(up=4, zero=5)]
    new, excess = cuts.add(found, x)
    assert new == 2
    assert cuts.in_use[known:].all()
    rows = np.array([cuts.problem.row(counts) for counts in found]) / cuts.problem.allowance
    np.testing.assert_array_equal(cuts.rows[known:], rows)
    assert excess == pytest.approx((rows @ x).max() - 1)
    assert cuts.add(found, x) == (0, excess)
    assert cuts.add([], x) == (0, 0.0)


def test_what_neither_binds_nor_has_a_price_rests(cuts):
    cuts.in_use[:] = True
    y = np.zeros(len(cuts.rows))
    y[3] = 1.0
    cuts.rest_slack_rows(np.zeros(5), y, 0.5)
    assert np.nonzero(cuts.in_use)[0].tolist() == [3]


def test_a_row_that_returned_stays(cuts):
    none = np.zeros(len(cuts.rows))
    cuts.rest_slack_rows(np.zeros(5), none, 0.5)
    assert not cuts.in_use.any()
    wild = np.ones(5)
    cuts.rest_slack_rows(wild, none, 0.5)
    violated = cuts.rows @ wild > 1
    assert cuts.returned_rows == violated.sum() > 0
    assert cuts.in_use[violated].all()
    cuts.rest_slack_rows(np.zeros(5), none, 0.5)
    assert (cuts.in_use == violated).all()
    assert cuts.returned_rows == 0
