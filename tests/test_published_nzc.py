"""NZC's printed numbers: which of ours stand beside them."""

import pandas as pd
import pytest

from private_ensembles import published, published_nzc

FACTS = {"mnist": {"n_train": 60000, "n_test": 10000, "pool": 9000}}


@pytest.fixture(scope="module")
def printed():
    return published.read_published(published.FOLDER.glob("nzc_*.csv"))


def tables(stand_in=False):
    common = {"task": "mnist", "stand_in": stand_in}
    table1 = pd.DataFrame(
        [
            {**common, "aggregator": name, "queries": queries, "claimed_epsilon": epsilon,
             "student_accuracy": 0.9, "student_accuracy_sd": 0.01}
            for name, queries, epsilon in (
                ("lnmax-100", 100, 2.5), ("lnmax-5000", 5000, 40.0), ("nzc", 9000, 9.1e-8),
                ("nzc-5", 9000, 9.1e-8), ("clean", 9000, float("nan")), ("truth", 9000, None),
            )
        ]
    )  # fmt: skip
    table2 = pd.DataFrame([{**common, "aggregator": "nzc", "label_accuracy": 0.95}])
    return {"table1": table1, "table2": table2}


def compare(printed, given, facts=FACTS, data="paper"):
    numbers, notes = published_nzc.reproduced_numbers(given, facts)
    reasons = published_nzc.reasons(printed, facts, data)
    table = published.compare(printed, numbers, data=data, notes=notes, reasons=reasons)
    return table.set_index(["item", "dataset", "row", "column"])


def test_every_printed_number_has_a_row_and_a_place(printed):
    assert printed["item"].value_counts().to_dict() == {"table1": 42, "section5.1": 8, "table2": 6}
    table = compare(printed, tables())
    assert len(table) == len(printed)
    assert set(table.loc["section5.1"].loc["mnist"]["status"]) == {"match"}


def test_what_theorem_4_gives_is_compared_and_what_rests_on_votes_is_not(printed):
    table = compare(printed, tables())
    for row in ("nzc", "nzc-few"):
        found = table.loc["table1", "mnist", row, "claimed_epsilon"]
        assert found["status"] == "match"
        student = table.loc["table1", "mnist", row, "student_accuracy"]
        assert (student["status"], student["reproduced"]) == ("not_comparable", 90)
        assert "claim is false" in student["note"]
    assert table.loc["table1", "mnist", "lnmax-100", "claimed_epsilon"]["reproduced"] == 2.5
    above = table.loc["table1", "mnist", "lnmax-5000", "claimed_epsilon_above"]
    assert "lower bound" in above["note"]
    assert above["status"] == "not_comparable"
    assert table.loc["table2", "mnist", "nzc", "label_accuracy"]["reproduced"] == 95


def test_stand_ins_are_never_compared_and_reasons_are_named(printed):
    table = compare(printed, tables(stand_in=True), facts={}, data="embedded")
    assert set(table["status"]) == {"not_run"}
    assert set(table["note"]) == {
        f"needs the images of {name}: run with --config data=paper" for name in ("mnist", "svhn")
    }
    table = compare(printed, tables())
    assert "data/raw/svhn" in table.loc["table2", "svhn", "nzc", "label_accuracy"]["note"]
