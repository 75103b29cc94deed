"""The privacy cost at one assignment, as the paper writes it, and the ends of what is taken."""

import math
import warnings

import mpmath
import numpy as np
import pytest

from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.papers.darrm.law import release
from private_ensembles.papers.darrm.mathematics import gamma
from private_ensembles.papers.darrm.mathematics.gamma import label_probability
from private_ensembles.papers.darrm.mathematics.generality import gamma_from_probabilities
from private_ensembles.papers.darrm.mathematics.objective import empirical_prior, parse_prior
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    LARGEST_EXPONENT,
    PrivacyProblem,
    assignment_counts,
    describe_assignment,
    resolve_delta,
)
from tests.papers.darrm.mathematics import oracle
from tests.ranges import NOT_POSITIVE, OUTSIDE_0_1, check_ends

POINTS = [(2, 0.5, 0.03, 0.06), (3, 0.1, 1e-5, 3e-5), (1.5, 3.0, 0.0, 0.0)]


@pytest.mark.parametrize("point", POINTS)
def test_cost_and_row_are_f_of_lemma_3_4(point):
    problem, gamma = PrivacyProblem(5, *point), oracle.random_gamma(np.random.default_rng(1), 5)
    for counts in list(oracle.multisets(5))[::50]:
        exact = float(oracle.cost(gamma, *point[:3], counts))
        tolerance = problem.rounding_bound()
        assert problem.cost(gamma, counts) == pytest.approx(exact, abs=tolerance)
        row = problem.row(np.array(counts))
        assert row @ gamma[3:] == pytest.approx(exact, abs=tolerance)


@pytest.mark.keeps(
    "papers.darrm.mathematics.privacy_cost:PrivacyProblem.c",
    "papers.darrm.mathematics.privacy_cost:PrivacyProblem.allowance",
)
@pytest.mark.parametrize("point", POINTS)
def test_what_is_rounded_is_rounded_against_us(point):
    problem = PrivacyProblem(5, *point)
    m, epsilon, _, delta = point
    assert problem.c <= mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon))
    assert problem.allowance <= oracle.allowance(m, epsilon, delta)
    assert problem.allowance == pytest.approx(float(oracle.allowance(m, epsilon, delta)), rel=1e-13)
    exact = np.array(oracle.corners(*point[1:3]), dtype=float)
    np.testing.assert_allclose(problem.corner_probabilities(), exact, rtol=1e-14, atol=0)


def test_delta_is_that_of_m_teachers_where_none_is_given():
    assert resolve_delta(3, 1e-5, None) == pytest.approx(1 - (1 - 1e-5) ** 3, rel=1e-10)
    assert resolve_delta(1, 1e-5, None) >= 1e-5
    assert resolve_delta(3, 1e-5, 0.25) == 0.25


def test_assignments_are_named_by_their_corners():
    counts = assignment_counts(D_zero=2, up=3)
    assert counts.sum() == 5
    assert describe_assignment(counts) == {"D,0": 2, "H,h": 3}


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((4, 1, 0.1, 0.0, 0.0), "K = 4"),
        ((5, 6, 0.1, 0.0, 0.0), "m = 6"),
        ((5, 1, 0.0, 0.0, 0.0), "epsilon"),
        ((5, 1, 0.1, 0.5, 0.6), "Delta"),
        ((5, 1, 0.1, 0.1, 0.05), "delta"),
        ((5, 1, 0.1, 0.1, 1.0), "delta"),
        ((5, 5, 200.0, 0.0, 0.0), "epsilon = 1000"),
    ],
)
def test_parameters_out_of_range_are_named(arguments, name):
    with pytest.raises(ValueError, match=name):
        PrivacyProblem(*arguments)


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
