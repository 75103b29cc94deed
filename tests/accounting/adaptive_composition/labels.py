"""GNMax's label in two classes, and its least noise: for the tests of more than one file here."""

import functools
import math

import numpy as np
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition.account import privacy_curve
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.scales import least_scale_of_curves


def gnmax(teachers, scale):
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return two_class_dominating_pairs(ndtr(margins), ndtr(-margins))


def least_scale(family_of, labels, epsilon, delta, start):
    """The least scale of a family, which `family_of` makes of a scale, at the usual fineness."""

    def curve_of(scale, points):
        options = {"fineness": points, "lower": False, "least": epsilon}
        return privacy_curve(family_of(scale), labels, epsilon, delta, **options)

    return least_scale_of_curves(curve_of, labels, epsilon, delta, start)


@functools.cache
def least_gnmax(teachers, labels, epsilon, delta, start):
    return least_scale(lambda scale: gnmax(teachers, scale), labels, epsilon, delta, start)
