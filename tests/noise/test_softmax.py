"""Classes in exact proportion to e^score: the parts, the points next to their ends, the law."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.stats import chisquare

from private_ensembles.audit import epsilon_lower_bound
from private_ensembles.noise import softmax
from private_ensembles.noise.softmax import BITS, accepted, bounds, draw, parts
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.noise.streams import generator


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
    line = parts(scores)
    places = np.diff(line.ends, prepend=0)
    assert line.ends[-1] <= 2**BITS
    with mpmath.workdps(60):
        for score, place, sure in zip(scores, places.tolist(), line.sure.tolist(), strict=True):
            if score == -math.inf:
                assert (place, sure) == (0, 0)
                continue
            true = mpf(line.factor) * mpmath.exp(mpf(float(score)) - mpf(line.largest))
            assert 0 <= sure <= true <= place
            assert place - sure <= 2 + true * mpf(2) ** -38
    # Next to all of the line is someone's, so that a second point is hardly ever needed.
    assert line.sure.sum() > 2**BITS * (1 - 2.0**-19)


@pytest.mark.parametrize("more", [0, 64, 640])
def test_bounds_hold_the_size(more):
    rng = np.random.default_rng(more)
    for exponent in [0.0, -1e-300, -1e-9, -1e300, *(-(10 ** rng.uniform(-3, 3.2, 40))).tolist()]:
        factor = float(2.0**BITS * rng.uniform(1e-6, 1))
        low, high = bounds(Fraction(factor), Fraction(exponent), more)
        with mpmath.workdps(400):
            true = mpf(factor) * mpmath.exp(mpf(exponent)) * mpf(2) ** more
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
    line = parts(np.array([0.0, -0.3, -37.0, -60.0]))
    with mpmath.workdps(300):
        true = mpf(line.factor) * mpmath.exp(mpf(float(line.scores[place])) - mpf(line.largest))
        digits = int(mpmath.floor(true * mpf(2) ** (64 * words)))
    inside, rest = divmod(digits, 1 << 64 * words)
    agreeing = [rest >> 64 * (words - 1 - i) & (2**64 - 1) for i in range(words)]
    below = Scripted([*agreeing[:-1], max(0, agreeing[-1] - 2), 0, 0])
    above = Scripted([*agreeing[:-1], agreeing[-1] + 2, 0, 0])
    assert accepted(line, place, inside, below)
    assert not accepted(line, place, inside, above)
    assert len(above.words) <= 2  # it took as many digits as agreed, and no more


def test_a_point_beyond_all_classes_is_drawn_again():
    drawn = iter([2**BITS - 1, 0])
    assert draw(np.zeros(3), lambda number: next(drawn)) == 0


def test_classes_come_in_proportion_and_a_doctored_law_does_not():
    scores = np.log([1.0, 2.0, 3.0, 10.0, 1e-3])
    source = Seeded(generator(0, "softmax"))
    drawn = np.bincount([draw(scores, source.bits) for _ in range(40_000)], minlength=5)
    weights = np.exp(scores)
    assert chisquare(drawn, 40_000 * weights / weights.sum()).pvalue > 1e-6
    doctored = np.exp(1.05 * scores)
    assert chisquare(drawn, 40_000 * doctored / doctored.sum()).pvalue < 1e-6


def test_secure_draws_keep_to_the_range_and_a_twin_does_not():
    """Two classes a range of 2 apart: Pr moves from e / (1 + e) to 1 / (1 + e)."""
    pair = np.array([[0.5, -0.5], [-0.5, 0.5]])

    def lower(factor):
        def sample(scores, runs, _):
            return np.array([draw(factor * scores[0], Secure().bits) for _ in range(runs)])

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
        parts(scores)


def test_too_many_classes_for_the_line_are_refused(monkeypatch):
    monkeypatch.setattr(softmax, "BITS", 4)
    with pytest.raises(ValueError, match="scores: 40 classes are too many"):
        parts(np.zeros(40))
