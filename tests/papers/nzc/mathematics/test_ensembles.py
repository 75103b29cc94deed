"""Tables 1 and 2 and Figures 2a-c as functions of counts."""

import numpy as np
import pytest

from private_ensembles.papers.nzc.mathematics.ensembles import (
    distance_shares,
    label_accuracies,
    leads,
    plurality_accuracy,
    teacher_curve,
)
from private_ensembles.papers.nzc.mathematics.mechanism import label_distribution

COUNTS = np.array([[5, 0, 0], [3, 2, 0], [2, 2, 1], [0, 1, 4]])
LABELS = np.array([0, 1, 1, 2])


def test_distance_is_strictly_larger_than_n():
    assert leads(COUNTS).tolist() == [5, 1, 0, 3]
    assert distance_shares(COUNTS, range(6)).tolist() == [0.75, 0.5, 0.5, 0.25, 0.25, 0]


def test_accuracies_count_known_labels_only():
    assert plurality_accuracy(COUNTS, LABELS) == 0.5
    assert plurality_accuracy(COUNTS, [0, -1, -1, 2]) == 1
    nzc, _ = label_distribution(COUNTS, ties="random")
    found = label_accuracies(COUNTS, LABELS, {"nzc": nzc, "uniform": np.full((4, 3), 1 / 3)})
    assert found == pytest.approx({"nzc": 2.5 / 4, "uniform": 1 / 3, "clean": 0.5})


def test_teacher_curve_has_a_row_per_ensemble():
    rows = teacher_curve({5: (COUNTS, LABELS), 1: (np.eye(3, dtype=int), [0, 1, 0])})
    assert [row["teachers"] for row in rows] == [1, 5]
    assert rows[0] == {"teachers": 1, "accuracy": 2 / 3, "qualified": 0, "qualified_wrong": 0}
    assert rows[1] == {"teachers": 5, "accuracy": 0.5, "qualified": 0.5, "qualified_wrong": 0}


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: leads([[1.0, 2.0]]), "counts"),
        (lambda: plurality_accuracy(COUNTS, [0]), "labels"),
        (lambda: plurality_accuracy(COUNTS, [-1] * 4), "labels"),
        (lambda: label_accuracies(COUNTS, LABELS, {"x": [[1.0]]}), "x: shape"),
        (lambda: teacher_curve({4: (COUNTS, LABELS)}), "4 teachers"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
