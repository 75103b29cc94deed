"""secure_noise: the right distributions, from the system's entropy, with nothing rounded.

Frequencies are compared at a distance that chance exceeds less than once in 10^7 runs.
"""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy import stats

from private_ensembles.base import secure as secure
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels.laws.gaussian import gnmax
from private_ensembles.papers.darrm.law import release
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling
from private_ensembles.training.teachers.dpsgd import draw_poisson_batch
from private_ensembles.training.teachers.sources import SecureTensors
from tests.ranges import NOT_POSITIVE, OUTSIDE_0_1, check_ends

CHANCE = 1e-7


def agrees(successes, trials, probability):
    """Whether chance gives so many successes more often than CHANCE (exact binomial test)."""
    return stats.binomtest(int(successes), int(trials), float(probability)).pvalue > CHANCE


def test_coin_compares_a_uniform_integer_with_the_exact_probability(stand_in):
    asked = []
    stand_in(secure, "secrets", randbelow=lambda below: asked.append(below) or 0)
    for p in (0.1, 0.5, 1 / 3, 5e-324, 1.0):
        asked.clear()
        assert secure.draw_bernoulli(np.array([p])).tolist() == [True]
        assert Fraction(p).denominator == asked[0]
        stand_in(secure, "secrets", randbelow=lambda below, p=p: Fraction(p).numerator)
        # The first integer that must not count, unless all of them do.
        assert secure.draw_bernoulli(np.array([p])).tolist() == [False]
        stand_in(secure, "secrets", randbelow=lambda below: asked.append(below) or 0)


def test_coins_come_at_their_rate_and_never_or_always_at_the_ends():
    p = np.array([0.0, 1.0, 0.3, 0.9])
    tossed = secure.draw_bernoulli(np.tile(p, (5000, 1)))
    assert tossed.shape == (5000, 4)
    assert not tossed[:, 0].any()
    assert tossed[:, 1].all()
    assert agrees(tossed[:, 2].sum(), 5000, 0.3)
    assert agrees(tossed[:, 3].sum(), 5000, 0.9)


def test_one_place_of_those_wanted_is_as_likely_as_another(stand_in):
    wanted = np.array([[False, True, False, True, True]])
    drawn = []
    for outcome in range(3):
        stand_in(secure, "secrets", randbelow=lambda number, k=outcome: k % number)
        drawn += secure.choose_uniformly(wanted).tolist()
    assert drawn == [1, 3, 4]


def test_fair_bits_are_fair_and_of_the_shape_asked_for():
    bits = secure.fair_bits((100, 101))
    assert bits.shape == (100, 101)
    assert agrees(bits.sum(), bits.size, 0.5)
    assert secure.fair_bits(0).shape == (0,)


@pytest.mark.parametrize("sigma", [0.7, 3.0])
def test_discrete_gaussian_noise_has_its_distribution(sigma):
    noise = secure.add_discrete_gaussian(np.full((2, 10000), 7), sigma) - 7
    assert noise.dtype == np.int64
    reach = math.ceil(3 * sigma)
    x = np.arange(-60, 61)
    exact = np.exp(-(x**2) / (2 * sigma**2))
    exact /= exact.sum()
    values = np.clip(noise, -reach, reach)
    observed = [(values == v).sum() for v in range(-reach, reach + 1)]
    inner = exact[np.abs(x) < reach]
    tail = (1 - inner.sum()) / 2
    expected = np.concatenate([[tail], inner, [tail]]) * noise.size
    assert stats.chisquare(observed, expected).pvalue > CHANCE
    # Both rows have noise of their own.
    assert abs(np.corrcoef(noise)[0, 1]) < 6 / math.sqrt(10000)


@pytest.mark.parametrize("sigma", [2.0**13, 1e7, 2.0**55])
def test_noise_of_any_scale_is_gaussian(sigma):
    noisy = secure.add_discrete_gaussian(np.full(3000, (1 << 22) - 1), sigma)
    noise = noisy.astype(object) - ((1 << 22) - 1)
    assert stats.kstest(noise.astype(float) / sigma, "norm").pvalue > CHANCE


def test_no_count_of_a_million_teachers_stops_a_draw():
    """Neighbours on either side of 2^16 votes, where one got a label and the other an error."""
    for rows in ([[65535, 4465, 0]], [[65536, 4464, 0]], [[1_000_000, 0, 0]]):
        for draw in (secure.argmax_gaussian, secure.argmax_discrete_gaussian):
            assert draw(np.array(rows), 5.0).tolist() == [0]


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint64])
def test_counts_of_any_whole_type_are_drawn_from(kind):
    rows = np.array([[0, 90, 3], [0, 0, 200]], dtype=kind)
    for draw in (secure.argmax_gaussian, secure.argmax_discrete_gaussian):
        assert draw(rows, 2.0).tolist() == [1, 2]
    assert secure.add_discrete_gaussian(rows, 0.01).tolist() == rows.tolist()


def test_64_bits_hold_every_count_with_64_sigma_of_noise():
    assert secure.MOST_VOTES + 64 * int(secure.LARGEST_SIGMA) < 1 << 63


