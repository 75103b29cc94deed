"""Merged histograms are the same votes."""

import numpy as np

from private_ensembles.pate.histograms import blocks, merge


def test_merging_is_undone():
    counts = np.array([[3, 1, 1], [1, 3, 1], [4, 1, 0], [2, 2, 1]])
    merged = merge(counts)
    assert len(merged.starts) == 3  # the first two rows are one histogram
    np.testing.assert_array_equal(
        merged.gap[merged.home], counts.max(axis=1, keepdims=True) - counts
    )
    assert (np.add.reduceat(merged.multiplicity, merged.starts) == 3).all()


def test_blocks_are_all_rows_in_order():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, 500)
    first = np.cumsum(sizes) - sizes
    whole = list(blocks(first, int(sizes.sum()), 30))
    assert len(whole) > 1
    rows, pairs, starts = zip(*whole, strict=True)
    for parts, end in ((rows, len(first)), (pairs, sizes.sum())):
        assert parts[0].start == 0
        assert parts[-1].stop == end
        assert [part.stop for part in parts[:-1]] == [part.start for part in parts[1:]]
    found = [part.start + start for part, start in zip(pairs, starts, strict=True)]
    np.testing.assert_array_equal(np.concatenate(found), first)
