"""What is compared with a threshold: the largest count, or its lead over what a student expects."""

import numpy as np
import pytest

from private_ensembles.mechanisms.checks.checked import CheckedNoise
from private_ensembles.mechanisms.checks.thresholds import plurality, student

COUNTS = np.array([[6, 1], [3, 4], [0, 7]])
NOISE = CheckedNoise(4.0, 3.0, 2.0, score=0.7)


def test_the_plurality_is_the_largest_count_whatever_the_noise():
    for secure in (False, True):
        assert plurality(COUNTS, NOISE, secure).tolist() == [6, 4, 7]


def test_a_student_expects_the_same_of_every_query():
    """2.1 votes for 0 and 4.9 for 1, or 2 and 5 where noise is whole."""
    np.testing.assert_allclose(student(COUNTS, NOISE, False), [3.9, 0.9, 2.1])
    whole = student(COUNTS, NOISE, True)
    assert whole.dtype == np.int64
    assert whole.tolist() == [4, 1, 2]


def test_a_students_score_is_of_two_classes():
    with pytest.raises(ValueError, match=r"^counts of 3 classes: a student's score is of two$"):
        student(np.array([[3, 2, 2]]), NOISE, False)
