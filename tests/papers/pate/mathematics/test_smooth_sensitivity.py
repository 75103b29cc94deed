"""Smooth sensitivity against Algorithms 3-5 query by query, and against brute force."""

import numpy as np
import pytest

from benchmarks.smooth_sensitivity_by_query import ByQuery
from private_ensembles.base.secure import MODES
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp
from private_ensembles.papers.pate.mathematics.sanitize import tune_beta
from private_ensembles.papers.pate.mathematics.smooth_sensitivity import (
    LabelWalk,
    SensitivityProfile,
    SortedHistograms,
    smooth_sensitivity,
)
from tests.papers.lanes import slow_but
from tests.papers.pate.mathematics.oracle import histograms, neighbours, partitions

CASES = [(4.0, 3.0, 3, 60), (6.0, 5.0, 2, 100), (10.0, 8.0, 4, 150), (40.0, 14.0, 10, 250)]


@pytest.mark.parametrize(("sigma", "order", "m", "teachers"), slow_but(CASES, *CASES[:2]))
def test_profile_equals_algorithms_3_to_5_query_by_query(sigma, order, m, teachers):
    rng = np.random.default_rng(int(sigma))
    shares = rng.dirichlet(np.r_[3.0, np.full(m - 1, 0.4)], 40)
    counts = np.array([rng.multinomial(teachers, share) for share in shares])
    counts = np.vstack([counts, np.eye(m, dtype=int)[:1] * teachers, counts[:3]])
    weights = rng.random(len(counts))
    curve = CostCurve(sigma, order, m)
    assert curve.check_conditions() == ()
    slow = ByQuery(sigma, order, m, curve.log_q0())
    per_query = [slow.sensitivities_by_distance(row) for row in counts.tolist()]
    longest = max(map(len, per_query))
    padded = np.array([row + row[-1:] * (longest - len(row)) for row in per_query])
    expected = weights @ padded
    profile = SensitivityProfile(counts, curve, weights)
    computed = [profile.sensitivities(d)[0] for d in range(longest)]
    np.testing.assert_allclose(computed, expected, rtol=1e-9)
    assert profile.sensitivities(profile.teachers)[0] == pytest.approx(expected[-1], rel=1e-9)
    for beta in (0.01, 0.03, 0.1, 1.0):
        slow_value = np.max(np.exp(-beta * np.arange(longest)) * expected)
        value = smooth_sensitivity(counts, curve, beta, weights)
        assert value == pytest.approx(slow_value, rel=1e-9)
        assert slow.smooth_sensitivity(counts.tolist(), weights, beta) == pytest.approx(slow_value)


def test_branch_and_bound_asks_for_few_distances():
    rng = np.random.default_rng(5)
    counts = np.array([rng.multinomial(5000, rng.dirichlet([9, 0.5, 0.5])) for _ in range(50)])
    profile = SensitivityProfile(counts, CostCurve(100.0, 20.5, 3))
    value = profile.smooth_sensitivity(0.0205)
    asked = len(profile._known)
    everywhere = np.exp(-0.0205 * np.arange(5001)) * profile.sensitivities(*range(5001))
    assert value == pytest.approx(everywhere.max(), rel=1e-12)
    assert asked < 60


@pytest.mark.parametrize("order", [20.5, 30.0])
def test_the_search_for_beta_asks_for_hardly_more_distances_than_the_best_beta_alone(order):
    rng = np.random.default_rng(5)
    counts = np.array([rng.multinomial(5000, rng.dirichlet([9, 0.5, 0.5])) for _ in range(50)])
    profile = SensitivityProfile(counts, CostCurve(100.0, order, 3))
    profile.batch_size = 1  # as of many votes
    alone = profile.copy_for_order(order)
    beta = tune_beta(
        order, profile.smooth_sensitivity, smooth_lower_bound=profile.smooth_lower_bound
    )
    alone.smooth_sensitivity(beta)
    assert len(profile._known) < 1.5 * len(alone._known)


@pytest.mark.parametrize("m", [2, 4])
def test_another_order_s_profile_is_a_new_one_s(m):
    rng = np.random.default_rng(m)
    counts = np.array(
        [rng.multinomial(150, rng.dirichlet([3.0] + [0.4] * (m - 1))) for _ in range(30)]
    )
    weights = rng.random(30)
    profile = SensitivityProfile(counts, CostCurve(10.0, 8.0, m), weights)
    profile.smooth_sensitivity(0.03)
    for order in (3.0, 6.5, 8.0):
        fresh = SensitivityProfile(counts, CostCurve(10.0, order, m), weights)
        for beta in (0.02, 0.1):
            assert profile.copy_for_order(order).smooth_sensitivity(
                beta
            ) == fresh.smooth_sensitivity(beta)


