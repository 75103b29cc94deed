"""What a noisy threshold looks at: it moves by at most 1 with one vote, and bad input is named."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.pate.consensus import (
    check_cap,
    check_confidence,
    check_scores,
    check_threshold,
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_scores(np.full((2, 2), 0.5), COUNTS), r"scores: shape \(2, 2\) must be"),
        (lambda: check_scores(np.full((2, 3), 0.5), COUNTS), "scores: every row must be >= 0"),
        (lambda: check_confidence(1.5), "confidence"),
        (lambda: check_threshold(math.nan), "threshold"),
        (lambda: check_cap("answer_cap", 1.5), "answer_cap"),
        (lambda: check_cap("query_cap", -1), "query_cap"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_no_cap_is_none():
    assert check_cap("query_cap", None) is None
    assert check_cap("query_cap", 3) == 3
