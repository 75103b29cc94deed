"""violations: rows that a gamma violates are found, and gamma scaled down is private."""

import numpy as np
import pytest

from private_ensembles.darrm.certificate import certify
from private_ensembles.darrm.cuts import Cuts
from private_ensembles.darrm.gamma import mirrored
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.violations import Violations
from private_ensembles.darrm.worst_case import eight_corner_worst_case

POINTS = [(9, 2, 0.3, 0.0), (9, 2, 0.3, 0.01), (11, 3, 0.1, 1e-5)]


def violations(K, m, epsilon, Delta, *, monotone=False):
    problem = PrivacyProblem(K, m, epsilon, Delta, m * Delta)
    return Violations(problem, Cuts(problem), monotone=monotone)


def worst(problem, x):
    """How large f is at x, all corners looked at, in units of what is allowed."""
    return eight_corner_worst_case(problem, problem.odd_vector(mirrored(x)))[0].upper / (
        problem.allowance
    )


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("seed", range(3))
def test_scaled_down_by_its_excess_a_gamma_is_private(point, seed):
    asked = violations(*point)
    x = np.random.default_rng(seed).random((point[0] + 1) // 2)
    new, excess, all_seen = asked.add(x, np.inf, 1e-3)
    assert all_seen
    assert 1 + excess == pytest.approx(max(1.0, worst(asked.problem, x)), rel=1e-6)
    if excess > 1e-6:
        assert new > 0
        assert (asked.known.rows @ x).max() == pytest.approx(1 + excess, rel=1e-6)
    private, proof = asked.scaled_down(x, excess)
    assert worst(asked.problem, private) <= 1 + 1e-6
    if point[3]:  # the look at all corners was at this x: it proves what it scales to
        assert proof is not None
        assert proof[0].upper >= worst(asked.problem, private) * asked.problem.allowance
    assert certify(mirrored(private * (1 - 1e-6)), *point[1:]).holds


def test_what_is_known_already_is_not_new():
    asked = violations(*POINTS[1])
    x = np.ones(5)
    assert asked.add(x, np.inf, 1e-3)[0] > 0
    assert asked.add(x, np.inf, 1e-3)[0] == 0


def test_a_private_gamma_exceeds_nothing():
    asked = violations(*POINTS[1])
    assert asked.add(np.full(5, 1e-3), 0.0, 1e-3) == (0, 0.0, True)


def test_far_off_on_planes_all_corners_are_not_asked():
    asked = violations(*POINTS[1])
    _, excess, all_seen = asked.add(np.ones(5), 1e-9, 1e-3)
    assert excess > 1e-9
    assert not all_seen
    assert asked.scaled_down(np.ones(5), excess)[1] is None


def test_monotone_gammas_are_asked_at_three_corners():
    asked = violations(*POINTS[1], monotone=True)
    x = np.linspace(0.1, 1, 5)
    _, excess, all_seen = asked.add(x, 0.0, 1e-3)
    assert all_seen
    assert worst(asked.problem, x / (1 + excess)) <= 1 + 1e-6
