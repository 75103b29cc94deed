"""What a noisy threshold looks at, and how many queries a cap on answers leaves."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.labels.thresholds import (
    capped_mean_fraction,
    largest_disagreement,
    served_probability,
)

COUNTS = np.array([[5, 3, 2], [1, 8, 1]])


def test_the_excess_is_the_largest_lead_over_what_the_student_expects():
    scores = np.array([[0.5, 0.3, 0.2], [0.14, 0.2, 0.66]])
    # n - 10 p: (0, 0, 0) and (-0.4, 6, -5.6)
    np.testing.assert_allclose(largest_disagreement(COUNTS, scores), [0, 6], atol=1e-12)
    # 10 p is rounded to (1, 2, 7).
    whole = largest_disagreement(COUNTS, scores, round_expected=True)
    assert whole.dtype == np.int64
    assert whole.tolist() == [0, 6]


@given(st.integers(0, 10**9), st.booleans())
def test_one_vote_moves_the_excess_by_one_at_most(seed, whole):
    """So that a threshold costs as much as one on the largest count does."""
    generator = np.random.default_rng(seed)
    scores = generator.dirichlet(np.full(4, 0.5), 1)
    row = generator.multinomial(20, generator.dirichlet(np.ones(4)))
    first, second = generator.permutation(4)[:2]
    moved = row.copy()
    moved[first] -= row[first] > 0
    moved[second] += row[first] > 0
    both = [
        largest_disagreement(votes[None], scores, round_expected=whole)[0] for votes in (row, moved)
    ]
    assert abs(both[0] - both[1]) <= 1 + 1e-12


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
    assert capped_mean_fraction(passes, cap) == pytest.approx(exact, rel=1e-3)


def test_where_nothing_passes_nothing_is_answered():
    assert capped_mean_fraction(np.zeros(5), 3) == 0
