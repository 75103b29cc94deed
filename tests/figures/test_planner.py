"""The planner's figures: what applies is drawn, the best first, each line with its own numbers."""

import pandas as pd

from private_ensembles.figures.planner import draw_many_labels, draw_plan, drawn_names

ROWS = [
    ("gnmax_exact", 1.0, 40.0, ""),
    ("gnmax_analytic", 4.0, 90.0, ""),
    ("permute_and_flip", 1.0, 39.0, ""),
    ("permute_and_flip", 4.0, 89.0, ""),
    ("ladder", 1.0, float("nan"), "two classes only"),
]
PLAN = pd.DataFrame(ROWS, columns=["mechanism", "budget_epsilon", "correct", "not_applicable"])
PLAN = PLAN.assign(wanted=100, delta=1e-5)


def test_mechanisms_that_apply_come_by_their_right_labels():
    assert drawn_names(PLAN) == ["gnmax_analytic", "permute_and_flip", "gnmax_exact"]


def test_proofs_of_one_family_are_one_line_named_at_its_end(drawn):
    draw_plan(PLAN)
    (axis,) = drawn[0].axes
    lines = [line for line in axis.lines if line.get_marker() not in ("", "None", None)]
    assert sorted(line.get_ydata().tolist() for line in lines) == [[39, 89], [40, 90]]
    places = {text.get_text(): text.get_position()[1] for text in axis.texts}
    assert places["GNMax"] == 90
    assert places["Permute-and-flip"] <= 90 - 6  # not on top of each other


def test_votes_have_a_panel_of_their_own_beside_the_study_of_many_labels(drawn, published):
    study = published("planner/many_labels")
    draw_many_labels(study, None)
    draw_many_labels(study, published("pate/equal_budget"))
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
