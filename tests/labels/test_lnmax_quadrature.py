"""LNMax's distribution against many digits; test_gnmax_quadrature has what holds for both."""

import mpmath
import numpy as np
import pytest

from private_ensembles.labels import lnmax_quadrature
from private_ensembles.labels.lnmax_quadrature import lnmax_distribution
from tests.papers.pate.mathematics.oracle import HISTOGRAMS


def laplace(row, scale, j):
    """Pr[LNMax gives j] at 25 digits."""
    v = [mpmath.mpf(n) / mpmath.mpf(scale) for n in row]

    def below(z):
        return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2

    def integrand(t):
        value = mpmath.exp(-abs(t - v[j])) / 2
        for i, w in enumerate(v):
            if i != j:
                value *= below(t - w)
        return value

    points = [min(v) - 60]
    for kink in sorted(set(v)):
        while kink - points[-1] > 10:
            points.append(points[-1] + 10)
        points.append(kink)
    return mpmath.quad(integrand, points + [points[-1] + reach for reach in (5, 15, 40, 100)])


@pytest.mark.parametrize("row", HISTOGRAMS)
@pytest.mark.parametrize("scale", [1.5, 20.0])
def test_lnmax_lies_within_its_bound_of_many_digits(row, scale):
    probability = lnmax_distribution(np.array([row]), scale)[0]
    with mpmath.workdps(25):
        for n in set(row):
            j = row.index(n)
            exact = laplace(row, scale, j)
            assert abs(exact - mpmath.mpf(float(probability[j]))) <= 1e-12


@pytest.mark.parametrize("scale", [0.5, 3.0, 60.0])
def test_very_many_classes_are_integrated_as_few_are(monkeypatch, scale):
    """From `MANY_CLASSES` on what is negligible is left out; before, every class has its nodes."""
    counts = np.zeros((3, 300), dtype=np.int64)
    counts[0, :60], counts[1, :2], counts[2, :5] = 1, [35, 25], [20, 15, 12, 12, 1]
    quick = lnmax_distribution(counts, scale)
    monkeypatch.setattr(lnmax_quadrature, "MANY_CLASSES", 10**9)
    assert np.abs(quick - lnmax_distribution(counts, scale)).max() <= 1e-12
