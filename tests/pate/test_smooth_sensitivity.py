"""Smooth sensitivity against Algorithms 3-5 query by query, and against brute force."""

from itertools import product

import mpmath
import numpy as np
import pytest

from benchmarks.smooth_sensitivity_by_query import ByQuery
from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.rdp import gnmax_log_q, gnmax_rdp
from private_ensembles.pate.smooth_sensitivity import (
    SensitivityProfile,
    smooth_sensitivity,
)

CASES = [(4.0, 3.0, 3, 60), (6.0, 5.0, 2, 100), (10.0, 8.0, 4, 150), (40.0, 14.0, 10, 250)]


@pytest.mark.parametrize(("sigma", "order", "m", "teachers"), CASES)
def test_profile_equals_algorithms_3_to_5_query_by_query(sigma, order, m, teachers):
    rng = np.random.default_rng(int(sigma))
    shares = rng.dirichlet(np.r_[3.0, np.full(m - 1, 0.4)], 40)
    counts = np.array([rng.multinomial(teachers, share) for share in shares])
    counts = np.vstack([counts, np.eye(m, dtype=int)[:1] * teachers, counts[:3]])
    weights = rng.random(len(counts))
    curve = CostCurve(sigma, order, m)
    assert curve.check_conditions() == []
    slow = ByQuery(sigma, order, m, curve.log_q0())
    per_query = [slow.by_distance(row) for row in counts.tolist()]
    longest = max(map(len, per_query))
    padded = np.array([row + row[-1:] * (longest - len(row)) for row in per_query])
    expected = weights @ padded
    profile = SensitivityProfile(counts, curve, weights)
    computed = [profile.at(d)[0] for d in range(longest)]
    np.testing.assert_allclose(computed, expected, rtol=1e-9)
    assert profile.at(profile.teachers)[0] == pytest.approx(expected[-1], rel=1e-9)
    for beta in (0.01, 0.03, 0.1, 1.0):
        slow_value = np.max(np.exp(-beta * np.arange(longest)) * expected)
        value = smooth_sensitivity(counts, curve, beta, weights)
        assert value == pytest.approx(slow_value, rel=1e-9)
        assert slow.smooth_sensitivity(counts.tolist(), weights, beta) == pytest.approx(slow_value)


def test_branch_and_bound_asks_for_few_distances():
    rng = np.random.default_rng(5)
    counts = np.array([rng.multinomial(5000, rng.dirichlet([9, 0.5, 0.5])) for _ in range(50)])
    profile = SensitivityProfile(counts, CostCurve(100.0, 20.5, 3))
    value = profile.smooth(0.0205)
    asked = len(profile._known)
    everywhere = [np.exp(-0.0205 * d) * profile.at(d)[0] for d in range(5001)]
    assert value == pytest.approx(max(everywhere), rel=1e-12)
    assert asked < 60


def test_where_no_histogram_uses_the_data_dependent_bound_sensitivity_is_zero():
    # B.2's check: 30 teachers against noise of 40 votes can never agree enough.
    curve = CostCurve(40.0, 14.0, 10)
    assert not curve.helps(30)
    assert curve.helps(250)
    profile = SensitivityProfile([[30] + [0] * 9], curve)
    assert profile.at(0)[0] == profile.at(30)[0] == profile.smooth(0.1) == 0


@pytest.mark.parametrize(("sigma", "order"), [(2.0, 2.0), (2.5, 1.5)])
def test_sensitivity_bounds_every_move_and_is_smooth(sigma, order):
    teachers, m, beta = 16, 3, 0.2
    curve = CostCurve(sigma, order, m)
    assert curve.check_conditions() == []
    rows = [r for r in product(range(teachers + 1), repeat=m) if sum(r) == teachers]
    cost = dict(zip(rows, gnmax_rdp(np.array(rows), sigma, order)[:, 0], strict=True))
    smooth = {row: smooth_sensitivity([row], curve, beta) for row in rows}
    for row in rows:
        for i, j in product(range(m), repeat=2):
            if i == j or row[i] == 0:
                continue
            other = list(row)
            other[i] -= 1
            other[j] += 1
            other = tuple(other)
            assert abs(cost[row] - cost[other]) <= smooth[row] + 1e-9
            assert smooth[row] <= np.exp(beta) * smooth[other] * (1 + 1e-9)


def test_bounds_on_q_hold_for_every_neighbour():
    teachers, m, sigma = 12, 3, 2.5
    curve = CostCurve(sigma, 3.0, m)
    rows = [r for r in product(range(teachers + 1), repeat=m) if sum(r) == teachers]
    log_q = dict(zip(rows, gnmax_log_q(np.array(rows), sigma), strict=True))
    for row, value in log_q.items():
        low, high = float(curve.lower(value)), float(curve.upper(value))
        for i, j in product(range(m), repeat=2):
            if i != j and row[i]:
                other = list(row)
                other[i] -= 1
                other[j] += 1
                assert low - 1e-9 <= log_q[tuple(other)] <= high + 1e-9


@pytest.mark.parametrize(
    ("sigma", "order", "m"), [(40.0, 14.0, 10), (40.0, 7.5, 10), (40, 15.5, 2)]
)
def test_conditions_hold_at_the_parameters_of_table_2(sigma, order, m):
    assert CostCurve(sigma, order, m).check_conditions() == []


