"""The label of a few drawn votes against every sample, and its privacy against every histogram."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.audit.divergence import exact_delta, exact_epsilon
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.optimal_label.best_label import best_label
from private_ensembles.optimal_label.certificate import UNITS
from private_ensembles.optimal_label.drawn_votes import (
    RELATIVE_ERROR,
    budget_of_the_drawn,
    distribution,
    most_drawn,
    right,
)

from . import oracle


def by_every_sample(label, row):
    """Pr[label] over all subsets of the voters, rational numbers."""
    m, C = label.histograms.n_teachers, len(row)
    voters = np.repeat(np.arange(C), row)
    found = [Fraction(0)] * C
    for sample in itertools.combinations(voters.tolist(), m):
        votes = np.bincount(sample, minlength=C)
        groups = label.histograms.groups_of([votes])[0].tolist()
        for c, g in enumerate(groups):
            found[c] += Fraction(int(label.units[g]), UNITS * int(label.histograms.sizes[g]))
    return [one / math.comb(len(voters), m) for one in found]


@pytest.mark.parametrize(("m", "C"), [(1, 3), (4, 3), (5, 5), (9, 3)])
def test_chances_are_those_of_all_samples(m, C):
    label = best_label(m, C, 0.8, accuracy=0.6)
    rng = np.random.default_rng(m)
    rows = [[9] + [0] * (C - 1), *rng.multinomial(9, [0.5] + [0.5 / (C - 1)] * (C - 1), size=6)]
    found = distribution(label, np.array(rows)[:, ::-1])[:, ::-1]
    for row, chances in zip(rows, found.tolist(), strict=True):
        for chance, exact in zip(chances, by_every_sample(label, row), strict=True):
            assert abs(Fraction(chance) - exact) <= exact * Fraction(RELATIVE_ERROR)


@pytest.mark.parametrize("C", [3, 4, 9])
def test_chances_of_one_class_each_are_entries_of_all(C):
    label = best_label(4, C, 0.8, accuracy=0.6)
    rng = np.random.default_rng(C)
    counts = rng.multinomial(30, rng.dirichlet(np.full(C, 0.5)), size=40)
    labels = rng.integers(0, C, 40)
    wanted = distribution(label, counts)[np.arange(40), labels]
    np.testing.assert_allclose(right(label, counts, labels), wanted, rtol=1e-13)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("K", "m", "C", "epsilon"), [(9, 3, 3, 0.5), (7, 4, 4, 0.2), (12, 6, 3, 1)]
)
def test_drawn_labels_keep_the_budget_and_use_it(K, m, C, epsilon, delta):
    label = best_label(m, C, *budget_of_the_drawn(epsilon, delta, K, m), accuracy=0.7)
    rows = enumerate_histograms(K, C)
    table, pairs = distribution(label, rows), neighbour_pairs(rows)
    errors = {"relative_error": RELATIVE_ERROR}
    assert exact_delta(table, pairs, epsilon * (1 + 1e-9), **errors) <= delta * (1 + 1e-9)
    found = exact_epsilon(table, pairs, delta * (1 + 1e-6), **errors)
    assert 0.8 * epsilon < found <= epsilon * (1 + 1e-9)
    # A sample that spends twice as much is caught.
    twice = best_label(m, C, *budget_of_the_drawn(2 * epsilon, delta, K, m), accuracy=0.7)
    spent = exact_epsilon(distribution(twice, rows), pairs, delta, side="lower", **errors)
    assert spent > 1.5 * epsilon


def test_the_drawn_label_s_budget_is_rounded_down():
    for epsilon, K, m in ((0.02, 250, 20), (1e-9, 1000, 3), (5.0, 30, 29)):
        found, delta = budget_of_the_drawn(epsilon, 1e-5, K, m)
        with oracle.sixty_digits(epsilon):
            exact = (1 + (oracle.Decimal(epsilon).exp() - 1) * K / m).ln()
            assert oracle.Decimal(found) <= exact
            assert float(exact) == pytest.approx(found, rel=1e-15)
        assert Fraction(delta) <= Fraction(1e-5) * K / m
    assert budget_of_the_drawn(1.0, 0.0, 7, 7) == (pytest.approx(1.0, rel=1e-15), 0.0)
    assert budget_of_the_drawn(1.0, 0.3, 100, 1)[1] == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"drawn = 8: must be in 1\.\.7"):
        budget_of_the_drawn(1.0, 0.0, 7, 8)


def test_as_many_votes_are_drawn_as_there_is_room_for():
    assert most_drawn(20, 10, 600) == 20  # 530 sorted histograms
    assert most_drawn(250, 10, 530) == 20
    assert most_drawn(250, 10, 529) == 19
    assert math.comb(10**6, most_drawn(10**6, 2, 600)) < 1e304


@pytest.mark.parametrize("rows", [[[3, 1]], [[3, 1, 1], [3, 1, 0]], [[1, 1, 1]], [[4, 1, -1]]])
def test_counts_of_another_size_are_refused(rows):
    with pytest.raises(ValueError, match="counts: "):
        distribution(best_label(4, 3, 0.5, accuracy=0.6), np.array(rows))
