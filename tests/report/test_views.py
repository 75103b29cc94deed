"""Views: all that the tables had is in them, every number is a dot or a cell."""

import html
import math
import re

import pandas as pd
import pytest

from private_ensembles.labels import display_names
from private_ensembles.papers.compare.comparison import NUMBER, select_kind
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report import views
from private_ensembles.report.page import ASSETS
from private_ensembles.report.sections import read_sections
from private_ensembles.report.views import VIEWS


def rows(text):
    """The texts of all rows of all tables, cell by cell."""
    cells = (re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row, re.S) for row in lines(text))
    return [[html.unescape(re.sub(r"<.*?>", "", cell)) for cell in row] for row in cells]


def lines(text):
    return re.findall(r"<tr>(.*?)</tr>", text, re.S)


def none():
    return pd.DataFrame({"paper": [], "item": []}, dtype=str)


def plan(*entries):
    columns = ["mechanism", "budget_epsilon", "correct", "not_applicable"]
    table = pd.DataFrame(entries, columns=columns)
    return {
        "planner": table.assign(
            delta=1e-5, wanted=500, privacy_model="disjoint_shards", adjacency="replace_one"
        )
    }


def test_the_planner_is_mechanism_by_budget_and_the_best_noise_of_each_is_one_row():
    shown = views.planner(
        plan(
            ("gnmax_exact", 1, 300.04, None),
            ("gnmax_analytic", 8, 440, None),
            ("exponential", 1, 250, None),
            ("exponential", 8, 450, None),
            ("ladder", 1, 0, "for two classes only"),
            ("ladder", 8, 0, "for two classes only"),
            ("committee", 1, 0, "costs what one does: majority_private"),
        ),
        none(),
    )
    head, *body = rows(shown)
    assert head == ["mechanism", "ε\xa0=\xa01", "ε\xa0=\xa08", "privacy model", "adjacency"]
    assert [row[:3] for row in body] == [
        ["Exponential mechanism", "250.0", "450.0"],
        ["GNMax", "300.0", "440.0"],
    ]
    assert shown.count("Optimal ladder (for two classes only)") == 1
    # A mechanism that a reason speaks of has its name for reading.
    assert "Committee of teachers (costs what one does: Majority, private teachers)" in shown
    assert "hidden><label>Budget" in shown


def test_where_fewer_labels_are_wanted_two_sliders_rank_the_planner():
    tables = plan(("gnmax_exact", 1, 300, None), ("exponential", 1, 250, None))
    one_slider = views.planner(tables, none())
    entries = [
        ("gnmax_analytic", 8, 500, 440),
        ("gnmax_exact", 1, 500, 300.04),
        ("gnmax_exact", 1, 50, 45.26),
        ("exponential", 1, 50, 47),
        ("exponential", 1, 500, 250),
    ]
    fewer = pd.DataFrame(entries, columns=["mechanism", "budget_epsilon", "wanted", "correct"])
    fewer = fewer.assign(privacy_model="disjoint_shards", adjacency="replace_one")
    shown = views.planner(tables | {"fewer_labels": fewer}, none())
    head, *body = rows(shown.split("<details")[2])
    assert head == ["mechanism", "ε", "Q\xa0=\xa050", "Q\xa0=\xa0500", "privacy model", "adjacency"]
    assert [row[:4] for row in body] == [
        ["GNMax", "1", "90.5", "60.0"],
        ["Exponential mechanism", "1", "94.0", "50.0"],
        ["GNMax", "8", "", "88.0"],
    ]
    assert {tuple(row[4:]) for row in body} == {("disjoint shards", "replace one")}
    assert (one_slider.count('type="range"'), shown.count('type="range"')) == (1, 2)
    assert 'data-unit="% of labels right"' in shown


def test_two_mechanisms_of_one_name_at_one_budget_keep_their_own_rows():
    shown = views.planner(plan(("darrm_sub", 1, 10, None), ("darrm_opt", 1, 20, None)), none())
    assert [row[0] for row in rows(shown)[1:]] == [
        "DaRRM, optimised γ",
        "DaRRM, γ by subsampling",
    ]


def test_a_plan_without_any_mechanism_says_why():
    shown = views.planner(plan(("ladder", 1, 0, "for two classes only")), none())
    assert "<table>" not in shown
    assert "for two classes only" in shown


