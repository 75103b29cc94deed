"""The audit against closed forms, brute force over events, and fractions."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from private_ensembles.audit import (
    delta_curve,
    divergence,
    exact_delta,
    exact_epsilon,
    renyi_curve,
    two_class_pairs,
    worst_pair,
)
from private_ensembles.audit.divergence import coins_delta
from private_ensembles.labels.gnmax import label_probability
from private_ensembles.labels.lnmax import lnmax_matrix
from tests.audit import oracle

ONE_PAIR = [(0, 1)]


def random_matrix(rng, rows, labels, zeros=0.2):
    """Rows of probabilities that add up to 1, some of them 0 or nearly so."""
    weights = rng.random((rows, labels)) ** rng.integers(1, 12)
    weights[rng.random(weights.shape) < zeros] = 0
    weights[:, 0] += 1e-3
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_five_thousand_teachers_have_their_closed_forms(noise):
    """delta, epsilon, the Renyi curve and the worst pair of two classes, all 5,000 pairs."""
    K, scale, orders = 5000, 40.0, [1.5, 8.0, 64.0]
    ones = label_probability(K, scale)
    matrix = np.stack([ones[::-1], ones], axis=1) if noise == "gaussian" else lnmax_matrix(K, scale)
    pairs, errors = two_class_pairs(K), {"relative_error": 1e-11, "absolute_error": 1e-300}
    with mpmath.workdps(40):
        s, grow = mpmath.mpf(scale), mpmath.exp(mpmath.mpf("0.02"))

        def tail(lead):
            if noise == "gaussian":
                return mpmath.ncdf(lead / (mpmath.sqrt(2) * s))
            y = abs(lead) / s
            lost = mpmath.exp(-y) * (2 + y) / 4
            return 1 - lost if lead > 0 else lost

        # The other half is the same after 0 and 1 change places; far tails decide no delta.
        near = range(K // 2 - 400, K // 2 + 1)
        p = {n: tail(2 * n - K) for n in (*near, near[-1] + 1)}
        delta = max(p[n + 1] - grow * p[n] for n in near)
        worst = max(near, key=lambda n: p[n + 1] - grow * p[n])
        renyi = [
            max(
                mpmath.log(
                    p[n + 1] ** a * p[n] ** (1 - a) + (1 - p[n + 1]) ** a * (1 - p[n]) ** (1 - a)
                )
                / (a - 1)
                for n in near
            )
            for a in orders
        ]
    found = exact_delta(matrix, pairs, 0.02, **errors)
    assert float(delta) <= found <= float(delta) + 1e-10
    back = exact_epsilon(matrix, pairs, float(delta), **errors)
    assert back == pytest.approx(0.02, abs=1e-8)
    assert delta_curve(matrix, pairs, [0.02], **errors)[0] == found
    place = worst_pair(matrix, pairs, epsilon=0.02, **errors)
    mirrored = {(worst, worst + 1), (K - worst, K - worst - 1)}
    assert {(place.first, place.second), (place.second, place.first)} & mirrored
    curve = renyi_curve(matrix, pairs, orders, **errors)
    # Pairs farther out cost more where tails are Gaussian; nearer ones are a lower bound.
    assert (curve >= np.array(renyi, dtype=float) * (1 - 1e-12)).all()
    if noise == "laplace":
        assert curve[-1] <= 2 / scale


def test_tiny_probabilities_are_enclosed_as_tightly_as_large_ones():
    """Logarithms of 1e-200 round by 6e-14, more than their difference does."""
    generator = np.random.default_rng(0)
    with mpmath.workdps(40):
        for exponent in generator.uniform(-290, -1, 500):
            p, q = 10**exponent * generator.uniform(1, 1.5, 2)
            true = abs(mpmath.log(mpmath.mpf(p) / mpmath.mpf(q)))
            rows = [[p, 1 - p], [q, 1 - q]]
            assert exact_epsilon(rows, ONE_PAIR, 0.0) >= true
            assert exact_epsilon(rows, ONE_PAIR, 0.0, side="lower") <= true


@given(st.integers(0, 10**9), st.integers(2, 5), st.sampled_from([0.0, 1e-9, 0.03]))
def test_results_enclose_the_exact_rational_value(seed, labels, delta):
    matrix = random_matrix(np.random.default_rng(seed), 3, labels)
    pairs = [(0, 1), (2, 1)]
    # The floats' rows add up to 1 only roughly: what they stand for lies within 1e-15.
    errors = {"relative_error": 1e-15}
    true = oracle.epsilon(matrix, pairs, delta)
    upper = exact_epsilon(matrix, pairs, delta, **errors)
    assert upper >= true
    assert exact_epsilon(matrix, pairs, delta, side="lower", **errors) <= true
    if math.isfinite(true) and delta == 0:
        assert upper <= float(true) + 1e-12
    for epsilon in (0.0, 0.7):
        with mpmath.workdps(40):
            low = Fraction(str(mpmath.exp(epsilon) * (1 - mpmath.mpf("1e-30"))))
            high = Fraction(str(mpmath.exp(epsilon) * (1 + mpmath.mpf("1e-30"))))
        found = exact_delta(matrix, pairs, epsilon, **errors)
        assert found >= oracle.delta(matrix, pairs, high)
        assert found <= float(oracle.delta(matrix, pairs, low)) + 1e-13
        lower = exact_delta(matrix, pairs, epsilon, side="lower", **errors)
        assert lower <= oracle.delta(matrix, pairs, low)


@given(st.integers(0, 10**9))
def test_stated_errors_of_the_probabilities_are_covered(seed):
    rng = np.random.default_rng(seed)
    exact = random_matrix(rng, 2, 3, zeros=0.0)
    seen = exact * (1 + 1e-4 * rng.uniform(-1, 1, exact.shape)) + 1e-6 * rng.uniform(-1, 1)
    seen = np.clip(seen, 0, 1)
    errors = {"relative_error": 1.1e-4, "absolute_error": 1e-6}
    for x in (0.0, 0.3):
        true = exact_delta(exact, ONE_PAIR, x, relative_error=1e-15)
        assert exact_delta(seen, ONE_PAIR, x, **errors) >= true
        assert exact_delta(seen, ONE_PAIR, x, side="lower", **errors) <= true
    orders = [1.5, 8.0]
    true = renyi_curve(exact, ONE_PAIR, orders, relative_error=1e-15)
    assert (renyi_curve(seen, ONE_PAIR, orders, **errors) >= true * (1 - 1e-12)).all()


def test_label_that_is_impossible_on_one_side_costs_everything():
    matrix = [[1.0, 0.0], [0.5, 0.5]]
    assert exact_epsilon(matrix, ONE_PAIR, 0.4) == math.inf
    assert exact_epsilon(matrix, ONE_PAIR, 0.5000001) == pytest.approx(0.0, abs=1e-6)
    assert exact_delta(matrix, ONE_PAIR, 1e6) == pytest.approx(0.5)
    assert renyi_curve(matrix, ONE_PAIR, [2.0])[0] == math.inf
    found = worst_pair(matrix, ONE_PAIR, epsilon=50.0)
    assert (found.first, found.second, found.labels) == (1, 0, (1,))


def test_curve_and_worst_pair_agree_with_single_values():
    rng = np.random.default_rng(5)
    matrix = random_matrix(rng, 6, 3)
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5)]
    grid = [0.0, 0.4, 2.0]
    errors = {"relative_error": 1e-15}
    curve = delta_curve(matrix, pairs, grid, **errors)
    assert curve.tolist() == [exact_delta(matrix, pairs, x, **errors) for x in grid]
    for x in grid:
        found = worst_pair(matrix, pairs, epsilon=x, **errors)
        chosen = list(found.labels)
        by_hand = (matrix[found.first] - math.exp(x) * matrix[found.second])[chosen].sum()
        assert found.value == pytest.approx(by_hand, abs=1e-12)


def test_neighbours_may_be_pairs_a_sparse_relation_or_a_function():
    matrix = random_matrix(np.random.default_rng(0), 5, 3, zeros=0.0)
    pairs = [(0, 1), (1, 2), (2, 3), (3, 4)]
    relation = sparse.coo_array(([True] * 4, tuple(zip(*pairs, strict=True))), shape=(5, 5))
    given_ways = (pairs, np.array(pairs), relation, lambda row: [row + 1] if row < 4 else [])
    values = {exact_epsilon(matrix, way, 1e-3) for way in given_ways}
    assert len(values) == 1
    assert exact_epsilon(matrix, [(b, a) for a, b in pairs], 1e-3) in values


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"prob_matrix": [[0.5, 0.6], [0.5, 0.5]]}, "prob_matrix: row 0 adds up to"),
        ({"prob_matrix": [0.5, 0.5]}, "prob_matrix"),
        ({"neighbours": np.zeros((0, 2), int)}, "neighbours"),
        ({"neighbours": [(0.0, 1.0)]}, "neighbours"),
        ({"neighbours": sparse.eye_array(3)}, "neighbours"),
        ({"side": "left"}, "side"),
    ],
)
def test_bad_input_is_named(change, name):
    arguments = {"prob_matrix": [[0.5, 0.5], [0.4, 0.6]], "neighbours": ONE_PAIR, "epsilon": 0.1}
    with pytest.raises(ValueError, match=name):
        exact_delta(**(arguments | change))


def test_epsilon_or_delta_must_be_given():
    with pytest.raises(ValueError, match="epsilon, delta"):
        worst_pair([[0.5, 0.5], [0.4, 0.6]], ONE_PAIR)


def test_a_single_label_tells_nothing_and_no_label_is_no_mechanism():
    assert exact_delta([[1.0], [1.0]], ONE_PAIR, 0.0) <= 1e-14
    with pytest.raises(ValueError, match="prob_matrix: shape"):
        exact_delta(np.ones((2, 0)), ONE_PAIR, 0.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_difference_at_an_epsilon_is_rounded_to_its_side(sign):
    """Also where next to nothing is left of it."""
    below = np.random.default_rng(4).uniform(0.1, 0.3, (200, 1))
    above = below * math.exp(1.0) * (1 + sign * 16 * np.finfo(float).eps)
    found = divergence._deltas(above, below, 1.0, sign)[0]
    with mpmath.workdps(40):
        for value, one, other in zip(found, above[:, 0], below[:, 0], strict=True):
            exact = max(mpmath.mpf(one) - mpmath.e * mpmath.mpf(other), 0)
            assert sign * (mpmath.mpf(value) - exact) >= 0


@pytest.mark.parametrize("sign", [1, -1])
def test_the_logarithm_at_a_delta_is_rounded_to_its_side(sign):
    """Also where delta leaves next to nothing of the event's probability."""
    delta, below = 0.2, np.full((200, 1), 1e-20)
    above = delta * (1 + np.random.default_rng(4).integers(32, 400, (200, 1)) * 2.0**-52)
    found = divergence._epsilons(above, below, delta, sign)[0]
    with mpmath.workdps(40):
        for value, one in zip(found, above[:, 0], strict=True):
            exact = mpmath.log((mpmath.mpf(one) - mpmath.mpf(delta)) / mpmath.mpf(1e-20))
            assert sign * (mpmath.mpf(value) - exact) >= 0
            assert abs(value - exact) < 1


