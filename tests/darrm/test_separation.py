"""What the searches for violated assignments find, and where."""

import numpy as np
import pytest

from private_ensembles.darrm import separation
from private_ensembles.darrm.gamma import gamma_subsampling
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.worst_case import eight_corner_worst_case

from . import oracle


@pytest.fixture
def problem():
    return PrivacyProblem(9, 1, 0.3, 0.01, 0.01)


def test_edges_hold_teachers_at_the_corner_and_at_one_end():
    edges = separation.edge_assignments(9)
    assert len({tuple(counts) for counts in edges}) == 19
    assert all(counts.sum() == 9 for counts in edges)


@pytest.mark.parametrize("search", ["three_corners", "first_order_corners"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_found_is_violated_and_a_private_gamma_violates_nothing(problem, search, seed):
    find = getattr(separation, search)
    wild = oracle.random_gamma(np.random.default_rng(seed), 9, low=0.6)
    found = find(problem, problem.odd_vector(wild), problem.allowance)
    assert found
    # To first order in Delta f is off by (K Delta)^2.
    assert all(problem.cost(wild, counts) > problem.allowance - 0.01 for counts in found)
    private = gamma_subsampling(9, 1) * 0.9
    assert not find(problem, problem.odd_vector(private), problem.allowance)


def test_cuts_lie_apart(problem):
    wild = oracle.random_gamma(np.random.default_rng(0), 9)
    found = separation.first_order_corners(problem, problem.odd_vector(wild), 0.0)
    far = [np.abs(a - b).sum() for k, a in enumerate(found) for b in found[:k]]
    assert min(far) > separation.APART


@pytest.mark.parametrize("seed", range(3))
def test_exact_corners_exceed_the_limit_and_miss_nothing(problem, seed):
    gamma = oracle.random_gamma(np.random.default_rng(seed), 9)
    g = problem.odd_vector(gamma)
    bound = eight_corner_worst_case(problem, g)[0].upper
    found, look = separation.exact_corners(problem, g, 10.0)
    assert not found
    assert look.all_seen
    assert look.worst.upper == pytest.approx(bound, abs=1e-13)
    limit = bound - 0.01
    found, look = separation.exact_corners(problem, g, limit)
    costs = [float(oracle.cost(gamma, 1, 0.3, 0.01, counts)) for counts in found]
    assert costs
    assert min(costs) > limit
    assert look.worst.upper == pytest.approx(max(costs), abs=1e-12)
    assert max(costs) <= bound
    assert separation.exact_corners(problem, g, bound)[0] == []


def test_a_search_that_takes_too_long_leaves_a_bound(problem, monkeypatch):
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(1), 9))
    exact = eight_corner_worst_case(problem, g)[0].upper
    monkeypatch.setattr(separation, "EFFORT", 0)
    found, look = separation.exact_corners(problem, g, exact - 0.01)
    assert not found
    assert not look.exact
    assert look.worst.upper >= exact - 1e-12
