"""Several families on one grid: kernels and lines are those of each, and epsilon is found."""

import math

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.account import adaptive_epsilon, curve
from private_ensembles.accounting.adaptive.backward_induction import values_above
from private_ensembles.accounting.adaptive.common_grid import Run, epsilon_by, lines_of, on_grid
from private_ensembles.accounting.adaptive.families import two_classes

from .labels import gnmax


def test_each_family_on_a_common_grid_has_the_curve_of_its_own_account():
    runs = [Run(gnmax(21, 20.0), 20), Run(gnmax(21, 14.0), 10)]
    found = on_grid(runs, 20, max(run.width for run in runs), 0.8, 1e-4, 14)
    for run, kernels in zip(runs, found.kernels, strict=True):
        above = values_above(kernels, found.grid, run.labels)
        both = found.curve(above, lines_of(run, found))
        own = curve(run.family, run.labels, 0.8, 1e-4, fineness=14)
        for epsilon in (0.0, 0.4, 0.8):
            assert both.delta(epsilon) == pytest.approx(own.delta(epsilon), rel=0.02)
            assert both.least_delta(epsilon) == pytest.approx(own.least_delta(epsilon), rel=0.02)
            assert both.least_delta(epsilon) <= own.delta(epsilon)
            assert own.least_delta(epsilon) <= both.delta(epsilon)


def test_lines_are_added_to_those_of_other_labels():
    run, half = Run(gnmax(11, 9.0), 6), Run(gnmax(11, 9.0), 3)
    found = on_grid([run], 6, run.width, 0.8, 1e-3, 7)
    given = lines_of(half, found)
    kept = tuple(line.copy() for line in given)
    for at_once, in_two in zip(lines_of(run, found), lines_of(half, found, given), strict=True):
        assert in_two == pytest.approx(at_once, abs=1e-12)
    assert all((line == copy).all() for line, copy in zip(given, kept, strict=True))


def test_the_points_around_an_epsilon_hold_it():
    run = Run(gnmax(11, 9.0), 6)
    found = on_grid([run], 6, run.width, 0.8, 1e-3, 7)
    near = found.around(0.3, 0.5)
    logs = found.grid.logs()[near]
    assert logs[0] <= 0.3 < 0.5 <= logs[-1]
    assert logs.size < 0.3 / found.grid.step + 5


def test_losses_without_bound_have_no_epsilon_and_a_first_guess_too_small_is_doubled():
    run = Run(two_classes([0.0, 2.0**-4], error=0.0), 3)

    def curve_at(epsilon, fineness, lower):
        return curve(run.family, 3, epsilon, 1e-3, fineness=fineness, lower=lower)

    assert epsilon_by(curve_at, run.width, run.most, 1e-3, 7).upper == math.inf
    run = Run(two_classes([0.25, 0.75]), 10)
    asked = []

    def noted(epsilon, fineness, lower):
        asked.append(epsilon)
        return curve(run.family, 10, epsilon, 1e-3, fineness=fineness, lower=lower)

    found = epsilon_by(noted, 0.1, run.most, 1e-3, 7)
    assert found.upper == pytest.approx(adaptive_epsilon(run.family, 10, 1e-3).upper, rel=1e-3)
    assert asked[:2] == pytest.approx(asked[0] * np.array([1, 2]))
