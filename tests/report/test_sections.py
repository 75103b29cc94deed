"""Chapters: every item can be shown, folds, links to itself, and shows the run's own files."""

import pandas as pd
import pytest

from private_ensembles.report import chapters
from private_ensembles.report.html import read_caption
from private_ensembles.report.page import ASSETS, pieces
from private_ensembles.report.sections import Item, Section, read_sections


def test_every_item_has_a_caption():
    for section in read_sections(ASSETS):
        for item in section.items:
            assert read_caption(ASSETS / f"{item.caption}.rst").lead
            assert item.alt or not item.name.startswith("figure")


def test_no_paper_shows_two_items_of_one_kind_and_name():
    for section in read_sections(ASSETS):
        names = [(item.name, bool(item.alt)) for item in section.items]
        assert len(set(names)) == len(names)


def test_an_unknown_field_is_refused(tmp_path):
    item = "{name: a, title: A, caption: a, colour: red}"
    text = f"- {{paper: nzc, title: NZC, items: [{item}]}}\n"
    (tmp_path / "sections.yaml").write_text(text)
    with pytest.raises(TypeError, match="colour"):
        read_sections(tmp_path)


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
    return chapters.Results(tmp_path, {}, compared, None)


def chapters_with_files(results, *names):
    for name in names:
        path = results.root / "planner" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mechanism,m\ngnmax,3\n")
        results.files["planner", name] = path
    return results


def test_a_heading_links_to_itself():
    shown = pieces.heading("planner-leads", "Leads < all")
    assert "<h3>Leads &lt; all" in shown
    assert 'href="#planner-leads" aria-label="Link to Leads &lt; all"' in shown


def test_only_items_with_files_are_shown_and_tables_are_folded(results):
    section = Section(
        "planner",
        "NZC: all",
        [Item("table1", "Table 1", "nzc_table1"), Item("table2", "Table 2", "nzc_table2")],
    )
    assert chapters.items(section, results) == []
    (shown,) = chapters.items(section, chapters_with_files(results, "table1.csv"))
    assert shown.anchor == "planner-table1"
    (rows,) = shown.tables
    assert (rows.anchor, rows.words, rows.counts) == ("", "The row", {"match": 1})
    assert "GNMax, published σ" in rows.table


def test_tables_that_are_shown_together_have_anchors_of_their_own(results):
    item = Item("both", "Tables 1 and 2", "nzc_table1", tables=["table1", "table2"])
    section = Section("planner", "NZC: all", [item])
    (shown,) = chapters.items(section, chapters_with_files(results, "table1.csv", "table2.csv"))
    assert shown.anchor == "planner-both"
    assert [rows.anchor for rows in shown.tables] == ["planner-table1", "planner-table2"]
    assert [rows.words for rows in shown.tables] == [
        "Table 1 (m = 3): the row",
        "Table 2 (m = 3): the row",
    ]


def test_a_caption_that_was_read_before_is_a_link(results):
    items = [Item("table1", "Table 1: a", "nzc_table1"), Item("table2", "Table 2", "nzc_table1")]
    section = Section("planner", "NZC: all", items)
    shown = chapters.items(section, chapters_with_files(results, "table1.csv", "table2.csv"))
    first, second = shown
    assert first.caption.lead
    assert (second.caption, second.same_as) == (None, ("planner-table1", "Table 1"))


def test_statuses_are_counted_in_their_order(results):
    counts = chapters.counts(results.compared, "planner")
    assert list(counts.items()) == [("match", 1), ("differs", 1)]
    assert chapters.counts(results.compared, "pate") == {}


def test_a_new_column_of_any_table_is_shown_where_it_is_computed_and_its_caption_says_it(
    root, tmp_path
):
    """Two files: the heading and how numbers are rounded come of the column's name."""
    read = pd.read_csv(root / "docs/fidelity.csv", dtype=str, keep_default_na=False)
    compared = read[read["kind"] == "number"]
    added = {"new_share": 0.12341, "epsilon_new": 0.12341, "new_upper": 0.12341}
    sections, files = read_sections(ASSETS), {}
    for section in sections:
        for name in (name for item in section.items for name in item.files()):
            source = root / "docs" / section.paper / name
            if source.suffix == ".csv" and source.exists():
                path = tmp_path / section.paper / name
                path.parent.mkdir(exist_ok=True)
                pd.read_csv(source).assign(**added).to_csv(path, index=False)
                files[section.paper, name] = path
    results = chapters.Results(tmp_path, files, compared, None)
    items = [item for section in sections for item in chapters.items(section, results)]
    tables = {rows.path: rows.table for item in items for rows in item.tables}
    assert len(tables) == len(files) > 15
    for path, table in tables.items():
        for name, heading in {"new_share": "new share", "epsilon_new": "ε new"}.items():
            assert f'title="{name}">{heading}</th>' in table, path
        # Losses and upper bounds are rounded up, others to the nearest.
        rows = len(pd.read_csv(path))
        assert table.count(">0.1235</td>") >= 2 * rows, path
        assert table.count(">0.1234</td>") >= rows, path
    caption = tmp_path / "caption.rst"
    caption.write_text("*new_share* is the share of something new. *epsilon_new* is what it costs.")
    said = read_caption(caption)
    assert "<em>new share</em> is the share" in said.lead
    assert "<em>ε new</em> is what" in said.rest[0]
