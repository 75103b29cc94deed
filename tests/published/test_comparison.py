"""Printed numbers beside ours: statuses, tolerances, and why something was not compared."""

import math
import re

import pandas as pd
import pytest
import yaml

from private_ensembles.configuration.check import check
from private_ensembles.published import comparison
from private_ensembles.published.comparison import Reproduced, compare, judge, reproduced_numbers
from private_ensembles.published.declarations import Paper, paper
from private_ensembles.published.printed import FOLDER, key_of, read_published

DARRM = paper("darrm")


@pytest.fixture(scope="module")
def printed():
    return read_published(FOLDER.glob("darrm_*.csv"))


def one(digits, sd="", **changes):
    cell = {
        "paper": "darrm",
        "item": "table2",
        "dataset": "mnist",
        "row": "Q=20",
        "column": "epsilon_total",
        "published": digits,
        "published_sd": sd,
    }
    return cell | changes


def toy(**changes):
    """A paper with one table of ours."""
    beside = {"table": "table1", "row": "n={n}", "numbers": {"epsilon": "ours"}}
    return Paper.model_validate({"paper": "toy", "beside": [beside | changes]})


def numbers(declared, rows, **run):
    found = reproduced_numbers(declared, {"table1": pd.DataFrame(rows)}, run)
    return {key[1:]: (number.value, number.sd) for key, number in found.items()}


def test_the_comparison_in_docs_follows_from_the_tables_in_docs(root):
    """A whole run on the papers' data, as it was published: every row but where its tests lie."""
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    checked = check(config)
    config["data"] = "paper"
    run = {
        "darrm": checked.darrm.claims(),
        "pate": checked.pate.parameters(["mnist", "adult", "glyph"]),
        "dpbag": checked.dpbag.claims(),
        "nzc": checked.nzc.facts(["mnist"]),
    }
    tables = {
        name: {path.stem: pd.read_csv(path) for path in (root / "docs" / name).glob("*.csv")}
        for name in run
    }
    # What is counted in files is in no table.
    tables["darrm"]["sizes"] = pd.DataFrame(
        {"dataset": ["mnist", "fashion-mnist"], "n_train": [11272, 12000], "n_test": [1866, 2000]}
    )
    adult = {"dataset": "adult", "features": 108, "samples": 48842, "ones": 11687}
    tables["dpbag"]["sizes"] = pd.DataFrame([adult])
    tables["nzc"]["sizes"] = pd.DataFrame([{"dataset": "mnist"} | run["nzc"]["mnist"]])
    found = compare(read_published(FOLDER.glob("*.csv")), tables, run, data="paper")
    wanted = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    moved = re.compile(r"Test: tests/\S*::")
    for table in (found, wanted):
        table["note"] = table["note"].str.replace(moved, "Test: ", regex=True)
    for column in ("reproduced", "reproduced_sd", "tolerance"):
        wanted[column] = pd.to_numeric(wanted[column])
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, rtol=1e-12)


def test_tolerance_of_random_numbers_is_computed_from_both_spreads():
    cell = one("0.80", "0.03")
    found = judge(cell, Reproduced(0.90, 0.04), DARRM)
    assert found["tolerance"] == pytest.approx(0.15)
    assert found["status"] == "match"
    assert judge(cell, Reproduced(0.96, 0.04), DARRM)["status"] == "differs"
    alone = judge(cell, Reproduced(0.88), DARRM)
    assert (alone["tolerance"], alone["status"]) == (pytest.approx(0.09), "match")


def test_every_printed_number_keeps_its_row_and_says_why_it_was_not_run(printed):
    table = compare(printed, {}, data="embedded")
    assert list(table.columns) == comparison.COLUMNS
    assert len(table) == len(printed)
    assert set(table["status"]) == {"not_run"}
    notes = table.set_index("item")["note"]
    assert "data=paper" in notes["table1"].iloc[0]
    assert "configuration" in notes["table2"].iloc[0]


