"""The cells of the largest noisy count: how far they reach, and what each node is granted."""

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy.ndimage import maximum_filter
from scipy.special import ndtr

from verify import verify

from .test_adaptive_labels import bends, maximum_of


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


@pytest.mark.parametrize("leads", ["votes", "cells"])
@pytest.mark.parametrize(
    ("scale", "teachers", "cells"),
    [
        (0.5, 30, 2),
        (0.3, 2, 3),
        (1.0, 14, 2),
        (1.0, 15, 2),
        (2.5, 5, 7),
        (2.5, 90, 2),
        (40.0, 90, 3),
    ],
)
def test_nodes_reach_to_every_lead_and_height_that_is_not_left_out(
    monkeypatch, scale, teachers, cells, leads
):
    """As theorem 5 has its edges: w beyond 13 (and the move), c below -6.5, alpha and beta 8.5."""
    monkeypatch.setattr(verify.Maximum, "bound_density_and_cdf", lambda *_: (0, 0, 0, 0))
    maximum, sigma = maximum_of(scale, teachers, cells, leads), Fraction(scale)
    first, last = (
        maximum.half_move + i * maximum.stride * maximum.cell
        for i in (-maximum.leads, maximum.leads)
    )
    assert first <= max(-(teachers - 2) / sigma, -13)
    assert last >= min(teachers / sigma, 13 + 2 / sigma)
    lowest, highest = (maximum.start(j) * maximum.unit for j in (0, maximum.middles - 1))
    assert lowest <= Fraction(-13, 2)
    for w in (first, last):
        assert highest - abs(w) / 2 >= Fraction(17, 2)
    assert 0 < maximum.cell <= Fraction(1, cells)
    assert maximum.cell == 4 * maximum.panels * maximum.unit
    if leads == "votes":
        assert maximum.stride * maximum.cell == 1 / sigma
    # No node is there for nothing: the last but one does not reach so far.
    assert last - maximum.stride * maximum.cell < min(teachers / sigma, 13 + 2 / sigma)


def test_what_lies_beyond_the_edges_adds_no_more_than_is_granted():
    """The three edges of theorem 5, each by the chance of what it neglects."""
    granted = Fraction(verify.OUTSIDE, verify.ONE)
    assert granted >= Fraction(1, 10**16)
    with mp.workdps(40):
        far = 5 * mpmath.ncdf(-verify.LEAD / mpmath.sqrt(2))
        low = 5 * mpmath.ncdf(mpmath.mpf(verify.LOW.numerator) / verify.LOW.denominator) ** 2
        high = 6 * mpmath.ncdf(-mpmath.mpf(verify.MARGIN.numerator) / verify.MARGIN.denominator)
        assert max(far, low, high) <= mpmath.mpf(granted.numerator) / granted.denominator


def test_the_sixth_derivative_is_smaller_than_it_is_said_to_be():
    """Of phi(y - w/2) Phi(y + w/2): by Leibniz' rule, and by Cramer's inequality."""
    y, w = np.linspace(-9, 9, 361)[:, None], np.linspace(-14, 14, 281)[None, :]

    def density(order, x):
        """The derivative of phi of this order, up to its sign: He_n(x) phi(x) (-1)^n."""
        one, two = np.zeros_like(x), np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        for n in range(order):
            one, two = two, x * two - n * one
        return two * (-1) ** order

    exact = density(6, y - w / 2) * ndtr(y + w / 2)
    for k in range(6):
        exact = exact + math.comb(6, k) * density(k, y - w / 2) * density(5 - k, y + w / 2)
    assert np.abs(exact).max() < verify.SIXTH
    largest = 0.4335 * math.sqrt(720) + 0.188 * sum(
        math.comb(6, k) * math.sqrt(math.factorial(k) * math.factorial(5 - k)) for k in range(6)
    )
    assert largest < verify.SIXTH < largest + 2


def test_half_the_square_root_of_pi_and_of_two_are_rounded_down_in_the_last_digit():
    with mp.workdps(100):
        for root, square, digits in (
            (verify.ROOT_OF_PI, mpmath.pi, mpmath.mpf(10) ** -63),
            (verify.ROOT_OF_TWO, 2, mpmath.mpf(2) ** -256),
        ):
            off = mpmath.sqrt(square) - mpmath.mpf(root.numerator) / root.denominator
            assert 0 <= off < digits


