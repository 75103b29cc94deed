"""The exponential mechanism's label of sampled voters, in any number of classes, in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.accounting.adaptive.sampled_exponential import (
    SampledExponential,
    _nodes,
)

HALF = Pairs(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]]))


def excess_of(x, y, vote, rate, t):
    """The curve of a voter for a or for b, in fractions; x, y: chances of a and b without it."""
    x, y, q, up = Fraction(x), Fraction(y), Fraction(rate), Fraction(math.exp(vote))
    rows = [(x, y, 1 - x - y), (x * up, y, 1 - x - y), (x, y * up, 1 - x - y)]
    without, at_a, at_b = ([p / sum(row) for p in row] for row in rows)
    first = [q * p + (1 - q) * n for p, n in zip(at_a, without, strict=True)]
    second = [q * p + (1 - q) * n for p, n in zip(at_b, without, strict=True)]
    found = []
    for value in map(Fraction, t.tolist()):
        gains = sum(max(0, p - value * r) for p, r in zip(first, second, strict=True))
        found.append(float(gains - max(0, 1 - value)))
    return np.array(found)


@pytest.mark.parametrize(("vote", "rate"), [(0.02, 1.0), (0.2, 0.1), (1.5, 0.3), (6.0, 0.02)])
def test_a_curve_between_nodes_lies_below_the_mixture_of_those_around_it(vote, rate):
    shares, others = _nodes()
    far = rate * math.expm1(min(vote, 5.0))
    t = np.exp(np.linspace(-1.2, 1.2, 25) * math.log1p(far))
    rows = SampledExponential(vote, rate, HALF).excesses(t)
    rows = rows.reshape(shares.size, others.size, t.size)
    rng = np.random.default_rng(3)
    places = [(0.5, 0.0), (0.5, 0.4), (0.3, 0.0), (1e-11, 0.3), (1e-5, 1 - 1e-5), (0.4, 0.9999)]
    places += [(rng.uniform(), rng.uniform() ** 3) for _ in range(30)]
    for p, z in places:
        exact = excess_of((1 - z) * p, (1 - z) * (1 - p), vote, rate, t)
        i, j = np.searchsorted(shares, p) - 1, max(0, np.searchsorted(others, z) - 1)
        of_p = (p - shares[i]) / (shares[i + 1] - shares[i])
        of_z = (z - others[j]) / (others[j + 1] - others[j])
        low, high = (rows[k, j] * (1 - of_z) + rows[k, j + 1] * of_z for k in (i, i + 1))
        bound = low * (1 - of_p) + high * of_p
        assert (bound >= exact * (1 - 1e-12)).all()
        if min(p, 1 - p) * (1 - z) > 0.01 and vote < 5:
            assert bound.sum() <= 1.06 * exact.sum()


def test_nodes_are_symmetric_and_reach_both_ends():
    shares, others = _nodes()
    assert shares[0] == others[0] == 0
    assert shares[-1] == others[-1] == 1
    np.testing.assert_allclose(shares, 1 - shares[::-1], atol=1e-15)
    assert (np.diff(shares) > 0).all()
    assert (np.diff(others) > 0).all()


def test_five_per_cent_less_noise_is_not_covered():
    t = np.array([0.99, 1.0, 1.01])
    rows = SampledExponential(0.2, 0.3, HALF).excesses(t)
    twin = excess_of(0.5, 0.5, 0.2 / 0.95, 0.3, t)
    assert twin[1] > rows[:, 1].max()


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"vote = 51: must be in \(0, 50\]"):
        SampledExponential(51, 0.5, HALF)
    with pytest.raises(ValueError, match=r"rate = 0: must be in \(0, 1\]"):
        SampledExponential(1.0, 0, HALF)
