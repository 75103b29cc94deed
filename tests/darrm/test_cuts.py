"""Rows that rest, and rows that return."""

import numpy as np
import pytest

from private_ensembles.darrm.cuts import Cuts
from private_ensembles.darrm.privacy_cost import PrivacyProblem, assignment_counts


@pytest.fixture
def cuts():
    return Cuts(PrivacyProblem(9, 1, 0.3, 0.01, 0.01))


def test_an_assignment_is_taken_up_once(cuts):
    x, known = np.ones(5), len(cuts.rows)
    found = [assignment_counts(up=4, D_zero=3, one_below=2), assignment_counts(up=4, zero=5)]
    new, excess = cuts.add(found, x)
    assert new == 2
    assert cuts.in_use[known:].all()
    rows = np.array([cuts.problem.row(counts) for counts in found]) / cuts.problem.allowance
    np.testing.assert_array_equal(cuts.rows[known:], rows)
    assert excess == pytest.approx((rows @ x).max() - 1)
    assert cuts.add(found, x) == (0, excess)
    assert cuts.add([], x) == (0, 0.0)


def test_what_neither_binds_nor_has_a_price_rests(cuts):
    cuts.in_use[:] = True
    y = np.zeros(len(cuts.rows))
    y[3] = 1.0
    cuts.sort_out(np.zeros(5), y, 0.5)
    assert np.nonzero(cuts.in_use)[0].tolist() == [3]


def test_a_row_that_returned_stays(cuts):
    none = np.zeros(len(cuts.rows))
    cuts.sort_out(np.zeros(5), none, 0.5)
    assert not cuts.in_use.any()
    wild = np.ones(5)
    cuts.sort_out(wild, none, 0.5)
    violated = cuts.rows @ wild > 1
    assert cuts.returned == violated.sum() > 0
    assert cuts.in_use[violated].all()
    cuts.sort_out(np.zeros(5), none, 0.5)
    assert (cuts.in_use == violated).all()
    assert cuts.returned == 0
