"""Votes that move between three classes or more: every move, and every label that it may change."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition import multiclass_moves


def every_move(moved, classes):
    """Whole numbers that add up to 0, of which those above 0 add up to `moved` at most."""
    steps = range(-moved, moved + 1)
    for some in itertools.product(steps, repeat=classes - 1):
        move = (*some, -sum(some))
        if 0 < sum(abs(votes) for votes in move) <= 2 * moved:
            yield move


@pytest.mark.parametrize(
    ("moved", "classes"), [(1, 3), (2, 2), (2, 3), (2, 4), (2, 6), (3, 3), (3, 4), (3, 6), (5, 5)]
)
def test_every_move_of_three_classes_or_more_has_a_shape(moved, classes):
    """Ends between different numbers of votes, and norms, by listing all moves there are."""
    shapes = multiclass_moves.shapes(moved, classes)
    reached = set()
    for move in every_move(moved, classes):
        if sum(votes != 0 for votes in move) < 3:
            continue  # between two classes
        ends, square = len(set(move)) - 1, sum(votes**2 for votes in move)
        covers = [
            shape for shape in shapes if square <= shape[1] and (shape[0] == 0 or ends <= shape[0])
        ]
        assert covers, move
        reached |= {shape for shape in covers if square == shape[1]}
    assert reached == set(shapes)  # none is larger than it must be


def test_more_than_one_class_gains_or_loses_if_and_only_if_there_are_rows():
    t = np.array([0.5, 1.0, 2.0])
    assert len(multiclass_moves.hockey_stick_divergences(1, 10, 5.0, t)) == 0
    assert len(multiclass_moves.hockey_stick_divergences(4, 2, 5.0, t)) == 0
    assert len(multiclass_moves.hockey_stick_divergences(2, 3, 5.0, t)) > 0


@pytest.mark.keeps("accounting.adaptive_composition.multiclass_moves:hockey_stick_divergences")
@pytest.mark.parametrize(("moved", "classes"), [(2, 3), (2, 5), (3, 4), (3, 9)])
@pytest.mark.parametrize("scale", [1.5, 20.0])
def test_one_row_lies_above_every_label_that_is_an_interval_of_a_normal_number(
    moved, classes, scale
):
    """At all thresholds at once. No row lies above a label whose shift is 5 % larger."""
    rng = np.random.default_rng(1)
    t = np.exp(np.linspace(-6, 6, 49) * max(1.0, moved / scale) / 2)
    rows = multiclass_moves.hockey_stick_divergences(moved, classes, scale, t)
    shapes = multiclass_moves.shapes(moved, classes)
    for ends, square in shapes:
        shift = math.sqrt(square) / scale
        for _ in range(60):
            ends_at = np.sort(rng.normal(shift / 2, rng.choice([0.5, 2.0, 8.0]), max(ends, 1)))
            assert (rows >= interval_divergences(ends_at, shift, t)).all(axis=1).any()
    larger = 1.05 * math.sqrt(max(square for _, square in shapes)) / scale
    assert not (rows >= interval_divergences(np.array([larger / 2]), larger, t)).all(axis=1).any()
    # None of them is above that of all numbers of votes between two classes.
    most = math.sqrt(2) * moved / scale
    bound = gaussian(most, t)
    assert (rows <= bound + 1e-11).all()


def interval_divergences(ends, shift, t):
    """Sum of (P - t P')_+ less (1 - t)_+ over the intervals between ends, term by term."""
    edges = np.concatenate([[-np.inf], ends, [np.inf]])
    first = ndtr(edges[1:]) - ndtr(edges[:-1])
    second = ndtr(edges[1:] - shift) - ndtr(edges[:-1] - shift)
    sticks = np.maximum(first[:, None] - second[:, None] * t, 0).sum(axis=0)
    return np.maximum(sticks - np.maximum(1 - t, 0) - 1e-13, 0)


def gaussian(shift, t):
    best = shift / 2 - np.log(t) / shift
    return ndtr(best) - t * ndtr(best - shift) - np.maximum(1 - t, 0)
