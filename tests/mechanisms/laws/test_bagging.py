"""Labels: their distribution, their privacy at every vote, and their randomness."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf, quad

from private_ensembles.dpbag.noisy_vote import ones_probability, release
from private_ensembles.mechanisms.release import release


def _probability_by_integration(gap, noise):
    """Pr[Lap0 - Lap1 < gap]: the distribution function of Lap0, integrated over Lap1."""
    mp.dps = 30
    gap, noise = mpf(gap), mpf(noise)

    def below(y):
        return mp.exp(noise * y) / 2 if y < 0 else 1 - mp.exp(-noise * y) / 2

    def integrand(y):
        return noise / 2 * mp.exp(-noise * abs(y)) * below(y + gap)

    return float(quad(integrand, sorted({mpf(-400), -gap, mpf(0), mpf(400)})))


@pytest.mark.parametrize(("noise", "gap"), [(0.3, 1.5), (0.3, -4.0), (2.0, 0.25)])
def test_the_probability_is_the_integral_of_two_laplace_variables(noise, gap):
    expected = _probability_by_integration(gap, noise)
    assert float(ones_probability(gap, noise)) == pytest.approx(expected, rel=1e-8)


def test_frequencies_of_labels_are_the_exact_probabilities():
    ones = np.repeat([0, 7, 20, 40], 20_000)
    labels = release(ones, 10, 4, 0.4, np.random.default_rng(0)).reshape(4, -1)
    for votes, row in zip((0, 7, 20, 40), labels, strict=True):
        expected = float(ones_probability(2 * votes / 4 - 10, 0.4))
        assert abs(row.mean() - expected) < 5 * math.sqrt(0.25 / len(row))


def test_the_same_generator_gives_the_same_labels_and_prefixes():
    ones = np.arange(30)
    labels = release(ones, 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(labels, release(ones, 10, 4, 0.4, np.random.default_rng(3)))
    prefix = release(ones[:11], 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(labels[:11], prefix)


def test_a_record_with_m_changes_no_probability_by_more_than_its_factor():
    """2 lambda m-DP between a data set and its neighbour, at every vote of a small ensemble."""
    n, k, noise = 4, 3, 0.7
    for others in range(k * (n - 1) + 1):
        for own in range(k + 1):
            bound = 2 * noise * max(own, k - own) / k
            for without in range(k + 1):
                p, q = (ones_probability(2 * (others + v) / k - n, noise) for v in (own, without))
                for ratio in (p / q, (1 - p) / (1 - q)):
                    assert abs(math.log(ratio)) <= bound + 1e-12


@pytest.mark.parametrize(
    ("ones", "noise", "message"),
    [
        ([41], 0.4, "ones: must be one list of 0 to k"),
        ([-1], 0.4, "ones: must be one list"),
        ([], 0.4, "ones: must be one list"),
        ([1], 0, "noise = 0: must be a finite number > 0"),
    ],
)
def test_bad_votes_and_noise_are_refused(ones, noise, message):
    with pytest.raises(ValueError, match=message):
        release(ones, 10, 4, noise, np.random.default_rng(0))
    with pytest.raises(ValueError, match="noise"):
        ones_probability(1.0, -1)
