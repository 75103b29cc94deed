"""rho against known divergences, at orders that no grid foresaw."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from private_ensembles.accounting.zero_concentrated import _bound_between_orders, least_rho


def divergences(first, second):
    """Rényi divergences of a pair, (A,)."""
    logs = np.log(first), np.log(second)

    def renyi(orders):
        a = np.asarray(orders)[:, None]
        return logsumexp(a * logs[0] + (1 - a) * logs[1], axis=1) / (a[:, 0] - 1)

    return renyi


@pytest.mark.keeps("accounting.zero_concentrated:least_rho")
@pytest.mark.parametrize("seed", range(6))
def test_no_order_costs_more_and_rho_is_hardly_more_than_the_dearest(seed):
    generator = np.random.default_rng(seed)
    first, second = generator.dirichlet(np.full(4, 0.6), 2)
    renyi, pure = divergences(first, second), float(np.abs(np.log(first / second)).max())
    found = least_rho(renyi, pure)
    orders = 1 + 10 ** generator.uniform(-4, 2, 3000)
    costs = renyi(orders) / orders
    assert costs.max() <= found <= 1.001 * costs.max()


def test_a_peak_between_two_orders_of_the_first_grid_is_not_missed():
    """One outcome of little mass and large ratio: the worst order is large, the peak narrow."""
    first, second = np.array([1e-8, 1 - 1e-8]), np.array([1e-8 * math.exp(-12), 0.0])
    second[1] = 1 - second[0]
    renyi = divergences(first, second)
    orders = np.linspace(1.001, 60, 60_000)
    largest = (renyi(orders) / orders).max()
    assert largest <= least_rho(renyi, 12.0) <= 1.001 * largest


def test_orders_that_are_asked_for_are_few():
    asked = []

    def renyi(orders):
        asked.extend(orders)
        return np.minimum(orders / 2, 20.0)

    assert least_rho(renyi, 20.0) == pytest.approx(0.5, rel=2e-4)
    assert len(asked) < 1500
    assert min(asked) > 1


def test_a_tiny_pure_epsilon_is_worth_half_its_square_whatever_rounding_says():
    found = least_rho(lambda orders: np.full(len(orders), 1e-9), 1e-9)
    assert 0.5e-18 <= found <= 0.5000001e-18


@pytest.mark.parametrize("pure", [0.01, 1.0, 300.0])
def test_orders_that_nobody_asks_for_are_charged_what_the_largest_may_cost(pure):
    """Beyond the last order that is asked for, everything may be lost at once."""
    asked = []
    found = least_rho(lambda orders: asked.extend(orders) or 0 * orders, pure)
    assert pure / max(asked) <= found < 1e-20 * pure


def test_what_loses_nothing_and_what_loses_everything():
    assert least_rho(lambda orders: 0 * orders, 0.0) == 0
    assert least_rho(lambda orders: np.full(len(orders), np.inf), math.inf) == math.inf


@pytest.mark.parametrize("start", [1.05, 1.2, 2.0, 9.0])
@pytest.mark.parametrize("ratio", [1.01, 1.1, 1.5, 3.0])
@pytest.mark.parametrize("growth", [1.0, 1.01, 1.2, 4.0])
def test_between_two_orders_every_divergence_that_fits_both_is_allowed_for(start, ratio, growth):
    """The largest is on the chord of (x - 1) D_x, and no more than at the order above."""
    a, b = start, 1 + (start - 1) * ratio
    costs = np.array([a, a * growth])
    x = np.linspace(a, b, 4001)[1:]
    chord = np.interp(x, [a, b], costs * [a - 1, b - 1]) / (x - 1)
    worst = (np.minimum(chord, costs[1]) / x).max()
    marks = 2 * np.arcsinh(np.sqrt([0, a - 1, b - 1]))
    below, between = _bound_between_orders(marks, np.array([0, *costs]))
    assert below >= costs[0]  # of an order next to 1
    assert between >= worst * (1 - 1e-12)
    bent = (b - a) ** 2 / (4 * a * (a - 1))
    if bent < 0.5:
        assert between <= max(costs / [a, b]) / (1 - bent) * (1 + 1e-12)
    assert between <= costs[1] / a * (1 + 1e-12)
