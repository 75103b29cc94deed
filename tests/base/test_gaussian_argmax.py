"""The largest of counts with continuous noise: every decision against sixty digits and more."""

import itertools
import secrets

import mpmath
import numpy as np
import pytest

from private_ensembles.base import gaussian_argmax
from private_ensembles.base.gaussian_argmax import (
    FIRST_BITS,
    MORE_BITS,
    bracket_quantile,
    bracket_quantiles,
    bracket_tail,
    draw_argmax,
)

DIGITS = 110


def quantile(v):
    """Q(v) to many digits."""
    return -mpmath.sqrt(2) * mpmath.erfinv(2 * v - 1)


def tail(z):
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def mp(number):
    return mpmath.mpf(str(number))


@pytest.mark.parametrize("drawn", [16, 144, 272])
@pytest.mark.parametrize("at", ["0", "1e-9", "0.7", "-3.25", "9.1", "-14", "14"])
def test_a_tail_is_between_its_brackets_and_they_are_near(at, drawn):
    with mpmath.workdps(DIGITS):
        below, above = (mp(end) for end in bracket_tail(gaussian_argmax.Decimal(at), drawn))
        assert below < tail(mp(at)) < above
        assert above - below < mpmath.mpf(2) ** -drawn * mpmath.mpf(10) ** -22


