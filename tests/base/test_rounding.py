"""Balls, lists and constants of rounding. Its bounds: tests/accounting/test_stated_bounds.py."""

import zlib
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from private_ensembles.base.rounding import (
    ELEMENTARY,
    UNIT_ROUNDOFF,
    Ball,
    log_sum,
    normal_error,
    round_float_down,
    round_float_up,
)

DIGITS = 60


@pytest.mark.keeps("base.rounding:Ball.upper", "base.rounding:Ball.lower")
@pytest.mark.parametrize(
    "operation", ["add", "multiply", "divide", "sqrt", "exp", "expm1", "log", "log1p"]
)
def test_a_ball_holds_every_result_of_the_numbers_in_it(operation):
    rng = np.random.default_rng(zlib.crc32(operation.encode()))
    middles = 10 ** rng.uniform(-8, 2, (2, 400)) * rng.choice([-1, 1], (2, 400))
    if operation in ("sqrt", "log", "log1p"):
        middles = abs(middles)
    radii = abs(middles) * 10 ** rng.uniform(-18, -2, middles.shape)
    first, second = (Ball(m, r) for m, r in zip(middles, radii, strict=True))
    ours, exact = {
        "add": lambda: (first + second, lambda a, b: a + b),
        "multiply": lambda: (first * second, lambda a, b: a * b),
        "divide": lambda: (first / second, lambda a, b: a / b),
        "sqrt": lambda: (first.sqrt(), lambda a, b: mpmath.sqrt(a)),
        "exp": lambda: (first.exp(), lambda a, b: mpmath.exp(a)),
        "expm1": lambda: (first.expm1(), lambda a, b: mpmath.expm1(a)),
        "log": lambda: (first.log(), lambda a, b: mpmath.log(a)),
        "log1p": lambda: (first.log1p(), lambda a, b: mpmath.log1p(a)),
    }[operation]()
    with mpmath.workdps(DIGITS):
        for k in range(middles.shape[1]):
            for signs in np.vstack([rng.choice([-1, 1], (3, 2)), [[0, 0]]]):
                a, b = (mpf(middles[i, k]) + int(signs[i]) * mpf(radii[i, k]) for i in (0, 1))
                assert mpf(ours.lower[k]) <= exact(a, b) <= mpf(ours.upper[k])


def test_a_ball_knows_where_nothing_is_known():
    with np.errstate(all="ignore"):
        around_zero = Ball(1e-3, 2e-3)
        for lost in (1 / around_zero, around_zero.log(), around_zero.sqrt(), Ball(800.0).exp()):
            assert np.isposinf(lost.upper)


def test_exponentials_of_a_wide_ball_lie_in_their_ball():
    """Up to a radius of 1 it has ends; beyond, r + r^2 would soon be less than e^r - 1."""
    for radius in (0.5, 1.0, 1.5, 2.0, 3.0, 20.0):
        for ball, end in (
            (Ball(0.25, radius).exp(), np.exp(0.25 + radius)),
            (Ball(0.25, radius).expm1(), np.expm1(0.25 + radius)),
        ):
            assert end <= ball.upper
            assert np.isfinite(ball.upper) == (radius <= 1)


def test_a_sum_of_exponentials_neither_overflows_nor_loses_digits():
    for a, b in ((900.0, 880.0), (-900.0, -900.5), (1e-9, -40.0), (-1.0, -0.4586751453870819)):
        found = log_sum(Ball(a), Ball(b))
        with mpmath.workdps(500):
            exact = mpmath.log(mpmath.exp(mpf(a)) + mpmath.exp(mpf(b)))
            assert mpf(float(found.lower)) <= exact <= mpf(float(found.upper))
        assert found.upper - found.lower < 1e-11


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_numpy_is_as_exact_as_is_granted(name):
    """Here; on other machines the bound is NumPy's own (docs/noise.md)."""
    rng = np.random.default_rng(7)
    arguments = 10 ** rng.uniform(-8, 2.5, 4000) * (1 if name.startswith("log") else -1)
    ours = getattr(np, name)(arguments)
    with mpmath.workdps(40):
        exact = [getattr(mpmath, name)(mpf(x)) for x in arguments.tolist()]
        worst = max(abs(mpf(o) / e - 1) for o, e in zip(ours.tolist(), exact, strict=True))
    assert worst < ELEMENTARY / 4


def test_bounds_of_a_list_are_those_of_its_numbers():
    for bound in (round_float_up, round_float_down):
        assert bound([1.0, 3.0], 9).tolist() == [bound(1.0, 9), bound(3.0, 9)]


def test_a_ball_s_logarithm_of_more_than_one_is_known():
    found = Ball(5.0, 1e-3).log1p()
    assert float(found.upper - found.lower) < 1e-3


def test_a_roundoff_is_what_one_operation_can_lose():
    """Half way between 1 and the next float, where rounding to even loses most."""
    exact = 1 + Fraction(1, 2**53)
    lost = (exact - Fraction(1.0 + 2.0**-53)) / exact
    assert lost <= Fraction(UNIT_ROUNDOFF) <= lost * (1 + Fraction(1, 2**50))


def test_rounding_of_a_tail_grows_with_its_square_as_far_as_tails_reach():
    assert normal_error(0) == 1e-12
    assert normal_error(10) == pytest.approx(101e-12)
    assert normal_error(1e9) == normal_error(40)


@pytest.mark.parametrize("middle", [-3.0, -1.0, -1e-300, 0.0, 1e-300, 1.0, 3.0])
@pytest.mark.parametrize("radius", [0.0, 2.0**-60, 2.0**-53, 0.7])
def test_ends_of_a_ball_are_beyond_all_of_it_on_either_side_of_zero(middle, radius):
    """In fractions, where the end itself is rounded; and hardly further than that."""
    ball, size = Ball(middle, radius), Fraction(abs(middle) + radius) / 2**51
    lower, upper = Fraction(float(ball.lower)), Fraction(float(ball.upper))
    lowest, highest = Fraction(middle) - Fraction(radius), Fraction(middle) + Fraction(radius)
    room = size + Fraction(radius) / 2**20 + Fraction(1, 2**1000)
    assert lowest - room <= lower < lowest
    assert highest < upper <= highest + room


def test_where_nothing_is_known_both_ends_say_so():
    with np.errstate(all="ignore"):
        around_zero = Ball(1e-3, 2e-3)
        for lost in (
            1 / around_zero,
            around_zero.log(),
            around_zero.sqrt(),
            Ball(-1.0, 0.1).log1p(),
            Ball(800.0).exp(),
            Ball(0.0, np.inf),
            Ball(0.0, np.nan),
        ):
            assert (np.isneginf(lost.lower), np.isposinf(lost.upper)) == (True, True)
