"""All printed numbers beside ours: in one list, and in the papers' own tables."""

import re

import pandas as pd
import pytest

from private_ensembles.papers.compare.comparison import NUMBER, select_kind
from private_ensembles.report import printed_numbers


@pytest.fixture(scope="module")
def compared(root):
    table = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    return select_kind(table, NUMBER)


def rows(markup):
    """The texts of a table's cells, row by row."""
    lines = re.findall(r"<tr>(.*?)</tr>", markup, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
    heard = r'<span class="heard">.*?</span>|<(?!br)[^>]+>'
    return [[re.sub(heard, "", cell).strip() for cell in line] for line in cells]


def test_items_stand_in_the_order_of_the_paper(compared):
    ordered = printed_numbers.sort_in_paper_order(compared)
    assert len(ordered) == len(compared)
    items = list(dict.fromkeys(ordered.loc[ordered["paper"] == "darrm", "item"]))
    assert items == [
        *("section5", "section6.2", *(f"table{number}" for number in range(1, 11))),
        *("figure2", "figure7", "figure9", "figure10", "appendixD.1.3", "appendixD.2.1"),
    ]
    for item, among in ordered.groupby(["paper", "item"], sort=False):
        same = compared[(compared["paper"] == item[0]) & (compared["item"] == item[1])]
        assert among.index.tolist() == same.index.tolist(), item


def test_tables_have_the_rows_and_columns_of_the_paper(compared):
    papers = {
        one.paper: one for one in printed_numbers.printed_tables(compared, {"nzc": "NZC: labels"})
    }
    assert papers["nzc"].title == "NZC"
    sizes = {paper: list(one.tables) for paper, one in papers.items()}
    assert sizes["darrm"] == [f"Table {number}" for number in range(1, 11)]
    assert sizes["dpbag"] == [f"Table {number}" for number in range(1, 9)]
    assert sizes["pate"] == sizes["nzc"] == ["Table 1", "Table 2"]

    head, *body = rows(papers["darrm"].tables["Table 1"])
    assert [name.split(",")[0] for name in head] == ["row", "GNMax", "DaRRM", "DaRRM"]
    assert [row[0] for row in body[:4]] == [
        *("MNIST, Q=20", "MNIST, Q=50", "MNIST, Q=100", "Fashion-MNIST, Q=20"),
    ]
    assert re.match(r"0\.63 \(0\.09\) \S+ 0\.\d+$", body[0][1])
    # Turned, as it is printed.
    head, *body = rows(papers["darrm"].tables["Table 3"])
    assert head == ["row", "M=10", "M=13", "M=15", "M=20"]
    assert [row[0] for row in body] == ["m", "tau", "λ", "ε", "δ"]
    # Two rounds, below each other; the last two columns are the last of the paper.
    head, *body = rows(papers["pate"].tables["Table 2"])
    assert head == [
        *("row", "ε", "order", "β", "smooth sensitivity", "σ ss", "sanitized ε"),
        "sanitized (sd)",
    ]
    assert [row[0] for row in body] == [
        *("MNIST, Confident-GNMax", "SVHN, Confident-GNMax", "UCI Adult, Confident-GNMax"),
        *("Glyph, Confident-GNMax", "Glyph, Interactive-GNMax"),
    ]
    assert re.fullmatch(r"26\.4 ✓ 26\.358<br>38\.7 ≈ 38\.65", body[-1][5])
    # What is printed as above a number; a data set's rows stay together.
    head, *body = rows(papers["nzc"].tables["Table 1"])
    assert head == ["row", "answered", "claimed ε", "student accuracy"]
    assert [row[2] for row in body][2].startswith("&gt; 8.03")
    datasets = [row[0].partition(",")[0] for row in body]
    assert datasets == sorted(datasets)
    head, *body = rows(papers["dpbag"].tables["Table 5"])
    assert head[:4] == ["row", *(f"accuracy ε\xa0=\xa0{budget}" for budget in (1, 3, 5))]
    assert [row[0].split()[0] for row in (body[0], body[9], body[13], body[16])] == [
        *("DPBag", "DPBag-", "SAA", "NPB"),
    ]


def test_every_printed_number_of_a_table_stands_there_once(compared):
    for paper in printed_numbers.printed_tables(compared, {}):
        for name, table in paper.tables.items():
            item = f"table{name.split()[1]}"
            mine = compared[(compared["paper"] == paper.paper) & (compared["item"] == item)]
            assert table.count('<span class="heard">') == len(mine), (paper.paper, name)
