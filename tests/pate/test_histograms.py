"""Merged histograms are the same votes."""

import numpy as np

from private_ensembles.pate.histograms import merge


def test_merging_is_undone():
    counts = np.array([[3, 1, 1], [1, 3, 1], [4, 1, 0], [2, 2, 1]])
    merged = merge(counts)
    assert len(merged.starts) == 3  # the first two rows are one histogram
    np.testing.assert_array_equal(
        merged.gap[merged.home], counts.max(axis=1, keepdims=True) - counts
    )
    assert (np.add.reduceat(merged.multiplicity, merged.starts) == 3).all()
