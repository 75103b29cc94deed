"""The least noise for many labels: less than their counts need, and no more than they do."""

import math

import numpy as np
import pytest

from private_ensembles.accounting.adaptive_composition.account import FINE, adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    dominating_pairs_from_table,
)
from private_ensembles.accounting.adaptive_composition.scales import (
    explain_nothing_provable,
    grid_fineness,
    loses_all,
    share_of_scale,
)
from tests.accounting.adaptive_composition.labels import gnmax, least_gnmax, least_scale
from tests.accounting.adversaries import bounds_at

# Published in docs/benchmarks/README.md alone. `analytic` is what the noisy counts need.
TARGETS = [
    (51, 20, 1.0, 19.55, 23.59),
    (251, 100, 1.0, 42.9, 52.76),
    (51, 100, 2.0, 22.80, 28.20),
]


@pytest.mark.parametrize(("teachers", "labels", "epsilon", "most", "analytic"), TARGETS)
def test_gnmax_needs_less_noise_than_its_counts(teachers, labels, epsilon, most, analytic):
    scale = least_gnmax(teachers, labels, epsilon, 1e-5, 0.82 * analytic)
    assert math.sqrt(2 / math.pi) * analytic < scale <= most
    found = adaptive_epsilon(gnmax(teachers, scale), labels, 1e-5)
    assert found.upper <= epsilon * (1 + 1e-4)
    assert found.lower >= 0.985 * epsilon
    # A mechanism that claims the budget and adds half the noise costs more, for certain.
    twin = bounds_at(gnmax(teachers, scale / 2), labels, epsilon)
    assert twin.lower > 100 * 1e-5


def test_a_scale_is_the_least_but_for_its_slack():
    scale = least_scale(lambda scale: gnmax(21, scale), 10, 1.0, 1e-4, 10.0)
    assert bounds_at(gnmax(21, scale), 10, 1.0).upper <= 1e-4 * (1 + 1e-6)
    assert bounds_at(gnmax(21, 0.99 * scale), 10, 1.0).upper > 1e-4
    again = least_scale(lambda scale: gnmax(21, scale), 10, 1.0, 1e-4, 100.0)
    assert again == pytest.approx(scale, rel=2e-3)


def test_a_search_for_many_labels_asks_a_few_scales_and_starts_near():
    asked = []

    def family(scale):
        asked.append(scale)
        return gnmax(51, scale)

    counts = 50.0
    start = counts * share_of_scale(gnmax(51, counts), 300, 1.0, 1e-5)
    scale = least_scale(family, 300, 1.0, 1e-5, start)
    assert start == pytest.approx(scale, rel=0.02)
    assert len(asked) <= 6


# A label of five teachers that flips the majority's, by a few votes less often the clearer it is.
ONES = np.array([0.05, 0.1, 0.25, 0.75, 0.9, 0.95])
FAMILY = dominating_pairs_from_table(
    np.stack([1 - ONES, ONES], axis=1), 2.0**-52, 1e-300, negligible=1e-21
)


def test_few_labels_get_a_finer_grid_but_no_more_than_eight_times():
    assert [grid_fineness(2, labels) / FINE for labels in (1, 50, 100, 10_000)] == [8, 2, 1, 1]
    assert [grid_fineness(3, labels) for labels in (1, 5, 10, 10_000)] == [8, 8, 4, 4]


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("labels", [1, 1000])
def test_a_delta_that_rounding_takes_is_named_and_a_larger_one_is_not(n_classes, labels):
    assert explain_nothing_provable(n_classes, labels, 1e-5) is None
    reason = explain_nothing_provable(n_classes, labels, labels * 1e-17)
    assert f"its account of {labels:,} labels proves nothing for a delta of" in reason
    named = float(reason.partition("delta of ")[2].partition(" ")[0])
    assert explain_nothing_provable(n_classes, labels, 1.1 * named) is None
    assert explain_nothing_provable(n_classes, labels, 0.9 * named) == reason


@pytest.mark.parametrize("labels", [2, 10])
def test_where_the_grid_takes_all_of_delta_the_account_has_no_epsilon(labels):
    """Just what the quick answer says the slow one would find."""
    for each, lost in ((1e-17, True), (1e-12, False)):
        delta = labels * each
        assert loses_all(FAMILY, labels, 4.0, delta, n_classes=2) == lost
        bounds = adaptive_epsilon(FAMILY, labels, delta, fineness=grid_fineness(2, labels))
        assert np.isinf(bounds.upper) == lost
    # Nothing is worked out if there is plenty of delta.
    assert not loses_all(None, labels, 4.0, labels * 1e-8, n_classes=2)
