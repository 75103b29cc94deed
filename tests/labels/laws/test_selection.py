"""Exponential mechanism and permute-and-flip: exact distributions, noise, privacy."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.audit import exact_epsilon, reduced_histograms
from private_ensembles.labels.laws import exponential, gumbel
from private_ensembles.labels.laws.selection import SelectionRate

BOTH = (gumbel.label_probabilities, exponential.label_probabilities)


@given(st.integers(0, 10**9), st.integers(2, 150), st.floats(1e-3, 50))
def test_distributions_add_up_to_one_and_follow_the_counts(seed, n_classes, rate):
    counts = np.random.default_rng(seed).integers(0, 300, (3, n_classes))
    for distribution in BOTH:
        chances = distribution(counts, rate)
        np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-12)
        order = np.argsort(counts, axis=1, kind="stable")
        assert (np.diff(np.take_along_axis(chances, order, axis=1)) >= -1e-15).all()


@given(st.integers(0, 10**9), st.integers(2, 10), st.floats(0.01, 3))
def test_permute_and_flip_errs_less_in_expectation(seed, n_classes, rate):
    counts = np.random.default_rng(seed).integers(0, 30, (5, n_classes))
    value = [(d(counts, rate) * counts).sum(axis=1) for d in BOTH]
    assert (value[1] >= value[0] - 1e-9).all()


@given(st.floats(0.02, 3), st.integers(1, 12), st.integers(2, 4))
def test_pure_rate_is_an_upper_bound_on_the_exact_epsilon(epsilon, n_teachers, n_classes):
    histograms, pairs = reduced_histograms(n_teachers, n_classes)
    for distribution in BOTH:
        matrix = distribution(histograms, epsilon / 2)
        assert exact_epsilon(matrix, pairs, 0.0, relative_error=1e-12) <= epsilon + 1e-10


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: gumbel.label_probabilities([1, 2], 0.1), "counts"),
        (lambda: gumbel.label_probabilities([[1.0, 2.0]], 0.1), "counts"),
        (lambda: exponential.label_probabilities([[1, 2]], 0.0), "rate"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@pytest.mark.parametrize("law", [gumbel.LAW, exponential.LAW], ids=lambda law: law.name)
def test_noise_of_a_scale_is_its_inverse_rate_and_half_of_it_is_twice_the_rate(law):
    noise = law.noise_at_scale(3.0, labels=5)
    assert 1 / noise.used_rate <= 3.0
    assert (noise.used_rate, noise.labels) == (pytest.approx(1 / 3), 5)
    assert law.scale_noise(noise, 0.5).used_rate == 2 * noise.used_rate
    pure = SelectionRate(0.6, 1)
    assert pure.used_rate == 0.3
    assert law.scale_noise(pure, 0.5).used_rate == 0.6


@pytest.mark.parametrize("law", [gumbel.LAW, exponential.LAW])
def test_very_many_classes_are_merged_to_the_same_chances(law):
    """From `MANY_CLASSES` on the chances come from merged counts: of the same law."""
    generator = np.random.default_rng(0)
    counts = generator.multinomial(60, np.full(300, 1 / 300), size=20)
    counts[5:] //= 3
    counts[5:, 7] += 60 - counts[5:].sum(axis=1)
    labels, noise = generator.integers(0, 300, 20), SelectionRate(0.4, 5)
    listed = law.distribution(counts, noise)[np.arange(20), labels]
    assert law.probability_correct(counts, labels, noise) == pytest.approx(
        listed, rel=1e-10, abs=1e-15
    )


def permute_and_flip_by_definition(counts, rate):
    """Average over all orders of visiting the classes, in fractions."""
    q = [Fraction(math.exp(rate * (n - max(counts)))) for n in counts]
    out = [Fraction(0)] * len(counts)
    orders = list(permutations(range(len(counts))))
    for order in orders:
        refused = Fraction(1)
        for j in order:
            out[j] += refused * q[j] / len(orders)
            refused *= 1 - q[j]
    return [float(p) for p in out]


@pytest.mark.parametrize("counts", [[5], [3, 3], [7, 2], [4, 4, 1], [0, 9, 3, 2], [2, 2, 2, 2, 3]])
@pytest.mark.parametrize("rate", [0.01, 0.4, 5.0])
def test_permute_and_flip_is_its_average_over_orders(counts, rate):
    chances = exponential.label_probabilities(np.array([counts]), rate)[0]
    np.testing.assert_allclose(chances, permute_and_flip_by_definition(counts, rate), rtol=1e-12)


@pytest.mark.parametrize("counts", [[5], [3, 3], [7, 2], [4, 4, 1], [0, 9, 3, 2], [2, 2, 2, 2, 3]])
@pytest.mark.parametrize("rate", [0.01, 0.4, 5.0])
def test_each_class_has_its_share_of_the_weights(counts, rate):
    weights = [Fraction(math.exp(rate * (n - max(counts)))) for n in counts]
    shares = [float(weight / sum(weights)) for weight in weights]
    np.testing.assert_allclose(
        gumbel.label_probabilities(np.array([counts]), rate)[0], shares, rtol=1e-12
    )


def test_seeded_labels_are_the_first_to_arrive_of_those_whose_coins_say_yes():
    counts, rate, drawn = np.tile([5, 4, 2], (4000, 1)), 0.7, np.random.default_rng(3)
    arrival, coins = drawn.random((4000, 3)), drawn.random((4000, 3))
    say_yes = coins < [1, math.exp(-rate), math.exp(-3 * rate)]
    expected = np.where(say_yes, arrival, 2).argmin(axis=1)
    found = exponential.choose(counts, np.random.default_rng(3), rate)
    np.testing.assert_array_equal(found, expected)


def test_seeded_labels_are_the_largest_of_scores_at_the_rate_that_is_charged():
    counts, drawn = np.tile([5, 4, 2], (4000, 1)), np.random.default_rng(3).gumbel(size=(4000, 3))
    found = gumbel.choose(counts, np.random.default_rng(3), 0.7)
    np.testing.assert_array_equal(found, (0.7 * counts + drawn).argmax(axis=1))
