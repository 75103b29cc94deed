"""The privacy cost at one assignment, as the paper writes it, and the ranges of its parameters."""

import mpmath
import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    PrivacyProblem,
    assignment_counts,
    describe_assignment,
    resolve_delta,
)
from tests.papers.darrm.mathematics import oracle

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
