"""objective: what a gamma is worth, by the definition, and from above by its tangents."""

import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics.objective import (
    AbsoluteObjective,
    LinearObjective,
    objective,
)
from private_ensembles.papers.darrm.mathematics.prior import parse_prior

LEADS = np.array([[0.1, 0.2, 0.3], [0.3, -0.2, 0.1], [-0.05, -0.1, 0.02]])


def test_the_linear_utility_is_a_sum_and_its_own_tangent():
    cost = np.array([0.1, 0.3, 0.2])
    linear = LinearObjective(cost)
    assert linear.total == linear.value(np.ones(3)) == pytest.approx(0.6, rel=1e-15)
    assert linear.value(np.array([1.0, 0.0, 0.5])) == pytest.approx(0.2, rel=1e-15)
    assert linear.gradient(np.zeros(3)).tolist() == cost.tolist()


def test_the_absolute_utility_is_that_of_the_error_that_gamma_avoids():
    """E|sum lead| - E|sum lead (1 - gamma)|, sample by sample: all of it where gamma is 1."""
    absolute = AbsoluteObjective(LEADS)
    assert absolute.total == absolute.value(np.ones(3)) == pytest.approx(0.93 / 3, rel=1e-14)
    assert absolute.value(np.zeros(3)) == 0
    left = [0.05 + 0.1, 0.15 - 0.1, -0.025 - 0.05]
    x = np.array([0.5, 0.5, 1.0])
    assert absolute.value(x) == pytest.approx((0.93 - sum(map(abs, left))) / 3, rel=1e-14)


def test_tangents_of_the_absolute_utility_lie_above_it():
    absolute = AbsoluteObjective(LEADS)
    generator = np.random.default_rng(0)
    for x, y in generator.random((200, 2, 3)):
        tangent = absolute.value(x) + absolute.gradient(x) @ (y - x)
        assert absolute.value(y) <= tangent + absolute.rounding


def test_leads_of_one_sign_make_the_two_the_same():
    leads = np.abs(LEADS)
    absolute, linear = AbsoluteObjective(leads), LinearObjective(leads.mean(axis=0))
    for x in np.random.default_rng(1).random((20, 3)):
        assert absolute.value(x) == pytest.approx(linear.value(x), abs=linear.rounding)


@pytest.mark.parametrize(
    ("prior", "kind"),
    [("uniform:0.5,1", LinearObjective), ("absolute-uniform:0,1", AbsoluteObjective)],
)
def test_a_prior_has_its_objective(prior, kind):
    utility = objective(11, parse_prior(prior))
    assert isinstance(utility, kind)
    assert utility.size == 6
