"""The whole curve of many labels: exact adversaries at every epsilon, and tests that exist."""

import numpy as np
import pytest

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.whole_curve import whole_curve
from tests.accounting.adversaries import both_orders, exact_value, power

FAMILY = two_class_dominating_pairs([0.0625, 0.25, 0.5, 0.75, 0.9375], relative_error=0.0)


@pytest.mark.keeps(
    "accounting.adaptive_composition.whole_curve:whole_curve",
    "accounting.adaptive_composition.whole_curve:WholeCurve",
    "accounting.adaptive_composition.whole_curve:WholeCurve.delta",
)
@pytest.mark.parametrize("labels", [1, 2, 4])
def test_it_is_above_every_adversary_and_close(labels):
    whole = whole_curve(FAMILY, labels)
    pairs = both_orders(FAMILY.first, FAMILY.second)
    epsilons = np.linspace(0.0, 6.0, 60 // labels + 1)
    exact = np.array([float(exact_value(pairs, labels, power(float(e))[1])) for e in epsilons])
    claimed = whole.delta(epsilons)
    assert (claimed >= exact).all()
    assert (claimed <= exact + 5e-3).all()


def test_it_reads_as_the_curve_does_and_gives_the_epsilon_of_the_account():
    whole = whole_curve(FAMILY, 30)
    epsilons = np.random.default_rng(0).uniform(0, whole.last_epsilon * 1.2, 200)
    one_by_one = [whole.curve.delta(float(e)) for e in epsilons]
    np.testing.assert_allclose(whole.delta(epsilons), one_by_one, rtol=1e-12, atol=1e-15)
    bounds = adaptive_epsilon(FAMILY, 30, 1e-6)
    assert whole.curve.epsilon(1e-6) == pytest.approx(bounds.upper, rel=2e-3)
    assert whole.delta(whole.last_epsilon) < 1e-12
