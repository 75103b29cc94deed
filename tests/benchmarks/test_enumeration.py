"""The paper's way of listing every constraint: how many rows there are (values: tests/darrm)."""

import numpy as np

from benchmarks import enumeration


def test_rows_are_counted_as_multisets_of_corners():
    assert enumeration.row_count(11) == 31_824
    assert enumeration.row_count(11, 4) == 364
    counts = enumeration.multisets(5)
    assert len(counts) == enumeration.row_count(5, 4)
    assert (counts.sum(axis=1) == 5).all()
    assert len(np.unique(counts, axis=0)) == len(counts)
