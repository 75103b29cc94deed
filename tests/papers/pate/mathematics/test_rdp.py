"""Data-dependent Rényi costs against exact divergences, one way.

That they are rounded up: tests/accounting/bound_samplers.py, at sixty digits.
"""

from functools import partial
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.papers.pate import mathematics as pate
from private_ensembles.papers.pate.mathematics.rdp import (
    gnmax_independent_rdp,
    gnmax_log_q,
    gnmax_rdp_of_log_q,
    log_answer_probability,
    theorem_6,
    threshold_rdp,
)
from tests.accounting.bound_samplers import theorem_6_of_gnmax
from tests.papers.pate.mathematics.oracle import (
    clear_labels_delta,
    divergence,
    gaussian_label,
    laplace_label,
    lattice_label,
    neighbours,
    partitions,
)

ORDERS = np.array([1.25, 2.0, 4.0, 9.0])
# Noise at which the data-dependent bound is used for many of the histograms.
CASES = [
    ("gnmax", 12, 2, 1.0),
    ("gnmax", 12, 2, 2.5),
    ("gnmax", 8, 3, 1.0),
    ("gnmax", 11, 3, 2.0),
    ("lnmax", 12, 2, 1.0),
    ("lnmax", 11, 2, 2.0),
    ("lnmax", 8, 3, 1.0),
    ("secure gnmax", 12, 2, 0.6),
    ("secure gnmax", 12, 2, 1.0),
    ("secure gnmax", 9, 3, 1.0),
]
LABEL = {"gnmax": gaussian_label, "lnmax": laplace_label, "secure gnmax": lattice_label}
COST = {
    "gnmax": pate.gnmax_rdp,
    "lnmax": pate.lnmax_rdp,
    "secure gnmax": partial(pate.gnmax_rdp, noise="secure"),
}


def exact_log_q(row, sigma):
    with mpmath.workdps(60):
        top = max(row)
        rest = list(row)
        rest.remove(top)
        q = sum(mpmath.erfc(mpmath.mpf(top - n) / (2 * mpmath.mpf(sigma))) for n in rest) / 2
        return mpmath.log(min(q, 1)) if q else mpmath.mpf("-inf")


@pytest.mark.parametrize("sigma", [1.0, 40.0])
def test_log_q_equals_proposition_7_at_sixty_digits(sigma):
    rows = np.array([[250, 0, 0], [90, 80, 80], [200, 40, 10], [125, 125, 0], [84, 83, 83]])
    computed = gnmax_log_q(rows, sigma)
    for value, row in zip(computed, rows.tolist(), strict=True):
        exact = exact_log_q(row, sigma)
        assert value >= exact
        assert value == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


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


def test_one_class_tells_nothing():
    for cost in COST.values():
        found = cost([[9], [9]], 2.0, [2.0, 8.0])
        assert 0 < found.min() <= found.max() < 1e-300


def test_equal_votes_cost_the_data_independent_bound():
    np.testing.assert_allclose(pate.gnmax_rdp([[5, 5, 5]], 3.0, [2.0, 8.0]), [[2 / 9, 8 / 9]])


def test_threshold_splits_into_pass_and_fail():
    passes, fails = log_answer_probability([[200, 50], [125, 125]], 200, 150.0)
    np.testing.assert_allclose(np.exp(passes) + np.exp(fails), 1, rtol=1e-14)
    assert passes[0] == pytest.approx(np.log(0.5))


def test_the_bound_holds_to_the_last_digit_where_mu_2_is_hardly_above_1():
    """There L - gain_a = L (1 - r)^2 loses digits, and little noise lets Theorem 6 apply."""
    rng = np.random.default_rng(0)
    applies = 0
    for sigma in (0.12, 0.15, 0.2, 0.3):
        for share in 10 ** rng.uniform(-9, -1, 50):
            log_q, order = -(1 + share) / sigma**2, float(rng.uniform(1.001, 2))
            found = float(gnmax_rdp_of_log_q([log_q], sigma, [order])[0, 0])
            exact = theorem_6_of_gnmax(log_q, sigma, order)
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


@pytest.mark.parametrize(("mechanism", "teachers", "classes", "noise"), CASES)
def test_cost_is_never_below_the_exact_divergence_to_any_neighbour(
    mechanism, teachers, classes, noise
):
    rows = partitions(teachers, classes)
    exact = {row: LABEL[mechanism](row, noise) for row in rows}
    costs = COST[mechanism](rows, noise, ORDERS)
    missed = 0
    for row, cost in zip(rows, costs, strict=True):
        for moved in neighbours(row):
            there = exact[tuple(sorted(moved, reverse=True))]
            # Classes stand where they stood, so that labels are compared with themselves.
            there = there[np.argsort(np.argsort(-np.array(moved), kind="stable"))]
            for order, bound in zip(ORDERS, cost, strict=True):
                assert divergence(exact[row], there, order) <= bound + 1e-9
                missed += divergence(there, exact[row], order) > bound + 1e-6
    assert missed  # it does not bound the way back
    assert (costs < costs.max(axis=0) * (1 - 1e-6)).any()  # and it is not the constant


def test_a_forward_cost_bounds_one_direction_only(root):
    """docs/pate.md: K = 11, votes 9-2, 300 labels, sigma = 1, delta = 1e-5."""
    orders = np.arange(1.5, 20, 0.5)
    forward, _ = rdp_to_dp(orders, 300 * pate.gnmax_rdp([[9, 2]], 1.0, orders)[0], 1e-5)
    assert clear_labels_delta(7, 5, forward) <= 1e-5
    back = 1e3 * clear_labels_delta(5, 7, forward)
    text = " ".join((root / "docs" / "pate.md").read_text(encoding="utf-8").split())
    assert f"cost ε = {forward:.2f} one way, and the way back has δ = {back:.2f}·10⁻³" in text


@pytest.mark.parametrize("L", [730.0, 740.0, 750.0])
@pytest.mark.parametrize("order", [1.0001, 1.01, 1.3])
def test_what_a_float_is_too_small_for_is_granted(L, order):
    """q = e^-L and what depends on it lose digits, or vanish, below the least normal float."""
    one = np.array([[1.0]])
    for gain_a, gain_b in ((0.001 * L, 0.5), (0.001, 0.001), (20.0, 3.0), (0.02 * L, 0.01)):
        arguments = (L - gain_a) * one, gain_a * one, gain_b * one, L / (L - gain_a) * one
        found = float(theorem_6(L * one, *arguments, np.array([order]))[0, 0])
        with mpmath.workdps(900):
            l, q, x = mpmath.mpf(order) - 1, mpmath.exp(-L), mpmath.exp(gain_a - mpmath.mpf(L))
            A, B = (1 - q) / (1 - x), mpmath.exp(gain_b)
            exact = mpmath.log((1 - q) * A**l + q * B**l) / l
        assert exact <= found <= exact * (1 + 1e-9) + 1e-303
