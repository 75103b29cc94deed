"""Weights of the objective against every vote that teachers may cast."""

import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.audit.histograms import enumerate_histograms
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from studies.best_label.objective import WEIGHT_ROUNDINGS, correct_label_weights
from studies.best_label.sorted_histograms import tie_groups

from . import oracle


@pytest.mark.parametrize(
    ("K", "C", "accuracy"), [(1, 2, 0.6), (5, 3, 0.7), (6, 3, 0.4), (4, 4, 0.9)]
)
def test_weights_are_the_chances_of_all_votes(K, C, accuracy):
    groups = tie_groups(K, C)
    of = groups.groups_of(enumerate_histograms(K, C))
    every = np.bincount(of.ravel(), oracle.weights(K, C, accuracy).ravel(), len(groups.sizes))
    found = correct_label_weights(groups, accuracy)
    np.testing.assert_allclose(found, every, rtol=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize(("K", "C", "accuracy"), [(11, 10, 0.4), (40, 3, 0.35)])
def test_weights_are_as_exact_as_they_say(K, C, accuracy):
    groups = tie_groups(K, C)
    right, wrong = Fraction(accuracy), (1 - Fraction(accuracy)) / (C - 1)
    for g, weight in enumerate(correct_label_weights(groups, accuracy).tolist()):
        row, votes = groups.counts[groups.owners[g]].tolist(), int(groups.votes[g])
        others = row.copy()
        others.remove(votes)
        ways = math.factorial(K) * math.factorial(C - 1)
        for n in row:
            ways //= math.factorial(n)
        names = math.prod(math.factorial(others.count(n)) for n in set(others))
        exact = Fraction(ways, names) * right**votes * wrong ** (K - votes)
        assert abs(Fraction(weight) - exact) <= exact * WEIGHT_ROUNDINGS * Fraction(UNIT_ROUNDOFF)


def test_arguments_out_of_range_are_refused():
    groups = tie_groups(5, 3)
    with pytest.raises(ValueError, match=r"accuracy = 0\.3: must be above 1 / 3 and below 1"):
        correct_label_weights(groups, 0.3)
    with pytest.raises(ValueError, match=r"accuracy = 1\.0: must be above"):
        correct_label_weights(groups, 1.0)
    with pytest.raises(ValueError, match="n_teachers = 1011: must be at most 1010"):
        correct_label_weights(tie_groups(1011, 2), 0.6)
