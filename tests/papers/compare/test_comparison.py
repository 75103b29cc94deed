"""Printed numbers and relations beside ours: statuses, tolerances, reasons for no comparison."""

import re

import pandas as pd
import pytest

from private_ensembles.papers.compare import comparison
from private_ensembles.papers.compare.comparison import (
    COLUMNS,
    NUMBER,
    RELATION,
    compare,
    compare_relations,
    judge_number,
)
from private_ensembles.papers.compare.declarations import (
    ExplanationOfPrint,
    Paper,
    Reproduced,
    load_paper,
)
from private_ensembles.papers.compare.judging import Estimate, Relation
from private_ensembles.papers.compare.printed import (
    FOLDER,
    KEY,
    equals_printed,
    key_of,
    read_published,
)
from private_ensembles.papers.compare.reproduced import Reading
from tests.papers.compare.in_docs import comparison_in_docs

DARRM = load_paper("darrm")
PRINTED = read_published(FOLDER.glob("*.csv"))


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


def test_the_comparison_in_docs_follows_from_the_tables_in_docs(root):
    """A whole run on the papers' data, as it was published: every row but where its tests lie."""
    found = comparison_in_docs(root)
    wanted = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    moved = re.compile(r"Test: tests/\S*::")
    for table in (found, wanted):
        table["note"] = table["note"].str.replace(moved, "Test: ", regex=True)
    for column in ("reproduced", "reproduced_sd", "tolerance"):
        wanted[column] = pd.to_numeric(wanted[column])
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, rtol=1e-12)


def test_tolerance_of_random_numbers_is_computed_from_both_spreads():
    cell = one("0.80", "0.03")
    found = judge_number(cell, Reproduced(0.90, 0.04), DARRM)
    assert found["tolerance"] == pytest.approx(0.15)
    assert found["status"] == "match"
    assert judge_number(cell, Reproduced(0.96, 0.04), DARRM)["status"] == "differs"
    alone = judge_number(cell, Reproduced(0.88), DARRM)
    assert (alone["tolerance"], alone["status"]) == (pytest.approx(0.09), "match")


def test_an_explanation_counts_where_ours_differs_alone():
    cell = one("48841", paper="dpbag", item="section3", row="data", column="samples")
    why = {"item": "section3", "note": "Because.", "test": "tests/x.py::y"}
    declared = Paper.model_validate({"paper": "dpbag", "beside": [], "explanations": [why]})
    found = judge_number(cell, Reproduced(48842.0), declared)
    assert (found["status"], found["note"]) == ("explained", "Because. Test: tests/x.py::y")
    equal = judge_number(cell, Reproduced(48841.0), declared)
    assert (equal["status"], equal["note"]) == ("match", "")


def test_another_reading_explains_only_what_it_gives_and_the_stated_one_does_not():
    cell = one("20", paper="toy", item="table6", row="n=50", column="labels")
    declared = Paper(paper="toy", beside=[])
    cause = ExplanationOfPrint(note="Equation 3 gives {value:.1f}.", test="tests/x.py::y")

    def judged(stated, other):
        reading = Reading(Reproduced(other, 1.0, error=0.5), cause)
        return judge_number(cell, Reproduced(stated, 1.0, error=0.5), declared, reading=reading)

    found = judged(11.0, 20.8)
    assert found["status"] == "explained"
    assert found["note"] == "Equation 3 gives 20.8. Test: tests/x.py::y"
    assert found["reproduced"] == 11.0
    assert judged(11.0, 22.0)["status"] == "differs"
    assert judged(19.0, 22.0)["status"] == "match"
    assert judged(19.0, 19.0)["status"] == "match"
    # Both agree: nothing tells them apart.
    assert judged(19.0, 20.8)["status"] == "weak"


def test_digits_that_do_not_say_how_exact_they_are_have_a_unit_of_their_own():
    cell = one("0", paper="toy", item="table1", row="nzc", column="claimed_epsilon")
    about = {"item": "table1", "row": "nzc", "half": 0.005}
    declared = Paper.model_validate({"paper": "toy", "beside": [], "judged": [about]})
    assert judge_number(cell, Reproduced(9e-8), declared)["status"] == "match"
    assert judge_number(cell, Reproduced(0.4), declared)["status"] == "differs"
    assert judge_number(cell, Reproduced(0.4), Paper(paper="toy", beside=[]))["status"] == "match"


