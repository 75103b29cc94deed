"""Distributions of GNMax's and LNMax's labels: closed forms, many digits, sums to one."""

import collections
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.labels import gnmax_quadrature, lnmax_quadrature
from private_ensembles.labels.gnmax import label_probability
from private_ensembles.labels.gnmax_quadrature import (
    gnmax_distribution,
    gnmax_log_distribution,
    gnmax_probability_correct,
    gnmax_probability_correct_fast,
)
from private_ensembles.labels.histograms import merge_histograms
from private_ensembles.labels.lnmax_quadrature import lnmax_distribution, lnmax_probability_correct
from tests.papers.pate.mathematics.oracle import HISTOGRAMS


def gaussian(row, sigma):
    """Pr[GNMax gives a class with n votes] at 28 digits, by n.

    The trapezoidal rule of a sixth: the integrand is entire, so that its error falls faster than
    any power of the step, and where the range ends it is below 1e-26 of what is found.
    """
    step, counts = 6, collections.Counter(row)
    v = {n: mpmath.mpf(n) / mpmath.mpf(sigma) for n in counts}
    found = dict.fromkeys(counts, mpmath.mpf(0))
    for k in range(int((max(v.values()) - min(v.values()) + 22) * step) + 1):
        y = min(v.values()) - 11 + mpmath.mpf(k) / step
        below = {n: mpmath.ncdf(y - v[n]) for n in counts}
        together = mpmath.fprod(below[n] ** times for n, times in counts.items())
        for n in counts:
            found[n] += mpmath.npdf(y - v[n]) * together / below[n] / step
    return found


@pytest.mark.parametrize("row", HISTOGRAMS)
@pytest.mark.parametrize("sigma", [1.5, pytest.param(40.0, marks=pytest.mark.slow)])
def test_gnmax_lies_within_its_own_bound_of_many_digits(row, sigma):
    logarithms, errors = gnmax_log_distribution(np.array([row]), sigma)
    with mpmath.workdps(30):
        exact = gaussian(row, sigma)
        for n in set(row):
            j = row.index(n)
            if (max(row) - n) / sigma > 55:  # below every float
                assert logarithms[0, j] == -np.inf
                continue
            mine = mpmath.exp(mpmath.mpf(float(logarithms[0, j])))
            assert abs(mpmath.log(exact[n] / mine)) <= errors[0, j]
            assert errors[0, j] < 1e-10


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.floats(0.3, 500))
def test_two_classes_have_closed_forms(teachers, scale):
    ones = np.arange(teachers + 1)
    counts = np.stack([teachers - ones, ones], axis=1)
    exact = label_probability(teachers, scale)
    np.testing.assert_allclose(gnmax_distribution(counts, scale)[:, 1], exact, 2e-11, 1e-300)
    # The difference of two Laplace variables of scale b exceeds x >= 0 with (1/2 + x/4b) e^(-x/b).
    x = np.abs(2 * ones - teachers) / scale
    tail = (0.5 + x / 4) * np.exp(-x)
    exact = np.where(2 * ones > teachers, 1 - tail, tail)
    np.testing.assert_allclose(lnmax_distribution(counts, scale)[:, 1], exact, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=40).filter(any),
    st.floats(0.5, 300),
)
def test_rows_sum_to_one_ties_are_equal_and_order_is_respected(row, scale):
    for distribution in (gnmax_distribution, lnmax_distribution):
        p = distribution(np.array([row, row[::-1]]), scale)
        assert p[0].sum() == pytest.approx(1, abs=1e-11)
        np.testing.assert_array_equal(p[0], p[1, ::-1])
        order = np.argsort(row)
        assert (np.diff(p[0, order]) >= -1e-12).all()
        same = np.diff(np.array(row)[order]) == 0
        assert (np.diff(p[0, order])[same] == 0).all()


@pytest.mark.parametrize("scale", [0.7, 8.0, 60.0])
@pytest.mark.parametrize(
    ("everything", "one"),
    [
        (gnmax_distribution, gnmax_probability_correct),
        (lnmax_distribution, lnmax_probability_correct),
    ],
)
def test_the_chance_of_one_class_is_its_entry_of_the_distribution(everything, one, scale):
    drawn = np.random.default_rng(5)
    counts = drawn.multinomial(250, [0.5, 0.2, 0.1, 0.1, 0.05, 0.05], size=300)
    counts = np.concatenate([counts, counts[:20, ::-1]])  # equal histograms, other classes asked
    labels = drawn.integers(0, 6, len(counts))
    wanted = everything(counts, scale)[np.arange(len(counts)), labels]
    np.testing.assert_allclose(
        one(merge_histograms(counts), labels, scale), wanted, rtol=1e-14, atol=1e-300
    )


