"""A mechanism asks its source for noise and need not know whether anybody can repeat it."""

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.streams import generator

COUNTS = np.array([[7, 3, 1], [2, 2, 7]])


@pytest.mark.parametrize("by_class", [False, True])
def test_seeded_noise_is_that_of_the_generator_in_the_order_said(by_class):
    noisy = SeededNoise(generator(0, "test"), by_class).add_gaussian(COUNTS, 2.0)
    shape = COUNTS.shape[::-1] if by_class else COUNTS.shape
    drawn = generator(0, "test").standard_normal(shape)
    np.testing.assert_array_equal(noisy, COUNTS + 2.0 * (drawn.T if by_class else drawn))


def test_secure_noise_is_whole_and_breaks_ties_among_the_largest_only():
    noisy = SecureNoise().add_gaussian(COUNTS, 2.0)
    assert noisy.dtype == np.int64
    tied = np.tile([[5, 1, 5]], (200, 1))
    assert set(SecureNoise().argmax_whole_gaussian(tied, 0.01)) == {0, 2}
    assert set(SecureNoise().argmax_gaussian(tied, 0.01)) == {0, 2}


def test_a_source_says_of_itself_whether_it_is_secure():
    """And only a seeded one has a stream: nothing else can stand for a source."""
    stream = generator(0, "test")
    assert SecureNoise().secure
    assert not hasattr(SecureNoise(), "generator")
    assert not SeededNoise(stream).secure
    assert SeededNoise(stream).generator is stream


def test_the_seeded_largest_is_that_of_its_noisy_counts():
    noisy = SeededNoise(generator(0, "test")).add_gaussian(COUNTS, 2.0)
    for draw in ("argmax_gaussian", "argmax_whole_gaussian"):
        labels = getattr(SeededNoise(generator(0, "test")), draw)(COUNTS, 2.0)
        assert labels.tolist() == noisy.argmax(axis=1).tolist()


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(generator(0, "test"))])
def test_subsets_are_uniform_and_ties_are_broken_evenly(noise):
    drawn = noise.subsets(3000, 5, 2)
    assert drawn.shape == (3000, 2)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    pairs = np.bincount(np.sort(drawn, axis=1) @ [5, 1], minlength=25)
    assert (pairs > 0).sum() == 10
    assert np.abs(pairs[pairs > 0] - 300).max() < 115  # seven standard deviations
    tied = noise.argmax_fair_ties(np.tile([[5, 1, 5]], (3000, 1)))
    assert set(tied) == {0, 2}
    assert abs((tied == 0).sum() - 1500) < 200
    assert noise.argmax_fair_ties(COUNTS).tolist() == [0, 2]
    assert sorted(noise.subsets(1, 4, 4)[0]) == [0, 1, 2, 3]


@pytest.mark.parametrize("number", [1, 3, 7, 8, 9, 16, 62, 64, 65])
@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(generator(0, "bits"))])
def test_as_many_bits_are_drawn_as_are_asked_for(noise, number):
    """Each of them is 0 at times and 1 at times, and none is beyond."""
    drawn = [noise.bits(number) for _ in range(80)]
    every, some = drawn[0], 0
    for bits in drawn:
        every, some = every & bits, some | bits
    assert (every, some) == (0, 2**number - 1)
