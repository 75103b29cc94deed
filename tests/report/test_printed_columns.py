"""The page shows printed numbers beside those of ours that they are compared with, by keys."""

import re

import pandas as pd
import pytest

from private_ensembles.papers.compare.comparison import NUMBER, select_kind
from private_ensembles.report.printed_columns import add_printed_columns, has_stars


@pytest.fixture(scope="module")
def fidelity(root):
    table = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    return select_kind(table, NUMBER)


def printed_of(fidelity, paper, item):
    return fidelity[(fidelity["paper"] == paper) & (fidelity["item"] == item)]


def shown_of(table):
    """All that stands in columns of printed numbers."""
    columns = [column for column in table if column.startswith("printed ")]
    return [text for column in columns for text in table[column] if text]


@pytest.mark.parametrize("item", ["table5", "table6", "table7", "table8"])
def test_every_printed_number_stands_once_beside_the_one_it_is_compared_with(root, fidelity, item):
    table = pd.read_csv(root / "docs" / "dpbag" / f"{item}.csv")
    printed = printed_of(fidelity, "dpbag", item)
    shown = add_printed_columns(item, table, printed, "dpbag")
    assert "stand_in" not in shown
    assert sorted(text.split(",")[0] for text in shown_of(shown)) == sorted(printed["published"])


@pytest.mark.parametrize("item", [f"table{number}" for number in range(1, 11)])
def test_every_printed_number_of_darrm_stands_once_beside_its_own(root, fidelity, item):
    table = pd.read_csv(root / "docs" / "darrm" / f"{item}.csv")
    printed = printed_of(fidelity, "darrm", item)
    shown = add_printed_columns(item, table, printed, "darrm")
    # What one label costs, and what a noise scale was searched for, is printed for each table.
    wanted = printed[~((item == "table4") & printed["column"].isin(["epsilon", "delta"]))]
    wanted = wanted[wanted["row"] != "per query"]
    digits = [re.split(r",| \(", text)[0] for text in shown_of(shown)]
    assert sorted(digits) == sorted(wanted["published"])


def test_numbers_of_pate_stand_in_their_row_and_column(root, fidelity):
    table = pd.read_csv(root / "docs" / "pate" / "table2.csv")
    shown = add_printed_columns("table2", table, printed_of(fidelity, "pate", "table2"), "pate")
    rows = shown.set_index(["task", "aggregator"])
    place = list(shown.columns).index("smooth_sensitivity_2")
    assert shown.columns[place + 1] == "printed smooth_sensitivity_2"
    second = rows.loc[("glyph (synthetic)", "interactive"), "printed smooth_sensitivity_2"]
    assert second == ".00088, not_comparable"
    # The star: it is what the printed parameters give, whatever our votes are.
    assert rows.loc[("mnist", "confident"), "printed sanitized_epsilon"] == "2.52*"
    assert has_stars(shown)
    table = pd.read_csv(root / "docs" / "pate" / "table1.csv")
    shown = add_printed_columns("table1", table, printed_of(fidelity, "pate", "table1"), "pate")
    mnist = shown[shown["task"] == "mnist"]
    assert not has_stars(shown)
    assert set(mnist["printed baseline_accuracy"]) == {"99.2, not_comparable"}


def test_a_small_ensemble_stands_beside_the_rows_that_are_printed_without_its_size(root, fidelity):
    table = pd.read_csv(root / "docs" / "nzc" / "table1.csv")
    shown = add_printed_columns("table1", table, printed_of(fidelity, "nzc", "table1"), "nzc")
    few = shown[shown["aggregator"].isin(["nzc-5", "clean-5"])]
    printed = "97.8, not_comparable", "97.5, not_comparable"
    assert tuple(few["printed student_accuracy"]) == printed


def test_a_printed_number_keeps_away_from_a_number_it_is_not_compared_with(root, fidelity):
    """Two deltas, two numbers of ours, even equal ones: one is compared, by the run's setting."""
    printed = printed_of(fidelity, "dpbag", "table6")
    table = pd.read_csv(root / "docs" / "dpbag" / "table6.csv")
    row = table[(table["accounting"] == "personalised") & (table["delta"] == 1e-3)].iloc[:1]
    two = pd.concat([row, row.assign(delta=1e-5)])
    for settings, wanted in ((None, [True, False]), ({"delta_of_counts": 1e-5}, [False, True])):
        shown = add_printed_columns("table6", two, printed, "dpbag", settings)
        assert [bool(text) for text in shown["printed labels"]] == wanted
    other = add_printed_columns("table6", row.assign(delta=0.5), printed, "dpbag")
    assert not shown_of(other)


def test_stand_ins_are_marked_and_have_nothing_beside_them(root, fidelity):
    table = pd.read_csv(root / "docs" / "darrm" / "table2.csv").assign(stand_in=True)
    shown = add_printed_columns("table2", table, printed_of(fidelity, "darrm", "table2"))
    assert not shown_of(shown)
    assert shown["dataset"].str.endswith(" (stand-in)").all()


def test_a_table_that_is_compared_with_nothing_is_left_alone(root, fidelity):
    table = pd.read_csv(root / "docs" / "planner" / "planner.csv")
    nothing = printed_of(fidelity, "planner", "planner")
    for paper, name in (("pate", "planner"), ("planner", "planner")):
        pd.testing.assert_frame_equal(add_printed_columns(name, table, nothing, paper), table)
