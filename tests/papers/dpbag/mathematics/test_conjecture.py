"""The supplement's conjecture: its formula, and where the exact moments keep to it."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from private_ensembles.papers.dpbag.mathematics.conjecture import (
    charged_moment,
    compare_with_exact_moments,
    conjectured_moment,
    exact_moment,
    is_bound_applicable,
    wrong_probability,
)
from private_ensembles.papers.dpbag.mathematics.label_loss import ones_probability
from private_ensembles.papers.pate.mathematics import lnmax_distribution


def test_the_formula_is_that_of_equations_1_to_3():
    mp.dps = 40
    for noise, m, l, gaps in ((0.3, 0.6, 4, [3.0]), (1.0, 1.0, 8, [4.0, 6.0])):
        q = sum((2 + mpf(noise) * g) / (4 * mp.exp(mpf(noise) * g)) for g in map(mpf, gaps))
        e = mp.exp(2 * mpf(noise) * mpf(m))
        moment = mp.log((1 - q) * ((1 - q) / (1 - e * q)) ** l + q * e**l)
        ours = conjectured_moment(wrong_probability(gaps, noise), noise, m, l)
        assert float(ours) == pytest.approx(float(moment), rel=1e-12)
    assert np.isnan(conjectured_moment(0.5, 1.0, 1.0, 1))
    assert is_bound_applicable(0.1, 0.5, 1.0)
    assert not is_bound_applicable(0.4, 0.5, 1.0)


def test_equation_3_is_charged_where_its_condition_holds_and_it_is_smaller():
    q, noise, m, orders = 0.01, 0.5, 0.8, np.array([1, 4, 16])
    stated = 2 * noise**2 * m**2 * orders * (orders + 1)
    trusted = conjectured_moment(q, noise, m, orders)
    charged = charged_moment(q, noise, m, orders)
    np.testing.assert_array_equal(charged, np.minimum(stated, trusted))
    assert (charged[0], charged[-1]) == (trusted[0], trusted[-1])
    np.testing.assert_array_equal(charged_moment(0.32, noise, m, orders), stated)
    assert not is_bound_applicable(0.32, noise, m)
    assert conjectured_moment(0.32, noise, m, 1) < np.inf


def test_q_is_exact_for_two_classes():
    for gap in (0.0, 0.5, 3.0):
        wrong = 1 - ones_probability(gap, 0.7)
        assert float(wrong_probability([gap], 0.7)) == pytest.approx(float(wrong), rel=1e-12)


def test_the_conjecture_holds_forward_and_is_violated_backward():
    rows = compare_with_exact_moments((0.05, 0.5, 1, 2), 10, 4, (1, 2, 8, 32))
    forward = [row for row in rows if row["direction"] == "forward"]
    backward = [row for row in rows if row["direction"] == "backward"]
    assert sum(row["violations"] for row in forward) == 0
    assert sum(row["violations"] for row in backward if row["condition"]) > 0
    assert any(row["undefined"] for row in forward if not row["condition"])
    assert sum(row["cases"] for row in forward) == 16 * 37 * 5 * 5


def test_a_violation_is_one_by_hand():
    """q at the leading data set is too small for its neighbour: PATE's own bound (m = 1), too."""
    noise, l = 1.0, 2
    p, p_without = float(ones_probability(5.0, noise)), float(ones_probability(3.0, noise))
    backward = math.log(p_without**3 / p**2 + (1 - p_without) ** 3 / (1 - p) ** 2)
    bound = float(conjectured_moment(wrong_probability([5.0], noise), noise, 1.0, l))
    assert is_bound_applicable(1 - p, noise, 1.0)
    assert backward == pytest.approx(float(exact_moment(p_without, p, l)), rel=1e-12)
    assert backward > bound + 0.3


def test_replacing_lambda_in_q_as_well_only_weakens_the_conjecture():
    """The supplement's open question: q with lambda m is never smaller than with lambda."""
    for m in (0.5, 0.8, 1.0):
        for gap in (0.5, 2.0, 6.0):
            personal = wrong_probability([gap], 0.7 * m)
            plain = wrong_probability([gap], 0.7)
            assert personal >= plain
            if is_bound_applicable(personal, 0.7, m):
                assert conjectured_moment(personal, 0.7, m, 4) >= conjectured_moment(
                    plain, 0.7, m, 4
                )


def test_m_bounds_nothing_for_ten_classes():
    """Each of u's 10 teachers votes another class, and all vote class 0 without u."""
    noise, l, m = 0.2, 1, 1 / 10
    # Counts in tenths: of ten partitions.
    p = lnmax_distribution([[31] * 10], 10 / noise)[0]
    without = lnmax_distribution([[40] + [30] * 9], 10 / noise)[0]
    moment = math.log((p * (p / without) ** l).sum())
    assert moment > 2 * (2 * noise**2 * m**2 * l * (l + 1))
    # What a count can move by, 1 - min_c n_c(x; u), does bound it.
    assert moment < 2 * noise**2 * (1 - m) ** 2 * l * (l + 1)
