"""Released labels, counted, and their students, averaged."""

import numpy as np
import pandas as pd
import pytest

from studies.authors_labels.tables import summarise_authors_labels


def test_published_labels_are_counted_and_their_students_averaged():
    labels, queries = np.array([1, 0, 2, 2]), np.array([3, 0])
    truth = np.array([1, 1, 2, 0, 2, 2])
    trained = pd.DataFrame(
        {
            "task": ["mnist", "mnist", "other"],
            "student_seed": [0, 1, 0],
            "labels": 2,
            "accuracy": [0.96, 0.98, 0.1],
            "correct": [96, 98, 10],
            "evaluated": 100,
        }
    )
    table = summarise_authors_labels({"mnist": (labels, queries)}, {"mnist": truth}, trained)
    (row,) = table.to_dict("records")
    assert (row["task"], row["aggregator"]) == ("mnist", "lnmax-2")
    assert (row["labels"], row["right"]) == (2, 1)
    assert (row["pool_labels"], row["pool_right"]) == (4, 2)
    assert row["student_accuracy"] == pytest.approx(0.97)
    assert row["student_accuracy_sd"] == pytest.approx(0.02 / 2**0.5)
    assert (row["student_correct"], row["student_evaluated"], row["student_seeds"]) == (97, 100, 2)
    assert not row["stand_in"]
