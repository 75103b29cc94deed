"""Slow, independent evaluations by the definition of differential privacy."""

from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, product

import mpmath
import numpy as np


def events(labels):
    """All sets of labels."""
    return chain.from_iterable(combinations(range(labels), size) for size in range(labels + 1))


def delta(matrix, pairs, growth):
    """Largest Pr[S | a] - growth Pr[S | b] over events and both directions, in fractions.

    growth: e^epsilon as a Fraction.
    """
    rows = [[Fraction(float(p)) for p in row] for row in matrix]
    worst = Fraction(0)
    for a, b in chain(pairs, [(b, a) for a, b in pairs]):
        for event in events(len(rows[0])):
            gained = sum(rows[a][j] for j in event)
            paid = sum(rows[b][j] for j in event)
            worst = max(worst, gained - growth * paid)
    return worst


def epsilon(matrix, pairs, delta_):
    """Least epsilon at delta_ over events and both directions, to 40 digits."""
    rows = [[Fraction(float(p)) for p in row] for row in matrix]
    worst = mpmath.mpf(0)
    for a, b in chain(pairs, [(b, a) for a, b in pairs]):
        for event in events(len(rows[0])):
            room = sum(rows[a][j] for j in event) - Fraction(float(delta_))
            paid = sum(rows[b][j] for j in event)
            if room > 0:
                ratio = room / paid if paid else None
                loss = mpmath.inf if ratio is None else mpmath.log(to_mpf(ratio))
                worst = max(worst, loss)
    return worst


def to_mpf(value):
    """A Fraction in mpmath's working precision."""
    return mpmath.mpf(value.numerator) / value.denominator


def all_histograms(n_teachers, n_classes):
    """Every histogram, by trying all tuples."""
    kept = (
        row for row in product(range(n_teachers + 1), repeat=n_classes) if sum(row) == n_teachers
    )
    return np.array(sorted(kept))


def all_pairs(histograms):
    """Pairs of rows between which one vote moves, by comparing all with all."""
    found = []
    for i, j in combinations(range(len(histograms)), 2):
        difference = sorted(histograms[i] - histograms[j])
        if difference[0] == -1 and difference[-1] == 1 and np.abs(difference).sum() == 2:
            found.append((i, j))
    return found


def largest_ratio(votes, growth, queries):
    """Largest Pr[labels | D] / Pr[labels | D'], by listing behaviours, bits and labels.

    votes: Pr[label 1 | ones]; growth: e^epsilon of a teacher; fractions, or mpmath's numbers.
    """
    K = len(votes) - 1
    answers = list(product((0, 1), repeat=queries))
    every = list(product(answers, repeat=2))
    bits = list(product((0, 1), repeat=K))
    chance = growth / (1 + growth), 1 / (1 + growth)
    worst = 0
    for behaviours in combinations_with_replacement(every, K):
        laws = {labels: [0, 0] for labels in answers}
        for bit in bits:
            given = [pair[b] for pair, b in zip(behaviours, bit, strict=True)]
            counts = [sum(row) for row in zip(*given, strict=True)]
            for labels, law in laws.items():
                told = 1
                for n, label in zip(counts, labels, strict=True):
                    told *= votes[n] if label else 1 - votes[n]
                ones = sum(bit)
                law[0] += told * chance[1] ** ones * chance[0] ** (K - ones)
                law[1] += told * chance[0] ** ones * chance[1] ** (K - ones)
        worst = max(worst, *(p / q for p, q in laws.values() if q))
    return worst
