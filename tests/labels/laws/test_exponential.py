"""Permute-and-flip is what its definition says."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from private_ensembles.labels.laws import exponential


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


def test_seeded_labels_are_the_first_to_arrive_of_those_whose_coins_say_yes():
    counts, rate, drawn = np.tile([5, 4, 2], (4000, 1)), 0.7, np.random.default_rng(3)
    arrival, coins = drawn.random((4000, 3)), drawn.random((4000, 3))
    say_yes = coins < [1, math.exp(-rate), math.exp(-3 * rate)]
    expected = np.where(say_yes, arrival, 2).argmin(axis=1)
    found = exponential.choose(counts, np.random.default_rng(3), rate)
    np.testing.assert_array_equal(found, expected)
