"""The planner's figures: what applies is drawn, the best first, each line with its own numbers."""

import pandas as pd

from private_ensembles.report.planner_figure import draw_plan, drawn_names

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
