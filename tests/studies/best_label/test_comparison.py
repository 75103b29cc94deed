"""The study of the best label: exact chances, a row per setting, none is better."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.accounting.adaptive_composition.account import (
    adaptive_epsilon,
    privacy_curve,
)
from private_ensembles.accounting.label_composition import largest_label_epsilon
from private_ensembles.audit.audited_labels import HistogramLabel
from private_ensembles.labels import registry
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from studies.best_label.best_label import best_label
from studies.best_label.comparison import calibrate_best_label, compare, neighbouring_pairs
from studies.best_label.figure import DRAWN, draw_best_label

from ...accounting.adversaries import least_delta

MECHANISMS = ["confident_gnmax", "exponential", "permute_and_flip", "ladder"]
BEST = {
    "teachers": 7,
    "n_classes": 4,
    "accuracies": [0.5, 0.8],
    "epsilons": [0.5, 1.0],
    "labels": [1, 4],
}


@pytest.fixture(scope="module")
def best():
    return compare(BEST, mechanisms=MECHANISMS, delta=1e-5)


def test_mechanisms_that_answer_everything_have_a_row_for_every_accuracy(best):
    """The optimal label has one for every pair of a stated and a true one."""
    points = best.groupby(["epsilon", "labels"])["mechanism"].value_counts().unstack()
    assert list(points.index) == [(0.5, 1), (1.0, 1), (1.0, 4)]
    assert (points["optimal_label"] == 4).all()
    assert (points[["exponential", "permute_and_flip"]] == 2).all(axis=None)
    assert set(points.columns) == {"optimal_label", "exponential", "permute_and_flip"}


def test_right_is_the_share_of_right_labels(best):
    label = best_label(7, 4, 1.0, 1e-5, accuracy=0.5)
    counts = np.random.default_rng(0).multinomial(7, [0.5] + [0.5 / 3] * 3, size=200_000)
    row = best[(best["mechanism"] == "optimal_label") & (best["labels"] == 1)]
    row = row[(row["epsilon"] == 1.0) & (row["stated"] == 0.5) & (row["accuracy"] == 0.5)]
    drawn = label.distribution(counts)[:, 0].mean()
    assert row["right"].item() == pytest.approx(drawn, abs=4e-3)


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


@pytest.mark.parametrize(
    ("K", "C", "epsilon"),
    [
        (3, 3, 0.7),
        (5, 4, 3.0),
        *(
            pytest.param(*size, epsilon, marks=pytest.mark.slow)
            for size in ((9, 4), (11, 10), (14, 5))
            for epsilon in (0.05, 0.7, 3.0)
        ),
    ],
)
def test_no_mechanism_is_right_more_often(K, C, epsilon):
    """All that serve more than two classes, with noise for one label at the same budget."""
    study = {"teachers": K, "n_classes": C, "epsilons": [epsilon], "labels": [1]}
    study["accuracies"] = [0.4, 0.6, 0.9]
    table = compare(study, mechanisms=registry.offered_mechanisms(), delta=1e-5)
    optimum = table[table["stated"] == table["accuracy"]].set_index("accuracy")["right"]
    others = table[table["stated"].isna()]
    assert {"permute_and_flip", "exponential", "gnmax_exact"} <= set(others["mechanism"])
    assert (others["right"] <= others["accuracy"].map(optimum) + 1e-9).all()


class OfTable:
    """A label as the audit's law: probabilities of any histograms."""

    may_abstain = False

    def outcome_distribution(self, counts, label, secure=False):
        return label.distribution(counts)

    def numerical_error(self, n_teachers, n_classes, label, secure=False):
        return {"relative_error": 2.0**-52, "absolute_error": 1e-300}


def test_several_labels_are_charged_for_all_moves_and_cost_no_more_than_in_parts():
    """The account's pairs give what all pairs of the audit's histograms give."""
    task = Task(Ensemble(6, 3), Budget(0.7, 1e-5), Wanted(20))
    label = calibrate_best_label(task, 0.7)
    assert label.epsilon > 1.1 * largest_label_epsilon(task.budget.epsilon, 20, task.budget.delta)
    family = neighbouring_pairs(label)
    every = HistogramLabel(OfTable(), label, 6, 3).label_pairs()
    for labels in (1, 2, 20):
        ours, theirs = (adaptive_epsilon(each, labels, 1e-5) for each in (family, every))
        assert ours.upper == pytest.approx(theirs.upper, rel=1e-3)
    spent = adaptive_epsilon(family, 20, task.budget.delta)
    assert (
        0.95 * task.budget.epsilon < spent.lower <= spent.upper <= task.budget.epsilon * (1 + 1e-3)
    )
    # Half the noise for several labels is caught.
    twin = neighbouring_pairs(best_label(6, 3, 2 * label.epsilon, accuracy=0.7))
    assert (
        least_delta(
            privacy_curve(twin, 20, task.budget.epsilon, task.budget.delta), task.budget.epsilon
        )
        > task.budget.delta
    )
    assert (
        calibrate_best_label(replace(task, wanted=replace(task.wanted, labels=1)), 0.7).delta
        == task.budget.delta
    )


def test_best_labels_that_were_told_another_accuracy_are_dots(drawn, published):
    study = published("studies/best_label")
    draw_best_label(study)
    rows = study[study["mechanism"].isin(DRAWN) & (study["accuracy"] == study["accuracy"].iloc[0])]
    rows = rows[rows["labels"] == 1]
    told = rows["stated"].isna() | (rows["stated"] == rows["accuracy"])
    seen = {True: [], False: []}
    for line in drawn[0].axes[0].lines:
        seen[line.get_marker() != "."] += line.get_ydata().tolist()
    for kind in (True, False):
        assert sorted(seen[kind]) == sorted(rows.loc[told == kind, "right"])
