"""Each of PATE's relations holds for what is printed, and fails where the order is broken."""

import pandas as pd
import pytest

from private_ensembles.papers.compare.comparison import compare_relations
from private_ensembles.papers.compare.printed import FOLDER, read_published

PRINTED = read_published(FOLDER.glob("pate_*.csv"))


def as_printed(spread=0.0):
    """Our tables if our votes gave what is printed; spread: of students, as a fraction."""
    table = PRINTED[PRINTED["item"] == "table1"]
    wide = table.pivot(index=["dataset", "row"], columns="column", values="published")
    wide = wide.astype(float).drop("baseline", level="row").reset_index()
    wide = wide.rename(columns={"dataset": "task", "row": "aggregator"})
    wide["student_accuracy"] /= 100
    first = wide.assign(student_accuracy_sd=spread, student_seeds=3, stand_in=False)
    figure = PRINTED[(PRINTED["item"] == "figure1") & (PRINTED["column"] == "epsilon")]
    aggregator, label = zip(*(row.split(", ") for row in figure["row"]), strict=True)
    pairs = {"aggregator": aggregator, "label": label, "synthetic": True}
    second = pd.DataFrame(pairs).assign(epsilon=figure["published"].astype(float).to_numpy())
    return {"table1": first, "equal_answers": second}


def judged(tables):
    table = compare_relations(PRINTED, {"pate": tables}, data="paper")
    return table.set_index(["item", "dataset", "row"])["status"]


def test_every_relation_holds_for_the_printed_numbers():
    found = judged(as_printed(spread=1e-5))
    assert len(found) == 12
    assert set(found) == {"match"}


def test_what_was_not_run_has_no_verdict_but_for_what_the_print_says_itself():
    found = judged({})
    assert found["section5.3", "all tasks", "Confident-GNMax outperforms LNMax"] == "match"
    assert set(found.drop(("section5.3", "all tasks", "Confident-GNMax outperforms LNMax"))) == {
        "not_run"
    }


@pytest.mark.parametrize("task", ["mnist", "svhn", "adult", "glyph"])
def test_an_aggregator_that_costs_more_or_teaches_worse_breaks_its_order(task):
    tables = as_printed(spread=1e-5)
    table = tables["table1"]
    here = (table["task"] == task) & (table["aggregator"] == "confident")
    table.loc[here, "epsilon"] = 9
    table.loc[here, "student_accuracy"] = 0.5
    found = judged(tables)["table1", task]
    assert found["Confident-GNMax cheaper than LNMax"] == "differs"
    assert found["Confident-GNMax's student better than LNMax's"] == "differs"
    other = judged(tables)["table1", "mnist" if task == "adult" else "adult"]
    assert set(other) == {"match"}


def test_students_whose_seeds_differ_by_more_than_they_do_show_no_order():
    found = judged(as_printed(spread=0.02))
    students = found[[row.endswith("LNMax's") for _, _, row in found.index]]
    assert set(students) == {"weak"}


def test_costs_exchanged_at_one_number_of_answers_are_seen():
    tables = as_printed(spread=1e-5)
    pairs = tables["equal_answers"]
    first = pairs["label"] == "first label"
    pairs.loc[first, "epsilon"] = pairs.loc[first, "epsilon"].to_numpy()[::-1]
    found = judged(tables)["figure1", "glyph"]
    assert found.to_dict() == {
        "Confident-GNMax cheaper than LNMax, first label": "differs",
        "Confident-GNMax cheaper than LNMax, second label": "match",
    }


def test_a_printed_order_that_is_broken_is_seen():
    moved = PRINTED.copy()
    cells = (moved["item"] == "table1") & (moved["dataset"] == "adult")
    cells &= moved["row"] == "confident"
    moved.loc[cells & (moved["column"] == "epsilon"), "published"] = "3"
    moved.loc[cells & (moved["column"] == "student_accuracy"), "published"] = "82"
    table = compare_relations(moved, {}, data="paper").set_index("row")
    assert table.loc["Confident-GNMax outperforms LNMax", "status"] == "differs"
