"""Smooth sensitivity against Algorithms 3-5 query by query, and against brute force."""

from itertools import product

import numpy as np
import pytest

from benchmarks.smooth_sensitivity_by_query import ByQuery
from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.rdp import gnmax_log_q, gnmax_rdp
from private_ensembles.pate.smooth_sensitivity import (
    SensitivityProfile,
    sensitivity_by_distance,
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
    computed = [profile.at(d) for d in range(longest)]
    np.testing.assert_allclose(computed, expected, rtol=1e-9)
    values = sensitivity_by_distance(counts, curve, weights)
    np.testing.assert_allclose(values, expected[: len(values)], rtol=1e-9)
    assert values[-1] == pytest.approx(expected[-1], rel=1e-9)
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
    everywhere = [np.exp(-0.0205 * d) * profile.at(d) for d in range(5001)]
    assert value == pytest.approx(max(everywhere), rel=1e-12)
    assert asked < 60


def test_where_no_histogram_uses_the_data_dependent_bound_sensitivity_is_zero():
    # B.2's check: 30 teachers against noise of 40 votes can never agree enough.
    curve = CostCurve(40.0, 14.0, 10)
    assert not curve.helps(30)
    assert curve.helps(250)
    profile = SensitivityProfile([[30] + [0] * 9], curve)
    assert profile.at(0) == profile.at(30) == profile.smooth(0.1) == 0


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