@pytest.mark.parametrize("sigma", [0.4, 3.0, 40.0])
@pytest.mark.parametrize("classes", [3, 40, 300, pytest.param(5000, marks=pytest.mark.slow)])
def test_in_few_steps_it_is_nearly_the_same(classes, sigma):
    """Against 28 digits, in many classes against the distribution; nearly all have no votes."""
    drawn = np.random.default_rng(classes)
    row = drawn.multinomial(60, drawn.dirichlet(np.full(classes, 2 / classes)))
    labels = np.array([row.argmax(), row.argmin(), np.argsort(row)[-2]])
    found = gnmax_probability_correct_fast(merge_histograms(np.tile(row, (3, 1))), labels, sigma)
    if classes <= 40:
        exact = gaussian(row.tolist(), sigma)
        wanted = [float(exact[n]) for n in row[labels].tolist()]
    else:
        wanted = gnmax_distribution(row[None], sigma)[0, labels]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 10, 150, 5000])
def test_both_steps_are_as_fine_as_the_theorem_asks(classes):
    """2 M / (e^(2 pi a / h) - 1), with M of all factors, or by the wide one's bound on Phi."""
    with mpmath.workdps(30):
        h = mpmath.mpf(gnmax_quadrature._step(classes))
        a = 2 * mpmath.pi / (classes * h)
        most = mpmath.exp(classes * a**2 / 2)
        assert 2 * most / mpmath.expm1(2 * mpmath.pi * a / h) <= 1.001e-15
        h, errors = mpmath.mpf(gnmax_quadrature._wide_step(classes)), []
        for a in mpmath.linspace(0.05, 1.5, 146):
            x = 1 / (a * mpmath.exp(a**2 / 2))
            more = (classes - 1) * mpmath.npdf(x) / (x * (1 + x**2))
            most = mpmath.exp(a**2 / 2 + more)
            errors.append(2 * most / mpmath.expm1(2 * mpmath.pi * a / h))
        assert min(errors) < 2e-14


def test_a_single_class_and_all_classes_equal():
    for distribution in (gnmax_distribution, lnmax_distribution):
        assert distribution(np.array([[9]]), 2.0)[0, 0] == pytest.approx(1, abs=1e-12)
        even = distribution(np.full((1, 150), 2), 3.0)[0]
        np.testing.assert_allclose(even, 1 / 150, rtol=1e-11)


def test_unanimous_votes_of_five_thousand_teachers_do_not_overflow():
    counts = np.zeros((2, 150), dtype=int)
    counts[0, 3] = 5000
    counts[1, [0, 1]] = 4999, 1
    for distribution in (gnmax_distribution, lnmax_distribution):
        p = distribution(counts, 40.0)
        assert p[0, 3] == pytest.approx(1, abs=1e-11)
        assert p[1, 0] == pytest.approx(1, abs=1e-11)


def test_small_probabilities_keep_their_relative_precision():
    for teachers in (300, 1500, 2100):  # 2 Phi tails down to about 1e-300
        log_p, error = gnmax_log_distribution(np.array([[teachers, 0]]), 40.0)
        exact = mpmath.log(mpmath.ncdf(-teachers / (40 * mpmath.sqrt(2))))
        assert abs(float(exact) - log_p[0, 1]) < error[0, 1] < 1e-10


@pytest.mark.parametrize("n_classes", [1, 2, 5, 150])
def test_stated_bounds_hold_for_any_noise_and_gap(n_classes):
    rng = np.random.default_rng(0)
    shares = [rng.dirichlet(np.full(n_classes, a)) for a in (0.01, 0.1, 1, 100)]
    counts = np.array([rng.multinomial(2000, share) for share in shares])
    with np.errstate(all="raise", under="ignore"):
        for sigma in (0.7, 5.0, 40.0, 1000.0):
            logarithms, errors = gnmax_log_distribution(counts, sigma)
            assert errors[logarithms > math.log(1e-300)].max() < 1e-10
            assert errors[logarithms > math.log(1e-15)].max() < 4e-12
            np.testing.assert_allclose(np.exp(logarithms).sum(axis=1), 1, atol=4e-12)
            rows = lnmax_distribution(counts, sigma).sum(axis=1)
            np.testing.assert_allclose(rows, 1, atol=1e-12 * n_classes)


def test_what_lies_beyond_the_grid_is_at_most_the_geometric_series_of_its_ends():
    """Of a peak whose logarithm is concave, on a grid that is cut at either end."""
    x = np.arange(-400, 401)
    log_f = np.stack([-(x**2) / 200.0, -np.abs(x) / 5.0, -((x - 5) ** 4) / 1e5])
    whole = np.exp(log_f).sum(axis=1)
    for low, high in ((380, 420), (395, 500), (330, 410)):
        total, beyond = gnmax_quadrature._sum_with_truncation(log_f[:, low:high].copy())
        left_out = whole - total
        assert (left_out <= beyond * (1 + 1e-12)).all()
        assert beyond[1] == pytest.approx(left_out[1], rel=1e-9)


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


# Many classes share the least count, below which all noisy counts lie one time in 10^9.
ONE_LEADS = [9] + 20 * [0]


@pytest.mark.parametrize("row", [*HISTOGRAMS, ONE_LEADS])
@pytest.mark.parametrize("scale", [1.5, pytest.param(20.0, marks=pytest.mark.slow)])
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
