"""The planner's studies: exact chances, one row per setting; equal totals by several accounts."""

import math

import numpy as np
import pytest

from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.planner.studies import LIMIT, best_label, many_labels, right

BEST = {
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
def best():
    return best_label(BEST)


def test_mechanisms_that_answer_everything_have_a_row_for_every_accuracy(best):
    """The optimal label has one for every pair of a stated and a true one."""
    points = best.groupby(["epsilon", "labels"])["mechanism"].value_counts().unstack()
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
    assert right(mechanism, task, parameters, [0.5]) == pytest.approx([drawn], abs=4e-3)


def test_the_right_profile_is_best_and_a_wrong_one_beats_all_others(best):
    one = best[best["labels"] == 1]
    for _, rows in one.groupby(["epsilon", "accuracy"]):
        optimum = rows[rows["mechanism"] == "optimal_label"].set_index("stated")["right"]
        others = rows[rows["mechanism"] != "optimal_label"]["right"].max()
        true = rows["accuracy"].iloc[0]
        (wrong,) = set(optimum.index) - {true}
        assert optimum[true] >= optimum[wrong] > others


def test_more_labels_are_right_less_often(best):
    found = best[(best["epsilon"] == 1.0) & (best["accuracy"] == 0.5)]
    by_labels = found.groupby(["mechanism", "labels"])["right"].max().unstack()
    assert (by_labels[4] < by_labels[1]).all()


MANY = {
    "mechanisms": ["gnmax", "gnmax_analytic", "gnmax_exact", "confident_gnmax", "exponential"],
    "delta": 1e-5,
    "many_labels": {"teachers": 51, "lead": 21, "epsilon": 1.0, "labels": [1, 20, 100]},
}


@pytest.fixture(scope="module")
def many():
    return many_labels(MANY)


def test_every_mechanism_that_answers_has_a_row_for_every_number_of_labels(many):
    assert list(many["labels"].unique()) == [1, 20, 100]
    answering = set(MANY["mechanisms"]) - {"confident_gnmax"}
    assert set(many["mechanism"]) == answering
    assert len(many) == 12
    assert ((many["right"] > 0.5) & (many["right"] < 1)).all()


def test_rows_are_what_the_mechanism_gives(many):
    row = many[(many["mechanism"] == "gnmax_exact") & (many["labels"] == 20)].iloc[0]
    wanted = Task(1.0, 1e-5, 20, 20, 51, 2)
    mechanism = load("gnmax_exact")
    parameters = mechanism.calibrate(wanted)
    assert row["sigma"] == parameters.sigma <= 19.55
    chance = mechanism.law.distribution(np.array([[15, 36]]), parameters)[0, 1]
    assert row["right"] == chance
    # The right class wins where a standard normal stays below the lead over sqrt(2) sigma.
    assert chance == pytest.approx((1 + math.erf(21 / (2 * parameters.sigma))) / 2, rel=1e-12)


def test_the_ratio_falls_towards_its_limit(many):
    found = many[many["mechanism"] == "gnmax_exact"].set_index("labels")["ratio"]
    assert found[1] > 0.99 > 0.83 > found[20] > found[100] > LIMIT
    assert (many.loc[many["mechanism"] == "gnmax_analytic", "ratio"] == 1).all()
    assert many.loc[many["mechanism"] == "exponential", "ratio"].isna().all()
    assert (many["limit"] == math.sqrt(2 / math.pi)).all()


def test_labels_right_more_often_for_the_same_total(many):
    right = many[many["labels"] == 100].set_index("mechanism")["right"]
    assert right["gnmax_exact"] > right["gnmax_analytic"] > right["gnmax"]
