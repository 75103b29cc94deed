"""How likely a label of bagged teachers is, and what a record's teachers may do to it."""

import math

import pytest
from mpmath import mp, mpf, quad

from private_ensembles.dpbag.noisy_vote import ones_probability


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


def test_noise_below_zero_is_refused():
    with pytest.raises(ValueError, match="noise"):
        ones_probability(1.0, -1)
