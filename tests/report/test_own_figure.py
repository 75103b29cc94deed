"""Figures of own votes and of plans: each panel and each line has its own numbers."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.report import own_figure
from private_ensembles.report.planner_figure import draw_plan, drawn_names

ROWS = [("gnmax", 40.0, True, ""), ("lnmax_pure", 30.0, False, ""), ("ladder", np.nan, False, "no")]
TABLE = pd.DataFrame(ROWS, columns=["mechanism", "correct", "chosen", "not_applicable"])
TABLE = TABLE.assign(wanted=100)
CURVES = pd.DataFrame(
    {
        "over": ["labels"] * 4 + ["epsilon"] * 3,
        "mechanism": ["gnmax", "gnmax", "lnmax_pure", "lnmax_pure", "gnmax", "gnmax", "lnmax_pure"],
        "wanted": [50, 100, 50, 100, 100, 100, 100],
        "budget_epsilon": [1, 1, 1, 1, 0.5, 1, 1],
        "correct": [25, 40, 20, 30, 20, 40, 30],
        "chosen": [True, True, False, False, True, True, False],
    }
)
PROFILE = {"easy_share": 0.7, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0}


def test_each_curve_is_drawn_over_what_it_varies(drawn):
    own_figure.draw_own(TABLE, CURVES, PROFILE)
    by_labels, by_budget = (
        [[tuple(x) for x in line.get_data()] for line in axis.get_lines()]
        for axis in drawn[0].axes[1:3]
    )
    assert by_labels == [[(50, 100), (50, 40)], [(50, 100), (40, 30)]]
    assert by_budget == [[(0.5, 1), (20, 40)], [(1,), (30,)]]
    assert own_figure._decade_ticks(CURVES["wanted"]) == [1, 10, 100]
    assert own_figure._decade_ticks(pd.Series([1, 150])) == [1, 10, 150]
    words = [text.get_text() for text in drawn[0].axes[3].get_legend().get_texts()]
    assert words == ["hard queries (30%)", "easy queries (70%)"]


@pytest.mark.parametrize(("a", "b"), [(20, 2), (2, 2), (0.5, 0.5), (300, 1)])
def test_the_profile_s_mean_is_the_beta_s(a, b):
    weights = own_figure._beta_density(a, b)
    assert weights.sum() == pytest.approx(1)
    assert weights @ own_figure._SHARES == pytest.approx(a / (a + b), abs=0.01)


PLAN_ROWS = [
    ("gnmax_exact", 1.0, 40.0, ""),
    ("gnmax_analytic", 4.0, 90.0, ""),
    ("permute_and_flip", 1.0, 39.0, ""),
    ("permute_and_flip", 4.0, 89.0, ""),
    ("ladder", 1.0, float("nan"), "two classes only"),
]
PLAN = pd.DataFrame(PLAN_ROWS, columns=["mechanism", "budget_epsilon", "correct", "not_applicable"])
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