def test_condition_c6_fails_for_a_real_curve_too():
    assert CostCurve(3.0, 4.0, 3).check_conditions() == ["C6"]


def test_condition_c6_ends_near_an_order_of_nine_tenths_of_sigma():
    assert CostCurve(40.0, 36.0, 10).check_conditions() == []
    assert CostCurve(40.0, 38.0, 10).check_conditions() == ["C6"]
    assert CostCurve(100.0, 88.0, 150).check_conditions() == []
    assert CostCurve(100.0, 98.0, 150).check_conditions() == ["C6"]


def test_conditions_are_violated_by_doctored_curves():
    class Falling(CostCurve):
        def beta(self, log_q):
            value = super().beta(log_q)
            return np.where(
                np.asarray(log_q) < -12, value + 0.5 * self.order / self.sigma**2, value
            )

    class Wavy(CostCurve):
        def beta(self, log_q):
            log_q = np.asarray(log_q, dtype=float)
            wave = 1 + 0.3 * np.sin(8 * log_q)
            return np.where(log_q < self.log_q0_of_parent(), super().beta(log_q) * wave,
                            super().beta(log_q))  # fmt: skip

        def log_q0_of_parent(self):
            return CostCurve(self.sigma, self.order, self.n_classes).log_q0()

        def log_q0(self):
            return self.log_q0_of_parent()

    assert CostCurve(40.0, 14.0, 10).check_conditions() == []
    assert "C5" in Falling(40.0, 14.0, 10).check_conditions()
    assert "C6" in Wavy(40.0, 14.0, 10).check_conditions()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smooth_sensitivity([[1, 2]], CostCurve(1.0, 2.0, 2), 0.0), "beta"),
        (lambda: smooth_sensitivity([[1, 2]], CostCurve(1.0, 2.0, 3), 0.1), "classes"),
        (lambda: smooth_sensitivity([[1, 2]], CostCurve(1.0, 2.0, 2), 0.1, [-1.0]), "weights"),
        (lambda: CostCurve(1.0, 2.0, 1), "n_classes"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("log_q", [-0.7, -5.0, -40.0, -300.0, -690.7])
@pytest.mark.parametrize(("sigma", "m"), [(40.0, 10), (3.0, 2), (100.0, 150)])
def test_bounds_at_neighbours_equal_b_u_and_b_l_at_many_digits(log_q, sigma, m):
    """B_U and B_L by mpmath, for q down to 1e-300 (where q / (m - 1) < 1/2, so that gaps are > 0).

    erfc is inverted by Newton's method on its logarithm, at 60 digits.
    """
    with mpmath.workdps(60):
        target = mpmath.mpf(log_q) - mpmath.log(m - 1) + mpmath.log(2)
        x = mpmath.sqrt(max(-target, mpmath.mpf("0.01")))
        for _ in range(60):
            value = mpmath.erfc(x)
            slope = -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x) / value
            x -= (mpmath.log(value) - target) / slope
        assert abs(mpmath.log(mpmath.erfc(x)) - target) < mpmath.mpf(10) ** -40
        half = mpmath.mpf(m - 1) / 2
        upper = min(mpmath.mpf(0), mpmath.log(half * mpmath.erfc(x - 1 / mpmath.mpf(sigma))))
        lower = mpmath.log(half * mpmath.erfc(x + 1 / mpmath.mpf(sigma)))
    curve = CostCurve(sigma, 5.0, m)
    assert float(curve.upper(log_q)) == pytest.approx(float(upper), rel=1e-11, abs=1e-13)
    assert float(curve.lower(log_q)) == pytest.approx(float(lower), rel=1e-11, abs=1e-13)


def test_plateau_covers_a_jump_of_the_cost_at_q0():
    """Condition C5 allows one; here the data-dependent bound is given up early."""

    class Early(CostCurve):
        def log_q0(self):
            return CostCurve(self.sigma, self.order, self.n_classes).log_q0() - 4.0

    curve = Early(40.0, 14.0, 10)
    at_q0, at_q1 = float(curve.beta(curve.log_q0())), float(curve.beta(curve.log_q1()))
    assert at_q0 < 0.5 * curve.ceiling
    just_above = curve.log_q1() * (1 - 1e-9)
    move = float(curve.beta(curve.upper(just_above)) - curve.beta(just_above))
    assert move > at_q0 - at_q1  # what Algorithm 3 as printed has on the plateau
    assert move <= curve.plateau() == curve.ceiling - at_q1


@pytest.mark.parametrize("m", [2, 150])
def test_gnmax_itself_has_no_jump(m):
    """At mu_1 = lambda, where Theorem 6 ends, its second term alone makes the ceiling."""
    for sigma in (0.5, 3.0, 40.0, 200.0):
        for order in (1.05, 2.0, 7.5, 0.9 * sigma, 2 * sigma):
            curve = CostCurve(sigma, max(1.05, order), m)
            if np.isfinite(curve.log_q0()):
                assert float(curve.beta(curve.log_q0())) == pytest.approx(curve.ceiling, rel=1e-9)


def test_votes_of_5000_unanimous_teachers_have_a_finite_smooth_sensitivity():
    for order in (1.01, 2.0, 7.5, 14.0):
        curve = CostCurve(40.0, order, 10)
        value = smooth_sensitivity([[5000] + [0] * 9, [500] * 10], curve, 0.01)
        assert 0 <= value <= 2 * curve.ceiling
