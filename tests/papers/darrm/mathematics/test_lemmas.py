"""Lemmas that DaRRM proves its theorems with: 3.4, 5.1, B.1 and B.9, at drawn points."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_double_subsampling,
    label_probability,
)
from private_ensembles.papers.darrm.mathematics.privacy_cost import CORNERS, PrivacyProblem

K, EPSILON = 11, 0.1


def costs(gamma, p, q, c):
    """f of Lemma 3.4, as it is printed, (cases,); p, q: (cases, K), gamma: one or one a case."""
    alpha, other = pmf(p), pmf(q)
    half = (K + 1) // 2
    low = ((c * other - alpha) * gamma)[:, :half].sum(axis=1)
    return low + ((alpha - c * other) * gamma)[:, half:].sum(axis=1)


def test_lemma_3_4_says_what_the_definition_of_privacy_says():
    """2,000 drawn gammas and teachers; cases within rounding of the edge are left out."""
    source = np.random.default_rng(0)
    m, epsilon, delta = 2, 0.3, 0.02
    c, cases = math.exp(m * epsilon), []
    for _ in range(2000):
        half = source.random((K + 1) // 2)
        p, q = source.random(K) ** source.choice([0.2, 1, 5]), source.random(K)
        cases.append((np.concatenate([half[::-1], half]), p, q))
    gamma, p, q = map(np.array, zip(*cases, strict=True))
    says_one = np.array([label_probability(each) for each in gamma])
    before, after = ((says_one * pmf(x)).sum(axis=1) for x in (p, q))
    excess = before - c * after - delta
    disagree = (costs(gamma, p, q, c) <= c - 1 + 2 * delta) != (excess <= 0)
    assert not disagree[np.abs(excess) > 1e-12].any()
    assert 0 < (excess > 0).sum() < 2000


def loss_inside(gamma, epsilon):
    """The largest f of i.i.d. teachers inside the region, over that on its boundary."""
    c, grow = math.exp(3 * epsilon), math.exp(epsilon)
    p = np.linspace(0, 1, 201)
    low = np.maximum(p / grow, 1 - grow * (1 - p))
    high = np.minimum(p * grow, 1 - (1 - p) / grow)

    def largest(part, neighbours):
        alike = np.ones(K)
        f = (costs(gamma, np.outer(p, alike), np.outer(q, alike), c) for q in neighbours)
        return max(float(each[part].max()) for each in f)

    inner = [low + share * (high - low) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    return largest(slice(1, -1), inner) / largest(slice(None), [low, high])


def test_lemma_b_1_teachers_that_are_alike_cost_most_on_the_boundary():
    assert loss_inside(gamma_double_subsampling(K, 3), EPSILON) < 1
    # It supposes a gamma that does not fall where votes are clear.
    dip = np.ones(K + 1)
    dip[[0, -1]] = 0.0
    assert loss_inside(dip, 3.0) > 1.001


def test_lemma_b_9_in_fractions():
    size = 6
    for p in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1)):
        law = [math.comb(size, x) * p**x * (1 - p) ** (size - x) for x in range(size + 1)]
        for i, m in combinations_with_replacement(range(size + 1), 2):
            ways = (math.comb(x, i) * math.comb(size - x, m - i) for x in range(size + 1))
            left = sum(a * b for a, b in zip(law, ways, strict=True)) / math.comb(size, m)
            assert left == math.comb(m, i) * p**i * (1 - p) ** (m - i)


def test_lemma_5_1_teachers_cost_most_at_the_corners():
    """Three teachers, each at any of 8 corners, or anywhere between: a mixture of corners."""
    problem = PrivacyProblem(3, 1, 0.5, 0.02, 0.02)
    corners = problem.corner_probabilities()
    odd = np.array([1.0, 0.7, 0.7, 1.0]) * np.array([-1, -1, 1, 1])
    mixed = np.random.default_rng(0).dirichlet(np.full(len(CORNERS), 0.2), size=(3000, 3)) @ corners

    def largest(points):
        return (pmf(points[..., 0]) @ odd - problem.c * (pmf(points[..., 1]) @ odd)).max()

    def assigned(corners):
        return np.array(list(product(corners, repeat=3)))

    assert largest(mixed) < largest(assigned(corners))
    # Without the two corners where both labels are likely, others cost less.
    assert largest(mixed) > 1.01 * largest(assigned(np.delete(corners, [6, 7], axis=0)))
