"""The planner's figures: what applies is drawn, the best first, byte for byte the same."""

import functools

import pandas as pd

from private_ensembles.figures import style
from private_ensembles.figures.planner import draw_plan, drawn_names

from .twice import assert_equal_bytes

ROWS = [
    ("gnmax", 1.0, 40.0, ""),
    ("gnmax", 4.0, 90.0, ""),
    ("lnmax_pure", 1.0, 30.0, ""),
    ("lnmax_pure", 4.0, 95.0, ""),
    ("ladder", 1.0, float("nan"), "two classes only"),
]
PLAN = pd.DataFrame(ROWS, columns=["mechanism", "budget_epsilon", "correct", "not_applicable"])
PLAN = PLAN.assign(wanted=100, delta=1e-5)


def test_mechanisms_that_apply_come_by_their_right_labels():
    assert drawn_names(PLAN) == ["lnmax_pure", "gnmax"]


def test_figures_are_drawn_byte_for_byte_equal(tmp_path):
    assert_equal_bytes(functools.partial(draw_plan, PLAN), tmp_path, least=3000)


def test_proofs_of_one_family_are_one_line_named_at_its_end(monkeypatch):
    drawn = []
    monkeypatch.setattr(style, "save", lambda figure, *paths: drawn.append(figure))
    rows = [("gnmax_exact", 1.0, 40.0, ""), ("gnmax_analytic", 4.0, 90.0, "")]
    rows += [("permute_and_flip", 1.0, 39.0, ""), ("permute_and_flip", 4.0, 89.0, "")]
    table = pd.DataFrame(rows, columns=PLAN.columns[:4])
    draw_plan(table.assign(wanted=100, delta=1e-5))
    (axis,) = drawn[0].axes
    lines = [line for line in axis.lines if line.get_marker() not in ("", "None", None)]
    assert sorted(line.get_ydata().tolist() for line in lines) == [[39, 89], [40, 90]]
    places = {text.get_text(): text.get_position()[1] for text in axis.texts}
    assert places["GNMax"] == 90
    assert places["Permute-and-flip"] <= 90 - 6  # not on top of each other
