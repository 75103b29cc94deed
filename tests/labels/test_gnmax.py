"""GNMax's noise scales against the definition of differential privacy, in high precision.

What Rényi and analytic scales prove: tests/accounting/bound_samplers.py, at sixty digits.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.labels import gnmax
from private_ensembles.labels.gnmax import (
    gnmax_sigma,
    label_probability,
    order_grid,
    search_sigma,
    single_label_sigma,
)
from tests.ranges import NO_COUNT, NOT_POSITIVE, NOT_WITHIN_0_1, check_ends

SETTINGS = st.tuples(st.floats(0.05, 6), st.sampled_from([1e-9, 1e-5, 3e-4, 0.02]))


def label_delta(sigma: float, epsilon: float, n_teachers: int) -> mpmath.mpf:
    """Largest delta at epsilon of the released label, over neighbouring counts and both outputs."""
    with mpmath.workdps(40):
        scale = mpmath.sqrt(2) * mpmath.mpf(sigma)
        one = [mpmath.ncdf((2 * n - n_teachers) / scale) for n in range(n_teachers + 1)]
        grow = mpmath.exp(mpmath.mpf(epsilon))
        pairs = [(n, n + s) for n in range(n_teachers + 1) for s in (-1, 1)]
        return max(
            max(one[a] - grow * one[b], (1 - one[a]) - grow * (1 - one[b]))
            for a, b in pairs
            if 0 <= b <= n_teachers
        )


@pytest.mark.parametrize(("epsilon", "printed"), [(0.2676, "21.46"), (0.2556, "22.46")])
def test_rdp_grid_search_gives_table_4(epsilon, printed):
    assert f"{gnmax_sigma(epsilon, 3e-4, method='rdp'):.2f}" == printed


@pytest.mark.parametrize(("epsilon", "printed"), [(0.2676, "34.31"), (0.2556, "35.74")])
def test_table_4_prints_three_above_the_least_order_and_not_the_minimiser(epsilon, printed):
    assert f"{gnmax.least_order(epsilon, 3e-4) + 3:.2f}" == printed
    # The printed sigma does not belong to the printed order: there, it would be 38 to 40.
    at_printed = math.sqrt(gnmax.sigma_curve(epsilon, 3e-4, np.array([float(printed)]))[0])
    assert 37 < at_printed < 41
    assert search_sigma(epsilon, 3e-4, method="rdp").order > 60


@settings(max_examples=15, deadline=None)
@given(SETTINGS, st.sampled_from([1, 3, 11, 101]))
def test_exact_sigma_proves_its_claim_and_is_the_least(budget, n_teachers):
    epsilon, delta = budget
    sigma = gnmax_sigma(epsilon, delta, method="exact", n_teachers=n_teachers)
    assert label_delta(sigma, epsilon, n_teachers) <= delta
    for smaller in np.linspace(0.3, 1 - 1e-6, 12) * sigma:
        assert label_delta(smaller, epsilon, n_teachers) > delta


@settings(max_examples=30, deadline=None)
@given(SETTINGS)
def test_methods_are_ordered_from_loose_to_tight(budget):
    sigmas = [gnmax_sigma(*budget, method=m, n_teachers=11, order_max=5000) for m in gnmax.METHODS]
    # The two grids of orders differ: at large epsilon that, not the theorem, can decide.
    assert sigmas[0] > 0.999 * sigmas[1]
    assert sigmas[1] > sigmas[2] > sigmas[3]


def test_number_of_classes_changes_nothing_but_the_exact_method():
    two = gnmax_sigma(0.2676, 3e-4, method="analytic")
    assert gnmax_sigma(0.2676, 3e-4, method="analytic", n_classes=10) == two
    with pytest.raises(ValueError, match="n_classes"):
        gnmax_sigma(0.2676, 3e-4, method="exact", n_teachers=11, n_classes=10)


def test_epsilon_of_repeated_labels_inverts_the_analytic_sigma():
    sigma = gnmax_sigma(0.2676, 3e-4, method="analytic")
    assert gnmax.analytic_epsilon(sigma, 3e-4) == pytest.approx(0.2676, abs=1e-8)
    # Q labels are one label under noise smaller by sqrt(Q).
    assert gnmax.analytic_epsilon(10 * sigma, 3e-4, labels=100) == pytest.approx(0.2676, abs=1e-8)


def test_label_probability_is_symmetric_and_grows_with_the_votes():
    probability = label_probability(11, 21.46)
    assert probability.shape == (12,)
    assert np.all(np.diff(probability) > 0)
    np.testing.assert_allclose(probability + probability[::-1], 1, atol=1e-15)
    assert 1 - probability[11] == pytest.approx(0.36, abs=0.005)
    assert 1 - label_probability(11, 7.683)[11] == pytest.approx(0.16, abs=0.005)


@pytest.mark.parametrize(
    ("method", "first", "last"), [("improved", 1.5, 20.5), ("rdp", 12.75, 20.25)]
)
def test_orders_are_searched_up_to_the_largest(method, first, last):
    """The classic conversion takes all of this budget up to the order 1 + 1.125 / 0.1."""
    orders = order_grid(0.1, math.exp(-1.125), method=method, order_max=20.5, order_step=0.5)
    np.testing.assert_allclose(orders, np.arange(first, last + 0.1, 0.5), rtol=1e-12)


def test_a_small_budget_has_orders_enough():
    # At the paper's orders, 500 at most, no sigma would do.
    assert math.isfinite(single_label_sigma(1e-3, 1e-5, "rdp", 1))
    sigmas = [single_label_sigma(0.5, 1e-4, method, 11) for method in ("rdp", "analytic", "exact")]
    assert sigmas == sorted(sigmas, reverse=True)


BUDGETS = {
    **{
        f"gnmax_sigma, {method}": lambda epsilon, delta, method=method: gnmax_sigma(
            epsilon, delta, method=method, n_teachers=3
        )
        for method in gnmax.METHODS
    },
    "least_order": gnmax.least_order,
    "order_grid": lambda epsilon, delta: order_grid(epsilon, delta, method="rdp"),
    "sigma_curve": lambda epsilon, delta: gnmax.sigma_curve(epsilon, delta, np.array([2.0])),
}
RANGES = {
    **{
        f"{name}, epsilon": (lambda x, f=f: f(x, 0.01), NOT_POSITIVE, (1.0,))
        for name, f in BUDGETS.items()
    },
    **{
        f"{name}, delta": (lambda x, f=f: f(1.0, x), NOT_WITHIN_0_1, (0.01, 0.9))
        for name, f in BUDGETS.items()
    },
    "analytic_epsilon, sigma": (
        lambda x: gnmax.analytic_epsilon(x, 0.01),
        NOT_POSITIVE,
        (0.5, 50.0),
    ),
    "analytic_epsilon, delta": (
        lambda x: gnmax.analytic_epsilon(9.0, x),
        NOT_WITHIN_0_1,
        (1e-9, 0.9),
    ),
    "analytic_epsilon, labels": (
        lambda x: gnmax.analytic_epsilon(9.0, 0.01, labels=x),
        NO_COUNT,
        (1,),
    ),
    "gnmax_sigma, teachers": (
        lambda x: gnmax_sigma(1.0, 0.01, method="exact", n_teachers=x),
        (None, 0, 2, -1),
        (1, 3),
    ),
    "gnmax_sigma, classes": (
        lambda x: gnmax_sigma(1.0, 0.01, method="analytic", n_classes=x),
        (1, 0, 2.5),
        (2, 10),
    ),
    "order_grid, step": (
        lambda x: order_grid(1.0, 0.01, order_step=x),
        (0.0, -1.0, math.nan),
        (0.5,),
    ),
    "order_grid, largest": (
        lambda x: order_grid(1.0, 0.01, order_max=x),
        (math.inf, math.nan),
        (1.0, 500.0),
    ),
    "sigma_curve, order": (
        lambda x: gnmax.sigma_curve(1.0, 0.01, np.array([2.0, x])),
        (1.0, 0.5, math.nan),
        (1 + 1e-9,),
    ),
    "label_probability, teachers": (lambda x: label_probability(x, 2.0), NO_COUNT, (1,)),
    "label_probability, sigma": (lambda x: label_probability(3, x), NOT_POSITIVE, (1e-6,)),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
