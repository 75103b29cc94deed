"""How many queries are answered if a cap stops the mechanism: exactly, and about."""

import itertools

import numpy as np
import pytest

from private_ensembles.pate.caps import capped_mean, served_probability


def test_served_is_the_chance_of_being_early_in_random_order():
    generator = np.random.default_rng(0)
    for cap in (1, 3, 6, 9):
        passes = generator.random(8) * [1, 1, 1, 1, 1, 1, 0, 1]
        passes[0] = 1.0
        served = served_probability(passes, cap)
        for q in range(8):
            others = np.delete(passes, q)
            exact = 0.0
            for outcome in itertools.product((0, 1), repeat=7):
                chance = np.prod(np.where(outcome, others, 1 - others))
                exact += chance * min(1, cap / (sum(outcome) + 1))
            assert served[q] == pytest.approx(exact, rel=1e-12)


def test_served_is_stable_for_many_queries():
    passes = np.random.default_rng(1).beta(0.3, 0.3, 2000)
    served = served_probability(passes, 300)
    # All served answers together: E min(N, cap), and N is far above the cap here.
    assert served @ passes == pytest.approx(300, rel=1e-9)


@pytest.mark.parametrize("cap", [50, 300, 700, 1900])
def test_the_guide_is_near_the_exact_mean(cap):
    """About 1,000 of 2,000 queries pass."""
    passes = np.random.default_rng(2).beta(0.3, 0.3, 2000)
    exact = served_probability(passes, cap) @ passes / passes.sum()
    assert capped_mean(passes, cap) == pytest.approx(exact, rel=1e-3)


def test_where_nothing_passes_nothing_is_answered():
    assert capped_mean(np.zeros(5), 3) == 0
