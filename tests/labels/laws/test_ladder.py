"""Labels of the ladder come at its steps."""

import math

import numpy as np

from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.labels.ladder import ladder_probabilities
from private_ensembles.labels.laws.ladder import LAW, LeakyLabel


def test_sampler_follows_the_flips():
    flips = ladder_probabilities(5, 0.5, 1e-3, np.arange(6)).min(axis=1)
    counts = np.repeat(np.arange(6), 40_000)
    votes = np.stack([5 - counts, counts], axis=1)
    source = SeededNoise(np.random.default_rng(0))
    labels = LAW.draw(votes, LeakyLabel(0.5, 1e-3, 1), source).reshape(6, -1)
    minority = (labels != (2 * np.arange(6) > 5)[:, None]).mean(axis=1)
    # Hoeffding, six means of 40,000: all within this but once in 1e9.
    assert np.abs(minority - flips).max() < math.sqrt(math.log(12e9) / 80_000)
