"""Plain privacy: never below the exact loss of any votes, far below the moments accountant's."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf, quad

from private_ensembles.accounting.privacy_loss_distribution import compose
from private_ensembles.papers.dpbag.mathematics import label_loss
from private_ensembles.papers.dpbag.mathematics.budget import (
    data_independent_count,
    moments_epsilon,
)
from private_ensembles.papers.dpbag.mathematics.label_loss import (
    hockey_stick_divergence,
    ones_probability,
    plain_epsilon,
    plain_label_count,
)
from tests.papers.lanes import slow_but


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


def _delta_by_integration(epsilon_, shift):
    """Integral of (density of Y + shift - e^epsilon density of Y) from where it is positive."""
    mp.dps = 40
    epsilon_, shift = mpf(epsilon_), mpf(shift)

    def density(y):
        return (1 + abs(y)) * mp.exp(-abs(y)) / 4

    def excess(y):
        return density(y - shift) - mp.exp(epsilon_) * density(y)

    low, high = mpf(-2000), mpf(2000)  # the ratio grows with y: one change of sign
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    edges = [high, *(high + step for step in (1, 4, 16, 64, 256)), mpf(0), shift]
    return float(quad(excess, sorted(edge for edge in edges if edge >= high)))


@pytest.mark.parametrize(
    ("shift", "share"),
    slow_but(
        itertools.product((0.016, 0.4, 2.0), (-0.9, -0.3, 0.0, 0.1, 0.7, 0.97)),
        *((0.016, -0.9), (0.016, 0.97), (0.4, -0.3), (0.4, 0.1), (2.0, 0.0), (2.0, 0.7)),
    ),
)
def test_the_delta_of_one_label_is_that_of_its_density(shift, share):
    assert hockey_stick_divergence(share * shift, shift) == pytest.approx(
        _delta_by_integration(share * shift, shift), rel=1e-11, abs=1e-15
    )


def test_the_delta_of_one_label_is_the_largest_of_any_event():
    for shift in (0.016, 0.7, 3.0):
        gaps = np.linspace(-8, 8 + shift, 4001)
        p, q = ones_probability(gaps, 1.0), ones_probability(gaps - shift, 1.0)
        for share in (-0.8, 0, 0.3, 0.8):
            best = (p - math.exp(share * shift) * q).max()
            assert best <= hockey_stick_divergence(share * shift, shift) + 1e-15
            assert hockey_stick_divergence(share * shift, shift) == pytest.approx(
                best, rel=1e-3, abs=1e-12
            )
    assert hockey_stick_divergence(0.5, 0.5) == 0
    assert hockey_stick_divergence(-0.6, 0.5) == -math.expm1(-0.6)


def _exact_delta(pairs, epsilon_):
    """delta of labels with Pr[1] = p and p' at each query, over all outcomes, both directions."""
    deltas = [0.0, 0.0]
    both = [[(1 - p, 1 - q), (p, q)] for p, q in pairs]
    for outcome in itertools.product(*both):
        p, q = map(math.prod, zip(*outcome, strict=True))
        deltas[0] += max(0.0, p - math.exp(epsilon_) * q)
        deltas[1] += max(0.0, q - math.exp(epsilon_) * p)
    return max(deltas)


@pytest.mark.parametrize(("labels", "noise"), [(5268, 0.008), (100, 0.05), (40, 0.02)])
def test_last_bits_of_the_divergences_change_no_epsilon(labels, noise, monkeypatch):
    """They depend on the processor; of 5,268 labels the tenth digit did."""
    deltas, step = label_loss._label_divergences(noise)
    exact = plain_epsilon(labels, noise, 1e-5)
    for seed in range(4):
        other = deltas * (1 + 2e-16 * np.random.default_rng(seed).uniform(-1, 1, deltas.shape))
        monkeypatch.setattr(
            label_loss, "_label_divergences", lambda noise, other=other: (other, step)
        )
        assert plain_epsilon(labels, noise, 1e-5) == exact


@pytest.mark.keeps("papers.dpbag.mathematics.label_loss:plain_epsilon")
def test_no_votes_of_several_queries_lose_more_than_is_claimed():
    generator = np.random.default_rng(0)
    tightest = 0.0
    for noise, labels, delta in ((0.5, 1, 1e-2), (0.5, 4, 1e-3), (0.2, 7, 1e-2), (1.0, 3, 1e-4)):
        claimed = plain_epsilon(labels, noise, delta)
        for _ in range(60):
            gaps = generator.normal(0, 3 / noise, labels) * generator.random()
            others = gaps + generator.choice([-2, 2], labels)
            pairs = list(
                zip(ones_probability(gaps, noise), ones_probability(others, noise), strict=True)
            )
            exact = _exact_delta(pairs, claimed)
            assert exact <= delta * (1 + 1e-9)
            tightest = max(tightest, exact / delta)
    assert tightest > 0.5  # the claim is not merely safe


def test_counts_are_the_most_that_the_budget_buys():
    for budget, noise, delta in ((1, 0.2, 1e-5), (3, 0.1, 1e-3), (0.05, 0.2, 1e-5)):
        labels = plain_label_count(budget, noise, delta)
        assert labels == 0 or plain_epsilon(labels, noise, delta) <= budget
        assert plain_epsilon(labels + 1, noise, delta) > budget


def test_the_most_labels_are_found_from_few_compositions(monkeypatch):
    asked = []

    def count_and_compose(deltas, grid_step, times):
        asked.append(times)
        return compose(deltas, grid_step, times)

    monkeypatch.setattr(label_loss, "compose", count_and_compose)
    labels = plain_label_count(5.0, 2 / 250, 1e-5)
    assert {labels, labels + 1} <= set(asked)
    assert len(asked) == len(set(asked)) < 18


def test_exact_composition_buys_four_times_the_labels_of_the_moments_accountant():
    for n in (50, 100):
        for budget in (1, 5):
            moments = data_independent_count(budget, 2 / n, 1e-5, 80).releasable
            assert plain_label_count(budget, 2 / n, 1e-5) > 4 * moments
    assert plain_epsilon(100, 0.02, 1e-5) < moments_epsilon(100, 0.02, 1e-5, 80)[0] / 2
    assert plain_epsilon(0, 0.02, 1e-5) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ones_probability(1.0, -1), "noise"),
        (lambda: plain_epsilon(-1, 0.1, 1e-5), "labels = -1: must be an integer >= 0"),
        (lambda: plain_epsilon(1.5, 0.1, 1e-5), "labels = 1.5: must be an integer >= 0"),
        (lambda: plain_epsilon(1, 0, 1e-5), "noise = 0: must be a finite number > 0"),
        (lambda: plain_epsilon(1, 0.1, 2), r"delta = 2: must be in \(0, 1\)"),
        (lambda: plain_label_count(0, 0.1, 1e-5), "budget = 0: must be a finite number > 0"),
    ],
)
def test_bad_values_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
