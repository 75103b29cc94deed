"""NZC's orders hold where students and ensembles are as printed, and fail where they are not."""

import pandas as pd
import pytest

from private_ensembles.papers.compare.comparison import compare_relations
from private_ensembles.papers.compare.printed import FOLDER, read_published

PRINTED = read_published(FOLDER.glob("nzc_*.csv"))
OURS = {"nzc-few": "nzc-5", "clean-few": "clean-5"}
STUDENTS = {"nzc above lnmax-9000", "nzc-few above nzc"}


def tables(seeds=8, sd=0.002, **students):
    """MNIST as printed, but for the students named (by our names)."""
    cells = PRINTED[(PRINTED["dataset"] == "mnist") & (PRINTED["column"] == "student_accuracy")]
    rows = [
        {
            "task": "mnist",
            "stand_in": False,
            "aggregator": OURS.get(row, row),
            "student_accuracy": students.get(OURS.get(row, row), float(digits) / 100),
            "student_accuracy_sd": sd,
            "student_seeds": seeds,
        }
        for row, digits in zip(cells["row"], cells["published"], strict=True)
    ]
    names = {"task": "mnist", "stand_in": False}
    labels = [
        names | {"aggregator": name, "label_accuracy": right}
        for name, right in (("lnmax", 0.9302), ("nzc", 0.9433), ("clean", 0.9437))
    ]
    curve = pd.DataFrame(
        {
            "task": "mnist",
            "panel": "teachers",
            "teachers": [250, 5, 100],
            "accuracy": [0.945, 0.988, 0.96],
            "qualified": [0.998, 0.985, 0.99],
            "qualified_wrong": [0.054, 0.006, 0.02],
        }
    )
    return {"table1": pd.DataFrame(rows), "table2": pd.DataFrame(labels), "figure2": curve}


def judged(nzc_inputs):
    found = compare_relations(PRINTED, {"nzc": nzc_inputs}, {"nzc": {"mnist": {}}}, data="paper")
    return found[found["dataset"] == "mnist"].set_index("row")


def test_all_orders_hold_for_what_is_printed():
    found = judged(tables())
    assert set(found["status"]) == {"match"}
    assert len(found) == 6
    assert set(found.index) > STUDENTS
    assert found["note"].str.contains("votes of our own").all()


@pytest.mark.parametrize(
    ("name", "accuracy", "row"),
    [
        ("nzc", 0.934, "nzc above lnmax-9000"),
        ("nzc-5", 0.951, "nzc-few above nzc"),
    ],
)
def test_a_student_no_better_than_the_other_breaks_the_order(name, accuracy, row):
    assert judged(tables(**{name: accuracy})).loc[row, "status"] == "differs"


def test_three_students_that_differ_widely_show_no_order_and_one_is_no_evidence():
    few = judged(tables(seeds=3, sd=0.006))
    assert set(few.loc[["nzc above lnmax-9000"], "status"]) == {"weak"}
    one = judged(tables(seeds=1)).loc[list(STUDENTS)]
    assert set(one["status"]) == {"not_run"}
    assert one["note"].str.contains("One student").all()


def test_labels_no_better_than_lnmax_s_break_the_order():
    nzc_inputs = tables()
    nzc_inputs["table2"] = nzc_inputs["table2"].assign(label_accuracy=0.94)
    assert judged(nzc_inputs).loc["nzc above lnmax", "status"] == "differs"


@pytest.mark.parametrize("column", ["accuracy", "qualified", "qualified_wrong"])
def test_a_curve_of_figure_2_that_turns_once_is_seen(column):
    nzc_inputs = tables()
    curve = nzc_inputs["figure2"].copy()
    middle, largest = (curve["teachers"] == K for K in (100, 250))
    curve.loc[middle, column], curve.loc[largest, column] = (
        curve.loc[largest, column].item(),
        curve.loc[middle, column].item(),
    )
    found = judged({**nzc_inputs, "figure2": curve})
    (row,) = found.index[found["column"].str.startswith(f"{column}:")]
    assert found.loc[row, "status"] == "differs"
    assert (found.drop(index=row)["status"] == "match").all()
