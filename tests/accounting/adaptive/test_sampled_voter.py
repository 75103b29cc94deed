"""The curve of a sampled voter, in fractions, from the definition."""

from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.families import Pairs, two_classes
from private_ensembles.accounting.adaptive.sampled_voter import SampledVoter

from ..adversaries import random_rows


def excess(first, second, t):
    """Sum of (P - t P')_+ less (1 - t)_+, in fractions."""
    gains = sum(max(0, p - t * q) for p, q in zip(first, second, strict=True))
    return float(gains - max(0, 1 - t))


@pytest.mark.parametrize("rate", [1e-6, 0.07, 0.5, 1.0])
def test_rows_are_the_curves_of_the_mixture_in_both_orders(rate):
    rng = np.random.default_rng(5)
    t = np.exp(np.linspace(-3, 3, 25) * max(rate, 0.05))
    for _ in range(5):
        inside, without = random_rows(rng, 1, 3)
        rows = SampledVoter(Pairs(inside, without), rate).excesses(t)
        laws = [[Fraction(p) for p in row[0].tolist()] for row in (inside, without)]
        for a, n in (laws, laws[::-1]):
            q = Fraction(rate)
            mixed = [q * p + (1 - q) * other for p, other in zip(a, n, strict=True)]
            for pair in ((mixed, n), (n, mixed)):
                exact = np.array([excess(*pair, Fraction(float(one))) for one in t])
                above = (rows >= exact * (1 - 1e-15)).all(axis=1)
                assert above.any()
                assert (np.abs(rows[above] - exact) <= 1e-11).all(axis=1).any()


def test_a_rate_five_per_cent_higher_is_not_covered():
    t = np.array([0.9, 1.0, 1.1])
    rows, twin = (SampledVoter(two_classes([0.2, 0.8]), rate).excesses(t) for rate in (0.2, 0.21))
    assert not (rows >= twin[0]).all(axis=1).any()


def test_pairs_are_those_given_or_mixtures():
    label = two_classes([0.25, 0.75])
    first, second = SampledVoter(label, 0.5).pairs()
    assert first.round(6).tolist()[0] == [0.5, 0.5]
    assert second.round(6).tolist()[0] == [0.25, 0.75]
    assert SampledVoter(label, 0.5, label).pairs()[0].shape == (2, 2)


@pytest.mark.parametrize("rate", [0.0, 1.1, -1.0])
def test_a_rate_out_of_range_is_refused(rate):
    with pytest.raises(ValueError, match=r"rate = .*: must be in \(0, 1\]"):
        SampledVoter(two_classes([0.25, 0.75]), rate)
