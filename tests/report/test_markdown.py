"""Tables for docs/: readable, complete, and nothing in a cell breaks them."""

import pytest

from private_ensembles.report.markdown import docs_page, table


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
    (tmp_path / "table1.csv").write_text("a\n1\n")
    facts = {
        "versions": {"torch": "2.13.0"},
        "revision": "abc",
        "python": "3.11",
        "machine": "Linux",
    }
    page = docs_page(
        title="DaRRM",
        tables=[tmp_path / "table1.csv"],
        figures=["x/figure2.png"],
        command="snakemake publish_docs",
        facts=facts,
    )
    assert page.startswith("# DaRRM: results\n")
    assert "```\nsnakemake publish_docs\n```" in page
    assert "![figure2](figure2.png)" in page
    assert "[table1.csv](table1.csv)" in page
    assert "torch 2.13.0" in page
