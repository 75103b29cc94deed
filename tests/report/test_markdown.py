"""Tables for docs/: readable, complete, and nothing in a cell breaks them."""

import pandas as pd
import pytest

from private_ensembles.report.markdown import docs_page, table
from private_ensembles.report.printed_numbers import lay_out_tables
from private_ensembles.report.sections import Item, Section


def test_table_cuts_long_decimals_and_keeps_short_ones(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,x,n\na,0.26759999999,11272\nb,0.0003,123456789\n")
    assert table(path).splitlines() == [
        "| name | x | n |",
        "| --- | ---: | ---: |",
        "| a | 0.2676 | 11272 |",
        "| b | 0.0003 | 123456789 |",
    ]


def test_cells_cannot_break_the_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('note\n"a|b\nc"\n')
    assert table(path).splitlines()[-1] == r"| a\|b c |"


@pytest.mark.parametrize(
    ("text", "message"), [("", "must have a header"), ("a,b\n1\n", "line 2 must have 2 values")]
)
def test_broken_tables_are_refused(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        table(tmp_path / "t.csv")


def test_page_says_which_command_made_it_and_links_every_file(tmp_path):
    for name in ("table1", "fewer_labels"):
        (tmp_path / f"{name}.csv").write_text("a\n1\n")
    facts = {
        "versions": {"torch": "2.13.0"},
        "revision": "abc",
        "python": "3.11",
        "machine": "Linux",
    }
    items = [
        Item("figure2", "Figure 2: noise", "figure2", alt="Two lines\nthat cross."),
        Item("accuracy", "Tables 1 and 6: accuracy", "accuracy", tables=("table1", "table6")),
    ]
    page = docs_page(
        Section("darrm", "DaRRM: private majority", items),
        tables=[tmp_path / "table1.csv", tmp_path / "fewer_labels.csv"],
        figures=["x/figure2.png"],
        command="snakemake publish_docs",
        facts=facts,
    )
    assert page.startswith("# DaRRM: private majority\n")
    assert "```\nsnakemake publish_docs\n```" in page
    assert "## Figure 2: noise\n\n![Two lines that cross.](figure2.png)" in page
    assert "## Table 1: accuracy\n\n[table1.csv](table1.csv)" in page
    assert "## Fewer labels\n\n[fewer_labels.csv](fewer_labels.csv)" in page
    assert "torch 2.13.0" in page


def test_the_paper_s_tables_come_first_in_its_order_with_the_printed_numbers_beside_ours(tmp_path):
    number = {"paper": "toy", "dataset": "mnist", "row": "Q=20", "published_sd": ""}
    numbers = [
        number | {"item": item, "column": column, "published": printed, "reproduced": ours} | more
        for item, column, printed, ours, more in (
            ("table10", "accuracy", "0.50", "0.5", {"status": "match", "published_sd": "0.1"}),
            ("table2", "round_1", "1.5", "1.25", {"status": "differs"}),
            ("table2", "round_2", "2", "", {"status": "not_run"}),
            ("table2", "labels_above", "9", "", {"status": "not_run", "row": "Q=50"}),
            ("table3", "accuracy", "1", "1", {"status": "match"}),
        )
    ]
    for name in ("leads", "table10", "table2"):
        (tmp_path / f"{name}.csv").write_text("a\n1\n")
    facts = {"versions": {}, "revision": "abc", "python": "3.11", "machine": "Linux"}
    files = [tmp_path / f"{name}.csv" for name in ("leads", "table10", "table2")]
    printed = lay_out_tables(pd.DataFrame(numbers), "toy")
    page = docs_page(Section("toy", "Toy", []), files, ["x/f.png"], "snakemake", facts, printed)
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Table 2",
        "## Table 10",
        "## F",
        "## Leads",
    ]  # no file of ours: no table
    assert "✓ match, ≈ explained" in page
    assert (
        "| Q=20 | 1.5 ✗ 1.25<br>2 – |  |\n| Q=50 |  | > 9 – |\n\nAll of ours: [table2.csv]" in page
    )
    assert "| Q=20 | 0.50 (0.1) ✓ 0.5 |\n" in page


def test_page_lists_the_tables_that_are_left_to_their_files_last(tmp_path):
    (tmp_path / "long_one.csv").write_text("a,b\n" + "".join(f"{n},{n * n}\n" for n in range(250)))
    (tmp_path / "table1.csv").write_text("a\n1\n")
    facts = {"versions": {}, "revision": "abc", "python": "3.11", "machine": "Linux"}
    files = [tmp_path / "long_one.csv", tmp_path / "table1.csv"]
    page = docs_page(Section("darrm", "DaRRM", []), files, [], "snakemake", facts)
    assert "## Table 1\n\n[table1.csv](table1.csv)\n\n| a |" in page
    last = "- Long one: [long_one.csv](long_one.csv), 250 rows of 2 columns\n"
    assert page.endswith(f"\n\n## Long tables\n\n{last}")


def test_what_all_rows_say_is_said_once(tmp_path):
    (tmp_path / "t.csv").write_text("dataset,m,x,empty\nadult,3,1,\nadult,3,2,\n")
    assert table(tmp_path / "t.csv").splitlines() == [
        "In all rows: dataset = adult, m = 3.",
        "",
        "| x |",
        "| ---: |",
        "| 1 |",
        "| 2 |",
    ]


def test_a_long_table_is_turned_by_the_number_that_it_is_about(tmp_path):
    rows = [
        f"{name},{data},{queries},{0.1 * queries:.3f},{queries}"
        for name in ("gnmax", "ladder")
        for data in ("mnist", "fashion-mnist")
        for queries in range(1, 31)
    ]
    (tmp_path / "t.csv").write_text(
        "\n".join(["mechanism,task,queries,accuracy,draws", *rows]) + "\n"
    )
    _, _, head, _, first, second = table(tmp_path / "t.csv").splitlines()
    assert head.startswith("| mechanism | MNIST, queries = 1 |")
    assert first.startswith("| GNMax, published σ | 0.1 | 0.2 |")
    assert first.count("|") == second.count("|") == 62


def test_a_table_with_several_numbers_for_a_cell_is_not_turned(tmp_path):
    """One of thirty trainings would stand for all."""
    rows = [
        f"{name},mnist,{queries},{training},{0.1 * training}"
        for name in ("gnmax", "ladder")
        for queries in (20, 100)
        for training in range(30)
    ]
    names = "mechanism,task,queries,training,accuracy"
    (tmp_path / "t.csv").write_text("\n".join([names, *rows]) + "\n")
    assert table(tmp_path / "t.csv").endswith("120 rows of 4 columns: see the file.")


def test_a_long_table_that_nothing_turns_is_left_to_its_file(tmp_path):
    lines = ["a,b", *(f"{n},{n * n}" for n in range(250))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert table(tmp_path / "t.csv") == "250 rows of 2 columns: see the file."


def test_a_wide_table_stands_on_its_side(tmp_path):
    names = [f"c{n}" for n in range(20)]
    rows = [",".join(str(n + k) for n in range(20)) for k in range(2)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]))
    lines = table(tmp_path / "t.csv").splitlines()
    assert lines[0] == "|  | 1 | 2 |"
    assert lines[2] == "| c0 | 0 | 1 |"
    assert len(lines) == 22
