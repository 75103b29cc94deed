"""The least noise for many labels: less than their counts need, and no more than they do."""

import math

import pytest

from private_ensembles.accounting.adaptive.account import adaptive_delta, adaptive_epsilon
from private_ensembles.accounting.adaptive.scales import least_scale, share_of_scale

from .labels import gnmax, least_gnmax

# Published nowhere: DESIGN 5.12. `analytic` is what the noisy counts need.
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


@pytest.mark.parametrize(("teachers", "labels", "epsilon", "most", "analytic"), TARGETS)
def test_half_the_noise_is_caught(teachers, labels, epsilon, most, analytic):
    """A mechanism that claims the budget and adds half the noise costs more, for certain."""
    scale = least_gnmax(teachers, labels, epsilon, 1e-5, 0.82 * analytic)
    twin = adaptive_delta(gnmax(teachers, scale / 2), labels, epsilon)
    assert twin.lower > 100 * 1e-5


def test_a_scale_is_the_least_but_for_its_slack():
    scale = least_scale(lambda scale: gnmax(21, scale), 10, 1.0, 1e-4, 10.0)
    assert adaptive_delta(gnmax(21, scale), 10, 1.0).upper <= 1e-4 * (1 + 1e-6)
    assert adaptive_delta(gnmax(21, 0.99 * scale), 10, 1.0).upper > 1e-4
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
