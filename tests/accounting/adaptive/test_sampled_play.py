"""What lower bounds play exists: each pair is that of two data sets, by every sample of them."""

from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.sampled_play import changing, coming_and_going

from .sampled_voters import label_of


def three(law, scale, rate, votes, classes):
    """Pr[a], Pr[b], Pr[another] of so many votes for a and b, in floats."""
    label = label_of(law, scale, rate, (*votes, *[0] * (classes - 2)))
    return np.array([float(p) for p in (*label[:2], Fraction(0) + sum(label[2:]))])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("law", "scale"), [("gnmax", 1.5), ("exponential", 0.8)])
def test_played_pairs_are_those_of_neighbours(law, scale, classes):
    options = {"rate": 0.3, "teachers": 4, "classes": classes}
    played = coming_and_going(law, scale, **options)
    splits = [(0, 0), *[(n, 0) for n in (1, 2, 3)], *[(0, n) for n in (1, 2, 3)]]
    assert len(played.first) == len(splits)
    for (a, b), first, second in zip(splits, played.first, played.second, strict=True):
        np.testing.assert_allclose(first, three(law, scale, 0.3, (a + 1, b), classes), rtol=1e-8)
        np.testing.assert_allclose(second, three(law, scale, 0.3, (a, b), classes), rtol=1e-8)
    played = changing(law, scale, **options)
    for a, (first, second) in enumerate(zip(played.first, played.second, strict=True)):
        b = 3 - a
        np.testing.assert_allclose(first, three(law, scale, 0.3, (a + 1, b), classes), rtol=1e-8)
        np.testing.assert_allclose(second, three(law, scale, 0.3, (a, b + 1), classes), rtol=1e-8)
