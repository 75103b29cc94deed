"""What a noisy threshold looks at: it moves by at most 1 with one vote, and bad input is named."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.pate.consensus import (
    student_excess,
)

COUNTS = np.array([[5, 3, 2], [1, 8, 1]])


def test_the_excess_is_the_largest_lead_over_what_the_student_expects():
    scores = np.array([[0.5, 0.3, 0.2], [0.14, 0.2, 0.66]])
    # n - 10 p: (0, 0, 0) and (-0.4, 6, -5.6)
    np.testing.assert_allclose(student_excess(COUNTS, scores), [0, 6], atol=1e-12)
    # 10 p is rounded to (1, 2, 7).
    whole = student_excess(COUNTS, scores, whole=True)
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
    both = [student_excess(votes[None], scores, whole=whole)[0] for votes in (row, moved)]
    assert abs(both[0] - both[1]) <= 1 + 1e-12
