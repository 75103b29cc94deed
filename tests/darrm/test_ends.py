"""Bounds of whole boxes against every combination of moves, one by one."""

import numpy as np
import pytest

from private_ensembles.darrm import ends
from private_ensembles.darrm.ends import bends_and_moves, box_bounds
from private_ensembles.darrm.privacy_cost import PrivacyProblem

from .test_moves import every_cost, sides, smooth_sides


def largest(problem, V, W, ones):
    return np.array(
        [[max(every_cost(problem, v, w, b)) for b in ones] for v, w in zip(V, W, strict=True)]
    )


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("Delta", [0.01, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_no_move_exceeds_the_bounds(seed, Delta, parts, monkeypatch):
    """Rough tables: with the floor below all of them every cell is worked out in parts."""
    monkeypatch.setattr(ends, "PARTS", parts)
    problem = PrivacyProblem(11, 2, 0.3, Delta, 0.4)
    V, W = sides(seed, 9, 3)
    exact = largest(problem, V, W, range(10))
    for box in (slice(0, 10), slice(0, 1), slice(3, 5), slice(9, 10)):
        known = np.full((3, box.stop - box.start), np.inf)
        for floor in (-np.inf, 0.0, np.inf):
            found = box_bounds(problem, V, W, box, known, floor)
            assert (found >= exact[:, box] - 1e-13).all()


def test_parts_of_one_teacher_are_exact_where_the_floor_asks_for_them(monkeypatch):
    monkeypatch.setattr(ends, "PARTS", 9)
    problem = PrivacyProblem(11, 2, 0.3, 0.3, 0.4)
    V, W = sides(1, 9, 3)
    exact = largest(problem, V, W, range(10))
    box, known = slice(0, 10), np.full((3, 10), np.inf)
    coarse = box_bounds(problem, V, W, box, known, np.inf)
    floor = float(exact.max())  # all moves or none exceed it nowhere
    fine = box_bounds(problem, V, W, box, known, floor)
    assert (coarse > floor).any()
    asked = coarse > floor
    np.testing.assert_allclose(fine[asked], exact[asked], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(fine[~asked], coarse[~asked])


@pytest.mark.parametrize("scale", [1.5, 6.0])
def test_where_one_move_is_best_the_bounds_are_exact(scale):
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = smooth_sides(scale)
    box = slice(0, 25)
    exact = largest(problem, V, W, range(25))
    _, plain = bends_and_moves(problem, V, W, box)
    found = box_bounds(problem, V, W, box, np.full((1, 25), np.inf), np.inf)
    settled = plain.all(axis=0)
    assert settled.any()
    np.testing.assert_allclose(found[settled], exact[settled], rtol=0, atol=1e-13)
    assert (found >= exact - 1e-13).all()


def test_bounds_known_before_are_kept_where_they_are_lower():
    problem = PrivacyProblem(11, 2, 0.3, 0.01, 0.4)
    V, W = sides(2, 9, 3)
    known = np.full((3, 10), -5.0)
    np.testing.assert_array_equal(box_bounds(problem, V, W, slice(0, 10), known, -np.inf), known)


def test_a_box_is_bounded_as_each_of_its_columns_is(monkeypatch):
    """Strips of columns and few cells at a time leave no seam."""
    monkeypatch.setattr(ends, "STRIP", 4)
    monkeypatch.setattr(ends, "ENTRIES", 1)
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = sides(3, 24, 2)
    known = np.full((2, 25), np.inf)
    box = box_bounds(problem, V, W, slice(0, 25), known, 0.0)
    for b in range(25):
        column = box_bounds(problem, V, W, slice(b, b + 1), known[:, :1], 0.0)
        np.testing.assert_allclose(column[:, 0], box[:, b], rtol=0, atol=1e-14)


@pytest.mark.parametrize("Delta", [0.01, 0.3])
@pytest.mark.parametrize("bends", [(-1, 0), (0, 1), (-1, 1), (1, -1), (-1, -1), (1, 1)])
def test_sides_that_bend_one_way_are_bounded(monkeypatch, bends, Delta):
    """A peak of f with some of the teachers moved, wherever along the ones it is."""
    monkeypatch.setattr(ends, "PARTS", 1)
    problem = PrivacyProblem(11, 2, 0.3, Delta, 0.4)
    b, box = np.arange(10), slice(0, 10)
    for peak in (0.5, 3.0, 4.5, 8.5):
        V, W = (sign * ((b - peak) ** 2 / 81)[None] for sign in bends)
        found = box_bounds(problem, V, W, box, np.full((1, 10), np.inf), np.inf)
        assert (found >= largest(problem, V, W, range(10)) - 1e-13).all()
