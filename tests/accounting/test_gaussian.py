"""The delta of a Gaussian mechanism: against 50 digits, in every direction of epsilon."""

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.gaussian import gaussian_delta

mpmath.mp.dps = 50


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 7.0])
def test_delta_is_an_upper_bound_and_tight(mu):
    epsilons = np.array([-5.0, -0.1, 0.0, 1e-6, 0.3, 2.0, 30.0])
    for epsilon, found in zip(epsilons, gaussian_delta(mu, epsilons), strict=True):
        m, e = mpmath.mpf(mu), mpmath.mpf(float(epsilon))
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert found >= exact
        assert found <= exact * (1 + 1e-6) + 1e-11 * mpmath.ncdf(m / 2 - e / m) + 2e-300
