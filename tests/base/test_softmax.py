"""Classes in exact proportion to e^score: the parts, the points next to their ends, the law."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.stats import chisquare

from private_ensembles.audit import epsilon_lower_bound
from private_ensembles.base import softmax
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.softmax import (
    BITS,
    bracket_exponential,
    class_intervals,
    draw,
    is_accepted,
)
from private_ensembles.base.streams import generator


def scores_of(rng, classes, kind):
    scores = {
        "near": rng.normal(0, 0.1, classes),
        "logits": rng.normal(0, 5, classes),
        "far": rng.uniform(-900, 900, classes),
        "huge": rng.standard_normal(classes) * 1e300,
        "large": 1e15 + rng.integers(0, 9, classes) / 8,
        "tied": np.zeros(classes),
    }[kind]
    scores[rng.random(classes) < 0.1] = -np.inf
    scores[0] = 0.0 if kind != "large" else 1e15
    return scores


@pytest.mark.parametrize("kind", ["near", "logits", "far", "huge", "large", "tied"])
@pytest.mark.parametrize("classes", [1, 2, 400])
def test_every_true_part_lies_between_its_whole_numbers(kind, classes):
    """Then a point is in class j with a probability in exact proportion to e^(s_j)."""
    scores = scores_of(np.random.default_rng(classes), classes, kind)
    line = class_intervals(scores)
    places = np.diff(line.ends, prepend=0)
    assert line.ends[-1] <= 2**BITS
    with mpmath.workdps(60):
        for score, place, sure in zip(
            scores, places.tolist(), line.sure_lengths.tolist(), strict=True
        ):
            if score == -math.inf:
                assert (place, sure) == (0, 0)
                continue
            true = mpf(line.factor) * mpmath.exp(mpf(float(score)) - mpf(line.largest))
            assert 0 <= sure <= true <= place
            assert place - sure <= 2 + true * mpf(2) ** -38
    # Next to all of the line is someone's, so that a second point is hardly ever needed.
    assert line.sure_lengths.sum() > 2**BITS * (1 - 2.0**-19)


@pytest.mark.parametrize("more", [0, 64, 640])
def test_bounds_hold_the_size(more):
    rng = np.random.default_rng(more)
    for exponent in [0.0, -1e-300, -1e-9, -1e300, *(-(10 ** rng.uniform(-3, 3.2, 40))).tolist()]:
        factor = float(2.0**BITS * rng.uniform(1e-6, 1))
        low, high = bracket_exponential(Fraction(factor), Fraction(exponent), more)
        with mpmath.workdps(400):
            true = mpf(factor) * mpmath.exp(mpf(exponent)) * mpf(2) ** more
            assert low <= true <= high
        assert high - low <= 2


@pytest.mark.parametrize(
    ("exponent", "more"), [(0.0, 0), (-0.7, 0), (-30.0, 0), (0.0, 64), (-80.0, 64), (-1.3, 640)]
)
def test_a_size_next_to_a_whole_number_is_on_the_side_that_its_bounds_say(exponent, more):
    """Nearer than the digits in use can show: they must grant their own error, both ways."""
    digits = math.ceil(0.302 * (BITS + more)) + 30
    with mpmath.workdps(600):
        power = mpmath.exp(mpf(exponent)) * mpf(2) ** more
        most = int(mpf(2) ** BITS * power)
        for number in (1, 2, 3, most // 3, most - 1):
            scale = Fraction(int(number / power * mpf(10) ** 500), 10**500)
            for places in range(digits - 4, digits + 3):
                for sign in (-1, 1):
                    factor = scale * (1 + sign * Fraction(1, 10**places))
                    low, high = bracket_exponential(factor, Fraction(exponent), more)
                    true = mpf(factor.numerator) / factor.denominator * power
                    assert low <= true <= high
                    assert high - low <= 2


class Scripted:
    """Bits as they are written down, most significant first."""

    def __init__(self, words):
        self.words = list(words)

    def __call__(self, number):
        assert number == 64
        return self.words.pop(0)


@pytest.mark.parametrize("words", [1, 2, 5])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_point_is_accepted_if_it_is_below_the_true_size(place, words):
    """Points that agree with the size for a while, and then fall below or above it."""
    line = class_intervals(np.array([0.0, -0.3, -37.0, -60.0]))
    with mpmath.workdps(300):
        true = mpf(line.factor) * mpmath.exp(mpf(float(line.scores[place])) - mpf(line.largest))
        digits = int(mpmath.floor(true * mpf(2) ** (64 * words)))
    inside, rest = divmod(digits, 1 << 64 * words)
    agreeing = [rest >> 64 * (words - 1 - i) & (2**64 - 1) for i in range(words)]
    below = Scripted([*agreeing[:-1], max(0, agreeing[-1] - 2), 0, 0])
    above = Scripted([*agreeing[:-1], agreeing[-1] + 2, 0, 0])
    assert is_accepted(line, place, inside, below)
    assert not is_accepted(line, place, inside, above)
    assert len(above.words) <= 2  # it took as many digits as agreed, and no more


def test_a_point_beyond_all_classes_is_drawn_again():
    drawn = iter([2**BITS - 1, 0])
    assert draw(np.zeros(3), lambda number: next(drawn)) == 0


# Scores that are a tenth larger give a chi-square of 72, where 1e-6 begins at 33.
RUNS = 12_000


def test_classes_come_in_proportion_and_a_doctored_law_does_not():
    scores = np.log([1.0, 2.0, 3.0, 10.0, 1e-3])
    source = SeededNoise(generator(0, "softmax"))
    drawn = np.bincount([draw(scores, source.bits) for _ in range(RUNS)], minlength=5)
    weights = np.exp(scores)
    assert chisquare(drawn, RUNS * weights / weights.sum()).pvalue > 1e-6
    doctored = np.exp(1.1 * scores)
    assert chisquare(drawn, RUNS * doctored / doctored.sum()).pvalue < 1e-6


def test_secure_draws_keep_to_the_range_and_a_twin_does_not():
    """Two classes a range of 2 apart: Pr moves from e / (1 + e) to 1 / (1 + e)."""
    pair = np.array([[0.5, -0.5], [-0.5, 0.5]])

    def lower(factor):
        def sample(scores, runs, _):
            return np.array([draw(factor * scores[0], SecureNoise().bits) for _ in range(runs)])

        return epsilon_lower_bound(
            sample,
            *pair[:, None],
            0.0,
            labels=(0, 1),
            runs=4000,
            generator=generator(0, "audit", "softmax"),
            confidence=1 - 1e-6,
        ).value

    assert 0 < lower(1.0) <= 1.0
    assert lower(2.0) > 1.0


@pytest.mark.parametrize(
    "scores", [[np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf], [], [[0.0, 1.0]], 3.0]
)
def test_scores_without_a_law_are_refused(scores):
    with pytest.raises(ValueError, match="scores: must be finite, or -inf"):
        class_intervals(scores)


def test_too_many_classes_for_the_line_are_refused(monkeypatch):
    monkeypatch.setattr(softmax, "BITS", 4)
    with pytest.raises(ValueError, match="scores: 40 classes are too many"):
        class_intervals(np.zeros(40))


@pytest.mark.parametrize("kind", ["near", "logits", "far", "huge", "large", "tied"])
def test_lines_of_many_rows_are_those_of_each(kind):
    rng = np.random.default_rng(1)
    rows = np.array([scores_of(rng, 30, kind) for _ in range(5)])
    lines = softmax._interval_arrays(rows)
    for row in range(5):
        line, alone = softmax._intervals_of_row(lines, row), class_intervals(rows[row])
        assert line.factor == alone.factor
        np.testing.assert_array_equal(line.ends, alone.ends)
        np.testing.assert_array_equal(line.sure_lengths, alone.sure_lengths)


class Words:
    """The given words of 64 bits for a first pass, and zeros for what is drawn after it."""

    def __init__(self, words):
        self.first = b"".join(int(word).to_bytes(8, "little") for word in words)
        self.after = 0

    def __call__(self, number):
        if self.first:
            drawn, self.first = self.first, b""
            assert number == 8 * len(drawn)
            return int.from_bytes(drawn, "little")
        self.after += 1
        return 0


def test_every_point_of_a_row_is_its_class_or_is_decided_by_more_digits():
    """The ends of all true parts and of all places, and points beside them."""
    scores = np.array([0.0, -0.3, -37.0, -60.0, -np.inf])
    line = class_intervals(scores)
    starts = line.ends - np.diff(line.ends, prepend=0)
    points = sorted(
        {
            int(p) + d
            for p in (*starts, *(starts + line.sure_lengths), *line.ends)
            for d in (-1, 0, 1)
            if 0 <= int(p) + d < 2**BITS
        }
    )
    for point in points:
        bits = Words([point << 2])
        (drawn,) = softmax.draw_each(scores[None], bits)
        place = int(np.searchsorted(line.ends, point, side="right"))
        if place < 5 and point - starts[place] < line.sure_lengths[place]:
            assert (drawn, bits.after) == (place, 0)
            continue
        # By the size itself, by more digits, or by another point, all 0.
        inside = point - int(starts[place]) if place < 5 else 0
        below = place < 5 and is_accepted(line, place, inside, lambda number: 0)
        assert drawn == (place if below else 0)


def test_rows_are_drawn_as_if_each_were_alone():
    scores = np.log(np.array([[1.0, 2.0, 3.0, 10.0], [5.0, 1e-3, 5.0, 1e-9]]))
    drawn = softmax.draw_each(np.repeat(scores, 20_000, axis=0), SecureNoise().bits)
    for row, labels in zip(scores, drawn.reshape(2, -1), strict=True):
        weights = np.exp(row)
        wanted = 20_000 * weights / weights.sum()
        seen = np.bincount(labels, minlength=4)
        likely = wanted > 1
        assert chisquare(seen[likely], wanted[likely], sum_check=False).pvalue > 1e-6
        assert seen[~likely].sum() <= 3


EXPONENTS = [0.0, -1e-300, -1e-9, -0.25, -1.0, -40.0, -43.5, -700.0, -800.0, -1e6, -1e300]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_coin_s_point_is_sure_or_decided_by_more_digits(exponent):
    """Sure points are below the true size 2^62 e^x, those that are refused above it."""
    with mpmath.workdps(400):
        true = mpf(2) ** BITS * mpmath.exp(mpf(exponent))
        whole = int(mpmath.floor(true))
        points = [0, *range(max(0, whole - 2), whole + 3), *(int(true * f) for f in (0.5, 0.999))]
        # Of all bits 0, a million would tell that e^-1e6 is more.
        for point in (p for p in points if p < 2**BITS and (p or exponent > -1e3)):
            bits = Words([point << 2])
            (tossed,) = softmax.draw_bernoulli_exp(np.array([exponent]), bits)
            assert tossed == (point < true)  # further digits are 0
            if bits.after:
                assert abs(point - true) <= 2


def test_coins_have_any_shape_and_their_chances():
    exponents = np.array([[0.0, -0.5], [-3.0, -1e9]])
    tossed = softmax.draw_bernoulli_exp(
        np.repeat(exponents[None], 20_000, axis=0), SecureNoise().bits
    )
    assert tossed.shape == (20_000, 2, 2)
    assert tossed[:, 0, 0].all()
    assert not tossed[:, 1, 1].any()
    for place, exponent in (((0, 1), -0.5), ((1, 0), -3.0)):
        chance = math.exp(exponent)
        seen = np.bincount(tossed[:, *place], minlength=2)
        assert chisquare(seen, [20_000 * (1 - chance), 20_000 * chance]).pvalue > 1e-6


@pytest.mark.parametrize("exponents", [[1e-9], [np.nan], [0.0, np.inf]])
def test_exponents_above_0_are_no_coins(exponents):
    with pytest.raises(ValueError, match="exponents: must be numbers that are at most 0"):
        softmax.draw_bernoulli_exp(np.array(exponents), SecureNoise().bits)


SCORES = np.array([0.3, 1.1, -0.4])


class HandedOut:
    """Stands in for fair bits: hands out points, and then further bits that are all ones.

    points: whole numbers below 2^BITS, one for each draw of a point. `draw_each` asks for 64 bits
    where `draw` asks for BITS.
    """

    def __init__(self, *points):
        self.points = list(points)

    def __call__(self, number):
        if number == softmax.BITS:
            return self.points.pop(0)
        if number == 64:
            point = self.points.pop(0) << (64 - softmax.BITS)
            return int.from_bytes(point.to_bytes(8, "big"), "big")
        return (1 << number) - 1


def last_point(class_index):
    """The end of a class' interval on the line, which is a little longer than the class' share."""
    return int(softmax.class_intervals(SCORES).ends[class_index]) - 1


def first_point(class_index):
    ends = softmax.class_intervals(SCORES).ends
    return int(ends[class_index - 1]) if class_index else 0


@pytest.mark.parametrize("class_index", range(3))
def test_a_point_beyond_the_true_share_is_thrown_away(class_index):
    other = (class_index + 1) % 3
    bits = HandedOut(last_point(class_index), first_point(other))
    assert softmax.draw(SCORES, bits) == other
    assert bits.points == []
    bits = HandedOut(last_point(class_index), first_point(other))
    assert softmax.draw_each(SCORES[None], bits).tolist() == [other]
    assert bits.points == []


@pytest.mark.parametrize("class_index", range(3))
def test_a_point_within_the_sure_share_is_taken(class_index):
    bits = HandedOut(first_point(class_index))
    assert softmax.draw(SCORES, bits) == class_index


def test_a_point_beyond_all_classes_is_thrown_away():
    beyond = last_point(2) + 1
    assert beyond < 1 << softmax.BITS
    assert softmax.draw(SCORES, HandedOut(beyond, first_point(1))) == 1
    assert softmax.draw_each(SCORES[None], HandedOut(beyond, first_point(1))).tolist() == [1]
