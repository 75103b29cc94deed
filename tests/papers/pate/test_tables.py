"""PATE's tables: means over draws and seeds, nothing lost, and the mark on every row."""

import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.labels.release_marks import FREE_OF_VOTES, NOT_FOR_RELEASE
from private_ensembles.papers.pate.tables import sanitized_privacy, summarise_students

TASKS = {
    "mnist": {"stand_in": False, "synthetic": False, "K": 250},
    "glyph": {"stand_in": False, "synthetic": True, "K": 5000},
}


def account(task, aggregator, *draws, **last):
    """Rows of an account: quantities of each draw (a mapping)."""
    return [
        {
            "task": task,
            "aggregator": aggregator,
            "draw": draw,
            "quantity": name,
            "value": value,
            "release": FREE_OF_VOTES if name == "asked" else NOT_FOR_RELEASE,
        }
        for draw, quantities in enumerate(draws)
        for name, value in (quantities | last).items()
    ]


PRIVACY = pd.DataFrame(
    [
        *account(
            "mnist",
            "lnmax-100",
            {"asked": 100, "answered": 100, "epsilon": 2.0, "data_independent_epsilon": 5.0},
        ),
        *account(
            "mnist",
            "confident",
            {"asked": 640, "answered": 280.0, "epsilon": 1.9, "beta": 0.03},
            {"asked": 640, "answered": 286.0, "epsilon": 2.1, "beta": 0.04},
        ),
        *account(
            "glyph",
            "interactive",
            {"asked": 900, "answered": 400.0, "epsilon": 0.8, "beta_1": 0.009, "answered_first": 9},
        ),
    ]
)
LABELS = pd.DataFrame(
    [
        {"task": "mnist", "aggregator": "lnmax-100", "answered": 100, "correct": 90},
        {"task": "mnist", "aggregator": "confident", "answered": 280, "correct": 273},
    ]
)
TRAINED = pd.DataFrame(
    {
        "task": "mnist",
        "aggregator": "confident",
        "student_seed": [0, 1, 2],
        "accuracy": [0.97, 0.98, 0.99],
        "correct": [970, 980, 990],
        "evaluated": 1000,
    }
)
BASELINES = pd.DataFrame(
    {"task": "mnist", "student_seed": [0], "accuracy": 0.992, "correct": 992, "evaluated": 1000}
)


def row(table, task, aggregator):
    found = table[(table["task"] == task) & (table["aggregator"] == aggregator)]
    assert len(found) == 1
    return found.iloc[0]


def test_table_1_has_a_row_for_each_task_and_aggregator():
    table = summarise_students(PRIVACY, LABELS, TRAINED, BASELINES, TASKS)
    assert table[["task", "aggregator"]].to_numpy().tolist() == [
        ["mnist", "lnmax-100"],
        ["mnist", "confident"],
        ["glyph", "interactive"],
    ]
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    assert table["teachers"].tolist() == [250, 250, 5000]
    assert table["synthetic"].tolist() == [False, False, True]


def test_table_1_summarises_draws_and_seeds():
    confident = row(
        summarise_students(PRIVACY, LABELS, TRAINED, BASELINES, TASKS), "mnist", "confident"
    )
    assert confident["answered"] == 283
    assert confident["answered_sd"] == pytest.approx(math.sqrt(18))
    assert confident["epsilon"] == pytest.approx(2.0)
    assert confident["label_accuracy"] == pytest.approx(0.975)
    assert confident["student_accuracy"] == pytest.approx(0.98)
    assert confident["student_accuracy_sd"] == pytest.approx(0.01)
    assert (confident["student_correct"], confident["student_evaluated"]) == (980, 1000)
    assert (confident["student_seeds"], confident["baseline_seeds"]) == (3, 1)
    assert confident["baseline_accuracy"] == pytest.approx(0.992)
    assert math.isnan(confident["baseline_accuracy_sd"])


def test_what_was_not_made_is_empty_and_not_zero():
    table = summarise_students(PRIVACY, LABELS, TRAINED, BASELINES, TASKS)
    alone = row(table, "glyph", "interactive")
    for name in ("label_accuracy", "student_accuracy", "baseline_accuracy"):
        assert math.isnan(alone[name])
    assert (alone["student_seeds"], alone["baseline_seeds"]) == (0, 0)
    assert alone["answered_first"] == 9
    assert math.isnan(row(table, "mnist", "confident")["answered_first"])
    assert math.isnan(row(table, "mnist", "lnmax-100")["student_accuracy"])
    none = summarise_students(PRIVACY, LABELS, pd.DataFrame(), pd.DataFrame(), TASKS)
    assert none["student_accuracy"].isna().all()
    assert list(none.columns) == list(table.columns)


def test_no_answer_at_all_has_no_accuracy():
    silent = LABELS.assign(answered=0, correct=0)
    table = summarise_students(PRIVACY, silent, TRAINED, BASELINES, TASKS)
    assert table["label_accuracy"].isna().all()


def test_table_2_has_the_means_of_all_quantities_of_confident_aggregators():
    table = sanitized_privacy(PRIVACY, TASKS)
    assert table["aggregator"].tolist() == ["confident", "interactive"]
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    assert row(table, "mnist", "confident")["beta"] == pytest.approx(0.035)
    assert row(table, "glyph", "interactive")["beta_1"] == 0.009
    assert np.isnan(row(table, "glyph", "interactive")["beta"])


@pytest.mark.parametrize(
    "make",
    [
        lambda p: summarise_students(p, LABELS, TRAINED, BASELINES, TASKS),
        lambda p: sanitized_privacy(p, TASKS),
    ],
)
def test_a_row_without_a_known_mark_is_refused(make):
    make(PRIVACY.assign(release=FREE_OF_VOTES))
    with pytest.raises(ValueError, match="release = 'public': must be one of not for release, "):
        make(PRIVACY.assign(release="public"))