@pytest.mark.parametrize("leads", ["votes", "cells"])
def test_each_node_is_compared_with_where_its_vote_takes_it(monkeypatch, leads):
    """Outcomes before and after the move; and bends around it, before, on the way and after."""
    maximum, seen, curve = maximum_of(8.0, 13, 16, leads), [], verify.node_hockey_stick

    def see_node(before, after, bends, growth):
        seen.append((before, after, bends))
        return curve(before, after, bends, growth)

    monkeypatch.setattr(verify, "node_hockey_stick", see_node)
    size = 2 * maximum.leads + 1
    groups = [[0] * maximum.middles for _ in range(size)]
    maximum.group_hockey_sticks(groups, Fraction(1, 4), [0, 1])
    assert len(seen) == size * maximum.middles
    cell, half = float(maximum.cell), float(maximum.half_move)
    w = half + np.arange(-maximum.leads, maximum.leads + 1)[:, None] * maximum.stride * cell
    c = np.array([float(maximum.start(j) * maximum.unit) for j in range(maximum.middles)])[None, :]
    shape = (size, maximum.middles, 3)
    wide = (1 if maximum.votes else 3, 3, 1)
    # Of sets of leads before and after the move, and of both with what lies between.
    for part, field, steps in (
        (0, 0, (0, 0.5, 1)),
        (0, 2, (0,)),
        (0, 3, (1,)),
        (1, 1, (0, 0.5, 1)),
    ):
        exact = np.max([bends(w - 2 * half * x + 0 * c, c)[part] for x in steps], axis=0)
        if maximum.votes:
            exact[1] = 0
        needed = np.moveaxis(exact.sum(axis=0), 0, -1) * cell**2 / 8 * (2 * half if part else 1)
        needed = maximum_filter(needed, wide, mode="nearest")
        granted = np.array([x[2][field] for x in seen], dtype=float).reshape(shape) / verify.ONE
        assert (granted >= needed * (1 - 1e-9)).all(), field
        assert ((granted / np.maximum(needed, 1e-300)).min(axis=(0, 1)) < 1.4).all(), field
    laws = maximum.outcomes()
    for node, (before, after, _) in enumerate(seen):
        i, j = divmod(node, maximum.middles)
        assert before == laws[i][j]
        a, b, other = laws[size - 1 - i][j]
        assert after == (b, a, other)


@pytest.mark.parametrize("seed", range(4))
def test_a_node_s_curve_is_rounded_up_in_the_last_unit(seed):
    """Of each set P - t P', and the lesser bound of the set's or of its complement's bends."""
    rng, one = random.Random(seed), verify.ONE
    thresholds = [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(5)]
    growth = [verify.exp(x) for x in thresholds]
    growth = [(math.floor(one * low), math.ceil(one * high)) for low, high in growth]
    for small in (1, 10, 10**6, 10**20):
        before, after = (
            [sorted(rng.randrange(one) for _ in range(2)) for _ in range(3)] for _ in range(2)
        )
        level, tilt, first, second = (
            [rng.randrange(one // small) for _ in range(3)] for _ in range(4)
        )
        found = verify.node_hockey_stick(before, after, (level, tilt, first, second), growth)
        for x, stick in zip(thresholds, found, strict=True):
            with mp.workdps(100):
                t = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
                exact = mpmath.mpf(0)
                for inside in ({0}, {2}, {0, 2}):

                    def bend(bound, inside=inside):
                        mine = sum(bound[o] for o in inside)
                        return min(mine, sum(bound) - mine)

                    here, there = (
                        sum(law[o][end] for o in inside) for law, end in ((before, 1), (after, 0))
                    )
                    near = (t - 1) * bend(level) + bend(tilt)
                    exact = max(exact, here - t * there + min(near, bend(first) + t * bend(second)))
                assert exact <= stick <= exact + 8


def test_the_largest_square_less_one_is_that_of_all_numbers_between():
    """At an end, or 1 where 0 lies between."""
    rng, one = random.Random(0), verify.ONE
    for size in (one, 2 * one, 20 * one):
        for _ in range(60):
            low, high = sorted(rng.randint(-size, size) for _ in range(2))
            squares = [Fraction(x * x, one) - one for x in (low, high)]
            exact = max(abs(x) for x in squares)
            if low <= 0 <= high:
                exact = max(exact, one)
            found = verify.largest_square_less_one(low, high)
            assert exact <= found <= exact + Fraction(2 * max(abs(low), abs(high)), one) + 5
