"""The cost of one label as a function of q: bounds at neighbours, conditions C5 and C6, plateau."""

import mpmath
import numpy as np
import pytest

from private_ensembles.base.secure import MODES
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.rdp import gnmax_log_q, gnmax_rdp
from tests.papers.pate.mathematics.oracle import histograms, neighbours


@pytest.mark.parametrize("noise", MODES)
@pytest.mark.parametrize(("teachers", "m", "sigma"), [(12, 3, 2.5), (12, 3, 0.7), (8, 4, 1.0)])
def test_bounds_on_q_hold_for_every_neighbour(teachers, m, sigma, noise):
    curve = CostCurve(sigma, 3.0, m, noise)
    rows = histograms(teachers, m)
    log_q = dict(zip(rows, gnmax_log_q(np.array(rows), sigma, noise=noise), strict=True))
    for row, value in log_q.items():
        low, high = float(curve.lower(value)), float(curve.upper(value))
        for other in neighbours(row):
            assert low - 1e-9 <= log_q[other] <= high + 1e-9


@pytest.mark.parametrize(
    ("sigma", "order", "m"),
    [
        (40.0, 14.0, 10),
        (40.0, 7.5, 10),
        (40, 15.5, 2),
        (100, 20.5, 150),
        (100, 50, 150),
        (200, 50, 150),
    ],
)
@pytest.mark.parametrize("noise", MODES)
def test_conditions_hold_at_the_parameters_of_table_2(sigma, order, m, noise):
    assert CostCurve(sigma, order, m, noise).check_conditions() == ()


def test_condition_c6_ends_near_an_order_of_nine_tenths_of_sigma():
    assert CostCurve(3.0, 4.0, 3).check_conditions() == ("C6",)
    assert CostCurve(40.0, 36.0, 10).check_conditions() == ()
    assert CostCurve(40.0, 38.0, 10).check_conditions() == ("C6",)
    assert CostCurve(100.0, 88.0, 150).check_conditions() == ()
    assert CostCurve(100.0, 98.0, 150).check_conditions() == ("C6",)


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
            return np.where(
                log_q < self.log_q0_of_parent(), super().beta(log_q) * wave, super().beta(log_q)
            )

        def log_q0_of_parent(self):
            return CostCurve(self.sigma, self.order, self.n_classes).log_q0()

        def log_q0(self):
            return self.log_q0_of_parent()

    assert CostCurve(40.0, 14.0, 10).check_conditions() == ()
    assert "C5" in Falling(40.0, 14.0, 10).check_conditions()
    assert "C6" in Wavy(40.0, 14.0, 10).check_conditions()


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


@pytest.mark.parametrize("noise", MODES)
@pytest.mark.parametrize(("sigma", "order", "m"), [(3.0, 2.0, 2), (3.0, 2.0, 10), (8.0, 5.0, 3)])
def test_votes_can_help_from_the_first_number_of_teachers_whose_agreement_does(
    sigma, order, m, noise
):
    """If all agree that costs less than the constant, by Theorem 6 at their own q."""
    curve, helped = CostCurve(sigma, order, m, noise), []
    for teachers in range(1, 60):
        votes = [[teachers, *[0] * (m - 1)]]
        cost = float(gnmax_rdp(votes, sigma, order, noise=noise)[0, 0])
        helped.append(cost < curve.ceiling * (1 - 1e-12))
        assert curve.is_below_ceiling(teachers) == helped[-1], teachers
    assert helped == sorted(helped)
    assert 0 < sum(helped) < len(helped)
