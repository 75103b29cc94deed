"""How fine a grid labels need, and where rounding on it leaves nothing to prove."""

import pytest

from private_ensembles.accounting.adaptive.account import FINE
from private_ensembles.accounting.adaptive.families import of_table
from private_ensembles.accounting.adaptive.grids import grid_fineness, loses_all, nothing_left
from private_ensembles.optimal_label.ladder import ladder_matrix


def test_few_labels_get_a_finer_grid_and_more_classes_a_coarser_one():
    assert grid_fineness(2, 1) == 8 * FINE
    assert grid_fineness(2, 50) == 2 * FINE
    assert grid_fineness(2, 10_000) == FINE
    assert grid_fineness(10, 1) == 8.0
    assert grid_fineness(10, 10_000) == 4.0


@pytest.mark.parametrize("n_classes", [2, 10])
def test_a_delta_that_labels_lose_for_certain_leaves_nothing(n_classes):
    assert nothing_left(n_classes, 10, 1e-10) is None
    said = nothing_left(n_classes, 10, 1e-18)
    assert "its account of 10 labels proves nothing for a delta of " in said
    assert nothing_left(n_classes, 10_000, 1e-13) != nothing_left(n_classes, 10, 1e-13)


def test_the_grid_loses_all_of_a_small_delta_and_little_of_a_large_one():
    family = of_table(ladder_matrix(25, 1.0, 1e-6), 2.0**-52, 1e-300, negligible=1e-21)
    assert loses_all(family, 10, 4.0, 1e-16, 2)
    assert not loses_all(family, 10, 4.0, 1e-6, 2)
