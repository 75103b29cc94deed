"""LNMax's costs and closed forms against integrals and the definition.

That costs are rounded up: tests/accounting/bound_samplers.py, at sixty digits.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.base.rounding import round_float_up, round_fraction_up
from private_ensembles.labels.lnmax import lnmax_independent_rdp, lnmax_matrix
from private_ensembles.papers.pate import mathematics as pate
from private_ensembles.papers.pate.mathematics.lnmax import (
    PAPER_ORDERS,
    lnmax_log_q,
    lnmax_rdp,
    lnmax_rdp_of_log_q,
)


def test_difference_of_laplace_variables_has_the_stated_tail():
    matrix = lnmax_matrix(4, 2.5)
    for n in range(5):
        lead = 2 * n - 4

        def integrand(z, lead=lead):  # Pr[noise of ones > z - lead], density of zeros' noise at z
            y = mpmath.mpf(z - lead) / 2.5
            tail = mpmath.exp(-y) / 2 if y > 0 else 1 - mpmath.exp(y) / 2
            return tail * mpmath.exp(-abs(z) / 2.5) / 5

        points = sorted({-200, min(0, lead), max(0, lead), 200})
        ones = mpmath.quad(integrand, points)
        assert matrix[n, 1] == pytest.approx(float(ones), abs=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(matrix[:, 0], matrix[::-1, 1])


def test_log_q_is_the_union_bound_and_each_term_is_exact():
    scale, row = 3.0, [9, 4, 2]
    total = 0
    for gap in (5, 7):
        exact = quad(  # Pr[Lap - Lap > gap] by the density e^(-|x| / scale) (1 + |x| / scale) / 4 s
            lambda x: np.exp(-x / scale) * (1 + x / scale) / (4 * scale), gap, np.inf
        )[0]
        total += exact
    assert np.exp(lnmax_log_q([row], scale)[0]) == pytest.approx(total, rel=1e-9)


def test_no_gap_of_votes_overflows():
    counts = np.array([[5000, 0], [2500, 2500], [2501, 2499]])
    for scale in (0.5, 20.0, 1000.0):
        cost = lnmax_rdp(counts, scale, [1.01, 2, 9, 500])
        assert np.isfinite(cost).all()
        assert (cost >= 0).all()
        assert (cost <= round_float_up(2 / scale)).all()


def test_a_hundred_labels_the_papers_way():
    """(sum of moments + log(1/delta)) / l, least over l = 1..8, line by line."""
    rng = np.random.default_rng(1)
    counts = rng.multinomial(250, [0.9] + [0.1 / 9] * 9, 100)
    found = pate.lnmax_privacy(
        counts, 20.0, 1e-5, conversion="classic", bounds="paper", orders=PAPER_ORDERS
    )
    best = math.inf
    for l in range(1, 9):
        moment = 0.0
        for row in counts.tolist():
            top = max(row)
            rest = list(row)
            rest.remove(top)
            q = min(1, sum((2 + (top - n) / 20) / (4 * math.exp((top - n) / 20)) for n in rest))
            terms = [0.5 * 0.1**2 * l * (l + 1), 0.1 * l]
            if q < 1 / (1 + math.exp(0.1)):
                terms.append(
                    math.log(
                        (1 - q) * ((1 - q) / (1 - math.exp(0.1) * q)) ** l + q * math.exp(0.1 * l)
                    )
                )
            moment += min(terms)
        best = min(best, (moment + math.log(1e5)) / l)
    assert found.epsilon == pytest.approx(best, rel=1e-9)
    assert found.order == 9.0  # the largest moment: more would be better


def test_record_sets_the_independent_costs_beside():
    counts = np.full((100, 2), 125)
    found = pate.lnmax_privacy(counts, 20.0, 1e-5)
    assert found.pure_epsilon == pytest.approx(10.0)
    assert found.label_epsilon == pytest.approx(0.1)
    assert found.optimal_data_independent_epsilon == pytest.approx(
        optimal_composition(0.05, 0.0, 200, 1e-5).epsilon, rel=1e-9
    )
    assert found.epsilon == pytest.approx(found.data_independent_epsilon, rel=1e-9)
    assert found.optimal_data_independent_epsilon < found.data_independent_epsilon < 10
    clear = pate.lnmax_privacy(np.tile([250, 0], (100, 1)), 20.0, 1e-5)
    assert clear.epsilon < found.epsilon / 4
    paper = pate.lnmax_privacy(counts, 20.0, 1e-5, conversion="classic", bounds="paper")
    assert paper.data_independent_epsilon > found.data_independent_epsilon


def test_what_a_label_and_all_of_them_cost_is_rounded_up():
    for scale in (0.7, 3.0, 7.3, 8.3, 20.0, 55.0):
        for queries in (1, 3, 5):
            found = pate.lnmax_privacy(np.tile([5, 4], (queries, 1)), scale, 1e-5)
            each = 2 / Fraction(scale)
            assert each <= Fraction(found.label_epsilon) <= each * (1 + Fraction(1, 2**51))
            assert queries * each <= Fraction(found.pure_epsilon)
            counts = optimal_composition(round_fraction_up(each / 2), 0.0, 2 * queries, 1e-5)
            assert counts.epsilon <= found.optimal_data_independent_epsilon


@pytest.mark.parametrize(("scale", "order"), [(33.9, 9.5), (36.7, 5.5), (20.0, 8.0)])
def test_the_papers_bound_of_a_label_is_rounded_up_where_its_products_round_down(scale, order):
    found = Fraction(float(lnmax_independent_rdp(scale, [order], bounds="paper")[0]))
    exact = 2 * Fraction(order) / Fraction(scale) ** 2
    assert exact <= found <= exact * (1 + Fraction(1, 2**48))


def test_theorem_3_is_rounded_up_next_to_the_probability_from_which_it_says_nothing():
    """There q c is nearly 1 - q, and what 2 / scale is off by counts many times over."""
    orders = 1 + np.array([0.05, 0.5, 2.0])
    tight = 0
    for scale in (2 / np.random.default_rng(5).uniform(4, 12, 60)).tolist():
        log_q = -np.logaddexp(0, 2 / scale) * (1 + np.geomspace(1e-7, 1e-3, 9))
        found = lnmax_rdp_of_log_q(log_q, scale, orders)
        independent = lnmax_independent_rdp(scale, orders)
        with mpmath.workdps(50):
            c = mpmath.exp(2 / mpmath.mpf(scale))
            for row, q in zip(found, map(mpmath.exp, log_q.tolist()), strict=True):
                for order, cost, pure in zip(orders.tolist(), row, independent, strict=True):
                    power = mpmath.mpf(order) - 1
                    moment = (1 - q) * ((1 - q) / (1 - c * q)) ** power + q * c**power
                    exact = mpmath.log(moment) / power
                    assert cost >= min(exact, pure)
                    tight += exact < cost < pure
    assert tight > 500
