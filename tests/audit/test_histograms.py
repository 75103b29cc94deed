"""Histograms and their neighbours against trying everything."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.audit import (
    count_sorted_histograms,
    enumerate_histograms,
    exact_delta,
    histograms,
    leading_pairs,
    neighbour_pairs,
    reduced_histograms,
    two_class_matrix,
    two_class_pairs,
    vote_neighbours,
)
from private_ensembles.audit.histograms import enumerate_sorted_histograms
from private_ensembles.labels.laws import gumbel
from tests.audit import oracle

SIZES = [(1, 2), (7, 2), (5, 3), (9, 3), (4, 4), (3, 5), (2, 6)]


@pytest.mark.parametrize(("n_teachers", "n_classes"), SIZES)
def test_all_histograms_and_all_neighbours_are_there_once(n_teachers, n_classes):
    histograms = enumerate_histograms(n_teachers, n_classes)
    assert np.array_equal(histograms, oracle.all_histograms(n_teachers, n_classes))
    assert len(histograms) == math.comb(n_teachers + n_classes - 1, n_classes - 1)
    found = {tuple(sorted(pair)) for pair in neighbour_pairs(histograms).tolist()}
    assert found == set(oracle.all_pairs(histograms))
    assert len(found) == len(neighbour_pairs(histograms))


@pytest.mark.parametrize("moved", [2, 3])
@pytest.mark.parametrize(("n_teachers", "n_classes"), SIZES)
def test_all_pairs_of_several_moved_votes_are_there_once(n_teachers, n_classes, moved):
    histograms = enumerate_histograms(n_teachers, n_classes)
    pairs = neighbour_pairs(histograms, moved)
    wanted = {
        (i, j)
        for i, j in itertools.combinations(range(len(histograms)), 2)
        if np.abs(histograms[i] - histograms[j]).sum() <= 2 * moved
    }
    assert {tuple(sorted(pair)) for pair in pairs.tolist()} == wanted
    assert len(pairs) == len(wanted)
    if n_classes == 2 and moved <= n_teachers:
        ones = two_class_pairs(n_teachers, moved)
        assert {tuple(pair) for pair in ones.tolist()} == wanted


@pytest.mark.parametrize(("n_teachers", "n_classes"), SIZES)
def test_reduced_pairs_stand_for_all_pairs_up_to_renaming(n_teachers, n_classes):
    def renamed(pair):
        """The same for every way of naming the classes: the columns of the pair, sorted."""
        ways = [tuple(sorted(zip(a, b, strict=True))) for a, b in (pair, pair[::-1])]
        return min(ways)

    histograms = enumerate_histograms(n_teachers, n_classes)
    everything = {
        renamed(histograms[pair].tolist()) for pair in neighbour_pairs(histograms).tolist()
    }
    rows, pairs = reduced_histograms(n_teachers, n_classes)
    reduced = {renamed(rows[pair].tolist()) for pair in pairs.tolist()}
    assert reduced == everything
    assert len(pairs) <= len(neighbour_pairs(histograms))
    assert len(np.unique(rows, axis=0)) == len(rows)


@given(st.integers(1, 40), st.integers(2, 12))
def test_leading_pairs_are_neighbours_and_prove_lower_bounds(n_teachers, n_classes):
    rows, pairs = leading_pairs(n_teachers, n_classes)
    assert (rows >= 0).all()
    assert (rows.sum(axis=1) == n_teachers).all()
    difference = np.abs(rows[pairs[:, 0]] - rows[pairs[:, 1]])
    assert (difference.sum(axis=1) == 2).all()
    assert len(rows) < 40 * (n_teachers + 1)


def test_leading_pairs_find_what_all_pairs_find_for_the_exponential_mechanism():
    rows, pairs = leading_pairs(12, 4)
    few = exact_delta(
        gumbel.label_probabilities(rows, 0.4), pairs, 0.3, side="lower", relative_error=1e-13
    )
    rows, pairs = reduced_histograms(12, 4)
    all_ = exact_delta(gumbel.label_probabilities(rows, 0.4), pairs, 0.3, relative_error=1e-13)
    assert 0.5 * all_ < few <= all_


def test_two_class_matrix_is_the_histogram_table():
    matrix = two_class_matrix([0.1, 0.25, 0.9])
    np.testing.assert_allclose(matrix, [[0.9, 0.1], [0.75, 0.25], [0.1, 0.9]])
    assert two_class_pairs(2).tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: enumerate_histograms(250, 10), "at most 5,000,000"),
        (lambda: neighbour_pairs(np.array([[1, 1], [2, 0]])), "histograms"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@pytest.mark.parametrize(("teachers", "classes"), [(0, 3), (4, 1)])
def test_histograms_up_to_renaming_are_of_the_same_sizes(teachers, classes):
    for count in (enumerate_histograms, reduced_histograms, count_sorted_histograms):
        with pytest.raises(ValueError, match=r"n_teachers = 0|n_classes = 1"):
            count(teachers, classes)


@pytest.mark.parametrize(("n_teachers", "n_classes"), [(2, 2), (3, 3), (5, 2), (4, 4)])
def test_a_vote_more_or_less_makes_all_pairs_of_missing_votes(n_teachers, n_classes):
    """Both ways around the teachers at hand, each pair once."""
    rows, pairs = vote_neighbours(n_teachers, n_classes, "missing_vote")
    found = [(tuple(rows[a].tolist()), tuple(rows[b].tolist())) for a, b in pairs]
    wanted = set()
    for size in (n_teachers - 1, n_teachers):
        for fewer in enumerate_histograms(size, n_classes).tolist():
            for j in range(n_classes):
                wanted.add((tuple(fewer), (*fewer[:j], fewer[j] + 1, *fewer[j + 1 :])))
    assert len(found) == len(wanted)
    assert set(found) == wanted


def test_sorted_histograms_beyond_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(histograms, "_MOST", 30)
    assert len(enumerate_sorted_histograms(9, 3)) == 12
    with pytest.raises(ValueError, match="must give at most 30 histograms"):
        enumerate_sorted_histograms(20, 6)


@pytest.mark.parametrize(("n_teachers", "n_classes"), [(9, 4), (20, 6), (30, 7)])
def test_leading_pairs_hold_the_most_even_histogram_and_two_that_lead(n_teachers, n_classes):
    rows = leading_pairs(n_teachers, n_classes)[0].tolist()
    even = sorted(np.bincount(np.arange(n_teachers) % n_classes).tolist(), reverse=True)
    assert even in rows
    half = n_teachers // 2
    assert [n_teachers - half, half, *[0] * (n_classes - 2)] in rows
    # As even as it can be behind a first class of any votes.
    behind = np.bincount(np.arange(n_teachers - even[0] - 3) % (n_classes - 1)).tolist()
    assert [even[0] + 3, *sorted(behind, reverse=True)] in rows
