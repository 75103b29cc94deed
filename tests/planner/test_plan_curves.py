"""Curves of a plan: from one label on, and every point a plan of its own."""

import math
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.planner import defaults, plan_curves, ranking, study

SIZES = {"queries": 60, "labels": 60, "teachers": 40, "n_classes": 3}
NAMES = ["gnmax_exact", "gnmax_analytic", "confident_gnmax_exact"]


@pytest.fixture(scope="module")
def made():
    task = study.task(defaults.settings(**SIZES), 1.0, 1e-5, secure=True)
    plans = study.ranked(task, NAMES, 3)
    return task, plans, plan_curves.around(task, plans, 3)


def test_a_line_starts_at_one_label_and_ends_at_the_plan(made):
    _task, plans, curves = made
    line = curves.line("gnmax_exact", "labels")
    assert [labels for labels, _ in line] == [1, 2, 5, 10, 20, 50, 60]
    assert [labels for labels, _ in curves.line(plans[1].mechanism, "labels")] == [1, 10, 60]
    assert line[-1][1] == pytest.approx(plans[0].correct / 60, rel=1e-3)
    over = [epsilon for epsilon, _ in curves.line("gnmax_exact", "epsilon")]
    assert over == [0.1, 0.2, 0.5, 1, 2, 5, 10]


@pytest.mark.parametrize("labels", [1, 5, 20])
def test_every_point_is_what_a_plan_of_its_own_gives(made, labels):
    task, _plans, curves = made
    profile = study.profile_votes(task, 3)
    one = replace(task, labels=labels)
    (best,) = ranking.plan(one, *profile, ["gnmax_exact"])
    known = dict(curves.line("gnmax_exact", "labels"))[labels] * labels
    least = 0.999 if labels >= 10 else 0.95  # there the noise of gnmax_analytic is shown
    assert least * best.correct <= known <= 1.001 * best.correct
    assert best.epsilon <= 1


def test_more_labels_and_more_epsilon_never_give_fewer_right_ones(made):
    _task, plans, curves = made
    for plan in plans:
        rows = [row for row in curves.rows if row["mechanism"] == plan.mechanism]
        for over in ("labels", "epsilon"):
            right = [row["correct"] for row in rows if row["over"] == over]
            assert right == sorted(right)


def test_levels_are_those_of_the_profile(made):
    _task, _plans, curves = made
    assert curves.commonest == pytest.approx(1 / 3)
    profile = defaults.PROFILE
    mean = [shape[0] / sum(shape) for shape in (profile["easy"], profile["hard"])]
    expected = profile["easy_share"] * mean[0] + (1 - profile["easy_share"]) * mean[1]
    assert curves.teacher == pytest.approx(expected, abs=0.06)
    assert curves.teacher < curves.plurality < 1


def test_where_a_line_is_useful():
    line = [(1, 0.9), (10, 0.85), (100, 0.75)]
    assert plan_curves.labels_that_stay_useful(line) == pytest.approx(math.sqrt(1000))
    assert plan_curves.labels_that_stay_useful([(1, 0.7), (10, 0.6)]) == 0
    assert plan_curves.labels_that_stay_useful([(1, 0.9), (10, 0.8)]) == 10
    assert plan_curves.epsilon_that_is_useful([(0.1, 0.2), (1, 0.5)]) == math.inf
    assert plan_curves.epsilon_that_is_useful([(0.1, 0.9), (1, 0.95)]) == pytest.approx(0.1)
    assert np.isclose(plan_curves.epsilon_that_is_useful([(1, 0.7), (100, 0.9)]), 10)