def test_a_parameter_is_one_whatever_the_votes_are():
    cell = one("500", paper="toy", item="table1", row="lnmax-500", column="answered")
    inputs = [{"item": "table1", "column": "answered"}]
    declared = Paper.model_validate({"paper": "toy", "beside": [], "inputs": inputs})
    ours = Reproduced(500.0, note="Votes of our own.")
    assert judge_number(cell, ours, declared)["status"] == "input"
    assert judge_number(cell, ours._replace(value=499.0), declared)["status"] == "not_comparable"


def test_doubts_are_said_of_numbers_that_were_not_run():
    table = compare(PRINTED, {}, data="paper")
    where = (table["dataset"] == "glyph") & (table["row"] == "confident")
    rows = table[where & (table["column"] == "student_accuracy")].set_index("item")
    assert rows.loc["table1", "note"].endswith("can be trained. Section 5.3 prints 73.5.")
    assert rows.loc["section5.3", "note"].endswith("can be trained. Table 1 prints 75.5.")


def test_printed_epsilon_of_fashion_mnist_needs_12000_images():
    """11 teachers, batches of 32, 5 epochs, noise multiplier 12: 10,000 images do not give it."""
    pytest.importorskip("opacus")
    from private_ensembles.training.teachers.accounting import epsilon_prv
    from private_ensembles.training.teachers.training import poisson_schedule

    costs = {}
    for n_train in (10_000, 12_000):
        schedule = poisson_schedule(n_train // 11, 32, 5)
        costs[n_train] = epsilon_prv(12, schedule.sample_rate, schedule.steps, 1e-4)
    assert equals_printed(costs[12_000], "0.0852")
    assert costs[10_000] == pytest.approx(0.0938, abs=5e-5)
    here = (PRINTED["dataset"] == "fashion-mnist") & (PRINTED["column"] == "n_train")
    (cell,) = PRINTED[here & (PRINTED["paper"] == "darrm")].to_dict("records")
    assert cell["published"] == "10000"
    assert judge_number(cell, Reproduced(12000.0), DARRM)["status"] == "explained"


def test_whatever_was_not_run_has_a_row_and_a_reason():
    """What no table of ours has a place for must say why: nothing is forgotten."""
    table = compare(PRINTED, {}, data="embedded")
    relations = compare_relations(PRINTED, {}, data="embedded")
    assert list(table.columns) == list(relations.columns) == COLUMNS
    assert len(table) == len(PRINTED)
    assert (set(table["kind"]), set(relations["kind"])) == ({NUMBER}, {RELATION})
    both = pd.concat([table, relations])
    assert not both.duplicated(KEY).any()
    # What the printed numbers say of each other is known in any run, and so are statements.
    assert set(relations["status"]) == {"match", "not_run", "differs", "explained"}
    assert (both.loc[both["status"] == "not_run", "note"] != "").all()
    darrm = table[table["paper"] == "darrm"].set_index("item")
    measured = darrm.index.str.startswith("table") | (darrm.index == "section6.2")
    assert set(darrm[measured]["status"]) == {"not_run"}
    assert set(darrm[~measured]["status"]) == {"match", "explained"}
    assert "data=paper" in darrm["note"]["table1"].iloc[0]
    for cell in table.to_dict("records"):
        place = any(
            beside.item == ["{table}"] or cell["item"] in beside.item or "{item}" in beside.item
            for beside in load_paper(cell["paper"]).beside
        )
        assert place or cell["note"] != "left out by this configuration", key_of(cell)


def one_relation(monkeypatch, *relations):
    monkeypatch.setattr(comparison, "relations_of", lambda paper, evidence: relations)


RELATION_OF_TABLE_5 = Relation(
    "order", "table5", "adult", "A above B", "gap", 0.01, Estimate(0.02), table="table5"
)
DPBAG = PRINTED[PRINTED["paper"] == "dpbag"]


def test_other_parameters_than_the_paper_s_are_compared_with_nothing(monkeypatch):
    one_relation(monkeypatch, RELATION_OF_TABLE_5)
    run = {"dpbag": {"noise": 3}}
    table = compare_relations(DPBAG, {}, run, data="paper")
    assert list(table["status"]) == ["not_comparable"]
    assert "noise = 3, not 2" in table["note"].iloc[0]
    assert list(compare_relations(DPBAG, {}, data="paper")["status"]) == ["match"]


def test_two_relations_of_one_name_are_refused(monkeypatch):
    one_relation(monkeypatch, RELATION_OF_TABLE_5, RELATION_OF_TABLE_5)
    with pytest.raises(ValueError, match="occurs twice"):
        compare_relations(DPBAG, {}, data="paper")