@pytest.mark.keeps("audit.divergence:coins_delta")
@pytest.mark.parametrize("epsilon", [0.01, 0.7, 5.0])
def test_coins_cost_what_their_floats_say(epsilon):
    table = np.array([[0.9, 0.1], [0.7, 0.3], [0.25, 0.75], [0.4, 0.6]])
    ones = [Fraction(0.1), Fraction(0.3), 1 - Fraction(0.25), 1 - Fraction(0.4)]
    worst = max(
        max(p - Fraction(math.exp(epsilon)) * q, Fraction(0))
        for here, there in itertools.pairwise(ones)
        for a, b in ((here, there), (there, here))
        for p, q in ((a, b), (1 - a, 1 - b))
    )
    assert float(coins_delta(table, epsilon)) == pytest.approx(float(worst), rel=1e-12)


def test_neither_order_of_neighbours_is_overlooked():
    """Label 1 at 0.01 and at 0.4: only who knows the former's votes is told much by it."""
    table = np.array([[0.99, 0.01], [0.6, 0.4], [0.55, 0.45]])
    exact = Fraction(0.4) - Fraction(math.e) * Fraction(0.01)
    for rows in (table, table[::-1]):
        assert float(coins_delta(rows, 1.0)) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("moved", [1, 2, 3, 7])
