"""Students of bagged teachers: every method at its own number of labels."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from private_ensembles.papers.dpbag import students as bagging_students
from private_ensembles.papers.dpbag.students import student_metrics, train_students
from private_ensembles.papers.dpbag.tables import METRICS
from tests.papers.dpbag.conftest import LOGISTIC, PATH, TREES


def test_students_are_all_methods_at_their_own_numbers_of_labels(thirds, accounts):
    settings = {"draws": 2, "noise": 2}
    progress = []
    rows = train_students(
        thirds, "logistic", LOGISTIC, settings, accounts, 0, PATH, progress=progress.append
    )
    assert [row["method"] for row in rows].count("npb") == 1
    assert len(rows) == 1 + 2 * (2 * 4 + 2 * 2 * (4 + 4))  # n x (SAA, then k x draws x budgets)
    assert len(progress) == 2 * 3
    for row in rows[1:]:
        counts, _ = accounts[row["n"]]
        accounting = "personalised" if row["method"] == "dpbag" else "data_independent"
        (count,) = [
            c["releasable"]
            for c in counts
            if c["accounting"] == accounting
            and (c["epsilon"], c["delta"]) == (row["epsilon"], row["delta"])
            and (c["k"] == row["k"] or accounting == "data_independent")
        ]
        assert row["labels"] == min(count, 60)
        for metric in METRICS:
            assert np.isnan(row[metric]) == (count == 0)
    assert rows[0]["accuracy"] > 0.9
    # As files hold them: rows without a releasable number make floats of all others.
    written = {
        n: (
            pd.read_csv(StringIO(pd.DataFrame(counts).to_csv(index=False))).to_dict("records"),
            more,
        )
        for n, (counts, more) in accounts.items()
    }
    assert any(np.isnan(c["releasable"]) for counts, _ in written.values() for c in counts)
    again = train_students(thirds, "logistic", LOGISTIC, settings, written, 0, PATH)
    for one, other in zip(again, rows, strict=True):
        for name, value in other.items():
            assert one[name] == value or one[name] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(("model", "training"), [("logistic", LOGISTIC), ("boosted_trees", TREES)])
def test_metrics_do_not_depend_on_the_order_of_test_records(thirds, model, training):
    (row,) = train_students(thirds, model, training, {"draws": 1, "noise": 2}, {}, 0, PATH)
    features, labels = thirds.teachers
    metrics = student_metrics(features, labels, thirds.test, model, training)
    assert {name: row[name] for name in METRICS} == metrics


def test_a_student_of_one_class_or_none_is_no_failure(thirds):
    features, truth = thirds.queries
    same = np.ones(8, np.uint8)
    for model, training in (("logistic", LOGISTIC), ("boosted_trees", TREES)):
        metrics = student_metrics(features[:8], same, thirds.test, model, training)
        prevalence = float(thirds.test[1].mean())
        expected = {"accuracy": prevalence, "auroc": 0.5, "auprc": prevalence}
        assert metrics == pytest.approx(expected)
        none = student_metrics(features[:0], same[:0], thirds.test, model, training)
        assert np.isnan(list(none.values())).all()
        good = student_metrics(features, truth, thirds.test, model, training)
        assert good["auroc"] > 0.9
    assert set(metrics) == set(bagging_students.METRICS)
