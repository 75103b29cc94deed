"""The Gaussian in labels' place costs no less at any epsilon: exact adversaries, exact normals."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.adaptive import dominating_gaussian, hockey_sticks
from private_ensembles.accounting.adaptive.dominating_gaussian import (
    bounded,
    dominating_mu,
    largest_normal_loss,
    log_delta_below,
    mu_of_pure,
)
from private_ensembles.accounting.adaptive.families import two_classes

from ..adversaries import both_orders, exact_value, power


def exact_delta(mu, epsilon):
    """Delta of a mu-GDP Gaussian at sixty digits."""
    with mpmath.workdps(60):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        far = mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)
        return mpmath.ncdf(-epsilon / mu + mu / 2) - far


LABELS = {
    "randomised response": [0.25, 0.75],
    "a rare label": [0.125, 1 / 256, 0.0625],
    "a tie and a lead": [0.0625, 0.25, 0.5, 0.75, 0.9375],
}


def largest_loss(family):
    ratio = np.log(family.first / family.second)
    return float(np.abs(ratio).max()) * (1 + 1e-12)


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("labels", [1, 2, 3, 4])
@pytest.mark.parametrize("reserve", [0.0, 1e-3])
def test_no_adversary_against_few_labels_is_above_it_at_any_epsilon(name, labels, reserve):
    family = two_classes(LABELS[name], error=0.0)
    loss = largest_loss(family)
    mu = dominating_mu(family, labels, loss, mu_of_pure(loss), reserve)
    pairs = both_orders(family.first, family.second)
    # Far into the tail, up to the largest loss that all labels can have.
    for epsilon in np.linspace(0.0, labels * loss, 41):
        y = Fraction(math.exp(epsilon)).limit_denominator(2**20)
        true = exact_value(pairs, labels, y)
        claimed = exact_delta(mu, mpmath.log(mpmath.mpf(y.numerator) / y.denominator))
        assert mpmath.mpf(true.numerator) / true.denominator <= claimed + mpmath.mpf(reserve), y


def test_less_than_it_says_is_caught_somewhere():
    """The least mu is not far below: 3 % less is exceeded by an adversary who exists."""
    family = two_classes(LABELS["randomised response"], error=0.0)
    loss = largest_loss(family)
    mu = 0.97 * dominating_mu(family, 3, loss, mu_of_pure(loss))
    pairs = both_orders(family.first, family.second)
    epsilons = np.linspace(0.0, 3 * loss, 100)
    assert any(
        float(exact_value(pairs, 3, power(float(e))[1])) > exact_delta(mu, float(e))
        for e in epsilons
    )


def test_a_bounded_kernel_lies_above_all_pairs_everywhere():
    family = two_classes(LABELS["a tie and a lead"], error=0.0)
    step, loss = 0.05, largest_loss(family)
    rows = family.excesses(hockey_sticks.thresholds(step, 9))  # far less than the losses reach
    known = hockey_sticks.kernels(rows, step)
    assert known.nothing.max() > 0.1
    moved = bounded(known, loss)
    assert not moved.nothing.any()
    ratios = np.exp(-step * np.arange(-moved.reach, moved.reach + 1))  # P / P'
    for t in np.exp(np.linspace(-1, 1.5 * loss, 300)):
        curve = (moved.masses * np.maximum(1 - t / ratios, 0)).sum(axis=1)
        for pair in (family.first, family.second), (family.second, family.first):
            true = np.maximum(pair[0] - t * pair[1], 0).sum(axis=1)
            assert (curve.max() >= true - 1e-15).all()


def test_normal_deltas_are_below_the_truth_and_close():
    rng = np.random.default_rng(0)
    for _ in range(300):
        mu = 10 ** rng.uniform(-3, 1)
        epsilon = mu**2 / 2 + mu * rng.uniform(-mu / 2, 35)
        got = float(log_delta_below(mu, np.array([epsilon]))[0])
        true = mpmath.log(exact_delta(mu, epsilon))
        assert got <= true
        assert got > true - 1e-6 * (1 + abs(true))


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 40.0])
def test_the_mu_of_pure_privacy_is_that_of_randomised_response(epsilon):
    with mpmath.workdps(60):
        share = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        # A quantile of half that mu has no more than this share beyond it.
        mu = mu_of_pure(epsilon)
        assert mpmath.ncdf(-mpmath.mpf(mu) / 2) <= share
        assert mpmath.ncdf(-mpmath.mpf(mu) * (1 - 1e-5) / 2 + 1e-11) >= share


@pytest.mark.parametrize(("K", "sigma", "classes"), [(5, 2.0, 2), (9, 4.0, 2), (4, 3.0, 3)])
def test_no_label_loses_more_than_the_largest_normal_loss(K, sigma, classes):
    from private_ensembles.mechanisms.laws.gaussian import COINS, GaussianNoise

    if classes == 2:
        ones = np.arange(K + 1)
        counts = np.stack([K - ones, ones], axis=1)
    else:
        counts = np.array([(a, b, K - a - b) for a in range(K + 1) for b in range(K + 1 - a)])
    chances = COINS.distribution(counts, GaussianNoise(sigma, 1))
    apart = np.abs(counts[:, None] - counts[None]).sum(axis=2)
    first, second = np.nonzero(apart == 2)
    worst = np.abs(np.log(chances[first] / chances[second])).max()
    claimed = largest_normal_loss(sigma, K, classes)
    assert worst <= claimed + 1e-9
    assert claimed < (1 + 1e-6 if classes == 2 else 3) * worst


def test_blocks_add_up_and_never_cost_more_than_labels_one_by_one():
    family = two_classes([0.5, 0.51])
    loss = math.log(0.5 / 0.49) * (1 + 1e-12)
    one = mu_of_pure(loss)
    few, many = (dominating_mu(family, labels, loss, one) for labels in (1000, 4000))
    assert many == pytest.approx(2 * few, rel=1e-9)
    assert many <= one * math.sqrt(4000) * (1 + 1e-9)
    assert dominating_gaussian.MANY == 1000


def test_what_is_out_of_range_is_refused():
    family = two_classes([0.5, 0.55])
    for arguments in ((0, 1.0, 1.0), (1, 0.0, 1.0), (1, 1.0, math.inf), (1, 1.0, 1.0, 1.0)):
        with pytest.raises(ValueError, match="must be"):
            dominating_mu(family, *arguments)
