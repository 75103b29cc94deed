"""Smooth sensitivity against Algorithms 3-5 as printed, brute force, and exact divergences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import erfc, erfcinv

from private_ensembles.pate.rdp import gnmax_log_q, gnmax_rdp, gnmax_rdp_of_log_q
from private_ensembles.pate.smooth_sensitivity import (
    CostCurve,
    gnss_rdp,
    sensitivity_by_distance,
    smooth_sensitivity,
)


class AsPrinted:
    """Algorithms 3-5 line by line, one query at a time, line 19 summing over all classes."""

    def __init__(self, sigma, order, m):
        self.sigma, self.order, self.m = sigma, order, m
        self.q0 = np.exp(CostCurve(sigma, order, m).log_q0())
        self.q1 = self.lower(self.q0)

    def beta(self, q):
        with np.errstate(divide="ignore"):
            return gnmax_rdp_of_log_q([np.log(q)], self.sigma, self.order)[0, 0]

    def upper(self, q):
        half = (self.m - 1) / 2
        return min(half * erfc(erfcinv(min(q / half, 2)) - 1 / self.sigma), 1)

    def lower(self, q):
        half = (self.m - 1) / 2
        return half * erfc(erfcinv(min(q / half, 2)) + 1 / self.sigma)

    def q(self, n):
        top = max(n)
        rest = list(n)
        rest.remove(top)
        return min(1, sum(erfc((top - x) / (2 * self.sigma)) for x in rest) / 2)

    def local(self, q):
        if self.q1 <= q <= self.q0:
            q = self.q1
        return max(self.beta(self.upper(q)) - self.beta(q), self.beta(q) - self.beta(self.lower(q)))

    def at_distance(self, n, d):
        q = self.q(n)
        n = sorted(n, reverse=True)
        if self.q1 <= q <= self.q0:
            return self.local(q), True
        if q < self.q1:
            if n[0] - n[1] < 2 * d:
                return self.local(self.q1), True
            moved = [n[0] - d, n[1] + d, *n[2:]]
            new = self.q(moved)
            return (self.local(self.q0), True) if new > self.q1 else (self.local(new), False)
        if sum(n[1:]) <= d:
            return self.local(self.q([sum(n)] + [0] * (self.m - 1))), True
        moved = [n[0] + d, *n[1:]]
        for _ in range(d):
            second = 1 + int(np.argmax(moved[1:]))
            moved[second] -= 1
        new = self.q(moved)
        return (self.local(self.q0), True) if new < self.q0 else (self.local(new), False)

    def sensitivities(self, n):
        out, d, stop = [], 0, False
        while not stop:
            value, stop = self.at_distance(n, d)
            out.append(max([value, *out[-1:]]))
            d += 1
        return out


CASES = [(4.0, 3.0, 3, 60), (6.0, 5.0, 2, 100), (10.0, 8.0, 4, 150)]


@pytest.mark.parametrize(("sigma", "order", "m", "teachers"), CASES)
def test_vectorised_walk_equals_the_algorithms_as_printed(sigma, order, m, teachers):
    rng = np.random.default_rng(int(sigma))
    shares = rng.dirichlet(np.r_[3.0, np.full(m - 1, 0.4)], 40)
    counts = np.array([rng.multinomial(teachers, share) for share in shares])
    counts = np.vstack([counts, np.eye(m, dtype=int)[:1] * teachers])
    weights = rng.random(len(counts))
    curve, slow = CostCurve(sigma, order, m), AsPrinted(sigma, order, m)
    per_query = [slow.sensitivities(list(map(int, row))) for row in counts]
    longest = max(map(len, per_query))
    padded = np.array([row + row[-1:] * (longest - len(row)) for row in per_query])
    expected = weights @ padded
    computed = sensitivity_by_distance(counts, curve, weights)
    np.testing.assert_allclose(computed, expected[: len(computed)], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(computed[-1], expected[-1], rtol=1e-7)
    for beta in (0.01, 0.1, 1.0):
        slow_value = np.max(np.exp(-beta * np.arange(longest)) * expected)
        value = smooth_sensitivity(counts, curve, beta, weights)
        assert value == pytest.approx(slow_value, rel=1e-7)


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


def divergence(order, sigma, ratio, shift):
    """D_order(N(0, sigma^2) || N(shift, (ratio sigma)^2)) by quadrature."""

    def log_density(x, mean, sd):
        return -((x - mean) ** 2) / (2 * sd**2) - np.log(sd * np.sqrt(2 * np.pi))

    def integrand(x):
        p, q = log_density(x, 0, sigma), log_density(x, shift, ratio * sigma)
        return np.exp(order * p + (1 - order) * q)

    return np.log(quad(integrand, -60 * sigma, 60 * sigma, limit=2000)[0]) / (order - 1)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.floats(1.5, 12), st.floats(0.05, 0.95), st.floats(1.0, 20), st.floats(-1, 1), st.floats(0, 1)
)
def test_gnss_cost_is_never_below_the_divergence_of_an_admissible_pair(order, part, sigma, t, size):
    beta = part * 0.5 * np.log(order / (order - 1))
    ratio = np.exp(t * beta)
    claimed = gnss_rdp(order, beta, sigma)
    exact = divergence(order, sigma, ratio, size * min(1.0, ratio))
    assert exact <= claimed + 1e-7 * (1 + claimed)


@pytest.mark.parametrize(("order", "beta", "sigma"), [(14, 0.0329, 6.23), (7.5, 0.0533, 4.88)])
def test_gnss_cost_is_attained(order, beta, sigma):
    ratio = np.exp(-beta)
    assert gnss_rdp(order, beta, sigma) == pytest.approx(
        divergence(order, sigma, ratio, ratio), abs=1e-6
    )


@pytest.mark.parametrize(
    ("order", "beta", "sigma", "printed", "true"),
    [(14, 0.0329, 6.23, 0.518, 1.607), (7.5, 0.0533, 4.88, 0.535, 0.634),
     (15.5, 0.0310, 7.92, 0.408, 1.763), (20.5, 0.0205, 11.9, 0.219, 0.417)],
)  # fmt: skip
def test_theorem_23_as_printed_fails_in_every_row_of_table_2(order, beta, sigma, printed, true):
    assert gnss_rdp(order, beta, sigma, formula="paper") == pytest.approx(printed, abs=2e-3)
    assert gnss_rdp(order, beta, sigma) == pytest.approx(true, abs=2e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gnss_rdp(1.0, 0.1, 1.0), "orders"),
        (lambda: gnss_rdp(2.0, 0.0, 1.0), "beta"),
        (lambda: gnss_rdp(2.0, 0.1, 0.0), "sigma"),
        (lambda: gnss_rdp(2.0, 0.1, 1.0, formula="x"), "formula"),
        (lambda: smooth_sensitivity([[1, 2]], CostCurve(1.0, 2.0, 2), 0.0), "beta"),
        (lambda: smooth_sensitivity([[1, 2]], CostCurve(1.0, 2.0, 3), 0.1), "classes"),
        (lambda: smooth_sensitivity([[1, 2]], CostCurve(1.0, 2.0, 2), 0.1, [-1.0]), "weights"),
        (lambda: CostCurve(1.0, 2.0, 1), "n_classes"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_beta_too_large_for_the_order_costs_infinity():
    assert gnss_rdp(14, 0.2, 6.0) == np.inf
    assert gnss_rdp(14, 0.2, 6.0, formula="paper") == np.inf
