"""Exact adversaries against several kinds of labels: every strategy, in whole numbers."""

import itertools
import math

import numpy as np
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from tests.accounting.adversaries import UNIT, both_orders


def table(teachers, scale):
    """GNMax's dominating pairs in two classes, exact as floats that add up."""
    ones = np.round(ndtr((2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))) * UNIT)
    return two_class_dominating_pairs(ones / UNIT, 1 - ones / UNIT, relative_error=0.0)


def fractions(label):
    """Its pairs, in both orders."""
    return both_orders(label.first, label.second)


def strategies(pairs_by_name, moves, state, outcomes=2):
    """Every strategy from a state: None to stop, or a pair and a strategy for each outcome."""
    yield None
    for name, after in moves(state):
        later = list(strategies(pairs_by_name, moves, after, outcomes))
        for pair in pairs_by_name[name]:
            for rest in itertools.product(later, repeat=outcomes):
                yield pair, rest