def test_coins_of_several_votes_are_those_of_all_rows_that_near(moved):
    """By all pairs of rows, where many next to each other are equal, as in a long table."""
    rng = np.random.default_rng(moved)
    for _ in range(20):
        ones = np.repeat(np.sort(rng.random(6)), rng.integers(1, 9, 6))
        coins = np.stack([1 - ones, ones], axis=1)
        exact = [Fraction(p) if p <= 0.5 else 1 - Fraction(1 - p) for p in ones.tolist()]
        growth = Fraction(math.exp(0.1))
        worst = max(
            max(p - growth * q, 1 - p - growth * (1 - q))
            for i, p in enumerate(exact)
            for j, q in enumerate(exact)
            if abs(i - j) <= moved
        )
        found = float(coins_delta(coins, 0.1, moved))
        assert found == pytest.approx(float(max(worst, 0)), rel=1e-12)


@pytest.mark.parametrize("errors", [(0.0, 0.0), (1e-12, 0.0), (0.0, 1e-300), (1e-3, 1e-9)])
def test_every_entry_of_a_table_is_moved_outwards_by_its_error_and_its_rounding(errors):
    """In fractions: the first of a pair up and the second down, or the other way round."""
    relative, absolute = map(Fraction, errors)
    table = np.random.default_rng(5).dirichlet([0.1, 1.0, 3.0], 30)
    rows = np.arange(30)
    for side, order in (("upper", 1), ("lower", -1)):
        high, low = divergence._Table(table, *errors, side).ends(rows, rows)[::order]
        for p, up, down in zip(table.ravel().tolist(), high.ravel(), low.ravel(), strict=True):
            most, least = Fraction(p) * (1 + relative) + absolute, Fraction(p) * (1 - relative)
            least = max(Fraction(0), least - absolute)
            assert most <= Fraction(float(up)) <= most * (1 + Fraction(1, 2**48))
            assert least * (1 - Fraction(1, 2**48)) <= Fraction(float(down)) <= least


