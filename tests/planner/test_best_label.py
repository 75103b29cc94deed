"""The study of the best label: exact chances, one row per stated and true accuracy."""

import numpy as np
import pytest

from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.planner.best_label import right, study

SETTINGS = {
    "mechanisms": ["confident_gnmax", "exponential", "permute_and_flip", "ladder", "optimal_label"],
    "delta": 1e-5,
    "best_label": {
        "teachers": 7,
        "n_classes": 4,
        "accuracies": [0.5, 0.8],
        "epsilons": [0.5, 1.0],
        "labels": [1, 4],
    },
}


@pytest.fixture(scope="module")
def table():
    return study(SETTINGS)


def test_mechanisms_that_answer_everything_have_a_row_for_every_accuracy(table):
    """The optimal label has one for every pair of a stated and a true one."""
    points = table.groupby(["epsilon", "labels"])["mechanism"].value_counts().unstack()
    assert list(points.index) == [(0.5, 1), (1.0, 1), (1.0, 4)]
    assert (points["optimal_label"] == 4).all()
    assert (points[["exponential", "permute_and_flip"]] == 2).all(axis=None)
    assert set(points.columns) == {"optimal_label", "exponential", "permute_and_flip"}


def test_right_is_the_share_of_right_labels():
    task = Task(1.0, 1e-5, 1, 1, 7, 4)
    mechanism = load("optimal_label")
    parameters = mechanism.calibrate(task, accuracy=0.5)
    counts = np.random.default_rng(0).multinomial(7, [0.5] + [0.5 / 3] * 3, size=200_000)
    drawn = mechanism.law.distribution(counts, parameters)[:, 0].mean()
    assert right(mechanism, task, parameters, 0.5) == pytest.approx(drawn, abs=4e-3)


def test_the_right_profile_is_best_and_a_wrong_one_beats_all_others(table):
    one = table[table["labels"] == 1]
    for _, rows in one.groupby(["epsilon", "accuracy"]):
        optimum = rows[rows["mechanism"] == "optimal_label"].set_index("stated")["right"]
        others = rows[rows["mechanism"] != "optimal_label"]["right"].max()
        true = rows["accuracy"].iloc[0]
        (wrong,) = set(optimum.index) - {true}
        assert optimum[true] >= optimum[wrong] > others


def test_more_labels_are_right_less_often(table):
    found = table[(table["epsilon"] == 1.0) & (table["accuracy"] == 0.5)]
    by_labels = found.groupby(["mechanism", "labels"])["right"].max().unstack()
    assert (by_labels[4] < by_labels[1]).all()
