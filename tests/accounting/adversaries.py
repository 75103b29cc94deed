"""Adversaries against many labels in exact arithmetic: all of their strategies, with fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np

from private_ensembles.accounting.adaptive_composition.account import Bounds, privacy_curve

# Probabilities are whole multiples of this, so that floats hold them exactly and add up to 1.
UNIT = 2**40


def both_orders(first, second):
    """Pairs (P, P') of fractions, in both orders."""
    rows = [
        ([Fraction(p) for p in one], [Fraction(p) for p in other])
        for one, other in zip(np.asarray(first).tolist(), np.asarray(second).tolist(), strict=True)
    ]
    return rows + [(other, one) for one, other in rows]


def exact_value(pairs, labels, y):
    """W_labels(y), by the recursion of docs/many-labels.md: pairs of fractions, y a fraction.

    In whole numbers: x W_n(y / x) is max(0, x - y) for n = 0, and of one label more the largest sum
    of the same at (x P_o, y P'_o) over outcomes o.
    """
    unit = math.lcm(*(p.denominator for pair in pairs for law in pair for p in law))
    rows = {
        tuple(zip(*([int(p * unit) for p in law] for law in pair), strict=True)) for pair in pairs
    }

    def scaled(left, x, y):
        if left == 0:
            return max(0, x - y)
        if left == 1:  # as below, in one go
            return max(sum(x * p - y * q for p, q in row if x * p > y * q) for row in rows)
        return max(sum(scaled(left - 1, x * p, y * q) for p, q in row) for row in rows)

    return Fraction(scaled(labels, y.denominator, y.numerator), y.denominator * unit**labels)


def costliest_strategy(pairs, labels, y):
    """The largest hockey-stick at y of the joint laws of all strategies, one after the other.

    A strategy names a pair for every run of labels that it may have seen.
    """
    outcomes = range(len(pairs[0][0]))
    seen = [run for n in range(labels) for run in itertools.product(outcomes, repeat=n)]
    best = Fraction(0)
    for choice in itertools.product(pairs, repeat=len(seen)):
        strategy = dict(zip(seen, choice, strict=True))
        total = Fraction(0)
        for run in itertools.product(outcomes, repeat=labels):
            p = q = Fraction(1)
            for n, outcome in enumerate(run):
                first, second = strategy[run[:n]]
                p, q = p * first[outcome], q * second[outcome]
            total += max(Fraction(0), p - y * q)
        best = max(best, total)
    return best


def power(epsilon):
    """e^epsilon between two fractions, 1e-60 apart."""
    if not epsilon:
        return Fraction(1), Fraction(1)
    with mpmath.workdps(400):
        scaled = int(mpmath.floor(mpmath.exp(mpmath.mpf(epsilon)) * mpmath.mpf(10) ** 60))
    return Fraction(scaled, 10**60), Fraction(scaled + 1, 10**60)


def random_rows(rng, pairs, outcomes):
    """Neighbouring laws, (pairs, outcomes) twice, exact as floats: zeros and small numbers, too."""
    found = []
    for _ in range(2 * pairs):
        shares = rng.dirichlet(np.full(outcomes, rng.choice([0.1, 1.0, 10.0])))
        counts = np.floor(shares * UNIT).astype(np.int64)
        counts[rng.integers(outcomes)] += UNIT - counts.sum()
        found.append(counts / UNIT)
    first, second = np.array(found[:pairs]), np.array(found[pairs:])
    if rng.random() < 0.5:  # neighbours that hardly differ
        near = np.round((first + (second - first) * 10 ** rng.uniform(-6, 0)) * UNIT)
        near[:, 0] += UNIT - near.sum(axis=1)
        if near.min() >= 0:
            second = near / UNIT
    return first, second


def convex_value(first, second, kinks, weights):
    """Sum of P W(P'/P) less W(1) for W a mixture of (1 - k z)_+; pairs: (n, outcomes)."""
    curves = np.maximum(first[..., None] - second[..., None] * kinks, 0).sum(axis=-2)
    return (curves - np.maximum(1 - kinks, 0)) @ weights


def costliest_row(pairs, kinks, weights):
    """The largest such value of all rows, in both orders, with their errors."""
    error = np.broadcast_to(np.asarray(pairs.relative_error), pairs.first.shape)
    both = (pairs.first, pairs.second), (pairs.second, pairs.first)
    return max(
        convex_value(p * (1 + error), q * (1 - error), kinks, weights).max() for p, q in both
    )


def bounds_at(dominating_pairs, labels, epsilon, **options):
    """Bounds on the delta of labels at an epsilon."""
    found = privacy_curve(dominating_pairs, labels, epsilon, 1e-9, **options)
    return Bounds(least_delta(found, epsilon), found.delta(epsilon))


def least_delta(found, epsilon):
    """A lower bound on the delta of a curve at an epsilon: the highest of its lines from below."""
    lines = found.lower + found.lower_slopes * np.expm1(epsilon - found.epsilons)
    return max(0.0, float(lines.max()) * (1 - 1e-12) - 1e-14)


def check_small_adversaries(laws, make_pairs):
    """Assert that one and two labels, whatever is chosen after the first, stay within the bounds.

    laws: by histogram, the law of its label; one vote moves between neighbours. In floats.
    """
    pairs = [
        (laws[one], laws[other])
        for one, other in itertools.product(laws, repeat=2)
        if sorted(np.subtract(one, other)) == [-1, 0, 1]
    ]
    first, second = (np.array([pair[i] for pair in pairs]) for i in (0, 1))

    def most(ratio):
        return np.maximum(first - ratio * second, 0).sum(axis=1).max()

    for epsilon in (0.0, 0.2, 0.6):
        found = bounds_at(make_pairs(first, second), 1, epsilon)
        assert found.lower * (1 - 1e-9) <= most(math.exp(epsilon)) <= found.upper
        # W_1 at every ratio that a first label can lead to.
        y = math.exp(epsilon) * second / first
        twice = (first * np.vectorize(most)(y)).sum(axis=1).max()
        found = bounds_at(make_pairs(first, second), 2, epsilon)
        assert found.lower * (1 - 1e-9) <= twice <= found.upper
