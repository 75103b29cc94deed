"""GNMax's label in two classes, and its least noise: for the tests of more than one file here."""

import functools
import math

import numpy as np
from scipy.special import ndtr

from private_ensembles.accounting.adaptive.families import two_classes
from private_ensembles.accounting.adaptive.scales import least_scale


def gnmax(teachers, scale):
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return two_classes(ndtr(margins), ndtr(-margins))


@functools.cache
def least_gnmax(teachers, labels, epsilon, delta, start):
    return least_scale(lambda scale: gnmax(teachers, scale), labels, epsilon, delta, start)
