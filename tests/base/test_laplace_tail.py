"""The tail of a difference of two Laplace variables, against its definition."""

import math

import numpy as np
import pytest

from private_ensembles.base.laplace_tail import difference_tail, log_difference_tail


@pytest.mark.parametrize("gap", [0.0, 0.3, 2.0, 11.0])
def test_tail_is_the_integral_over_one_variable_of_the_others_tail(gap):
    x = np.linspace(-40, 60, 2_000_001)
    beyond = np.where(x - gap < 0, np.exp(np.minimum(x - gap, 0)) / 2, 1 - np.exp(gap - x) / 2)
    density = np.exp(-np.abs(x)) / 2
    assert difference_tail(gap) == pytest.approx(np.trapezoid(density * beyond, x), rel=1e-6)


def test_logarithm_goes_on_where_the_tail_underflows():
    gaps = np.array([0.0, 1.0, 30.0])
    np.testing.assert_allclose(np.exp(log_difference_tail(gaps)), difference_tail(gaps), rtol=1e-14)
    assert difference_tail(1e3) == 0
    assert log_difference_tail(1e90) == pytest.approx(-1e90)
    assert math.isfinite(log_difference_tail(1e90))
