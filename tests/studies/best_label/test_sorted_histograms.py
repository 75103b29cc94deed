"""Sorted histograms and moves against everything that they stand for."""

import numpy as np
import pytest

from private_ensembles.audit.histograms import count_sorted_histograms as number
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from studies.best_label.sorted_histograms import list_moves, tie_groups

SIZES = [(1, 2), (1, 3), (2, 2), (3, 3), (4, 4), (5, 3), (6, 2), (6, 4), (7, 3)]


@pytest.mark.parametrize(("K", "C"), SIZES)
def test_groups_are_the_ties_of_all_sorted_histograms(K, C):
    found = tie_groups(K, C)
    every = np.unique(-np.sort(-enumerate_histograms(K, C), axis=1), axis=0)
    np.testing.assert_array_equal(found.counts, every)
    assert len(every) == number(K, C)
    assert (found.n_teachers, found.n_classes) == (K, C)
    for row, groups, start in zip(found.counts, found.groups, found.starts, strict=True):
        assert groups[0] == start
        for a in range(C):
            assert found.votes[groups[a]] == row[a]
            assert found.sizes[groups[a]] == (row == row[a]).sum()
            assert np.array_equal(groups == groups[a], row == row[a])
    np.testing.assert_array_equal(found.owners, np.repeat(range(len(every)), _ties(found)))


def _ties(found):
    return [len(set(row)) for row in found.counts.tolist()]


@pytest.mark.parametrize(("K", "C"), SIZES)
def test_moves_are_those_of_all_neighbouring_histograms(K, C):
    """As sets of how many classes go from which tie group to which."""
    groups, listed = tie_groups(K, C), list_moves(K, C)

    def kinds(first, second):
        both = np.sort(first.astype(np.int64) * len(groups.sizes) + second, axis=1)
        return set(map(tuple, both.tolist()))

    rows = enumerate_histograms(K, C)
    pairs, of = neighbour_pairs(rows), groups.groups_of(rows)
    every = kinds(of[pairs[:, 0]], of[pairs[:, 1]]) | kinds(of[pairs[:, 1]], of[pairs[:, 0]])
    first, second = (listed.placed[side] for side in listed.pairs.T)
    assert kinds(first, second) | kinds(second, first) == every


def test_groups_of_other_votes_are_refused():
    with pytest.raises(ValueError, match="every row must be 3 votes on 3 classes"):
        tie_groups(3, 3).groups_of([[2, 2, 0]])
