"""All printed numbers beside ours: in one list, in the papers' own tables, and by keys."""

import re

import pandas as pd
import pytest

from private_ensembles.papers.compare.comparison import NUMBER, select_kind
from private_ensembles.report import printed_numbers
from private_ensembles.report.printed_columns import add_printed_columns, has_stars


@pytest.fixture(scope="module")
def fidelity(root):
    table = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    return select_kind(table, NUMBER)


def cells_of(markup):
    """The texts of a table's cells, row by row."""
    lines = re.findall(r"<tr>(.*?)</tr>", markup, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
    heard = r'<span class="heard">.*?</span>|<(?!br)[^>]+>'
    return [[re.sub(heard, "", cell).strip() for cell in line] for line in cells]


def test_items_stand_in_the_order_of_the_paper(fidelity):
    ordered = printed_numbers.sort_in_paper_order(fidelity)
    assert len(ordered) == len(fidelity)
    items = list(dict.fromkeys(ordered.loc[ordered["paper"] == "darrm", "item"]))
    assert items == [
        *("section5", "section6.2", *(f"table{number}" for number in range(1, 11))),
        *("figure2", "figure6", "figure7", "figure8", "figure9", "figure10"),
        *("appendixD.1.3", "appendixD.2.1"),
    ]
    for item, among in ordered.groupby(["paper", "item"], sort=False):
        same = fidelity[(fidelity["paper"] == item[0]) & (fidelity["item"] == item[1])]
        assert among.index.tolist() == same.index.tolist(), item


def test_tables_have_the_rows_and_columns_of_the_paper(fidelity):
    papers = {
        one.paper: one for one in printed_numbers.printed_tables(fidelity, {"nzc": "NZC: labels"})
    }
    assert papers["nzc"].title == "NZC"
    sizes = {paper: list(one.tables) for paper, one in papers.items()}
    assert sizes["darrm"] == [f"Table {number}" for number in range(1, 11)]
    assert sizes["dpbag"] == [f"Table {number}" for number in range(1, 9)]
    assert sizes["pate"] == sizes["nzc"] == ["Table 1", "Table 2"]

    head, *body = cells_of(papers["darrm"].tables["Table 1"])
    assert [name.split(",")[0] for name in head] == ["row", "GNMax", "DaRRM", "DaRRM"]
    assert [row[0] for row in body[:4]] == [
        *("MNIST, Q=20", "MNIST, Q=50", "MNIST, Q=100", "Fashion-MNIST, Q=20"),
    ]
    assert re.match(r"0\.63 \(0\.09\) \S+ 0\.\d+$", body[0][1])
    # Turned, as it is printed.
    head, *body = cells_of(papers["darrm"].tables["Table 3"])
    assert head == ["row", "M=10", "M=13", "M=15", "M=20"]
    assert [row[0] for row in body] == ["m", "tau", "λ", "ε", "δ"]
    # Two rounds, below each other; the last two columns are the last of the paper.
    head, *body = cells_of(papers["pate"].tables["Table 2"])
    assert head == [
        *("row", "ε", "order", "β", "smooth sensitivity", "σ ss", "sanitized ε"),
        "sanitized (sd)",
    ]
    assert [row[0] for row in body] == [
        *("MNIST, Confident-GNMax", "SVHN, Confident-GNMax", "UCI Adult, Confident-GNMax"),
        *("Glyph, Confident-GNMax", "Glyph, Interactive-GNMax"),
    ]
    assert re.fullmatch(r"26\.4 ✓ 26\.358<br>38\.7 ≈ 38\.65", body[-1][5])
    # What is printed as above a number; a data set's cells_of stay together.
    head, *body = cells_of(papers["nzc"].tables["Table 1"])
    assert head == ["row", "answered", "claimed ε", "student accuracy"]
    assert [row[2] for row in body][2].startswith("&gt; 8.03")
    datasets = [row[0].partition(",")[0] for row in body]
    assert datasets == sorted(datasets)
    head, *body = cells_of(papers["dpbag"].tables["Table 5"])
    assert head[:4] == ["row", *(f"accuracy ε\xa0=\xa0{budget}" for budget in (1, 3, 5))]
    assert [row[0].split()[0] for row in (body[0], body[9], body[13], body[16])] == [
        *("DPBag", "DPBag-", "SAA", "NPB"),
    ]


def test_every_printed_number_of_a_table_stands_there_once(fidelity):
    for paper in printed_numbers.printed_tables(fidelity, {}):
        for name, table in paper.tables.items():
            item = f"table{name.split()[1]}"
            mine = fidelity[(fidelity["paper"] == paper.paper) & (fidelity["item"] == item)]
            assert table.count('<span class="heard">') == len(mine), (paper.paper, name)


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
