"""The ends of what each function of DaRRM takes: just beyond, it refuses."""

import math
import warnings

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.papers.darrm.law import release
from private_ensembles.papers.darrm.mathematics import gamma
from private_ensembles.papers.darrm.mathematics.gamma import label_probability
from private_ensembles.papers.darrm.mathematics.generality import gamma_from_probabilities
from private_ensembles.papers.darrm.mathematics.objective import empirical_prior, parse_prior
from private_ensembles.papers.darrm.mathematics.privacy_cost import LARGEST_EXPONENT, PrivacyProblem
from tests.ranges import NOT_POSITIVE, OUTSIDE_0_1, check_ends

NOT_ODD = (0, -1, 2, 1.5, True)
DRAW = SeededNoise(np.random.default_rng(0))


def call_with_counts(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a gamma for it depends on
        return empirical_prior(counts, 3, "0" * 64)


RANGES = {
    "K": (lambda x: PrivacyProblem(x, 1, 0.1, 0.0, 0.0), NOT_ODD, (1, 3)),
    "m": (lambda x: PrivacyProblem(3, x, 0.1, 0.0, 0.0), (0.999, 3.001, math.nan), (1, 2.5, 3)),
    "epsilon": (lambda x: PrivacyProblem(3, 1, x, 0.0, 0.0), NOT_POSITIVE, (0.1,)),
    "Delta": (
        lambda x: PrivacyProblem(3, 1, 0.1, x, 0.9),
        (-1e-9, 0.5, math.nan),
        (0.0, 0.499),
    ),
    "delta": (
        lambda x: PrivacyProblem(3, 1, 0.1, 0.1, x),
        (0.0999, 1.0, math.nan),
        (0.1, 0.999),
    ),
    "the exponent": (
        lambda x: PrivacyProblem(3, 1, x, 0.0, 0.0),
        (math.nextafter(LARGEST_EXPONENT, math.inf),),
        (LARGEST_EXPONENT,),
    ),
    "a value of gamma": (lambda x: gamma.check_gamma([x, x]), OUTSIDE_0_1, (0.0, 1.0)),
    "gamma's shape": (
        lambda x: gamma.check_gamma(np.ones(x)),
        ((1,), (3,), (2, 2), ()),
        ((2,), (4,)),
    ),
    "subsampling_probability": (
        lambda x: gamma.subsampling_probability(4, x),
        (0, -1, 5, 1.5, True),
        (1, 2, 4),
    ),
    "gamma_subsampling": (lambda x: gamma.gamma_subsampling(x, 1), (0, -1, 2, 1.5), (1, 3)),
    "an algorithm's probability": (
        lambda x: gamma_from_probabilities([1 - x, x]),
        (0.499, 1 + 1e-9, math.nan),
        (0.5, 1.0),
    ),
    "an algorithm's shape": (
        lambda x: gamma_from_probabilities(np.full(x, 0.5)),
        ((1,), (3,), (2, 2)),
        ((2,), (4,)),
    ),
    "a prior's low end": (
        lambda x: parse_prior(f"uniform:{x},0.9"),
        (-0.1, 0.05, 0.9, 0.95, math.nan),
        (0.1, 0.8),
    ),
    "a prior's high end": (
        lambda x: parse_prior(f"uniform:0.5,{x}"),
        (0.4, 0.5, 1.1, math.nan),
        (0.6, 1.0),
    ),
    "a prior's counts": (call_with_counts, ([], [-1], [4], [[1]]), ([0], [3], [1, 2])),
    "counts": (lambda x: release([x], np.ones(4), DRAW), (-1, 4), (0, 3)),
    "label_probability": (lambda x: label_probability([x, x]), OUTSIDE_0_1, (0.0, 1.0)),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
