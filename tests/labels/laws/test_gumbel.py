"""The exponential mechanism: each class in proportion to e^(rate n), in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.labels.laws import gumbel


@pytest.mark.parametrize("counts", [[5], [3, 3], [7, 2], [4, 4, 1], [0, 9, 3, 2], [2, 2, 2, 2, 3]])
@pytest.mark.parametrize("rate", [0.01, 0.4, 5.0])
def test_each_class_has_its_share_of_the_weights(counts, rate):
    weights = [Fraction(math.exp(rate * (n - max(counts)))) for n in counts]
    shares = [float(weight / sum(weights)) for weight in weights]
    np.testing.assert_allclose(
        gumbel.label_probabilities(np.array([counts]), rate)[0], shares, rtol=1e-12
    )


def test_seeded_labels_are_the_largest_of_scores_at_the_rate_that_is_charged():
    counts, drawn = np.tile([5, 4, 2], (4000, 1)), np.random.default_rng(3).gumbel(size=(4000, 3))
    found = gumbel.choose(counts, np.random.default_rng(3), 0.7)
    np.testing.assert_array_equal(found, (0.7 * counts + drawn).argmax(axis=1))
