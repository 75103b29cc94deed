"""The paper's way of listing every constraint: how many rows there are (values: tests/darrm)."""

import numpy as np
import pytest

from benchmarks import enumeration
from private_ensembles.darrm.privacy_cost import PrivacyProblem


def test_rows_are_counted_as_multisets_of_corners():
    assert enumeration.row_count(11) == 31_824
    assert enumeration.row_count(11, 4) == 364
    counts = enumeration.multisets(5)
    assert len(counts) == enumeration.row_count(5, 4)
    assert (counts.sum(axis=1) == 5).all()
    assert len(np.unique(counts, axis=0)) == len(counts)


@pytest.mark.parametrize("Delta", [0.0, 1e-5])
def test_blocks_hold_every_row_once(Delta):
    problem = PrivacyProblem(5, 3, 0.1, Delta, 3 * Delta)
    rows = enumeration.all_rows(problem)
    assert len(rows) == enumeration.row_count(5, 8 if Delta else 4)
