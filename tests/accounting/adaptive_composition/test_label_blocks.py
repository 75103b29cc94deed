"""Blocks of labels: above every adversary, and next to nothing more than label by label."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from private_ensembles.accounting.adaptive_composition import hockey_sticks, label_blocks
from private_ensembles.accounting.adaptive_composition.backward_induction import (
    Grid,
    value_upper_bounds,
)
from private_ensembles.accounting.adaptive_composition.label_blocks import block, values_of_labels
from tests.accounting.adversaries import both_orders, exact_value, power, random_rows


def _kernels(rng, pairs, outcomes, step):
    """Kernels of random pairs in both orders, and the pairs."""
    known = both_orders(*random_rows(rng, pairs, outcomes))
    first, second = (np.array([pair[i] for pair in known], dtype=float) for i in (0, 1))
    t = hockey_sticks.thresholds(step, 12)
    return known, hockey_sticks.kernels(
        hockey_sticks.hockey_stick_divergences(first, second, t), step
    )


def _curve(one, t, step):
    """The one kernel's hockey-stick at t, in exact arithmetic of the kernel's floats."""
    found = Fraction(float(one.infinite_loss_mass[0]))
    for k, mass in enumerate(one.masses[0].tolist(), start=-one.support_radius):
        with mpmath.workdps(60):
            ratio = power(mpmath.mpf(step) * k)[1]
        found += Fraction(mass) * max(Fraction(0), 1 - t * ratio)
    return found


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_block_lies_above_every_adversary_on_the_grid_and_beside_it(seed, labels):
    rng = np.random.default_rng(seed)
    step = float(10 ** rng.uniform(-1.5, 0))
    known, one = _kernels(rng, 2, 2 if labels == 3 else 3, step)
    found = block(one, labels, 1e-6)
    for log in [*rng.uniform(-3, 3, 4).tolist(), -50.0, 0.0, 2 * step, 50.0]:
        with mpmath.workdps(60):
            t = power(mpmath.mpf(log))[0]
        assert _curve(found, t, step) >= exact_value(known, labels, t)


@pytest.mark.keeps("accounting.adaptive_composition.label_blocks:values_of_labels")
@pytest.mark.parametrize("labels", [4, 5])
def test_blocks_and_what_is_left_of_them_lie_above_every_adversary(monkeypatch, labels):
    """Blocks of one label here: exact arithmetic takes no more."""
    monkeypatch.setattr(label_blocks, "MANY", 1)
    rng = np.random.default_rng(labels)
    known, one = _kernels(rng, 6 - labels, 2, 0.3)
    grid = Grid(0.3, -8, 17)
    found = values_of_labels(one, grid, labels, 1e-3)
    for place in (2, 8, 9, 13):
        with mpmath.workdps(60):
            y = power(mpmath.mpf(0.3) * (grid.lowest + place))[0]
        assert Fraction(float(found[place])) >= exact_value(known, labels, y)


@pytest.mark.parametrize("labels", [1001, 2050, 5003])
def test_randomised_response_costs_in_blocks_what_it_costs_exactly(labels):
    """One pair whose losses fall on the grid leaves an adversary no choice."""
    loss = 0.64 / labels**0.5
    right = 1 / (1 + np.exp(-loss))
    one = hockey_sticks.kernels(
        hockey_sticks.hockey_stick_divergences(
            [[right, 1 - right]], [[1 - right, right]], hockey_sticks.thresholds(loss, 2), 1e-15
        ),
        loss,
    )
    grid = Grid(loss, -round(2 / loss), round(6 / loss))
    found = values_of_labels(one, grid, labels, 1e-6)
    for place in np.searchsorted(grid.logs(), [0.2, 1.0, 2.0]).tolist():
        ones = np.arange(labels + 1)
        ratio = np.exp(grid.logs()[place] - loss * (2 * ones - labels))
        exact = float(binom.pmf(ones, labels, right) @ np.maximum(1 - ratio, 0))
        assert exact * (1 - 1e-9) <= found[place] <= exact * (1 + 1e-6) + 1e-12


def test_a_choice_of_pairs_costs_little_more_in_blocks():
    """Many small losses or few large ones: an adversary's choice."""
    near, far = 0.505, 0.999
    first = np.array([[near, 1 - near], [far, 1 - far]])
    second = np.array([[1 - near, near], [far - 3e-4, 1 - far + 3e-4]])
    pairs = np.concatenate([first, second]), np.concatenate([second, first])
    step = 0.01
    one = hockey_sticks.kernels(
        hockey_sticks.hockey_stick_divergences(*pairs, hockey_sticks.thresholds(step, 60)), step
    )
    grid = Grid(step, -300, 801)
    apart, together = value_upper_bounds(one, grid, 1202), values_of_labels(one, grid, 1202, 1e-4)
    place = int(np.flatnonzero(apart < 1e-4)[0])
    assert apart[place] * (1 - 1e-6) <= together[place] < 1.1 * apart[place]
