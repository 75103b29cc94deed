"""What NZC claims in closed form, and LNMax beside it in Table 1."""

import pytest

from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.nzc.claims import claimed_epsilon


def test_lnmax_beside_nzc_has_the_moments_bound_and_the_optimal_one():
    """Data-independent epsilons of LNMax with noise of scale 20 votes: the table of docs/nzc.md."""
    queries = [100, 1000, 5000, 9000]
    moments = [claimed_epsilon(1 / 20, count, 1e-5) for count in queries]
    optimal = [optimal_homogeneous(2 / 20, 0.0, count, 1e-5).epsilon for count in queries]
    assert [round(value, 1) for value in moments] == [5.8, 25.2, 83.9, 135.5]
    assert moments[0] == pytest.approx(5.80, abs=0.01)
    assert [round(value, 1) for value in optimal] == [4.3, 17.8, 54.3, 84.5]
    assert all(least < moment for least, moment in zip(optimal, moments, strict=True))
