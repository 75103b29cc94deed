"""Lemmas that DaRRM proves its theorems with: 3.4, 5.1 and those of appendix B, at drawn points."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

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
    half = alpha.shape[1] // 2
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


# Teachers that are alike, as in all of appendix B.
P = np.linspace(0, 1, 201)
# It falls where votes are clear, which the lemmas rule out.
DIP = np.ones(K + 1)
DIP[[0, -1]] = 0.0


def costs_of_iid(gamma, p, q, c):
    """f of Lemma 3.4 for K teachers that say 1 with one probability, (cases,)."""
    alike = np.ones(len(gamma) - 1)
    return costs(gamma, np.outer(p, alike), np.outer(q, alike), c)


def neighbours(epsilon, p=P):
    """The least and the largest p' that a teacher may have beside p, for pure privacy."""
    grow = math.exp(epsilon)
    low = np.maximum(p / grow, 1 - grow * (1 - p))
    return low, np.minimum(p * grow, 1 - (1 - p) / grow)


def draw_monotone_gammas(number):
    """Symmetric gammas that do not fall away from K / 2, and are above 0 there."""
    source = np.random.default_rng(0)
    for _ in range(number):
        half = np.sort(source.random((K + 1) // 2)) ** source.choice([0.3, 1, 3])
        yield np.concatenate([half[::-1], half])


def largest_costs(gamma, epsilon):
    """The largest f inside the region, on its sides of p' > p, and on those of p >= p'."""
    c, (low, high) = math.exp(3 * epsilon), neighbours(epsilon)
    inside = [
        costs_of_iid(gamma, P[1:-1], (low + share * (high - low))[1:-1], c).max()
        for share in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    rising = costs_of_iid(gamma, P[1:-1], high[1:-1], c).max()
    return max(inside), rising, costs_of_iid(gamma, P, low, c).max()


def test_lemma_b_2_teachers_that_are_alike_cost_most_on_the_boundary():
    for gamma in (gamma_double_subsampling(K, 3), *draw_monotone_gammas(20)):
        inside, *sides = largest_costs(gamma, EPSILON)
        assert inside < max(sides)
    inside, *sides = largest_costs(DIP, 3.0)
    assert inside > 1.001 * max(sides)


def test_lemma_b_3_they_cost_most_where_they_are_no_likelier_to_say_1_beside():
    """Beside p < p' the pair p', p' costs as much or more: p >= p' holds at a maximum."""
    p, q = np.array([pair for pair in product(P[::10], repeat=2) if pair[0] < pair[1]]).T
    c = math.exp(3 * EPSILON)

    def excess(gamma):
        return (costs_of_iid(gamma, p, q, c) - costs_of_iid(gamma, q, q, c)).max()

    for gamma in (gamma_double_subsampling(K, 3), *draw_monotone_gammas(20)):
        assert excess(gamma) <= 1e-12
    assert excess(DIP) > 0.1


def test_lemma_b_1_they_cost_most_on_the_two_sides_where_they_say_1_less_often_beside():
    for gamma in (gamma_double_subsampling(K, 3), *draw_monotone_gammas(20)):
        inside, rising, falling = largest_costs(gamma, EPSILON)
        assert falling > max(inside, rising)


@pytest.mark.parametrize("size", [3, 5, 11])
def test_lemma_b_5_without_noise_an_allowance_of_half_the_teachers_is_enough(size):
    low, high = neighbours(EPSILON)

    def excess(m):
        """By how much the largest f over the region is above what m allows."""
        c, shares = math.exp(m * EPSILON), (0, 0.25, 0.5, 0.75, 1)
        inside = [low + share * (high - low) for share in shares]
        return max(costs_of_iid(np.ones(size + 1), P, q, c).max() for q in inside) - (c - 1)

    half = (size + 1) // 2
    assert all(excess(m) <= 1e-12 for m in range(half, size + 1))
    assert excess(half - 1) > 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_lemma_b_7_its_two_conditions_are_enough_for_the_symmetric_form_family(epsilon):
    """300 drawn h; of those that meet both conditions everywhere on the grid none costs more."""
    source, size, m = np.random.default_rng(0), 5, 2
    grow, c = math.exp(epsilon), math.exp(m * epsilon)
    below, above = P[(1 + grow) * P <= 1], P[(1 + 1 / grow) * P >= 1]
    low, high = neighbours(epsilon)
    private, met = [], []
    for _ in range(300):
        half = 0.5 + np.append(np.sort(source.random(2)) ** source.choice([0.3, 1, 3]), 1.0) / 2
        h = np.concatenate([1 - half[::-1], half])

        def steps(p, h=h):
            """E[h(X + 1) - h(X)], X ~ Binomial(K - 1, p)."""
            return pmf(np.outer(p, np.ones(size - 1))) @ np.diff(h)

        conditions = [
            c * steps(below) - grow * steps(grow * below),
            c * grow * steps(1 - grow * (1 - above)) - steps(above),
        ]
        met.append(min(side.min() for side in conditions) >= 0)
        gamma = np.abs(2 * h - 1)
        worst = max(costs_of_iid(gamma, P, side, c).max() for side in (low, high))
        private.append(worst <= c - 1 + 1e-12)
    met, private = np.array(met), np.array(private)
    assert private[met].all()
    assert 0 < met.sum() <= private.sum() < 300


def test_lemma_b_8_in_fractions():
    values = [Fraction(7), Fraction(-2, 3), Fraction(0), Fraction(5), Fraction(1, 9), Fraction(-4)]

    def expectation(size, p, function):
        law = [math.comb(size, x) * p**x * (1 - p) ** (size - x) for x in range(size + 1)]
        return sum(weight * function(x) for x, weight in enumerate(law))

    for size, p in product((1, 2, 6), (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1))):
        left = size * p * expectation(size - 1, p, lambda x: values[x])
        # g(-1) has the weight 0 and may be anything.
        assert left == expectation(size, p, lambda x: x * values[x - 1])


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