@pytest.mark.parametrize("counts", [np.array([1.0]), np.array([1 << 31]), np.array([True])])
def test_what_is_no_count_is_refused(counts):
    for draw in (secure.add_discrete_gaussian, secure.argmax_gaussian):
        with pytest.raises(ValueError, match="must be integers"):
            draw(counts, 1.0)


def seed_everything():
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the point is that it has no influence
    torch.manual_seed(0)


def test_no_seed_has_any_influence():
    draws = {
        "coins": lambda: secure.draw_bernoulli(np.full(300, 0.5)),
        "bits": lambda: secure.fair_bits(300),
        "exponential coins": lambda: secure.draw_bernoulli_exp(np.full(300, -0.7)),
        "classes": lambda: secure.softmax_classes(np.zeros((300, 3))),
        "one of": lambda: secure.choose_uniformly(np.ones((300, 3), bool)),
        "discrete": lambda: secure.add_discrete_gaussian(np.zeros(300, int), 5.0),
        "much noise": lambda: secure.add_discrete_gaussian(np.zeros(30, int), 1e6),
        "largest": lambda: secure.argmax_gaussian(np.zeros((300, 3), int), 5.0),
        "uniform": lambda: secure.uniform(10),
        "normal": lambda: secure.normal((10,)),
        "gnmax": lambda: gnmax(np.tile([3, 2], (300, 1)), 5.0, SecureNoise()),
        "darrm": lambda: release(np.full(300, 2), gamma_subsampling(5, 3), SecureNoise()),
        "batch": lambda: draw_poisson_batch(1000, 0.5, SecureTensors()),
    }
    for name, draw in draws.items():
        seed_everything()
        one = draw()
        seed_everything()
        assert not np.array_equal(one, draw()), name


def test_uniform_numbers_are_uniform_and_strictly_inside():
    u = secure.uniform((100, 200))
    assert u.shape == (100, 200)
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u.ravel(), "uniform").pvalue > CHANCE


def test_extreme_bits_stay_inside(stand_in):
    for byte in (b"\x00", b"\xff"):
        stand_in(secure, "os", urandom=lambda size, byte=byte: byte * size)
        (u,) = secure.uniform(1)
        assert 0 < u < 1
        assert np.isfinite(secure.normal(1)).all()


def test_gaussian_noise_of_training_is_standard_normal():
    noise = SecureTensors().normal(torch.Size((100, 100)), torch.float32)
    assert noise.dtype == torch.float32
    assert stats.kstest(noise.numpy().ravel(), "norm").pvalue > CHANCE


def test_unknown_mode_is_refused():
    assert secure.check_mode("secure") == "secure"
    with pytest.raises(ValueError, match="noise = 'safe': must be one of reproducible, secure"):
        secure.check_mode("safe")


def test_a_seed_is_that_of_a_rehearsal_alone():
    assert secure.seed_of("reproducible", None) == 0
    assert secure.seed_of("reproducible", 7) == 7
    assert secure.seed_of("secure", None) is None
    with pytest.raises(ValueError, match="seed = 0: must be None for noise = secure"):
        secure.seed_of("secure", 0)


def test_a_normal_number_of_training_is_half_the_sum_of_four(stand_in):
    """Of four that are equal, as all bits are: twice one of them."""
    stand_in(secure, "os", urandom=lambda size: b"\xc7" * size)
    (u,) = secure.uniform(1)
    assert secure.normal(3) == pytest.approx(2 * stats.norm.ppf(u), rel=1e-12)


def test_counts_of_every_block_get_noise(monkeypatch):
    """Eleven counts, four at a time: the last block is shorter."""
    monkeypatch.setattr(secure, "_AT_ONCE", 4)
    monkeypatch.setattr(secure, "_gaussian", lambda sigma: lambda counts: [3 * n for n in counts])
    noisy = secure.add_discrete_gaussian(np.arange(11)[None], 1e6)
    assert noisy.tolist() == [list(range(0, 33, 3))]
    best = np.arange(7) % 3
    counts = 1000 * np.eye(3, dtype=int)[best]
    assert secure.argmax_discrete_gaussian(counts, 1.0).tolist() == best.tolist()


ONE = np.array([1])
RANGES = {
    "coins": (secure.draw_bernoulli, OUTSIDE_0_1, (0.0, 1.0)),
    "add_discrete_gaussian": (
        lambda x: secure.add_discrete_gaussian(ONE, x),
        NOT_POSITIVE,
        (0.1, 5.0),
    ),
    "add_discrete_gaussian, counts": (
        lambda x: secure.add_discrete_gaussian(np.array([x]), 1.0),
        (1 << 22, -(1 << 22), 0.5),
        ((1 << 22) - 1, 1 - (1 << 22)),
    ),
    "add_discrete_gaussian, much noise": (
        lambda x: secure.add_discrete_gaussian(ONE, x),
        (2.0**56, math.inf),
        (2.0**12, math.nextafter(2.0**12, 13), 2.0**56 - 8),
    ),
    "argmax_gaussian": (
        lambda x: secure.argmax_gaussian(ONE[None], x),
        NOT_POSITIVE,
        (0.1, 2.0**60),
    ),
    "argmax_gaussian, counts": (
        lambda x: secure.argmax_gaussian(np.array([[x, 0]]), 1.0),
        (1 << 22, -(1 << 22), 0.5),
        ((1 << 22) - 1, 1 - (1 << 22)),
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
