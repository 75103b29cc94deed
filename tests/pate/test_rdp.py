"""Data-dependent Rényi costs against 60-digit evaluation and exact divergences."""

from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from private_ensembles import pate
from private_ensembles.pate.rdp import (
    gnmax_independent_rdp,
    gnmax_log_q,
    gnmax_rdp_of_log_q,
    log_answer_probability,
    threshold_rdp,
)

from .oracle import confident_gnmax_expected_rdp, label_by_quadrature


def exact_log_q(row, sigma):
    with mpmath.workdps(60):
        top = max(row)
        rest = list(row)
        rest.remove(top)
        q = sum(mpmath.erfc(mpmath.mpf(top - n) / (2 * mpmath.mpf(sigma))) for n in rest) / 2
        return mpmath.log(min(q, 1)) if q else mpmath.mpf("-inf")


def exact_rdp(log_q, sigma, order):
    """Theorem 6 with Propositions 8 and 10, at 60 digits and more where q needs them."""
    digits = 60 + int(max(0, -float(log_q)) / 2)
    with mpmath.workdps(digits):
        L, s, lam = mpmath.mpf(log_q), mpmath.mpf(sigma), mpmath.mpf(order)
        independent = lam / s**2
        if L >= 0:
            return independent
        q = mpmath.exp(L)
        mu2 = s * mpmath.sqrt(-L)
        mu1 = mu2 + 1
        if mu1 < lam or mu2 <= 1:
            return independent
        e1, e2 = mu1 / s**2, mu2 / s**2
        limit = (mu2 - 1) * e2 - mu2 * mpmath.log(mu1 / (mu1 - 1) * mu2 / (mu2 - 1))
        if limit < L:
            return independent
        A = (1 - q) / (1 - (q * mpmath.exp(e2)) ** ((mu2 - 1) / mu2))
        B = mpmath.exp(e1) / q ** (1 / (mu1 - 1))
        bound = mpmath.log((1 - q) * A ** (lam - 1) + q * B ** (lam - 1)) / (lam - 1)
        return min(bound, independent)


@pytest.mark.parametrize("sigma", [1.0, 40.0])
def test_log_q_equals_proposition_7_at_sixty_digits(sigma):
    rows = np.array([[250, 0, 0], [90, 80, 80], [200, 40, 10], [125, 125, 0], [84, 83, 83]])
    computed = gnmax_log_q(rows, sigma)
    for value, row in zip(computed, rows.tolist(), strict=True):
        exact = exact_log_q(row, sigma)
        assert value >= exact
        assert value == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.floats(-700, -1e-3),
    st.sampled_from([2.0, 10.0, 40.0, 150.0]),
    st.sampled_from([1.5, 2.0, 7.5, 14.0, 50.0]),
)
def test_rdp_is_the_papers_bound_rounded_up(log_q, sigma, order):
    computed = gnmax_rdp_of_log_q([log_q], sigma, [order])[0, 0]
    exact = exact_rdp(log_q, sigma, order)
    assert computed >= exact
    assert computed == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("log_q", [-2.0, -8.0, -60.0])
def test_no_other_moments_beat_proposition_10(log_q):
    """Theorem 6 with Proposition 8, on a grid of mu_1 and mu_2 where its conditions hold."""
    sigma, order = 40.0, 7.5
    found = gnmax_rdp_of_log_q([log_q], sigma, [order])[0, 0]
    best = sigma * np.sqrt(-log_q)
    tried = 0
    with mpmath.workdps(50):
        q = mpmath.exp(log_q)
        for mu2, mu1 in product(best * np.geomspace(0.5, 2, 9), 1 + best * np.geomspace(0.5, 2, 9)):
            e1, e2 = mpmath.mpf(mu1) / sigma**2, mpmath.mpf(mu2) / sigma**2
            limit = (mu2 - 1) * e2 - mu2 * mpmath.log(mu1 / (mu1 - 1) * mu2 / (mu2 - 1))
            if mu1 < order or mu2 <= 1 or log_q > limit:
                continue
            A = (1 - q) / (1 - (q * mpmath.exp(e2)) ** ((mu2 - 1) / mpmath.mpf(mu2)))
            B = mpmath.exp(e1) / q ** (1 / mpmath.mpf(mu1 - 1))
            bound = mpmath.log((1 - q) * A ** (order - 1) + q * B ** (order - 1)) / (order - 1)
            assert found <= bound * (1 + 1e-9)
            tried += 1
    assert tried > 20


def test_no_gap_of_votes_overflows():
    counts = np.array([[5000, 0], [2501, 2499], [2500, 2500], [0, 5000]])
    for sigma in (0.5, 40.0, 1000.0):
        cost = pate.gnmax_rdp(counts, sigma, [1.01, 2, 20.5, 1000])
        assert np.isfinite(cost).all()
        assert (cost >= 0).all()
        assert (cost <= gnmax_independent_rdp(sigma, [1.01, 2, 20.5, 1000])).all()


