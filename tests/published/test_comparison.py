"""Printed numbers: their transcription, what counts as equal, and the explanations."""

import math

import pandas as pd
import pytest

from private_ensembles.published import comparison as published
from private_ensembles.published.comparison import (
    Explanation,
    compare,
    equals_printed,
    read_published,
)

ITEMS = {
    "table1": 18,
    "table2": 16,
    "table3": 20,
    "table4": 8,
    "table5": 16,
    "table6": 18,
    "table7": 16,
    "table8": 18,
    "table9": 16,
    "table10": 18,
    "section6.2": 8,
}


@pytest.fixture(scope="module")
def printed():
    return read_published(published.FOLDER.glob("darrm_*.csv"))


def one(printed_digits, sd="", **changes):
    cell = {
        "paper": "darrm",
        "item": "table2",
        "dataset": "mnist",
        "row": "Q=20",
        "column": "epsilon_total",
        "published": printed_digits,
        "published_sd": sd,
    } | changes
    return pd.DataFrame([cell]), tuple(cell[name] for name in published.KEY)


def test_every_printed_number_of_darrm_is_there(printed):
    assert printed.groupby("item").size().to_dict() == ITEMS


@pytest.mark.parametrize(
    ("item", "dataset", "row", "column", "digits", "sd"),
    [
        # Read from the papers by eye, not by the script that cut the tables out.
        ("table1", "mnist", "Q=20", "gnmax", "0.63", "0.09"),
        ("table1", "fashion-mnist", "Q=100", "darrm_opt", "0.96", "0.02"),
        ("table6", "mnist", "Q=50", "darrm_opt", "0.66", "0.05"),
        ("table8", "fashion-mnist", "Q=50", "gnmax", "0.72", "0.08"),
        ("table10", "mnist", "Q=20", "darrm_sub", "0.80", "0.09"),
        ("table2", "mnist", "Q=100", "epsilon_total", "15.044", ""),
        ("table5", "fashion-mnist", "Q=50", "epsilon_total", "2.695", ""),
        ("table7", "mnist", "per query", "epsilon_query", "0.4460", ""),
        ("table9", "fashion-mnist", "Q=100", "delta_total", "0.068", ""),
        ("table4", "fashion-mnist", "m=3", "lambda", "35.74", ""),
        ("table3", "simulation", "M=15", "m", "8.2708", ""),
        ("table3", "simulation", "M=20", "delta", "0.1002", ""),
        ("section6.2", "fashion-mnist", "data", "n_train", "10000", ""),
    ],
)
def test_digits_are_kept_as_printed(printed, item, dataset, row, column, digits, sd):
    key = ("darrm", item, dataset, row, column)
    found = printed[(printed[published.KEY] == list(key)).all(axis=1)]
    assert found[["published", "published_sd"]].to_numpy().tolist() == [[digits, sd]]


@pytest.mark.parametrize(
    ("value", "digits", "equal"),
    [
        (15.044483586, "15.044", True),
        (15.0446, "15.044", False),
        (0.0148, "0.015", True),
        (0.0145, "0.015", True),  # a tie goes either way
        (0.0145, "0.014", True),
        (0.01449, "0.015", False),
        (0.446, "0.4460", True),
        (12000, "10000", False),
        (1866.4, "1866", True),
        (1e-4, "1e-4", True),
        (math.nan, "0.1", False),
        (math.inf, "0.1", False),
    ],
)
def test_equal_means_equal_in_every_printed_digit(value, digits, equal):
    assert equals_printed(value, digits) is equal


def test_tolerance_of_random_numbers_is_computed_from_both_spreads():
    frame, key = one("0.80", "0.03")
    row = compare(frame, {key: (0.90, 0.04)}, data="paper").iloc[0]
    assert row["tolerance"] == pytest.approx(0.15)
    assert row["status"] == "match"
    assert compare(frame, {key: (0.96, 0.04)}, data="paper").iloc[0]["status"] == "differs"
    alone = compare(frame, {key: (0.88, math.nan)}, data="paper").iloc[0]
    assert (alone["tolerance"], alone["status"]) == (pytest.approx(0.09), "match")


def test_every_printed_number_keeps_its_row_and_says_why_it_was_not_run(printed):
    table = compare(printed, {}, data="embedded")
    assert list(table.columns) == published.COLUMNS
    assert len(table) == len(printed)
    assert set(table["status"]) == {"not_run"}
    notes = table.set_index("item")["note"]
    assert "data=paper" in notes["table1"].iloc[0]
    assert "configuration" in notes["table2"].iloc[0]


def test_an_explanation_counts_only_while_its_formula_gives_the_printed_number():
    frame, key = one("1.000")
    for holds, status in ((True, "explained"), (False, "differs")):
        why = {key: Explanation(lambda cell, holds=holds: holds, "Because.", "tests/x.py::y")}
        row = compare(frame, {key: (2.0, math.nan)}, data="paper", explanations=why).iloc[0]
        assert row["status"] == status
        assert ("tests/x.py::y" in row["note"]) == holds
        equal = compare(frame, {key: (1.0, math.nan)}, data="paper", explanations=why).iloc[0]
        assert (equal["status"], equal["note"]) == ("match", "")


def test_every_explanation_belongs_to_a_printed_number_and_names_a_test(printed):
    keys = set(map(tuple, printed[published.KEY].to_numpy()))
    root = published.FOLDER.parents[1]
    for key, explanation in published.EXPLANATIONS.items():
        assert key in keys
        path, _, name = explanation.test.partition("::")
        assert f"def {name}(" in (root / path).read_text(encoding="utf-8")


def test_explanations_of_table_4_recompute_the_printed_orders(printed):
    for cell in printed.to_dict("records"):
        if (cell["item"], cell["column"]) == ("table4", "lambda"):
            key = tuple(cell[name] for name in published.KEY)
            assert published.EXPLANATIONS[key].holds(cell)
            assert not published.EXPLANATIONS[key].holds(cell | {"published": "62.31"})


def test_printed_epsilon_of_fashion_mnist_needs_12000_images(printed):
    pytest.importorskip("opacus")
    key = ("darrm", "section6.2", "fashion-mnist", "data", "n_train")
    cell = printed[(printed[published.KEY] == list(key)).all(axis=1)].to_dict("records")[0]
    assert published.EXPLANATIONS[key].holds(cell)
    table = compare(pd.DataFrame([cell]), {key: (12000.0, math.nan)}, data="paper")
    assert table["status"].tolist() == ["explained"]


def test_stand_ins_are_never_compared():
    table = pd.DataFrame(
        {
            "dataset": ["digits", "mnist"],
            "stand_in": [1, 0],
            "queries": [20, 20],
            "mechanism": ["gnmax", "gnmax"],
            "accuracy_mean": [0.6, 0.7],
            "accuracy_sd": [0.1, 0.1],
        }
    )
    found = published.reproduced_numbers({"table1": table})
    assert list(found) == [("darrm", "table1", "mnist", "Q=20", "gnmax")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper,item\n", "columns"),
        (",".join(published.COLUMNS[:7]) + "\ndarrm,t,d,r,c,abc,\n", "'abc' is not a number"),
        (",".join(published.COLUMNS[:7]) + "\ndarrm,t,d,r,c,nan,\n", "'nan' is not a number"),
        (",".join(published.COLUMNS[:7]) + "\na,t,d,r,c,1,\na,t,d,r,c,2,\n", "occurs twice"),
    ],
)
def test_a_damaged_transcription_is_refused(tmp_path, text, message):
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_published([path])