# Pr[label 1] of each row: quarters, whose complements are floats.
TURNS = [
    [0.25, 0.75],
    [0.25, 0.25, 0.75],
    [0.25, 0.75, 0.75, 0.75],
    [0.25, 0.75, 0.25],
    [0.5, 0.25, 0.75, 0.5],
    [0.0, 1.0],
    [0.25, 0.25, 0.25],
    [0.5, 0.5],
]


@pytest.mark.parametrize("moved", [1, 2])
@pytest.mark.parametrize("ones", TURNS)
def test_rows_that_differ_only_in_which_label_is_likelier_are_told_apart(ones, moved):
    """In either order, wherever the turn is, and where there is none: by all pairs of rows."""
    growth = Fraction(math.exp(0.1))
    for row in (ones, ones[::-1]):
        exact = [Fraction(one) for one in row]
        worst = max(
            max(p - growth * q, 1 - p - growth * (1 - q))
            for i, p in enumerate(exact)
            for q in exact[max(0, i - moved) : i + moved + 1]
        )
        table = np.array([[1 - one, one] for one in row])
        found = float(coins_delta(table, 0.1, moved))
        assert found == pytest.approx(float(max(worst, 0)), rel=1e-12)


@pytest.mark.parametrize("epsilon", [699.0, 701.0, 705.0, 720.0, 1e6])
def test_a_lower_bound_stays_one_where_its_exponential_overflows(epsilon):
    """Tiny probabilities need an epsilon of about 700, and no more, unless they are 0."""
    with mpmath.workdps(40):
        tiny = mpmath.mpf(1e-305)
        exact = max(0, mpmath.mpf(0.5) - mpmath.exp(mpmath.mpf(epsilon)) * tiny)
        rows = [[0.5, 0.5], [1e-305, 1.0]]
        assert exact_delta(rows, ONE_PAIR, epsilon, side="lower") <= exact
        assert exact_delta(rows, ONE_PAIR, epsilon) >= exact
        if epsilon > 703:
            assert exact == exact_delta(rows, ONE_PAIR, epsilon, side="lower") == 0
    never = [[0.5, 0.5], [0.0, 1.0]]
    assert 0.5 - 1e-12 < exact_delta(never, ONE_PAIR, epsilon, side="lower") <= 0.5
