"""LNMax's closed forms and scales against high precision and the definition."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.audit import exact_delta, two_class_pairs
from private_ensembles.pate.lnmax import (
    METHODS,
    lnmax_matrix,
    lnmax_noisy_counts_delta,
    lnmax_scale,
)

ERRORS = {"relative_error": 1e-12, "absolute_error": 1e-300}


def test_difference_of_laplace_variables_has_the_stated_tail():
    matrix = lnmax_matrix(4, 2.5)
    for n in range(5):
        lead = 2 * n - 4

        def integrand(z, lead=lead):  # Pr[noise of ones > z - lead], density of zeros' noise at z
            y = mpmath.mpf(z - lead) / 2.5
            tail = mpmath.exp(-y) / 2 if y > 0 else 1 - mpmath.exp(y) / 2
            return tail * mpmath.exp(-abs(z) / 2.5) / 5

        points = sorted({-200, min(0, lead), max(0, lead), 200})
        ones = mpmath.quad(integrand, points)
        assert matrix[n, 1] == pytest.approx(float(ones), abs=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(matrix[:, 0], matrix[::-1, 1])


@pytest.mark.parametrize("scale", [0.3, 2.0, 7.47])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0, 1.5])
def test_delta_of_the_noisy_counts_is_the_two_dimensional_integral(scale, share):
    """Each count's privacy loss: two atoms and a density, here met by Gauss-Legendre quadrature."""
    t, epsilon = 1 / scale, share * 2 / scale
    nodes, weights = np.polynomial.legendre.leggauss(200)
    atoms = [(t, 0.5), (-t, math.exp(-t) / 2)]

    def expected(value, low, high):
        """E of value(loss) over the density's part in (low, high)."""
        l = low + (high - low) * (nodes + 1) / 2
        density = np.exp(-(t - l) / 2) / 4
        return float((weights * density * value(l)).sum() * (high - low) / 2)

    def one(s):
        """E max(0, 1 - e^(s - loss)) for one count."""
        total = sum(p * max(0.0, 1 - math.exp(s - l)) for l, p in atoms)
        low = min(max(s, -t), t)
        return total + expected(lambda l: 1 - np.exp(s - l), low, t)

    total = sum(p * one(epsilon - l) for l, p in atoms)
    edge = min(max(epsilon - t, -t), t)
    total += expected(np.vectorize(lambda l: one(epsilon - l)), edge, t)
    delta = lnmax_noisy_counts_delta(scale, epsilon)
    assert delta == pytest.approx(total, abs=1e-10)
    assert delta >= total - 1e-15


@given(st.floats(0.05, 6), st.sampled_from([0.0, 1e-9, 3e-4, 0.1]), st.sampled_from([1, 2, 11]))
def test_scales_prove_their_claims_and_are_ordered(epsilon, delta, n_teachers):
    scales = [lnmax_scale(epsilon, delta, method=m, n_teachers=n_teachers) for m in METHODS]
    # Renyi bounds know less than the noisy counts' own delta, the label tells no more than these.
    assert all(more * (1 + 1e-8) >= less for more, less in pairwise(scales))
    for scale in scales[1:3]:
        assert lnmax_noisy_counts_delta(scale, epsilon) <= delta or delta == 0
    pairs = two_class_pairs(n_teachers)
    for scale in scales:
        exact = exact_delta(lnmax_matrix(n_teachers, scale), pairs, epsilon, **ERRORS)
        assert exact <= delta
    less = exact_delta(lnmax_matrix(n_teachers, scales[3] * (1 - 1e-4)), pairs, epsilon, **ERRORS)
    assert less > delta


def test_exact_scale_at_the_published_budget():
    scales = [lnmax_scale(0.2676, 3e-4, method=m, n_teachers=11) for m in METHODS]
    assert scales == pytest.approx([7.4738, 7.4405, 7.4405, 5.4829], abs=1e-3)
    # Where the exact audit saves most: without delta, eleven teachers never meet the worst ratio.
    assert lnmax_scale(0.2676, 0.0, method="exact", n_teachers=11) < 5.6


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: lnmax_matrix(0, 1.0), "n_teachers"),
        (lambda: lnmax_matrix(3, 0.0), "scale"),
        (lambda: lnmax_noisy_counts_delta(1.0, -1.0), "epsilon"),
        (lambda: lnmax_noisy_counts_delta(math.inf, 1.0), "scale"),
        (lambda: lnmax_scale(0.1, 0.0, method="guess"), "method"),
        (lambda: lnmax_scale(0.1, 0.0, method="exact"), "n_teachers"),
        (lambda: lnmax_scale(0.0, 0.0, method="pure"), "epsilon"),
        (lambda: lnmax_scale(0.1, 1.0, method="pure"), "delta"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.0])
def test_a_delta_of_next_to_nothing_is_kept_at_next_to_the_scale_of_none(epsilon):
    scale = lnmax_scale(epsilon, 1e-250, method="noisy_counts")
    assert lnmax_noisy_counts_delta(scale, epsilon) <= 1e-250
    assert scale == pytest.approx(2 / epsilon, rel=1e-9)
