"""How likely a query passes the noisy threshold."""

import math

import numpy as np
import pytest

from private_ensembles.pate.expectation import answer_probability


def test_the_largest_count_decides():
    found = answer_probability([[9, 6, 5], [5, 9, 6], [7, 7, 6]], 8.0, 2.0)
    expected = [0.5 * math.erfc(-(n - 8) / 2 / math.sqrt(2)) for n in (9, 9, 7)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_unanimous_votes_may_fail_the_published_threshold():
    # T = 200, sigma1 = 150: even unanimous votes of 250 teachers pass with Phi(1/3) only.
    found = answer_probability([[250, 0]], 200, 150)[0]
    assert found == pytest.approx(0.5 * math.erfc(-1 / 3 / math.sqrt(2)), rel=1e-14)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"counts": [3, 1]}, "counts"),
        ({"threshold": math.nan}, "threshold"),
        ({"sigma1": 0.0}, "sigma"),
    ],
)
def test_bad_arguments_are_named(change, name):
    with pytest.raises(ValueError, match=name):
        answer_probability(**{"counts": [[3, 1]], "threshold": 2, "sigma1": 1.0} | change)
