"""Two unequal rounds of PATE cost their sum whatever the votes, and not what the larger costs."""

import math

import numpy as np
import pytest

from private_ensembles.accounting.composition import exact_conversion_cost
from private_ensembles.papers.pate.mathematics.confident import compose_rounds
from private_ensembles.papers.pate.mathematics.rounds import confident_round, gnmax_round
from tests.accounting.bound_samplers import gaussian_delta

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


def test_what_two_rounds_are_expected_to_cost_is_the_sum_at_one_order():
    """Thresholds and labels of both, and the noise of a published cost for each."""
    counts, order = np.array([[58, 1, 1], [50, 6, 4], [20, 20, 20], [60, 0, 0]]), 4.0
    rounds = [confident_round(counts, 40.0, 9.0, 6.0), confident_round(counts[:3], 45.0, 20.0, 4.0)]
    both = compose_rounds(rounds, DELTA, order=order)
    parts = [each.threshold_rdp(order)[0] + each.label_rdp(order)[0] for each in rounds]
    conversion = float(exact_conversion_cost(order, DELTA, "improved"))
    assert both.epsilon == pytest.approx(sum(parts) + conversion, rel=1e-12)
    noises = [part.gnss_rdp for part in both.rounds]
    assert min(noises) > 1e-3
    assert both.sanitized_epsilon == pytest.approx(both.epsilon + sum(noises), rel=1e-12)
