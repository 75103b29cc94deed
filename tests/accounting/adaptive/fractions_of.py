"""Exact adversaries against several families: every strategy, in whole numbers."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.special import ndtr

from private_ensembles.accounting.adaptive.families import two_classes

from ..adversaries import UNIT, both_orders


def table(teachers, scale):
    """GNMax's family in two classes, of probabilities that floats hold exactly and that add up."""
    ones = np.round(ndtr((2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))) * UNIT)
    return two_classes(ones / UNIT, 1 - ones / UNIT, error=0.0)


def fractions(family):
    """Its pairs, in both orders."""
    return both_orders(family.first, family.second)


def exact_of_moves(families, moves, start, y):
    """The dearest of all adversaries who walk through states: the recursion, in fractions.

    families: pairs of fractions by name. moves: of a state, the (name, next state) that it allows;
    a state that allows none is the end. Stopping early is one more choice of every state.
    """

    @functools.cache
    def rows(name):
        return {tuple((int(p * UNIT), int(q * UNIT)) for p, q in zip(*pair, strict=True))
                for pair in families[name]}  # fmt: skip

    @functools.cache
    def scaled(state, x, y):
        """x W(y / x) times UNIT for each label that is left at most."""
        best = max(Fraction(0), x - y)
        for name, after in moves(state):
            for row in rows(name):
                best = max(best, sum(scaled(after, x * p / UNIT, y * q / UNIT) for p, q in row))
        return best

    return scaled(start, Fraction(1), Fraction(y))


def strategies(families, moves, state, outcomes=2):
    """Every strategy from a state: None to stop, or a pair and a strategy for each outcome."""
    yield None
    for name, after in moves(state):
        later = list(strategies(families, moves, after, outcomes))
        for pair in families[name]:
            for rest in itertools.product(later, repeat=outcomes):
                yield pair, rest


def gain(strategy, y, p=Fraction(1), q=Fraction(1)):
    """The sum of (p - y q)_+ over the runs of labels of one strategy."""
    if strategy is None:
        return max(Fraction(0), p - y * q)
    (first, second), rest = strategy
    after = zip(first, second, rest, strict=True)
    return sum(gain(later, y, p * a, q * b) for a, b, later in after)


def with_units(units, reserves=None):
    """Moves of the states 0, ..., U of a budget: each level that it pays for with its reserve."""
    needed = list(enumerate(zip(units, reserves or [0] * len(units), strict=True)))

    def moves(left):
        return [(level, left - cost) for level, (cost, kept) in needed if cost + kept <= left]

    return moves


def counters(left):
    """Moves of the states of counters: one label of any run that has one left."""
    return [
        (place, (*left[:place], count - 1, *left[place + 1 :]))
        for place, count in enumerate(left)
        if count
    ]


def in_order(left):
    """Moves of counters of runs that follow each other."""
    return counters(left)[:1]
