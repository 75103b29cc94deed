"""Chapters: they fold, headings link to themselves and back, items show the files of the run."""

import pandas as pd
import pytest

from private_ensembles.page import chapters
from private_ensembles.page.page import ASSETS
from private_ensembles.page.sections import Item, Section


@pytest.fixture
def results(tmp_path):
    compared = pd.DataFrame(
        {
            "paper": ["planner", "planner"],
            "item": ["table1", "table2"],
            "dataset": "mnist",
            "row": "r",
            "column": "c",
            "published": "1",
            "status": ["match", "differs"],
        }
    )
    return chapters.Results(tmp_path, {}, compared, ASSETS, None)


def with_files(results, *names):
    for name in names:
        path = results.root / "planner" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mechanism,m\ngnmax,3\n")
        results.files["planner", name] = path
    return results


def test_a_chapter_is_open_and_leads_back_to_the_top():
    shown = chapters.chapter("planner", "NZC < all", ["<p>a</p>"], "chips")
    assert shown.startswith('<details class="chapter" id="planner" open>')
    link = '<a class="permalink" href="#planner" aria-label="Link to NZC &lt; all">#</a>'
    assert f"<h2>NZC &lt; all&nbsp;{link}</h2> chips</summary>" in shown
    assert '<a href="#top">' in shown


def test_a_heading_links_to_itself_and_back_to_its_paper():
    shown = chapters.heading("planner-leads", "Leads", "planner", "NZC")
    assert '<a class="of" href="#planner">NZC</a> Leads' in shown
    assert 'href="#planner-leads" aria-label="Link to Leads"' in shown


def test_only_items_with_files_are_shown_and_tables_are_folded(results):
    section = Section(
        "planner",
        "NZC: all",
        [Item("table1", "Table 1", "nzc_table1"), Item("table2", "Table 2", "nzc_table2")],
    )
    assert chapters.items(section, results) == []
    shown = "\n".join(chapters.items(section, with_files(results, "table1.csv")))
    assert 'id="planner-table1"' in shown
    assert "planner-table2" not in shown
    assert '<details class="rows"><summary>The row' in shown
    assert "1 match" in shown
    assert "GNMax, published σ" in shown


def test_tables_that_are_shown_together_have_anchors_of_their_own(results):
    item = Item("both", "Tables 1 and 2", "nzc_table1", tables=["table1", "table2"])
    shown = "\n".join(
        chapters.items(
            Section("planner", "NZC: all", [item]), with_files(results, "table1.csv", "table2.csv")
        )
    )
    for anchor in ("planner-both", "planner-table1", "planner-table2"):
        assert f'id="{anchor}"' in shown
    assert "Table 2 (m = 3): the row" in shown


def test_statuses_are_counted_in_their_order(results):
    shown = chapters.counts(results.compared, "planner")
    assert shown.index("1 match") < shown.index("1 differs")
    assert chapters.counts(results.compared, "pate") == ""