def test_leads_are_one_row_per_ensemble_with_the_worst_rule_for_ties(root):
    table = pd.read_csv(root / "docs" / "nzc" / "leads.csv")
    head, *body = rows(views.leads({"leads": table}, none()))
    assert len(body) == len(table.groupby(["teachers", "classes"])) == 4
    assert head[2:6] == ["δ, lead 0", "δ, lead 1", "δ, lead 2", "δ, lead 3 or more"]
    for row in body:
        mine = table[(table["teachers"] == int(row[0])) & (table["classes"] == int(row[1]))]
        for text, among in zip(row[2:6], (0, 1, 2, None), strict=True):
            chosen = mine[mine["lead"] == among if among is not None else mine["lead"] >= 3]
            worst = chosen["delta_most"].max() if len(chosen) else math.nan
            assert text == "" if worst != worst else float(text) == pytest.approx(worst, abs=1e-9)


def test_pate_s_table_2_is_turned_and_printed_numbers_stand_beside_ours(root):
    table = pd.read_csv(root / "docs" / "pate" / "table2.csv")
    compared = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    compared = select_kind(compared, NUMBER)
    printed = compared[(compared["paper"] == "pate") & (compared["item"] == "table2")]
    head, *body = rows(views.table2({"table2": table}, printed))
    assert len(head) == 1 + len(table)
    assert len(body) == 12
    by_name = {row[0]: row[1:] for row in body}
    (ours, *_), row = by_name["sanitised ε, the paper's estimate"], table.iloc[0]
    # The printed parameters give 2.52; our own votes another number.
    assert ours == f"{row['sanitized_epsilon']:.4g} (2.52*)"
    assert by_name["noise on it (σ ss)"][0] == "6.23 (6.23*)"
    assert not any(
        f"* {status.sign}" in text for row in body for text in row for status in STATUSES.values()
    )
    assert by_name["smooth sensitivity"][0].endswith("(.0618 ○)")
    assert float(by_name["sanitised ε at its exact cost"][0]) >= row["sanitized_epsilon_exact"]
    assert set(by_name["may be released"]) == {"not for release"}


ACCURACY, PRIVACY = ("table1", "table6", "table8", "table10"), ("table2", "table5", "table9")


@pytest.fixture(scope="module")
def read(root):
    table = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    compared = select_kind(table, NUMBER)
    compared = compared[compared["paper"] == "darrm"]

    def read(items):
        tables = {name: pd.read_csv(root / "docs" / "darrm" / f"{name}.csv") for name in items}
        return tables, compared[compared["item"].isin(items)]

    return read


def words(shown):
    return re.findall(r"<title>(.*?)</title>", shown)


def test_every_accuracy_is_a_dot_with_its_value(read):
    tables, printed = read(ACCURACY)
    shown = words(views.accuracy(tables, printed))
    every = pd.concat(tables.values()).drop_duplicates(["dataset", "m", "mechanism"])
    own = [text for text in shown if "printed" not in text]
    assert len(own) == len(every)
    row = every[(every["m"] == 3) & (every["mechanism"] == "darrm_opt")].iloc[0]
    mechanism = display_names.mechanism_label("darrm_opt")
    start = f"{mechanism}, {display_names.dataset_label(row['dataset'])}: "
    assert any(text.startswith(f"{start}{row['expected_accuracy']:.4f}") for text in own)


def test_every_printed_accuracy_is_a_dot_of_its_data_set_s_colour(read):
    tables, printed = read(ACCURACY)
    shown = [text for text in words(views.accuracy(tables, printed)) if "printed" in text]
    assert sorted(text.split(": ")[1].split()[0] for text in shown) == sorted(printed["published"])


def test_the_pivot_has_one_row_per_mechanism_with_its_model_and_adjacency(read):
    tables, printed = read(ACCURACY)
    pivot = views.accuracy(tables, printed).partition("<table>")[2]
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
    assert "printed" not in views.accuracy(tables, printed.iloc[:0])


def test_every_total_is_a_dot_in_the_row_of_its_queries(read):
    tables, printed = read(PRIVACY)
    shown = views.privacy(tables, printed)
    every = pd.concat(tables.values())
    known = [name for name in views._TOTALS if name in every]
    assert len(words(shown)) == every[known].notna().to_numpy().sum()
    row = tables["table2"].iloc[0]
    assert row["epsilon_total"] == pytest.approx(5.352)
    assert f"m = 3, Q = {row['queries']}, published: ε = 5.352" in shown


def test_stand_ins_are_named_as_such(read):
    tables, printed = read(("table2",))
    tables = {name: table.assign(stand_in=True) for name, table in tables.items()}
    assert "(stand-in)" in views.privacy(tables, printed)


def test_the_sections_name_every_view_and_no_other():
    named = {item.view for section in read_sections(ASSETS) for item in section.items}
    assert named - {""} == set(VIEWS)
