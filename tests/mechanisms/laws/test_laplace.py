"""LNMax's sampler against its exact distributions, in two classes and in more."""

import math

import numpy as np
import pytest

from private_ensembles.mechanisms.laws.laplace import LAW, LaplaceNoise, PureScale, lnmax
from private_ensembles.pate.lnmax import lnmax_matrix


def test_sampler_follows_the_matrix():
    counts = np.repeat(np.arange(6), 40_000)
    votes = np.stack([5 - counts, counts], axis=1)
    labels = lnmax(votes, 3.0, np.random.default_rng(1)).reshape(6, -1)
    limit = math.sqrt(math.log(12e9) / 80_000)
    assert np.abs(labels.mean(axis=1) - lnmax_matrix(5, 3.0)[:, 1]).max() < limit


@pytest.mark.parametrize("n_classes", [2, 4])
def test_secure_coins_and_seeded_noise_are_one_law(n_classes):
    """The scale is all that counts: both kinds of parameters say the same."""
    counts = np.random.default_rng(3).multinomial(9, np.full(n_classes, 1 / n_classes), 20)
    pure, noise = PureScale(0.4, 1), LaplaceNoise(5.0)
    assert pure.scale == pytest.approx(5.0)
    chances = [LAW.distribution(counts, parameters) for parameters in (pure, noise)]
    np.testing.assert_allclose(*chances, rtol=1e-9)
    assert LAW.less_noise(pure, 0.5).scale == pytest.approx(2.5)
    assert LAW.less_noise(noise, 0.5) == LaplaceNoise(2.5)
