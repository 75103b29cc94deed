"""LNMax's costs, closed forms and scales against integrals and the definition.

That costs are rounded up: tests/accounting/promises.py, at sixty digits.
"""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from private_ensembles import pate
from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.accounting.rounding import above
from private_ensembles.audit import exact_delta, two_class_pairs
from private_ensembles.pate.lnmax import (
    METHODS,
    PAPER_ORDERS,
    lnmax_log_q,
    lnmax_matrix,
    lnmax_noisy_counts_delta,
    lnmax_rdp,
    lnmax_scale,
)

ERRORS = {"relative_error": 1e-12, "absolute_error": 1e-300}


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


@pytest.mark.parametrize("scale", [0.3, 2.0, 7.47])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0, 1.5])
def test_delta_of_the_noisy_counts_is_the_two_dimensional_integral(scale, share):
    """Each count's privacy loss: two atoms and a density, here met by Gauss-Legendre quadrature."""
    t, epsilon = 1 / scale, share * 2 / scale
    nodes, weights = np.polynomial.legendre.leggauss(200)
    atoms = [(t, 0.5), (-t, math.exp(-t) / 2)]

    def expected(value, low, high):
        """E of value(loss) over the density's part in (low, high)."""
        l = low + (high - low) * (nodes + 1) / 2
        density = np.exp(-(t - l) / 2) / 4
        return float((weights * density * value(l)).sum() * (high - low) / 2)

    def one(s):
        """E max(0, 1 - e^(s - loss)) for one count."""
        total = sum(p * max(0.0, 1 - math.exp(s - l)) for l, p in atoms)
        low = min(max(s, -t), t)
        return total + expected(lambda l: 1 - np.exp(s - l), low, t)

    total = sum(p * one(epsilon - l) for l, p in atoms)
    edge = min(max(epsilon - t, -t), t)
    total += expected(np.vectorize(lambda l: one(epsilon - l)), edge, t)
    delta = lnmax_noisy_counts_delta(scale, epsilon)
    assert delta == pytest.approx(total, abs=1e-10)
    assert delta >= total - 1e-15


@settings(max_examples=40)
@given(st.floats(0.05, 6), st.sampled_from([0.0, 1e-9, 3e-4, 0.1]), st.sampled_from([1, 2, 11]))
def test_scales_prove_their_claims_and_are_ordered(epsilon, delta, n_teachers):
    scales = [lnmax_scale(epsilon, delta, method=m, n_teachers=n_teachers) for m in METHODS]
    # Renyi bounds know less than the noisy counts' own delta, the label tells no more than these.
    assert all(more * (1 + 1e-8) >= less for more, less in pairwise(scales))
    for scale in scales[1:3]:
        assert lnmax_noisy_counts_delta(scale, epsilon) <= delta or delta == 0
    pairs = two_class_pairs(n_teachers)
    for scale in scales:
        exact = exact_delta(lnmax_matrix(n_teachers, scale), pairs, epsilon, **ERRORS)
        assert exact <= delta
    less = exact_delta(lnmax_matrix(n_teachers, scales[3] * (1 - 1e-4)), pairs, epsilon, **ERRORS)
    assert less > delta


def test_exact_scale_at_the_published_budget():
    scales = [lnmax_scale(0.2676, 3e-4, method=m, n_teachers=11) for m in METHODS]
    assert scales == pytest.approx([7.4738, 7.4405, 7.4405, 5.4829], abs=1e-3)
    # Where the exact audit saves most: without delta, eleven teachers never meet the worst ratio.
    assert lnmax_scale(0.2676, 0.0, method="exact", n_teachers=11) < 5.6


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.0])
def test_a_delta_of_next_to_nothing_is_kept_at_next_to_the_scale_of_none(epsilon):
    scale = lnmax_scale(epsilon, 1e-250, method="noisy_counts")
    assert lnmax_noisy_counts_delta(scale, epsilon) <= 1e-250
    assert scale == pytest.approx(2 / epsilon, rel=1e-9)


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
        assert (cost <= above(2 / scale)).all()


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
        optimal_homogeneous(0.05, 0.0, 200, 1e-5).epsilon, rel=1e-9
    )
    assert found.epsilon == pytest.approx(found.data_independent_epsilon, rel=1e-9)
    assert found.optimal_data_independent_epsilon < found.data_independent_epsilon < 10
    clear = pate.lnmax_privacy(np.tile([250, 0], (100, 1)), 20.0, 1e-5)
    assert clear.epsilon < found.epsilon / 4
    paper = pate.lnmax_privacy(counts, 20.0, 1e-5, conversion="classic", bounds="paper")
    assert paper.data_independent_epsilon > found.data_independent_epsilon