def test_where_no_histogram_uses_the_data_dependent_bound_sensitivity_is_zero():
    # B.2's check: 30 teachers against noise of 40 votes can never agree enough.
    curve = CostCurve(40.0, 14.0, 10)
    assert not curve.is_below_ceiling(30)
    assert curve.is_below_ceiling(250)
    profile = SensitivityProfile([[30] + [0] * 9], curve)
    assert (
        profile.sensitivities(0)[0]
        == profile.sensitivities(30)[0]
        == profile.smooth_sensitivity(0.1)
        == 0
    )


@pytest.mark.parametrize("noise", MODES)
@pytest.mark.parametrize(("sigma", "order"), [(1.0, 1.8), (2.0, 2.0), (2.5, 1.5)])
def test_sensitivity_bounds_every_move_and_is_smooth(sigma, order, noise):
    teachers, m, beta = 16, 3, 0.2
    curve = CostCurve(sigma, order, m, noise)
    assert curve.check_conditions() == ()
    rows = partitions(teachers, m)  # another order of the classes costs the same
    cost = dict(zip(rows, gnmax_rdp(np.array(rows), sigma, order, noise=noise)[:, 0], strict=True))
    smooth = {row: smooth_sensitivity([row], curve, beta) for row in rows}
    for row in rows:
        for moved in neighbours(row):
            other = tuple(sorted(moved, reverse=True))
            assert abs(cost[row] - cost[other]) <= smooth[row] + 1e-9
            assert smooth[row] <= np.exp(beta) * smooth[other] * (1 + 1e-9)


def test_votes_of_5000_unanimous_teachers_have_a_finite_smooth_sensitivity():
    for order in (1.01, 2.0, 7.5, 14.0):
        curve = CostCurve(40.0, order, 10)
        value = smooth_sensitivity([[5000] + [0] * 9, [500] * 10], curve, 0.01)
        assert 0 <= value <= 2 * curve.ceiling


@pytest.mark.keeps(
    "papers.pate.mathematics.smooth_sensitivity:SensitivityProfile.smooth_lower_bound",
)
def test_what_is_known_so_far_is_no_more_than_the_smooth_sensitivity():
    profile = SensitivityProfile(np.array([[20, 4, 1], [15, 8, 2]]), CostCurve(4.0, 3.0, 3))
    profile.sensitivities(2, 5)
    known = profile.smooth_lower_bound(0.5)
    assert known >= np.exp(-1.0) * profile.sensitivities(2)[0] > 0
    assert known <= profile.smooth_sensitivity(0.5) * (1 + 1e-12)


TEACHERS, CLASSES = 14, 3
ROWS = np.array(histograms(TEACHERS, CLASSES))


@pytest.mark.parametrize("noise", MODES)
@pytest.mark.parametrize(
    ("sigma", "order"), [(1.0, 1.8), (1.5, 1.5), (2.0, 2.0), (2.5, 1.5), (40.0, 2.0)]
)
def test_sensitivities_cover_every_histogram_in_reach(sigma, order, noise):
    curve = CostCurve(sigma, order, CLASSES, noise)
    ordered = -np.sort(-ROWS, axis=1)
    votes = SortedHistograms(ordered, curve.tails)
    walk = LabelWalk(votes, curve)
    moved = np.abs(ROWS[:, None] - ROWS[None]).sum(axis=2) // 2
    here = curve.beta(votes.log_q)
    local = np.where(moved <= 1, np.abs(here[:, None] - here), 0).max(axis=1)
    for d in range(4):
        (sensitivity,) = walk.local_sensitivities(np.array([d]))
        within_reach = np.where(moved <= d, local, 0).max(axis=1)
        assert (within_reach <= sensitivity + 1e-9).all()


def test_what_is_dropped_is_far_from_the_plateau_and_counts_nothing():
    curve = CostCurve(2.0, 2.0, CLASSES)
    walk = LabelWalk(
        SortedHistograms(np.array([[14, 0, 0], [6, 5, 3]], np.int64), curve.tails), curve
    )
    (before,) = walk.local_sensitivities(np.array([0]))
    walk.drop_below(before[0] * 100)
    (after,) = walk.local_sensitivities(np.array([0]))
    assert (before[0] > 0, after[0]) == (True, 0)
    assert after[1] == before[1]
