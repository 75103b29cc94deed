"""How often each class wins among some teachers, by listing all that may be drawn."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics.committee import plurality_probabilities


def every_committee(row, members):
    """Pr[class wins], by listing all committees of teachers with these counts."""
    votes = [label for label, n in enumerate(row) for _ in range(n)]
    won = [Fraction(0)] * len(row)
    chosen = list(itertools.combinations(votes, members))
    for committee in chosen:
        counts = [committee.count(label) for label in range(len(row))]
        tied = [label for label, n in enumerate(counts) if n == max(counts)]
        for label in tied:
            won[label] += Fraction(1, len(tied) * len(chosen))
    return [float(chance) for chance in won]


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_accuracy_is_that_of_all_committees(n_classes):
    generator = np.random.default_rng(n_classes)
    for _ in range(40):
        K = int(generator.integers(1, 10))
        row = generator.multinomial(K, generator.dirichlet(np.ones(n_classes)))
        members = int(generator.integers(1, K + 1))
        chances = plurality_probabilities(row[None], members)[0]
        assert chances == pytest.approx(every_committee(row, members), abs=1e-14)
