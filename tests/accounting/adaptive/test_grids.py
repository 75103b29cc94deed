"""How fine a grid labels need, and where its rounding takes all of delta."""

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.account import FINE, adaptive_epsilon
from private_ensembles.accounting.adaptive.families import of_table
from private_ensembles.accounting.adaptive.grids import grid_fineness, loses_all, nothing_left

# A label of five teachers that flips the majority's, by a few votes less often the clearer it is.
ONES = np.array([0.05, 0.1, 0.25, 0.75, 0.9, 0.95])
FAMILY = of_table(np.stack([1 - ONES, ONES], axis=1), 2.0**-52, 1e-300, negligible=1e-21)


def test_few_labels_get_a_finer_grid_but_no_more_than_eight_times():
    assert [grid_fineness(2, labels) / FINE for labels in (1, 50, 100, 10_000)] == [8, 2, 1, 1]
    assert [grid_fineness(3, labels) for labels in (1, 5, 10, 10_000)] == [8, 8, 4, 4]


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("labels", [1, 1000])
def test_a_delta_that_rounding_takes_is_named_and_a_larger_one_is_not(n_classes, labels):
    assert nothing_left(n_classes, labels, 1e-5) is None
    reason = nothing_left(n_classes, labels, labels * 1e-17)
    assert f"its account of {labels:,} labels proves nothing for a delta of" in reason
    named = float(reason.partition("delta of ")[2].partition(" ")[0])
    assert nothing_left(n_classes, labels, 1.1 * named) is None
    assert nothing_left(n_classes, labels, 0.9 * named) == reason


@pytest.mark.parametrize("labels", [2, 10])
def test_where_the_grid_takes_all_of_delta_the_account_has_no_epsilon(labels):
    """Just what the quick answer says the slow one would find."""
    for each, lost in ((1e-17, True), (1e-12, False)):
        delta = labels * each
        assert loses_all(FAMILY, labels, 4.0, delta, n_classes=2) == lost
        bounds = adaptive_epsilon(FAMILY, labels, delta, fineness=grid_fineness(2, labels))
        assert np.isinf(bounds.upper) == lost
    # With plenty of delta nothing is worked out.
    assert not loses_all(None, labels, 4.0, labels * 1e-8, n_classes=2)
