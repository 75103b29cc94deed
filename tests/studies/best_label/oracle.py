"""Optimal labels by brute force: a program over all histograms as they are, no symmetry assumed."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.sparse as sparse
from scipy.optimize import linprog

from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.base.rounding import sixty_digits
from studies.best_label.certificate import UNITS


def weights(n_teachers, n_classes, accuracy):
    """Pr[histogram, right class] for a right class drawn evenly, by adding up all vote vectors."""
    rows = enumerate_histograms(n_teachers, n_classes)
    places = {tuple(row): k for k, row in enumerate(rows.tolist())}
    found = np.zeros(rows.shape)
    wrong = (1 - accuracy) / (n_classes - 1)
    for votes in itertools.product(range(n_classes), repeat=n_teachers):
        row = places[tuple(np.bincount(votes, minlength=n_classes).tolist())]
        for right in range(n_classes):
            agree = votes.count(right)
            found[row, right] += accuracy**agree * wrong ** (n_teachers - agree) / n_classes
    return found


def best_utility(n_teachers, n_classes, epsilon, delta, objective):
    """max objective . p over all (epsilon, delta)-DP p (histograms, classes); an excess each."""
    rows = enumerate_histograms(n_teachers, n_classes)
    pairs = neighbour_pairs(rows)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    size, excesses = rows.size, len(pairs) * n_classes
    p, q = ((pairs[:, side, None] * n_classes + np.arange(n_classes)).ravel() for side in (0, 1))
    each = np.arange(excesses)
    # p - e^epsilon q <= s, and the s of a pair add up to at most delta.
    entries = np.concatenate([np.ones(excesses), -np.full(excesses, math.exp(epsilon))])
    columns = np.concatenate([p, q]), size + each
    above = sparse.csr_matrix(
        (
            np.concatenate([entries, -np.ones(excesses)]),
            (np.tile(each, 3), np.concatenate([columns[0], columns[1]])),
        ),
        (excesses, size + excesses),
    )
    sums = sparse.csr_matrix(
        (np.ones(excesses), (each // n_classes, size + each)), (len(pairs), size + excesses)
    )
    ones = sparse.csr_matrix(
        (np.ones(size), (np.arange(size) // n_classes, np.arange(size))),
        (len(rows), size + excesses),
    )
    found = linprog(
        -np.concatenate([objective.ravel(), np.zeros(excesses)]),
        A_ub=sparse.vstack([above, sums]),
        b_ub=np.concatenate([np.zeros(excesses), np.full(len(pairs), delta)]),
        A_eq=ones,
        b_eq=np.ones(len(rows)),
        method="highs-ds",
    )
    assert found.status == 0
    return -found.fun


def exact_delta(label):
    """The delta that a solved label needs at its epsilon, in rational arithmetic, over everything.

    e^epsilon is rounded down at sixty digits.
    """
    rows = enumerate_histograms(label.histograms.n_teachers, label.histograms.n_classes)
    sizes = label.histograms.sizes.tolist()
    share = [Fraction(u, UNITS * m) for u, m in zip(label.units.tolist(), sizes, strict=True)]
    table = [[share[g] for g in row] for row in label.histograms.groups_of(rows).tolist()]
    assert all(sum(row) == 1 for row in table)
    with sixty_digits():
        growth = Fraction(Decimal(label.epsilon).exp() * (1 - Decimal("1e-55")))
    worst = Fraction(0)
    for first, second in neighbour_pairs(rows).tolist():
        for a, b in ((first, second), (second, first)):
            gains = (x - growth * y for x, y in zip(table[a], table[b], strict=True))
            worst = max(worst, sum(max(gain, Fraction(0)) for gain in gains))
    return worst
