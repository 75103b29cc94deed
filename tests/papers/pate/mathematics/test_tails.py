"""Tails of both kinds of noise, against sums at many digits, and what the proofs ask of them."""

import mpmath
import numpy as np
import pytest

from private_ensembles.labels.gnmax import label_probability as continuous_label
from private_ensembles.papers.pate.mathematics.rdp import gnmax_log_q, log_answer_probability
from private_ensembles.papers.pate.mathematics.rounds import confident_round
from private_ensembles.papers.pate.mathematics.tails import tails_of

NOISES = ("reproducible", "secure")


def lattice_tails(sigma, furthest):
    """Pr[D >= g] of the difference of two N_Z(0, sigma^2), g = -furthest..furthest, as mpf."""
    with mpmath.workdps(50):
        reach = furthest + int(20 * sigma) + 5
        weight = {
            x: mpmath.exp(-mpmath.mpf(x * x) / (2 * mpmath.mpf(sigma) ** 2))
            for x in range(-reach, reach + 1)
        }
        norm = mpmath.fsum(weight.values())
        mass = [
            mpmath.fsum(weight[x] * weight[x - d] for x in weight if x - d in weight) / norm**2
            for d in range(-reach, reach + 1)
        ]
        tail = [mpmath.fsum(mass[i:]) for i in range(len(mass))]
        middle = reach
        return {g: tail[middle + g] for g in range(-furthest, furthest + 2)}


@pytest.mark.keeps("papers.pate.mathematics.tails:LatticeTails")
@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.7])
def test_secure_overtaking_is_the_lattices_own_with_half_of_every_tie(sigma):
    exact = lattice_tails(sigma, 14)
    gaps = np.arange(-14, 15)
    found = tails_of("secure", sigma).log_overtake_probability(gaps)
    for gap, computed in zip(gaps.tolist(), found.tolist(), strict=True):
        log_chance = mpmath.log((exact[gap] + exact[gap + 1]) / 2)
        assert computed >= log_chance
        assert computed == pytest.approx(float(log_chance), abs=1e-11 * (1 + abs(computed)))


def test_continuous_q_is_below_what_discrete_noise_does():
    """docs/pate.md: by 0.05 % at sigma = 40, votes 250-0, and by far more where sigma is small."""
    for row, sigma, excess in (([250, 0], 40.0, 0.0005), ([250, 0], 5.0, 1.54)):
        exact = tails_of("secure", sigma).log_overtake_probability(row[0])
        continuous = gnmax_log_q([row], sigma)[0]
        assert np.expm1(exact - continuous) == pytest.approx(excess, rel=0.1)
        assert gnmax_log_q([row], sigma, noise="secure")[0] >= exact


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0, 40.0])
def test_closing_a_gap_bounds_every_neighbour_and_opening_it_undoes_that(noise, sigma):
    tails = tails_of(noise, sigma)
    gaps = np.arange(-3, int(20 * sigma) + 10)
    chances, closer = tails.log_overtake_probability(gaps), tails.log_overtake_probability(gaps - 2)
    assert tails.log_overtake_probability_after(chances, 2) == pytest.approx(
        closer, rel=1e-9, abs=1e-9
    )
    between = np.linspace(chances[-1], np.log(0.5), 500)
    after = tails.log_overtake_probability_after(between, 2)
    assert (np.diff(after) > 0).all()
    assert tails.log_overtake_probability_after(after, -2) == pytest.approx(
        between, rel=1e-9, abs=1e-9
    )
    # Concave as a function of the chance: at a mean of two whole gaps it is no less than the mean.
    for i in range(0, len(gaps) - 7, 5):
        for share in (0.1, 0.5, 0.9):
            weights = np.log([share, 1 - share])
            mean = np.logaddexp(*(chances[[i, i + 7]] + weights))
            mean_after = np.logaddexp(*(closer[[i, i + 7]] + weights))
            assert tails.log_overtake_probability_after(mean, 2) >= mean_after - 1e-9


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_thresholds_are_passed_on_the_lattice(sigma):
    reach = int(30 * sigma) + 30
    x = np.arange(-reach, reach + 1)
    mass = np.exp(-(x**2) / (2 * sigma**2))
    mass /= mass.sum()
    counts = np.array([[9, 1], [6, 4], [5, 5], [10, 0]])
    for threshold in (7, 6.5, 7.0 + 1e-9, -3.2):
        passes = np.array([mass[row.max() + x >= threshold].sum() for row in counts])
        found = confident_round(counts, threshold, sigma, 1.0, noise="secure").answer_probability
        assert found == pytest.approx(passes, rel=1e-11)
        logs = log_answer_probability(counts, threshold, sigma, noise="secure")
        assert np.exp(logs[0]) == pytest.approx(passes, rel=1e-11)
        fails = np.array([mass[row.max() + x < threshold].sum() for row in counts])
        assert np.exp(logs[1]) == pytest.approx(fails, rel=1e-9, abs=1e-300)


def test_chances_are_rounded_up():
    tails = tails_of("secure", 2.0)
    margins = np.arange(-30, 31)
    total = np.exp(tails.log_pass_probability(margins)) + np.exp(
        tails.log_fail_probability(margins)
    )
    assert (total >= 1).all()
    assert total == pytest.approx(np.ones(61), abs=1e-10)


def test_continuous_tails_are_the_normal_laws():
    tails = tails_of("reproducible", 3.0)
    two_classes = np.log(continuous_label(9, 3.0))
    assert tails.log_overtake_probability(9 - 2 * np.arange(10)) == pytest.approx(two_classes)
    assert tails.effective_threshold(6.5) == 6.5
    assert tails_of("secure", 3.0).effective_threshold(6.5) == 7.0
