"""LNMax's costs against 50-digit evaluation, exact divergences and composition."""

import math
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from private_ensembles import pate
from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.accounting.rounding import above
from private_ensembles.pate.lnmax_accounting import (
    PAPER_ORDERS,
    lnmax_independent_rdp,
    lnmax_log_q,
    lnmax_rdp,
    lnmax_rdp_of_log_q,
)


def exact_independent(scale, order):
    with mpmath.workdps(50):
        b, a = mpmath.mpf(scale), mpmath.mpf(order)
        e = 2 / b
        response = mpmath.log((mpmath.e ** (a * e) + mpmath.e ** ((1 - a) * e)) / (1 + mpmath.e**e))
        laplace = 2 * mpmath.log(
            (a * mpmath.e ** ((a - 1) / b) + (a - 1) * mpmath.e ** (-a / b)) / (2 * a - 1)
        )
        return min(response, laplace) / (a - 1)


def exact_dependent(log_q, scale, order):
    with mpmath.workdps(60 + int(-log_q / 2)):
        q, c, l = mpmath.exp(mpmath.mpf(log_q)), mpmath.exp(2 / mpmath.mpf(scale)), order - 1
        l = mpmath.mpf(l)
        independent = exact_independent(scale, order)
        if q >= 1 / (1 + c):
            return independent
        bound = mpmath.log((1 - q) * ((1 - q) / (1 - c * q)) ** l + q * c**l) / l
        return min(bound, independent)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.floats(-690, -1e-3),
    st.sampled_from([0.5, 2.0, 20.0, 400.0]),
    st.sampled_from([1.01, 2.0, 3.5, 9.0, 60.0]),
)
def test_cost_is_the_bound_at_many_digits_rounded_up(log_q, scale, order):
    computed = lnmax_rdp_of_log_q([log_q], scale, [order])[0, 0]
    exact = exact_dependent(log_q, scale, order)
    assert computed >= exact
    assert computed == pytest.approx(float(exact), rel=1e-9, abs=1e-12)
    independent = lnmax_independent_rdp(scale, [order])[0]
    assert independent >= exact_independent(scale, order)
    assert independent == pytest.approx(
        float(exact_independent(scale, order)), rel=1e-11, abs=1e-12
    )


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
    assert (lnmax_rdp([[7]], 3.0, [2.0, 8.0]) < 1e-300).all()


def distribution(row, scale):
    """Exact distribution of LNMax's label by quadrature over the winner's noise."""

    def below(x):
        return np.where(x < 0, np.exp(x / scale) / 2, 1 - np.exp(-x / scale) / 2)

    def chance(i):
        others = [n for j, n in enumerate(row) if j != i]
        kinks = sorted({0.0, *(float(n - row[i]) for n in others)})
        ends = [-40 * scale, *kinks, 40 * scale]
        return sum(
            quad(
                lambda z: (
                    np.exp(-abs(z) / scale)
                    / (2 * scale)
                    * np.prod([below(z + row[i] - n) for n in others])
                ),
                a,
                b,
                epsabs=1e-13,
            )[0]
            for a, b in pairwise(ends)
        )

    return np.array([chance(i) for i in range(len(row))])


@pytest.mark.parametrize("scale", [0.5, 1.5])
def test_cost_is_never_below_the_exact_divergence_to_any_neighbour(scale):
    teachers, orders = 5, np.array([1.5, 2.0, 5.0])
    rows = [r for r in product(range(teachers + 1), repeat=3) if sum(r) == teachers]
    exact = {row: distribution(row, scale) for row in rows}
    costs = lnmax_rdp(np.array(rows), scale, orders)
    used = 0
    for row, bound in zip(rows, costs, strict=True):
        used += int((bound < lnmax_independent_rdp(scale, orders) * (1 - 1e-9)).any())
        for i, j in product(range(3), repeat=2):
            if i == j or row[i] == 0:
                continue
            moved = list(row)
            moved[i] -= 1
            moved[j] += 1
            P, Q = exact[row], exact[tuple(moved)]
            divergence = np.log(np.sum(P[:, None] ** orders * Q[:, None] ** (1 - orders), axis=0))
            assert (divergence / (orders - 1) <= bound + 1e-9).all()
    if scale < 1:
        assert used > 0


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, -1]], 1.0, 1e-5), "at least 0"),
        (([[2, 2], [1, 2]], 1.0, 1e-5), "same positive number"),
        (([[1, 2]], 0.0, 1e-5), "scale"),
        (([[1, 2]], math.nan, 1e-5), "scale"),
        (([[1, 2]], 1.0, 1.0), "delta"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pate.lnmax_privacy(*arguments)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="bounds"):
        lnmax_independent_rdp(1.0, [2.0], bounds="x")
    with pytest.raises(ValueError, match="orders"):
        lnmax_rdp([[1, 2]], 1.0, [1.0])
    with pytest.raises(ValueError, match="log_q"):
        lnmax_rdp_of_log_q([0.1], 1.0, [2.0])
    with pytest.raises(ValueError, match="conversion"):
        pate.lnmax_privacy([[1, 2]], 1.0, 1e-5, conversion="x")
