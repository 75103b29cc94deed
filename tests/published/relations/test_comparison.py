"""Rows of relations stand after the printed numbers and are told from them."""

import pandas as pd
import pytest

from private_ensembles.published.comparison import (
    COLUMNS,
    NUMBER,
    RELATION,
    compare,
    of_kind,
)
from private_ensembles.published.printed import FOLDER, KEY, read_published
from private_ensembles.published.relations import comparison
from private_ensembles.published.relations.judging import Estimate, Relation

PRINTED = read_published(FOLDER.glob("*.csv"))


def test_every_relation_has_a_row_even_if_nothing_was_run():
    table = comparison.compare_relations(PRINTED, {}, data="embedded")
    assert list(table.columns) == COLUMNS
    assert set(table["kind"]) == {RELATION}
    # What the printed numbers say of each other is known in any run.
    assert (table["status"] == "not_run").sum() > 10
    assert (table.loc[table["status"] == "not_run", "note"] != "").all()
    numbers = compare(PRINTED, {}, data="embedded")
    assert set(numbers["kind"]) == {NUMBER}
    assert not pd.concat([numbers, table]).duplicated(KEY).any()


def test_a_file_of_before_there_were_relations_has_numbers_alone():
    old = pd.DataFrame({"paper": ["darrm"], "status": ["match"]})
    assert len(of_kind(old, NUMBER)) == 1
    assert len(of_kind(old, RELATION)) == 0


def one_relation(monkeypatch, *relations):
    monkeypatch.setattr(comparison, "PAPERS", {"dpbag": lambda evidence: iter(relations)})


RELATION_OF_TABLE_5 = Relation(
    "order", "table5", "adult", "A above B", "gap", 0.01, Estimate(0.02), table="table5"
)
DPBAG = PRINTED[PRINTED["paper"] == "dpbag"]


def test_other_parameters_than_the_paper_s_are_compared_with_nothing(monkeypatch):
    one_relation(monkeypatch, RELATION_OF_TABLE_5)
    run = {"dpbag": {"noise": 3}}
    table = comparison.compare_relations(DPBAG, {}, run, data="paper")
    assert list(table["status"]) == ["not_comparable"]
    assert "noise = 3, not 2" in table["note"].iloc[0]
    assert list(comparison.compare_relations(DPBAG, {}, data="paper")["status"]) == ["match"]


def test_two_relations_of_one_name_are_refused(monkeypatch):
    one_relation(monkeypatch, RELATION_OF_TABLE_5, RELATION_OF_TABLE_5)
    with pytest.raises(ValueError, match="occurs twice"):
        comparison.compare_relations(DPBAG, {}, data="paper")
