"""LNMax's sampler against its exact distributions, in two classes and in more."""

import numpy as np
import pytest

from private_ensembles.labels.laws.laplace import (
    LAW,
    LaplaceNoise,
    PureScale,
    lnmax,
)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_secure_coins_and_seeded_noise_are_one_law(n_classes):
    """The scale is all that counts: both kinds of parameters say the same."""
    counts = np.random.default_rng(3).multinomial(9, np.full(n_classes, 1 / n_classes), 20)
    pure, noise = PureScale(0.4, 1), LaplaceNoise(5.0)
    assert pure.scale == pytest.approx(5.0)
    chances = [LAW.distribution(counts, parameters) for parameters in (pure, noise)]
    np.testing.assert_allclose(*chances, rtol=1e-9)
    assert LAW.scale_noise(pure, 0.5).scale == pytest.approx(2.5)
    assert LAW.scale_noise(noise, 0.5) == LaplaceNoise(2.5)


def test_labels_do_not_depend_on_the_queries_that_follow():
    counts = np.random.default_rng(9).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=200)
    whole = lnmax(counts, 3.0, np.random.default_rng(5))
    for part in (1, 17, 199):
        assert lnmax(counts[:part], 3.0, np.random.default_rng(5)).tolist() == whole[:part].tolist()
    assert not np.array_equal(whole, lnmax(counts, 3.0, np.random.default_rng(6)))


def test_seeded_noise_has_the_scale_that_is_charged():
    """Many of the labels are decided by a hair."""
    counts, drawn = (
        np.tile([11, 10, 9], (4000, 1)),
        np.random.default_rng(3).laplace(size=(4000, 3)),
    )
    expected = (counts + 2.5 * drawn).argmax(axis=1)
    np.testing.assert_array_equal(lnmax(counts, 2.5, np.random.default_rng(3)), expected)
