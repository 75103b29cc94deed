"""DaRRM as charts: every number of the tables, and of the paper, is a dot with its words."""

import re

import pandas as pd
import pytest

from private_ensembles.figures import names
from private_ensembles.page import darrm_views
from private_ensembles.published.comparison import NUMBER, of_kind

ACCURACY, PRIVACY = ("table1", "table6", "table8", "table10"), ("table2", "table5", "table9")


@pytest.fixture(scope="module")
def read(root):
    table = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    compared = of_kind(table, NUMBER)
    compared = compared[compared["paper"] == "darrm"]

    def read(items):
        tables = {name: pd.read_csv(root / "docs" / "darrm" / f"{name}.csv") for name in items}
        return tables, compared[compared["item"].isin(items)]

    return read


def words(shown):
    return re.findall(r"<title>(.*?)</title>", shown)


def test_every_accuracy_is_a_dot_with_its_value(read):
    tables, printed = read(ACCURACY)
    shown = words(darrm_views.accuracy(tables, printed))
    every = pd.concat(tables.values()).drop_duplicates(["dataset", "m", "mechanism"])
    own = [text for text in shown if "printed" not in text]
    assert len(own) == len(every)
    row = every[(every["m"] == 3) & (every["mechanism"] == "darrm_opt")].iloc[0]
    start = f"{names.mechanism('darrm_opt')}, {names.dataset(row['dataset'])}: "
    assert any(text.startswith(f"{start}{row['expected_accuracy']:.4f}") for text in own)


def test_every_printed_accuracy_is_a_dot_of_its_data_set_s_colour(read):
    tables, printed = read(ACCURACY)
    shown = [text for text in words(darrm_views.accuracy(tables, printed)) if "printed" in text]
    assert sorted(text.split(": ")[1].split()[0] for text in shown) == sorted(printed["published"])


def test_the_pivot_has_one_row_per_mechanism_with_its_model_and_adjacency(read):
    tables, printed = read(ACCURACY)
    pivot = darrm_views.accuracy(tables, printed).partition("<table>")[2]
    assert pivot.count("<tr>") == 1 + tables["table1"]["mechanism"].nunique()
    for text in (
        "shared_data",
        "disjoint_shards",
        "add_remove",
        "replace_one",
        "m\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}7",
    ):
        assert text in pivot


def test_a_chart_without_printed_numbers_does_not_speak_of_them(read):
    tables, printed = read(ACCURACY)
    assert "printed" not in darrm_views.accuracy(tables, printed.iloc[:0])


def test_every_total_is_a_dot_in_the_row_of_its_queries(read):
    tables, printed = read(PRIVACY)
    shown = darrm_views.privacy(tables, printed)
    every = pd.concat(tables.values())
    known = [name for name in darrm_views._TOTALS if name in every]
    assert len(words(shown)) == every[known].notna().to_numpy().sum()
    row = tables["table2"].iloc[0]
    assert row["epsilon_total"] == pytest.approx(5.352)
    assert f"m = 3, Q = {row['queries']}, published: ε = 5.352" in shown


def test_stand_ins_are_named_as_such(read):
    tables, printed = read(("table2",))
    tables = {name: table.assign(stand_in=True) for name, table in tables.items()}
    assert "(stand-in)" in darrm_views.privacy(tables, printed)