def test_a_single_class_reveals_nothing():
    assert (pate.gnmax_rdp([[7], [7]], 3.0, [2, 8]) < 1e-300).all()


def test_equal_votes_cost_the_data_independent_bound():
    np.testing.assert_allclose(pate.gnmax_rdp([[5, 5, 5]], 3.0, [2.0, 8.0]), [[2 / 9, 8 / 9]])


@pytest.mark.parametrize("sigma", [0.4, 0.8, 2.0])
def test_cost_is_never_below_the_exact_divergence_to_any_neighbour(sigma):
    teachers, orders = 6, np.array([1.5, 2.0, 5.0])
    rows = [r for r in product(range(teachers + 1), repeat=3) if sum(r) == teachers]
    exact = {row: label_by_quadrature(row, sigma) for row in rows}
    cost = pate.gnmax_rdp(np.array(rows), sigma, orders)
    used = 0
    for row, bound in zip(rows, cost, strict=True):
        used += int((bound < orders / sigma**2 * (1 - 1e-9)).any())
        for i, j in product(range(3), repeat=2):
            if i == j or row[i] == 0:
                continue
            moved = list(row)
            moved[i] -= 1
            moved[j] += 1
            P, Q = exact[row], exact[tuple(moved)]
            for order, limit in zip(orders, bound, strict=True):
                divergence = np.log(np.sum(P**order * Q ** (1 - order))) / (order - 1)
                assert divergence <= limit + 1e-9
    if sigma < 1:
        assert used > 0  # the data-dependent bound is put to the test, not only the other one


def test_threshold_splits_into_pass_and_fail():
    passes, fails = log_answer_probability([[200, 50], [125, 125]], 200, 150.0)
    np.testing.assert_allclose(np.exp(passes) + np.exp(fails), 1, rtol=1e-14)
    assert passes[0] == pytest.approx(np.log(0.5))


def test_expected_cost_weighs_each_label_with_its_chance_of_an_answer():
    counts = np.array([[240, 10], [130, 120]])
    answers, total = confident_gnmax_expected_rdp(counts, 200, 150.0, 40.0, [14.0])
    label = pate.gnmax_rdp(counts, 40.0, [14.0])[:, 0]
    expected = 2 * 14 / (2 * 150**2) + answers @ label
    assert total[0] == pytest.approx(expected, rel=1e-14)
    assert answers[0] > 0.5 > answers[1]


@pytest.mark.parametrize(
    ("counts", "sigma", "orders", "message"),
    [
        ([[1, -1]], 1.0, [2], "at least 0"),
        ([[1, 2], [1, 1]], 1.0, [2], "same positive number"),
        ([[0, 0]], 1.0, [2], "same positive number"),
        ([[1.0, 2.0]], 1.0, [2], "whole numbers"),
        ([1, 2], 1.0, [2], "shape"),
        ([[1, 2]], 0.0, [2], "sigma"),
        ([[1, 2]], float("nan"), [2], "sigma"),
        ([[1, 2]], 1.0, [1.0], "orders"),
        ([[1, 2]], 1.0, [float("inf")], "orders"),
    ],
)
def test_bad_input_is_refused(counts, sigma, orders, message):
    with pytest.raises(ValueError, match=message):
        pate.gnmax_rdp(counts, sigma, orders)


def test_the_bound_holds_to_the_last_digit_where_mu_2_is_hardly_above_1():
    """There L - gain_a = L (1 - r)^2 loses digits, and little noise lets Theorem 6 apply."""
    rng = np.random.default_rng(0)
    applies = 0
    for sigma in (0.12, 0.15, 0.2, 0.3):
        for share in 10 ** rng.uniform(-9, -1, 50):
            log_q, order = -(1 + share) / sigma**2, float(rng.uniform(1.001, 2))
            found = float(gnmax_rdp_of_log_q([log_q], sigma, [order])[0, 0])
            exact = exact_rdp(log_q, sigma, order)
            assert found >= exact
            applies += found < order / sigma**2
    assert applies > 100


@pytest.mark.parametrize("sigma1", [1.0, 3.0, 8.0])
def test_a_threshold_costs_at_least_the_exact_divergence_of_its_two_outcomes(sigma1):
    """Pass or fail, beside a largest count that is one vote higher or lower."""
    orders, threshold = np.array([1.5, 2.0, 4.0, 9.0]), 10.0
    largest = np.arange(0, 60)
    costs = threshold_rdp(np.stack([largest, 60 - largest], 1)[30:], threshold, sigma1, orders)
    helped = 0
    for count, cost in zip(largest[30:], costs, strict=True):
        for other in (count - 1, count + 1):
            here, there = (
                [log_ndtr(side * (n - threshold) / sigma1) for side in (1, -1)]
                for n in (count, other)
            )
            for order, bound in zip(orders, cost, strict=True):
                terms = [order * p + (1 - order) * q for p, q in zip(here, there, strict=True)]
                assert np.logaddexp(*terms) / (order - 1) <= bound
                helped += bound < order / (2 * sigma1**2) * (1 - 1e-9)
    assert helped > 0