@pytest.mark.parametrize("drawn", [80, 144, 208])
def test_a_quantile_is_between_its_brackets_and_they_are_near(drawn):
    size = 1 << drawn
    points = [1, 2, size // 3, size // 2, size - size // 7, size - 1]
    with mpmath.workdps(DIGITS):
        for point in points:
            below, above = (mp(end) for end in bracket_quantile(point, drawn))
            assert below < quantile(mpmath.mpf(point) / size) < above, point
            assert tail(below) - tail(above) < mpmath.mpf(10) ** -18 / size, point
    assert [str(end) for end in bracket_quantile(0, drawn)] == ["Infinity"] * 2
    assert [str(end) for end in bracket_quantile(size, drawn)] == ["-Infinity"] * 2


@pytest.mark.parametrize("drawn", [FIRST_BITS, FIRST_BITS + MORE_BITS])
def test_floats_hold_a_quantile_with_far_more_margin_than_they_need(drawn):
    """SciPy's quantile is 10^5 times as near as is granted."""
    size = 1 << drawn
    chosen = [1, 2, size // 2, size - 2, *(size * k // 97 for k in range(1, 97))]
    least, most = bracket_quantiles(np.array(chosen, dtype=object), drawn)
    with mpmath.workdps(40):
        for point, low, high in zip(chosen, least, most, strict=True):
            highest, lowest = (quantile(mpmath.mpf(end) / size) for end in (point, point + 1))
            assert low < lowest < highest < high
            granted = gaussian_argmax.MARGIN * (1 + abs(highest)) * mpmath.mpf("1.00001")
            assert high - highest < granted
            granted = gaussian_argmax.MARGIN * (1 + abs(lowest)) * mpmath.mpf("1.00001")
            assert lowest - low < granted
    ends = bracket_quantiles(np.array([0, size - 1], dtype=object), drawn)
    assert (ends[1][0], ends[0][1]) == (np.inf, -np.inf)
    assert np.isfinite([ends[0][0], ends[1][1]]).all()


class Known:
    """Bits of numbers V that are known to the last, each asked for in its turn.

    numbers: integers of `drawn` bits, one for each class, of one query.
    """

    def __init__(self, numbers, drawn):
        self.numbers, self.drawn, self.asked, self.used = numbers, drawn, [], FIRST_BITS

    def __call__(self, number):
        self.asked.append(number)
        if number == FIRST_BITS * len(self.numbers):
            first = [n >> (self.drawn - FIRST_BITS) for n in self.numbers]
            return sum(n << (FIRST_BITS * place) for place, n in enumerate(first))
        assert number == MORE_BITS
        place = (len(self.asked) - 2) % len(self.numbers)
        end = self.drawn - FIRST_BITS - MORE_BITS * ((len(self.asked) - 2) // len(self.numbers) + 1)
        return (self.numbers[place] >> end) & ((1 << MORE_BITS) - 1)


@pytest.mark.parametrize(
    ("different", "rounds"), [(3, 0), (22, 1), (40, 2), (100, 2), (170, 3), (230, 4)]
)
@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
@pytest.mark.parametrize("lead", [0, 1, 7])
def test_two_counts_are_told_apart_by_as_many_bits_as_it_takes(different, rounds, order, lead):
    """The second is ahead or behind by 2^-different of its V; floats show up to 2^-30."""
    drawn, sigma = FIRST_BITS + 4 * MORE_BITS, 2.75
    with mpmath.workdps(DIGITS):
        first = mpmath.mpf(1) / 7
        level = tail(quantile(first) + mpmath.mpf(lead) / sigma)  # here both are equal
        apart = mpmath.mpf(2) ** -different * level
        for ahead in (True, False):
            other = level - apart if ahead else level + apart
            numbers = [int(mpmath.floor(v * 2**drawn)) for v in (first, other)]
            known = Known([numbers[place] for place in order], drawn)
            counts = np.array([[lead, 0]])[:, list(order)]
            (label,) = draw_argmax(counts, sigma, known)
            assert order[label] == int(ahead)
            assert len(known.asked) == 1 + 2 * rounds


def test_only_those_that_may_be_largest_are_looked_at_again():
    """The third count is out of reach, so two of three get more bits, once."""
    asked = []

    def bits(number):
        asked.append(number)
        return 0 if number == 3 * FIRST_BITS else asked.count(MORE_BITS)

    assert draw_argmax(np.array([[5, 5, -(10**6)]]), 1.0, bits).tolist() == [0]
    assert asked[0] == 3 * FIRST_BITS
    assert set(asked[1:]) == {MORE_BITS}


def test_the_extreme_bits_are_decided_as_well():
    """All zeros, noise without a bound from above, until other bits come; and all ones."""
    for first in (0, (1 << MORE_BITS) - 1):
        script = [first, first, first, first, 9, 2]
        left = list(script)

        def bits(number, first=first, left=left):
            if number == 2 * FIRST_BITS:
                return 0 if first == 0 else (1 << number) - 1
            return left.pop(0)

        assert draw_argmax(np.array([[4, 4]]), 3.0, bits).tolist() == [1], first
        assert left == []


@pytest.mark.parametrize("sigma", [1e-300, 2.0**-20, 1.0, 2.0**60, 1e300])
def test_any_finite_scale_is_drawn(sigma):
    counts = np.array([[(1 << 22) - 1, 0, 3], [0, 0, 0]] * 3)
    labels = draw_argmax(counts, sigma, secrets.randbits)
    assert set(labels) <= {0, 1, 2}
    if sigma <= 1:
        assert labels[::2].tolist() == [0, 0, 0]


def test_every_block_has_its_own_counts(monkeypatch):
    """Seven rows, three at a time: the last block is shorter."""
    monkeypatch.setattr(gaussian_argmax, "_AT_ONCE", 9)
    best = np.arange(7) % 3
    assert draw_argmax(1000 * np.eye(3, dtype=int)[best], 1.0, secrets.randbits).tolist() == [*best]
    assert draw_argmax(np.zeros((0, 3), dtype=int), 1.0, secrets.randbits).tolist() == []


def test_as_many_bits_are_asked_for_whatever_the_votes_are(monkeypatch):
    """Beside those of two noisy counts next to each other, one query in thousands."""
    first = secrets.randbits(50 * 3 * FIRST_BITS)
    firsts = []

    def bits(number):
        if number == 50 * 3 * FIRST_BITS:
            firsts.append(number)
            return first
        return secrets.randbits(number)

    for row in ([10, 0, 0], [4, 3, 3], [0, 0, 10], [10**6, 0, 0]):
        draw_argmax(np.array([row] * 50), 40.0, bits)
    assert len(firsts) == 4
