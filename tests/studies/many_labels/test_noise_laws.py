"""Noise laws at equal totals: one row per setting, by several accounts; and the figure."""

import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from studies.many_labels.figure import draw_many_labels
from studies.many_labels.noise_laws import LIMIT, compare_noise_laws

MANY = {
    "mechanisms": ["gnmax", "gnmax_analytic", "gnmax_exact", "confident_gnmax", "exponential"],
    "delta": 1e-5,
}
SETTINGS = {"teachers": 51, "lead": 21, "epsilon": 1.0, "labels": [1, 20, 100]}


@pytest.fixture(scope="module")
def many():
    return compare_noise_laws(SETTINGS, **MANY)


def test_every_mechanism_that_answers_has_a_row_for_every_number_of_labels(many):
    assert list(many["labels"].unique()) == [1, 20, 100]
    answering = set(MANY["mechanisms"]) - {"confident_gnmax"}
    assert set(many["mechanism"]) == answering
    assert len(many) == 12
    assert ((many["right"] > 0.5) & (many["right"] < 1)).all()


def test_rows_are_what_the_mechanism_gives(many):
    row = many[(many["mechanism"] == "gnmax_exact") & (many["labels"] == 20)].iloc[0]
    wanted = Task(Ensemble(51, 2), Budget(1.0, 1e-5), Wanted(20))
    mechanism = load_mechanism("gnmax_exact")
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


def test_votes_have_a_panel_of_their_own_beside_the_study_of_many_labels(drawn, published):
    study = published("studies/many_labels")
    draw_many_labels(study, None)
    draw_many_labels(study, published("studies/equal_budget"))
    panels = [[axis.get_visible() for axis in figure.axes] for figure in drawn]
    assert panels == [[True, True, False, True], [True] * 4]


def test_of_many_proofs_the_loosest_and_the_tightest_are_drawn_wherever_they_stand(drawn):
    """One that lies between both may come last in the table."""
    rights = {"gnmax": 0.6, "gnmax_exact": 0.9, "gnmax_analytic": 0.7}
    rows = [(name, labels, right) for labels in (10, 100) for name, right in rights.items()]
    study = pd.DataFrame(rows, columns=["mechanism", "labels", "right"])
    draw_many_labels(
        study.assign(lead=5, teachers=51, epsilon=1.0, delta=1e-5, limit=0.8, ratio=study["right"]),
        None,
    )
    first, second, *_ = drawn[0].axes
    assert [list(line.get_ydata()) for line in first.lines] == [[0.6] * 2, [0.9] * 2]
    # The noise is drawn by every account.
    assert {line.get_ydata()[0] for line in second.lines[:3]} == set(rights.values())
