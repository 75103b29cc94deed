"""Exact adversaries against several families: every strategy, in whole numbers."""

import itertools
import math

import numpy as np
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from tests.accounting.adversaries import UNIT, both_orders


def table(teachers, scale):
    """GNMax's family in two classes, of probabilities that floats hold exactly and that add up."""
    ones = np.round(ndtr((2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))) * UNIT)
    return two_class_dominating_pairs(ones / UNIT, 1 - ones / UNIT, relative_error=0.0)


def fractions(family):
    """Its pairs, in both orders."""
    return both_orders(family.first, family.second)


def strategies(families, moves, state, outcomes=2):
    """Every strategy from a state: None to stop, or a pair and a strategy for each outcome."""
    yield None
    for name, after in moves(state):
        later = list(strategies(families, moves, after, outcomes))
        for pair in families[name]:
            for rest in itertools.product(later, repeat=outcomes):
                yield pair, rest
