"""Discrete Gaussian numbers from a table: tails and decisions against many digits."""

import secrets

import mpmath
import numpy as np
import pytest

from private_ensembles.base import discrete_gaussian_table
from private_ensembles.base.discrete_gaussian_table import (
    FIRST_BITS,
    LARGEST_SIGMA,
    MORE_BITS,
    NEXT_BITS,
    bracket_size,
    draw,
    table,
)

BITS = FIRST_BITS + NEXT_BITS
SIGMAS = [1e-3, 0.2, 1.0, 7.3, 25.0]


def tails(sigma, digits):
    """Pr[|X| >= k] for k = 1, 2, ..., until nothing is left."""
    with mpmath.workdps(digits + 10):
        weights, k = [], 1
        while True:
            weight = mpmath.exp(-((k / mpmath.mpf(sigma)) ** 2) / 2)
            if weight < mpmath.mpf(10) ** -digits and len(weights) > 2:
                break
            weights.append(weight)
            k += 1
        total = 1 + 2 * mpmath.fsum(weights)
        sums, found = mpmath.mpf(0), []
        for weight in reversed(weights):
            sums += weight
            found.append(2 * sums / total)
    return found[::-1]


@pytest.mark.parametrize("sigma", [*SIGMAS, pytest.param(LARGEST_SIGMA, marks=pytest.mark.slow)])
def test_tails_are_between_the_whole_numbers_of_the_table(sigma):
    listed, exact = table(sigma), tails(sigma, 40)
    for k, (sure, most) in enumerate(zip(listed.sure, listed.most, strict=True)):
        true = exact[k] * 2**BITS if k < len(exact) else 0
        assert int(sure) <= true <= int(most), k + 1
        assert int(most) - int(sure) <= 3 + 2**-34 * true, k + 1
    # What is larger than all that is listed is left to points below the last number.
    assert listed.sure[-1] == 0
    assert len(listed.sure) >= len(exact) or exact[len(listed.sure)] * 2**BITS < 1


@pytest.mark.parametrize("sigma", SIGMAS)
def test_first_bits_leave_the_sizes_that_their_ends_have(sigma):
    listed = table(sigma)
    for first in [0, 1, 2, 3, 77, 5000, 2**FIRST_BITS - 1]:
        lowest, highest = first << NEXT_BITS, ((first + 1) << NEXT_BITS) - 1
        assert listed.least_sizes[first] == sum(int(n) > highest for n in listed.sure)
        assert listed.most_sizes[first] == sum(int(n) > lowest for n in listed.most)


def draw_at(sigma, point, drawn, negative):
    """The number for U = point / 2^drawn, and how often bits were asked for."""
    asked = []

    def bits(number):
        if number == 0:
            return 0
        asked.append(number)
        if len(asked) == 1:
            assert number == 16
            return (point >> (drawn - FIRST_BITS)) << 1 | negative
        if len(asked) == 2:
            assert number == 64
            return ((point >> (drawn - BITS)) & ((1 << NEXT_BITS) - 1)) << (64 - NEXT_BITS)
        assert number == MORE_BITS
        left = drawn - BITS - MORE_BITS * (len(asked) - 2)
        return (point >> left) & ((1 << MORE_BITS) - 1)

    (number,) = draw(1, sigma, bits)
    return int(number), len(asked)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("depth", [20, 61, 100, 180])
def test_a_number_has_its_size_on_both_sides_of_a_tail(sigma, depth):
    """U is above or below Pr[|X| >= k] by so many bits of it."""
    drawn, exact = BITS + 5 * MORE_BITS, tails(sigma, 130)
    for k in {1, 2, 3, int(sigma) + 1, int(2 * sigma) + 1}:
        if k > len(exact) or exact[k - 1] < mpmath.mpf(2) ** -40:
            continue
        with mpmath.workdps(140):
            at, apart = exact[k - 1], mpmath.mpf(2) ** -depth
            inside = at * (1 - apart), (at * (1 + apart) if at * (1 + apart) < 1 else None)
            for u, size in zip(inside, (k, k - 1), strict=True):
                if u is None or (depth < 61 and sigma > 5):  # the next tail may be as near
                    continue
                point = int(mpmath.floor(u * 2**drawn))
                for negative in (0, 1):
                    number, _ = draw_at(sigma, point, drawn, negative)
                    assert number == (-size if negative else size), (k, u)


def test_only_what_the_first_bits_do_not_decide_takes_more():
    middle = 1 << (BITS - 1)  # between Pr[|X| >= 1] = 0.60 and Pr[|X| >= 2] = 0.13
    assert draw_at(1.0, middle, BITS, 0) == (1, 1)
    near = int(tails(1.0, 40)[0] * 2**BITS)
    assert draw_at(1.0, near + 2**30, BITS, 1) == (0, 2)
    assert draw_at(1.0, near << MORE_BITS, BITS + MORE_BITS, 0)[1] == 3


def test_a_number_of_no_bits_but_the_last_is_far_out():
    """U = 2^-123: further out than anything that the table holds."""
    size, asked = draw_at(1.0, 1 << 4, BITS + MORE_BITS, 0)
    assert asked == 3
    exact = tails(1.0, 60)
    assert exact[size - 1] > mpmath.mpf(2) ** -123 > exact[size]


@pytest.mark.parametrize("sigma", SIGMAS)
def test_a_bracket_holds_the_size_whatever_the_bits(sigma):
    exact, drawn = tails(sigma, 70), BITS + MORE_BITS
    for point in (1, 12345, 1 << 60, (1 << drawn) // 3, (1 << drawn) - 1):
        least, most = bracket_size(sigma, point, drawn)
        u = mpmath.mpf(point) / mpmath.mpf(1 << drawn)
        assert least <= sum(tail > u for tail in exact) <= most
    least, most = bracket_size(sigma, 0, drawn)
    assert least < most  # however small U is, it may be smaller


@pytest.mark.parametrize("sigma", [5e-324, 1e-200, 1e-3])
def test_hardly_any_noise_is_none(sigma):
    assert draw(5, sigma, secrets.randbits).tolist() == [0] * 5


def test_every_block_is_drawn(monkeypatch):
    """Eleven numbers, four at a time: the last block is shorter."""
    monkeypatch.setattr(discrete_gaussian_table, "_AT_ONCE", 4)
    sizes = []

    def bits(number):
        sizes.append(number)
        return sum((1 << 14) << (16 * place) for place in range(number // 16))

    # U is 1/4 in all: between Pr[|X| >= 1] = 0.60 and Pr[|X| >= 2] = 0.13.
    assert draw(11, 1.0, bits).tolist() == [1] * 11
    assert sizes == [4 * 16, 0, 4 * 16, 0, 3 * 16, 0]  # no number needs more than the first


def test_both_signs_are_as_likely():
    noise = draw(20_000, 3.0, secrets.randbits)
    assert abs((noise > 0).sum() - (noise < 0).sum()) < 7 * np.sqrt(20_000)