@pytest.mark.parametrize(("digits", "status"), [("48841", "explained"), ("48840", "differs")])
def test_an_explanation_counts_only_while_its_formula_gives_the_printed_number(digits, status):
    cell = one(digits, paper="dpbag", item="section3", row="data", column="samples")
    why = {"function": "lacks_the_first_record", "note": "Because.", "test": "tests/x.py::y"}
    declared = Paper.model_validate({"paper": "dpbag", "beside": [], "explanations": [why]})
    found = judge(cell, Reproduced(48842.0), declared)
    assert found["status"] == status
    assert ("tests/x.py::y" in found["note"]) == (status == "explained")
    equal = judge(cell, Reproduced(float(digits)), declared)
    assert (equal["status"], equal["note"]) == ("match", "")


def test_printed_epsilon_of_fashion_mnist_needs_12000_images(printed):
    pytest.importorskip("opacus")
    here = (printed["dataset"] == "fashion-mnist") & (printed["column"] == "n_train")
    (cell,) = printed[here].to_dict("records")
    assert cell["published"] == "10000"
    assert judge(cell, Reproduced(12000.0), DARRM)["status"] == "explained"
    assert judge(cell | {"published": "11000"}, Reproduced(12000.0), DARRM)["status"] == "differs"


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
    found = reproduced_numbers(DARRM, {"table1": table}, {})
    assert list(found) == [("darrm", "table1", "mnist", "Q=20", "gnmax")]


def test_rows_are_chosen_by_values_patterns_and_the_runs_own_settings():
    rows = [
        {"dataset": "a", "n": n, "kind": kind, "delta": delta, "ours": 1.0}
        for n, kind, delta in ((1, "x-1", 1e-5), (2, "x-2", 1e-3), (3, "y", 1e-5))
    ]
    chosen = {
        1: {"kind": "x-*", "n": 1},
        2: {"delta": "$mine"},
        3: {"kind": ["z", "y"], "delta": 0.00001},
    }
    for n, where in chosen.items():
        assert numbers(toy(where=where), rows, mine=1e-3) == {
            ("table1", "a", f"n={n}", "epsilon"): (1.0, pytest.approx(math.nan, nan_ok=True))
        }


def test_numbers_come_in_the_printed_unit():
    row = {"dataset": "a", "n": 1, "ours": 0.25, "sd": 0.01, "asked": 12000, "left": 100}
    ours = {
        "accuracy": {"value": "ours", "sd": "sd", "unit": "percent"},
        "rest": {"value": "asked", "less": "left"},
        "thousands": {"value": "asked", "unit": "thousands"},
        "hidden": {"value": "asked", "compared": False},
    }
    found = numbers(toy(numbers=ours), [row])
    assert {key[3]: value for key, (value, _) in found.items()} == {
        "accuracy": 25.0,
        "rest": 11900.0,
        "thousands": 12.0,
    }
    assert found["table1", "a", "n=1", "accuracy"][1] == 1.0


def test_a_column_that_a_key_needs_is_named_and_a_number_that_is_not_there_was_not_computed():
    with pytest.raises(ValueError, match=r"toy\.yaml: our table1 has no column 'n'"):
        numbers(toy(), [{"dataset": "a"}])
    assert numbers(toy(), [{"dataset": "a", "n": 1}]) == {}


def test_printed_numbers_of_all_papers_have_a_declared_place_or_a_reason():
    """What no table of ours has a place for must say why: nothing is forgotten."""
    everything = read_published(FOLDER.glob("*.csv"))
    table = compare(everything, {}, data="embedded")
    for cell in table.to_dict("records"):
        declared = paper(cell["paper"])
        place = any(
            beside.item == ["{table}"] or cell["item"] in beside.item or "{item}" in beside.item
            for beside in declared.beside
        )
        assert place or cell["note"] != "left out by this configuration", key_of(cell)
