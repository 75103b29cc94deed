"""Labels of bagged teachers: their distribution and their randomness."""

import numpy as np
import pytest

from private_ensembles.papers.dpbag.law import LAW, BaggingNoise, release
from private_ensembles.papers.dpbag.mathematics.label_loss import ones_probability


def test_the_same_generator_gives_the_same_labels_and_prefixes():
    ones = np.arange(30)
    labels = release(ones, 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(labels, release(ones, 10, 4, 0.4, np.random.default_rng(3)))
    prefix = release(ones[:11], 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(labels[:11], prefix)


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


@pytest.mark.parametrize(("n", "k", "rate"), [(10, 4, 0.4), (5, 1, 1.5)])
def test_a_label_s_distribution_is_the_closed_form_at_the_averaged_votes(n, k, rate):
    ones = np.arange(n * k + 1)
    counts = np.stack([n * k - ones, ones], axis=1)
    chances = LAW.distribution(counts, BaggingNoise(n, k, rate))
    np.testing.assert_allclose(chances[:, 1], ones_probability(2 * ones / k - n, rate), rtol=1e-12)
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-12)


def test_noise_has_the_scale_that_is_charged():
    """Of 10 shards in 4 partitions each vote counts a quarter."""
    ones, drawn = np.full(4000, 21), np.random.default_rng(3).laplace(size=(4000, 2))
    expected = (np.array([10 - 21 / 4, 21 / 4]) + drawn / 0.4).argmax(axis=1)
    found = release(ones, 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(found, expected)
