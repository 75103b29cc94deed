"""Central solutions against a solver's vertices."""

import numpy as np
import pytest
from scipy.optimize import linprog

from private_ensembles.darrm.centre import centre


def program(seed, n=20, m=60):
    rng = np.random.default_rng(seed)
    return rng.random(n), rng.normal(size=(m, n)) + 0.1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_centre_is_within_the_gap_of_the_optimum(seed, tolerance):
    cost, rows = program(seed)
    optimum = -linprog(-cost, A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1)).fun
    found = centre(cost, rows, tolerance)
    assert found.gap <= tolerance
    assert cost @ found.x >= optimum * (1 - tolerance)
    assert (rows @ found.x).max() <= 1 + tolerance
    assert np.all((found.x > 0) & (found.x < 1))


@pytest.mark.parametrize("tolerance", [1e-1, 1e-8])
def test_multipliers_bound_the_optimum(tolerance):
    cost, rows = program(9)
    optimum = -linprog(-cost, A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1)).fun
    y = centre(cost, rows, tolerance).multipliers
    assert y.min() >= 0
    assert y.sum() + np.maximum(cost - y @ rows, 0).sum() >= optimum


def test_what_nothing_binds_ends_in_the_middle_of_the_optima():
    x = centre(np.array([1.0, 0.0]), np.array([[1.0, 1e-6]]), 1e-6).x
    assert x[0] > 1 - 1e-5
    assert 0.01 < x[1] < 0.99


def test_a_tolerance_beyond_rounding_ends_with_the_best_point():
    cost, rows = program(3)
    assert centre(cost, np.vstack([rows, rows]), 0.0).gap < 1e-8


@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_curvature_is_taken_off_and_the_multipliers_still_bound_the_program_without_it(weight):
    cost, rows = program(4)
    bend = np.diff(np.eye(len(cost)), 2, axis=0)
    optimum = -linprog(-cost, A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1)).fun
    straight = centre(cost, rows, 1e-8)
    found = centre(cost, rows, 1e-8, curvature=weight * bend.T @ bend)
    assert found.gap <= 1e-8

    def worth(x):
        return cost @ x - weight * np.sum((bend @ x) ** 2) / 2

    assert worth(found.x) > worth(straight.x)
    assert np.sum((bend @ found.x) ** 2) < np.sum((bend @ straight.x) ** 2)
    # A small step towards any other point of the program gains nothing.
    slope = cost - weight * bend.T @ (bend @ found.x)
    assert slope @ (straight.x - found.x) <= 1e-6
    y = found.multipliers
    assert y.sum() + np.maximum(cost - y @ rows, 0).sum() >= optimum
