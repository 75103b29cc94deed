"""Teachers of DaRRM who may move by Delta: bounds, and all moves, against a list of all of them."""

import math
import random
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from mpmath import mp

from verify import verify

ONE = verify.ONE
# How far a teacher may move, in ONE: from so little that its square is lost to nearly a half.
MOVES = [3, ONE >> 70, ONE // 1000, ONE // 7, ONE * 49 // 100]


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def chances(n, D):
    """Of how many of n teachers move, in fractions."""
    D = Fraction(D, ONE)
    return [math.comb(n, r) * D**r * (1 - D) ** (n - r) for r in range(n + 1)]


def mean(line, b, zeros, ones, D):
    """The line's mean at b, if so many zeros and ones each move with probability D / ONE."""
    return sum(
        up * down * line[b + r - s]
        for r, up in enumerate(chances(zeros, D))
        for s, down in enumerate(chances(ones, D))
    )


def dearest(P, Q, b, a, C, D):
    """The largest f over all that a zeros and b ones may do: each moves on one side or on none."""
    return max(
        mean(P, b, x, y, D) * ONE - C * mean(Q, b, a - x - still, b - y - rest, D)
        for x, y in product(range(a + 1), range(b + 1))
        for still, rest in product(range(a - x + 1), range(b - y + 1))
    )


def draw_lines(rng, n):
    return [[rng.randint(-ONE, ONE) for _ in range(n + 1)] for _ in range(2)]


def bounded(P, Q, b, a, C, D):
    """What `check_gamma_privacy` takes for the largest f, if that is enough."""
    further = verify.largest_second_difference(P, Q, C) * verify.share_of_further_orders(a + b, D)
    moved = verify.first_order_of_moves(P, Q, b, a, C) * D + further
    return P[b] * ONE - C * Q[b] + verify.shift_up(moved, verify.BITS)


@pytest.mark.parametrize("D", MOVES)
def test_no_moves_cost_more_than_their_bound_or_than_all_that_are_tried(D):
    rng = random.Random(D)
    for n in (1, 2, 3, 4):
        probabilities = verify.move_probabilities(n, D)
        lost = max(ONE - sum(row) for row in probabilities)
        for b in range(n + 1):
            P, Q = draw_lines(rng, n)
            C = rng.randint(ONE, 9 * ONE)
            exact = dearest(P, Q, b, n - b, C, D)
            assert bounded(P, Q, b, n - b, C, D) >= exact
            tried = verify.cost_of_all_moves(P, Q, b, n - b, C, probabilities)
            assert abs(tried - exact) <= (ONE + C) * (n + 1 + 2 * lost + 2)


@pytest.mark.parametrize("D", MOVES)
def test_the_bound_is_all_that_teachers_can_do_along_straight_lines(D):
    """And of one teacher; nothing is of second order there."""
    rng = random.Random(D)
    for n in (1, 1, 1, 2, 3, 4):
        starts, slopes = [[rng.randint(-ONE // 9, ONE // 9) for _ in range(2)] for _ in range(2)]
        P, Q = (
            [x + slope * k for k in range(n + 1)] for x, slope in zip(starts, slopes, strict=True)
        )
        C = rng.randint(ONE, 9 * ONE)
        for b in range(n + 1):
            off = bounded(P, Q, b, n - b, C, D) - dearest(P, Q, b, n - b, C, D)
            assert 0 <= off <= 1


@pytest.mark.parametrize("D", MOVES)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_further_orders_are_bounded_by_their_binomial_sum(n, D):
    """C(n, s) D^s 2^(s - 2) of the largest second difference, s from 2 on."""
    step = Fraction(D, ONE)
    exact = sum(math.comb(n, s) * step**s * Fraction(2) ** (s - 2) for s in range(2, n + 1))
    assert 0 <= verify.share_of_further_orders(n, D) - ONE * exact < 1


def test_the_largest_second_difference_is_looked_for_on_both_sides():
    """Also at both ends of a line; that of p' counts C times."""
    flat, C = [5 * ONE] * 5, 3 * ONE
    for k, bend in ((0, 1), (2, 2), (4, 1)):  # a corner in the middle bends twice
        for by in (ONE, -ONE):
            line = [x + by * (j == k) for j, x in enumerate(flat)]
            assert verify.largest_second_difference(line, flat, C) == bend * ONE * ONE
            assert verify.largest_second_difference(flat, line, C) == bend * ONE * C


@pytest.mark.parametrize("D", MOVES)
def test_chances_of_moves_are_rounded_down_by_at_most_one_a_teacher(D):
    rows = verify.move_probabilities(6, D)
    assert len(rows) == 7
    for n, row in enumerate(rows):
        exact = [ONE * p for p in chances(n, D)]
        assert len(row) <= n + 1
        row = row + [0] * (n + 1 - len(row))
        assert all(0 <= p - rounded <= n for p, rounded in zip(exact, row, strict=True))


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(3)])
def test_a_stated_cost_may_be_too_small_by_2_to_the_minus_44_of_1_and_the_growth(epsilon):
    """One teacher, for whom gamma costs gamma (C - 1), wherever she is."""
    body = {"K": 1, "m": 1, "epsilon": f"{epsilon.numerator}/{epsilon.denominator}"}
    body |= {"Delta": 0, "delta": "9/10", "gamma": ["1/2", "1/2"]}
    with mp.workdps(100):
        C = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        C = Fraction(int(C * 10**80), 10**80)
    cost, room = (C - 1) / 2, (1 + C) / 2**44
    verify.check_gamma_privacy(body, worst_cost=cost)
    verify.check_gamma_privacy(body, worst_cost=cost - room * (1 - Fraction(1, 10**20)))
    with pytest.raises(ValueError, match="f is above worst_cost"):
        verify.check_gamma_privacy(body, worst_cost=cost - room * (1 + Fraction(1, 10**20)))
