"""Curves are read between their points on the safe side."""

import math

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.adaptive.account import curve
from private_ensembles.accounting.adaptive.curves import Curve

from .labels import gnmax


def test_a_curve_is_read_between_its_points_on_the_safe_side():
    found = curve(gnmax(21, 6.0), 5, 1.5, 1e-4)
    for epsilon in np.linspace(0, found.logs[-1] + 1, 200):
        delta = found.delta(epsilon)
        assert found.least_delta(epsilon) <= delta
        if 1e-12 < delta < 0.9:
            assert found.epsilon(delta * (1 + 1e-12)) <= epsilon + 1e-9
            assert found.delta(found.epsilon(delta)) <= delta * (1 + 1e-9)
            assert found.least_epsilon(delta) <= epsilon * (1 + 1e-12) + 1e-12
    assert found.epsilon(0.9999) == 0.0
    assert found.epsilon(0.0) == math.inf
    assert found.least_epsilon(0.9999) == 0.0
    with pytest.raises(ValueError, match="must be >="):
        found.delta(-1.0)


@pytest.mark.parametrize(
    ("value", "slope"), [(0.1, -0.9), (0.5, -1e-3), (1e-7, -3e-4), (0.9, -1.0)]
)
def test_a_line_below_a_curve_is_read_below_itself_to_the_last_digit(value, slope):
    """Steep and flat lines, at their own point and beside it, against many digits."""
    logs = np.array([0.0, 0.25])
    found = Curve(logs, np.ones(2), np.array([value, 0.0]), np.array([slope, 0.0]))
    with mpmath.workdps(50):
        height, fall = mpmath.mpf(value), -mpmath.mpf(slope)
        for epsilon in (0.0, 1e-9, 0.1, 0.25):
            exact = max(height - fall * mpmath.expm1(epsilon), 0)
            assert exact * (1 - mpmath.mpf(1e-12)) - 1e-13 <= found.least_delta(epsilon) <= exact
        for less in (0.0, 2.0**-50, 1e-9, 0.3):
            delta = value * (1 - less)
            exact = mpmath.log1p((height - delta) / fall)
            room = 1e-12 * (1 + float(height / fall))
            assert exact - room <= found.least_epsilon(delta) <= exact
