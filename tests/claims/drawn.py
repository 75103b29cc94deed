"""The law of a label as secure noise draws it, by what the law's own `draw` asks of samplers.

Coins, dice and bits are followed to every end, with their probabilities as exact fractions.
Gaussian noise is noted, and what it does to the label is summed up here.
"""

import contextlib
import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.base import secure
from private_ensembles.base.noise_sources import SecureNoise

_DIGITS = 60
_EXACT = (
    "draw_bernoulli",
    "draw_bernoulli_exp",
    "softmax_classes",
    "choose_uniformly",
    "fair_bits",
    "subsets",
    "argmax_fair_ties",
)
_GAUSSIAN = ("add_discrete_gaussian", "argmax_discrete_gaussian", "argmax_gaussian")


class Followed:
    """Stands in for the samplers of `base.secure`, for draws of one query.

    path: which outcome of each draw is handed out; more draws get their first one. chances: of the
    outcomes that were handed out. open: paths that remain. gaussian: (sampler, sigma, what it was
    added to), in their order.
    """

    def __init__(self, monkeypatch):
        self.path, self.chances, self.open, self.gaussian = [], [], [], []
        for name in (*_EXACT, *_GAUSSIAN):
            monkeypatch.setattr(secure, name, getattr(self, name))
        for name in ("uniform", "normal"):
            monkeypatch.setattr(secure, name, self.refuse)

    def law(self, law, parameters, row):
        """Return Pr[outcome] of one query of these counts, outcomes -1, 0, ..., C - 1, exactly.

        Fractions; or floats, sums of positive numbers, if noise is Gaussian.
        """
        outcomes, self.gaussian, self.open = [Fraction(0)] * (len(row) + 1), [], [[]]
        while self.open:
            self.path, self.chances = self.open.pop(), []
            self.gaussian.clear()
            (label,) = law.draw(np.array([row]), parameters, SecureNoise())
            outcomes[int(label) + 1] += np.prod(self.chances, initial=Fraction(1))
            if self.gaussian:
                if len(self.gaussian) > 1:  # the threshold's noise was 0 here
                    assert (label >= 0) == (self.gaussian[0][2][0] >= parameters.threshold)
                return _law_of_noise(self.gaussian, parameters)
        assert sum(outcomes) == 1
        return outcomes

    def refuse(self, *_):
        raise AssertionError("secure labels come from exact samplers")

    def next(self, outcomes, chances):
        """Hand out one outcome, and note which others remain."""
        place = len(self.chances)
        if place == len(self.path):
            others = [number for number in range(1, len(outcomes)) if chances[number]]
            self.open += [[*self.path, number] for number in others]
            self.path.append(0)
        self.chances.append(chances[self.path[place]])
        return outcomes[self.path[place]]

    def draw_bernoulli(self, probabilities):
        (p,) = (Fraction(float(p)) for p in np.ravel(probabilities))
        return np.array([self.next([True, False], [p, 1 - p])])

    def draw_bernoulli_exp(self, exponents):
        (row,) = map(_powers, np.asarray(exponents).tolist())
        return np.array([[self.next([True, False], [p, 1 - p]) for p in row]])

    def softmax_classes(self, scores):
        (row,) = map(_powers, np.asarray(scores).tolist())
        return np.array([self.next(range(len(row)), [p / sum(row) for p in row])])

    def choose_uniformly(self, wanted):
        (places,) = map(np.flatnonzero, np.asarray(wanted))
        chances = [Fraction(1, len(places))] * len(places)
        return np.array([self.next(places.tolist(), chances)])

    def fair_bits(self, shape):
        assert np.prod(shape) == 1
        return np.full(shape, self.next([0, 1], [Fraction(1, 2)] * 2), np.uint8)

    def subsets(self, number, size, most):
        assert number == 1
        chosen = list(itertools.combinations(range(size), most))
        return np.array([self.next(chosen, [Fraction(1, len(chosen))] * len(chosen))])

    def argmax_fair_ties(self, noisy):
        tied = np.flatnonzero(noisy[0] == noisy[0].max()).tolist()
        return np.array([self.next(tied, [Fraction(1, len(tied))] * len(tied))])

    def add_discrete_gaussian(self, counts, sigma):
        assert np.asarray(counts).dtype.kind in "iu"
        self.gaussian.append(("whole", sigma, np.asarray(counts)))
        return np.asarray(counts)

    def argmax_discrete_gaussian(self, counts, sigma):
        self.add_discrete_gaussian(counts, sigma)
        return np.zeros(len(counts), np.int64)  # which of them is largest is summed up

    def argmax_gaussian(self, counts, sigma):
        self.gaussian.append(("continuous", sigma, np.asarray(counts)))
        return np.zeros(len(counts), np.int64)


def _powers(exponents):
    """e^x of each exponent, exactly that of 0 and of others to fifty digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        return [Fraction(Decimal(x).exp()) if x else Fraction(1) for x in exponents]


@contextlib.contextmanager
def followed():
    """What laws draw from within is `Followed`."""
    with pytest.MonkeyPatch.context() as patch:
        yield Followed(patch)


def _law_of_noise(gaussian, parameters):
    """Return the law of GNMax, and of the threshold before it if there is one."""
    *threshold, (sampler, sigma, counts) = gaussian
    label = (whole_label if sampler == "whole" else continuous_label)(counts[0].tolist(), sigma)
    if not threshold:
        return [0.0, *label]
    ((_, sigma, (lead,)),) = threshold
    x, chances = noise_law(sigma)
    answer = chances[int(lead) + x >= parameters.threshold].sum()
    return [1 - answer, *(answer * label)]


def noise_law(sigma):
    """N_Z(0, sigma^2) where it is above 1e-18: numbers and probabilities."""
    x = np.arange(-math.ceil(9 * sigma) - 1, math.ceil(9 * sigma) + 2)
    weights = np.exp(-np.square(x / sigma) / 2)
    return x, weights / weights.sum()


def whole_label(row, sigma):
    """Return Pr[j]: the largest of whole noisy counts, with a fair die for ties."""
    x, chances = noise_law(sigma)
    laws = np.zeros((len(row), max(row) - min(row) + len(x)))
    for law, count in zip(laws, row, strict=True):
        law[count - min(row) :][: len(x)] = chances
    below = laws.cumsum(axis=1) - laws
    wins = np.zeros(len(row))
    for j in range(len(row)):
        others = [i for i in range(len(row)) if i != j]
        for tied in itertools.product((False, True), repeat=len(others)):
            parts = [(laws if ties else below)[i] for i, ties in zip(others, tied, strict=True)]
            wins[j] += (laws[j] * np.prod(parts, axis=0)).sum() / (1 + sum(tied))
    return wins


def continuous_label(row, sigma):
    """Return GNMax's law with continuous noise, by the trapezoidal rule, which errs by 1e-14."""
    y = np.arange(min(row) - 12 * sigma, max(row) + 12 * sigma, sigma / 50)
    z = (y - np.array(row)[:, None]) / sigma
    densities, below = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), ndtr(z)
    wins = [densities[j] * np.delete(below, j, axis=0).prod(axis=0) for j in range(len(row))]
    return np.sum(wins, axis=1) / 50
