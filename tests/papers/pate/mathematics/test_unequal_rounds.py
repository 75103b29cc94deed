"""Two unequal rounds of PATE cost their sum whatever the votes, and not what the larger costs."""

import math

import numpy as np
import pytest

from private_ensembles.papers.pate.mathematics.confident import compose_rounds
from private_ensembles.papers.pate.mathematics.rounds import confident_round, gnmax_round
from tests.accounting.promises import gaussian_delta

DELTA = 1e-5


def test_what_two_rounds_cost_whatever_the_votes_is_their_sum():
    """A threshold moves one count by one; a label moves two, so that mu^2 is 2 / sigma^2."""
    counts = np.array([[200, 30, 20], [100, 90, 60], [120, 70, 60]])
    large = gnmax_round(counts, 20.0)
    small = confident_round(counts[:2], 100.0, 60.0, 35.0)
    squared = 3 * 2 / 20**2 + 2 * (1 / 60**2 + 2 / 35**2)
    both = compose_rounds([large, small], DELTA)
    delta = gaussian_delta(math.sqrt(squared), both.exact_data_independent_epsilon)
    assert float(delta) == pytest.approx(DELTA, rel=1e-6)
    assert both.data_independent_epsilon >= both.exact_data_independent_epsilon
    # In either order, and more than what the dearer round costs alone.
    turned = compose_rounds([small, large], DELTA)
    assert turned.data_independent_epsilon == pytest.approx(both.data_independent_epsilon)
    alone = compose_rounds([large], DELTA)
    assert both.data_independent_epsilon > alone.data_independent_epsilon * 1.05
