"""Backward induction over adversaries, against all of their strategies in exact arithmetic."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.adaptive_composition import backward_induction, hockey_sticks
from private_ensembles.accounting.adaptive_composition.backward_induction import (
    Grid,
    value_lower_lines,
    value_upper_bounds,
)
from tests.accounting.adversaries import (
    both_orders,
    costliest_strategy,
    exact_value,
    power,
    random_rows,
)


@pytest.mark.parametrize(("pairs", "outcomes", "labels"), [(3, 2, 2), (1, 3, 2), (1, 2, 3)])
def test_the_recursion_is_the_dearest_of_all_adaptive_strategies(pairs, outcomes, labels):
    """The theorem itself, in exact arithmetic."""
    rng = np.random.default_rng(pairs * 10 + outcomes)
    known = both_orders(*random_rows(rng, pairs, outcomes))
    for y in (Fraction(1), Fraction(3, 2), Fraction(17, 5)):
        assert exact_value(known, labels, y) == costliest_strategy(known, labels, y)


@pytest.mark.parametrize("labels", [0, 1, 2, 3])
def test_what_an_adversary_gains_at_y_follows_from_what_it_gains_at_one_over_y(labels):
    """In exact arithmetic, and only because neighbours come in both orders."""

    def is_mirrored(pairs, y):
        low, high = exact_value(pairs, labels, 1 / y), exact_value(pairs, labels, y)
        return low == 1 - 1 / y + high / y

    points = [Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(17, 5)]
    rows = random_rows(np.random.default_rng(labels), 2, 2)
    assert all(is_mirrored(both_orders(*rows), y) for y in points)
    coins = both_orders([[0.5, 0.5]], [[0.25, 0.75]])
    assert labels == 0 or not all(is_mirrored(coins[:1], y) for y in points)


@pytest.mark.keeps(
    "accounting.adaptive_composition.backward_induction:value_upper_bounds",
    "accounting.adaptive_composition.backward_induction:value_lower_lines",
)
@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lowest", [-5, -12])  # most points above y = 1, or most below
def test_every_point_of_the_grid_lies_between_its_bounds(lowest, seed, labels):
    rng = np.random.default_rng(seed)
    first, second = random_rows(rng, 2, int(rng.integers(2, 4)) if labels < 3 else 2)
    known = both_orders(first, second)
    first, second = (np.array([pair[i] for pair in known], dtype=float) for i in (0, 1))
    step = float(10 ** rng.uniform(-2, 0))
    grid = Grid(step, lowest, 16)
    t = hockey_sticks.thresholds(step, 12)
    kernels = hockey_sticks.kernels(hockey_sticks.hockey_stick_divergences(first, second, t), step)
    above = value_upper_bounds(kernels, grid, labels)
    below, slopes = value_lower_lines(first, second, grid, labels)
    for place in rng.choice(grid.size, 5, replace=False).tolist():
        with mpmath.workdps(60):
            low, high = power(mpmath.mpf(step) * (grid.lowest + place))
        assert Fraction(above[place]) >= exact_value(known, labels, low)
        assert Fraction(below[place]) <= exact_value(known, labels, high)
        # The line stays below everywhere, not only at its point.
        for factor in (Fraction(1, 100), Fraction(2, 3), Fraction(7, 5), Fraction(40)):
            line = Fraction(below[place]) + Fraction(slopes[place]) * (factor - 1)
            assert line <= exact_value(known, labels, high * factor)


@pytest.mark.parametrize("size", [9, 10, 16])
@pytest.mark.parametrize("kink", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("fraction", [0.2, 0.7])
def test_no_line_of_a_further_label_rises_above_what_an_adversary_gains(fraction, kink, size):
    """Also where a line is followed to beyond its zero, and at the last point, which is alone.

    Until now (1 - y / c)_+ is gained, c between two points; the label is randomised response.
    """
    step = math.log(3) / (2 + fraction)
    grid, end = Grid(step, -5, size), math.exp((1 + kink) * step)
    y = np.exp(grid.logs())
    gained = (np.maximum(1 - y / end, 0.0), np.where(y < end, -y / end, 0.0))
    first = np.array([[0.75, 0.25]])
    values, slopes = value_lower_lines(first, first[:, ::-1], grid, 1, gained)
    factors = np.geomspace(0.01, 40, 300)
    lines = values[:, None] + slopes[:, None] * (factors - 1)
    points = y[:, None] * factors
    often, rarely = (np.maximum(1 - points * ratio / end, 0) for ratio in (1 / 3, 3))
    assert (lines <= 0.75 * often + 0.25 * rarely + 1e-15).all()
    assert (values[y < end] > 0).all()


@pytest.mark.parametrize("at_once", [1, 7])
def test_points_that_are_worked_on_together_change_no_bound(monkeypatch, at_once):
    """One by one, and seven at a time and a rest, beside all at once."""
    first, second = np.random.default_rng(1).dirichlet(np.ones(3), (2, 3))
    t = hockey_sticks.thresholds(0.2, 9)
    kernels = hockey_sticks.kernels(hockey_sticks.hockey_stick_divergences(first, second, t), 0.2)
    grid = Grid(0.2, -40, 45)
    with monkeypatch.context() as patched:  # first, since memory that is left out is not wiped
        patched.setattr(backward_induction, "_AT_ONCE", at_once)
        above = value_upper_bounds(kernels, grid, 4)
        below = value_lower_lines(first, second, grid, 4)
    close = {"rtol": 1e-13, "atol": 1e-14}
    np.testing.assert_allclose(value_upper_bounds(kernels, grid, 4), above, **close)
    for again, line in zip(value_lower_lines(first, second, grid, 4), below, strict=True):
        np.testing.assert_allclose(again, line, **close)


@pytest.mark.parametrize(("step", "reach"), [(0.2, 9), (3.0, 1)])
def test_a_step_of_the_induction_is_rounded_up_to_the_last_digit(step, reach):
    """Against what the kernels' floats say, at every point and beyond the grid's low end.

    Below y = 1 they say it of 1 / y.
    """
    first, second = random_rows(np.random.default_rng(4), 3, 3)
    t = hockey_sticks.thresholds(step, reach)
    kernels = hockey_sticks.kernels(hockey_sticks.hockey_stick_divergences(first, second, t), step)
    grid = Grid(step, -12 // reach, 31)
    above = value_upper_bounds(kernels, grid, 1)
    masses, lost = kernels.masses.tolist(), kernels.infinite_loss_mass.tolist()
    with mpmath.workdps(40):

        def value(log_y):
            """Return what the kernels make of (1 - y)_+."""
            ratios = [mpmath.exp(log_y + mpmath.mpf(step) * k) for k in range(-reach, reach + 1)]
            return max(
                leak + mpmath.fsum(m * max(0, 1 - x) for m, x in zip(row, ratios, strict=True))
                for row, leak in zip(masses, lost, strict=True)
            )

        for place in range(grid.size):
            log_y = mpmath.mpf(step) * (grid.lowest + place)
            exact = value(log_y)
            if log_y < 0:
                exact = 1 - mpmath.exp(log_y) * (1 - value(-log_y))
            assert above[place] >= min(exact, 1)
            assert place > grid.size - reach or above[place] <= exact + 1e-11


def both(first, second):
    return (first, second), (second, first)


@pytest.mark.parametrize("labels", [0, 1, 2, 9])
@pytest.mark.parametrize("wanted", [slice(0, 3), slice(90, 92), slice(140, 145), slice(197, 200)])
@pytest.mark.parametrize("wide", [0.0, 1.0, 7.5])
def test_bounds_at_few_points_are_no_less_than_those_at_all_and_close(labels, wanted, wide):
    """However little of the grid is worked out: the less, the larger the bounds."""
    rng = np.random.default_rng(labels)
    step, reach = 0.05, 6
    t = hockey_sticks.thresholds(step, reach)
    base = rng.uniform(0.4, 0.6, 5)
    first, second = (np.stack([p, 1 - p], axis=1) for p in (base, base + 0.01))
    rows = np.concatenate(
        [hockey_sticks.hockey_stick_divergences(*pair, t) for pair in both(first, second)]
    )
    kernels, grid = hockey_sticks.kernels(rows, step), Grid(step, -100, 200)
    for before in (None, value_upper_bounds(kernels, grid, 3)):
        given = before if before is None else before.copy()
        every = value_upper_bounds(kernels, grid, labels, given)
        found = value_upper_bounds(kernels, grid, labels, before, wanted, wide)
        assert (found >= every * (1 - 1e-12)).all()
        if labels:
            outside = np.ones(grid.size, dtype=bool)
            outside[wanted] = False
            assert (found[outside] == 1).all()
        if wide == 7.5:
            assert found[wanted] == pytest.approx(every[wanted], rel=1e-9, abs=1e-11)


def test_bounds_meet_as_the_grid_becomes_finer():
    first, second = np.array([[0.75, 0.25]]), np.array([[0.5, 0.5]])
    pairs = np.concatenate([first, second]), np.concatenate([second, first])
    gaps = []
    for points in (8, 16, 32):
        step = 1 / points
        grid = Grid(step, -4 * points, 8 * points)
        t = hockey_sticks.thresholds(step, 2 * points)
        kernels = hockey_sticks.kernels(hockey_sticks.hockey_stick_divergences(*pairs, t), step)
        above, (below, _) = value_upper_bounds(kernels, grid, 5), value_lower_lines(*pairs, grid, 5)
        gaps.append((above - below)[4 * points])
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < gaps[0] / 6


def test_nothing_is_charged_for_laws_that_are_equal():
    rows = np.array([[0.25, 0.75]])
    kernels = hockey_sticks.kernels(
        hockey_sticks.hockey_stick_divergences(rows, rows, hockey_sticks.thresholds(0.1, 5)), 0.1
    )
    above = value_upper_bounds(kernels, Grid(0.1, -10, 21), 100)
    exact = np.maximum(-np.expm1(0.1 * np.arange(-10, 11)), 0)
    assert (above >= exact).all()
    assert above == pytest.approx(exact, abs=1e-10)
