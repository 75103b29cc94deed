"""The page in a real browser: no complaint, tables that sort, readable, printable."""

import itertools
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from private_ensembles.figures.darrm import draw_sigma_search
from private_ensembles.page import index
from private_ensembles.papers.darrm.figures import sigma_search
from private_ensembles.papers.darrm.tables import privacy_loss
from private_ensembles.published.comparison import compare
from private_ensembles.published.printed import FOLDER, read_published
from tests import browser

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="needs chromium")

# The table of privacy losses, of which each test has its own expectations.
LOSS = 'document.querySelector("#darrm-table2 table")'


@pytest.fixture(scope="module")
def results(root, tmp_path_factory):
    """A page with tables of all kinds and one figure, in a folder of its own."""
    repository, root = root, tmp_path_factory.mktemp("results")
    for folder in ("tables", "figures", "privacy"):
        (root / "darrm" / folder).mkdir(parents=True)
    datasets = [
        {"name": "mnist", "stand_in": False, "epsilon": 0.0892, "Delta": 1e-4},
        {"name": "digits", "stand_in": True, "epsilon": 0.5, "Delta": 1e-4},
    ]
    loss = privacy_loss(datasets, K=11, m=3, queries=[20, 50, 100], delta_prime=1e-4)
    loss.to_csv(root / "darrm/tables/table2.csv", index=False)
    data = sigma_search(
        [{"name": "mnist", "epsilon": 0.2676, "delta": 3e-4}], order_max=100, order_step=0.5
    )
    draw_sigma_search(data, root / "darrm/figures/figure10.png")
    teachers = pd.DataFrame(
        {
            "dataset": "mnist",
            "stand_in": 0,
            "quantity": ["b10", "b9", "a", ""],
            "value": [np.inf, 2.0, 10.0, np.nan],
        }
    )
    teachers.to_csv(root / "darrm/privacy/teachers.csv", index=False)
    printed = read_published(FOLDER.glob("darrm_*.csv"))
    fidelity = compare(printed, {"darrm": {"table2": loss}}, data="embedded")
    fidelity.loc[0, "status"] = "differs"  # every colour is to be seen
    fidelity.loc[1, "status"] = "not_comparable"
    fidelity.loc[2, "status"] = "explained"
    fidelity.to_csv(root / "fidelity.csv", index=False)
    shutil.copy(repository / "docs" / "privacy_ledger.csv", root)
    page = index.build(
        fidelity=root / "fidelity.csv",
        tables=[root / "darrm/tables/table2.csv"],
        figures=[root / "darrm/figures/figure10.png"],
        teachers=[root / "darrm/privacy/teachers.csv"],
        ledger=[root / "privacy_ledger.csv"],
        data="embedded",
        config={},
    )
    path = root / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    with browser.open_page(results, tmp_path_factory.mktemp("profile")) as page:
        page.resize(1280)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        yield page


def column(page, table, heading):
    """The texts of a column below its heading."""
    return page.evaluate(
        f"(() => {{ const t = {table};"
        f" const i = [...t.tHead.rows[0].cells].findIndex((c) => c.textContent === {heading!r});"
        " return [...t.tBodies[0].rows].map((r) => r.cells[i].textContent); })()"
    )


def click(page, table, heading):
    page.evaluate(
        f"[...{table}.querySelectorAll('button')]"
        f".find((b) => b.textContent === {heading!r}).click()"
    )


def sorted_by(page, table):
    return page.evaluate(
        f"[...{table}.tHead.rows[0].cells].filter((c) => c.hasAttribute('aria-sort'))"
        ".map((c) => [c.textContent, c.getAttribute('aria-sort')])"
    )


def test_page_loads_without_complaint_and_asks_for_nothing(page, results):
    page.evaluate("document.body.offsetHeight")
    assert page.complaints == []
    outside = [address for address in page.requests if not address.startswith("data:")]
    assert outside == [results.as_uri()]


def test_images_appear_and_have_words_for_those_who_cannot_see_them(page):
    images = page.evaluate(
        "Promise.all([...document.images].map((i) => i.decode().then("
        "() => [i.naturalWidth, i.getBoundingClientRect().width, i.alt])))"
    )
    assert len(images) == 1
    for natural, shown, alt in images:
        assert natural > 100
        assert shown > 100
        assert len(alt) > 40


def test_a_click_sorts_numbers_as_numbers_and_says_so(page):
    click(page, LOSS, "ε total")
    ascending = [float(text) for text in column(page, LOSS, "ε total")]
    assert ascending == sorted(ascending)
    assert len(set(ascending)) > 3
    assert sorted_by(page, LOSS) == [["ε total", "ascending"]]
    click(page, LOSS, "ε total")
    assert [float(text) for text in column(page, LOSS, "ε total")] == ascending[::-1]
    assert sorted_by(page, LOSS) == [["ε total", "descending"]]
    click(page, LOSS, "queries")
    assert column(page, LOSS, "queries") == ["20", "20", "50", "50", "100", "100"]
    assert sorted_by(page, LOSS) == [["queries", "ascending"]]


def test_text_sorts_naturally_and_what_is_empty_or_infinite_has_its_place(page):
    teachers = 'document.querySelector("#darrm-teachers table")'
    click(page, teachers, "quantity")
    assert column(page, teachers, "quantity") == ["a", "b9", "b10", ""]
    click(page, teachers, "value")
    assert column(page, teachers, "value") == ["2", "10", "∞", ""]
    click(page, teachers, "value")
    assert column(page, teachers, "value") == ["∞", "10", "2", ""]


def test_tables_sort_by_keyboard_alone(page):
    page.evaluate(f"{LOSS}.querySelectorAll('button')[1].focus()")
    assert page.evaluate("document.activeElement.textContent") == "queries"
    click(page, LOSS, "dataset")
    page.press("Enter", 13)
    assert sorted_by(page, LOSS) == [["queries", "ascending"]]


def test_a_field_filters_the_list_of_all_comparisons(page):
    rows = (
        "[...document.querySelectorAll('#all details tbody tr')]"
        ".filter((r) => r.checkVisibility()).length"
    )
    field = "document.querySelector('#all details .filter input')"
    everything = page.evaluate(rows)
    page.evaluate(
        f"(() => {{ const f = {field}; f.value = 'Table2 MNIST';"
        " f.dispatchEvent(new Event('input')); })()"
    )
    assert 0 < page.evaluate(rows) < everything
    page.evaluate(
        f"(() => {{ const f = {field}; f.value = ''; f.dispatchEvent(new Event('input')); }})()"
    )
    assert page.evaluate(rows) == everything


@pytest.mark.parametrize("width", [1280, 400])
def test_page_is_as_wide_as_the_window(page, width):
    page.resize(width)
    inner, outer = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    page.resize(1280)
    assert inner <= outer
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('li')).fontSize)")
    assert size >= 14


def test_the_verdict_in_words_stands_on_the_first_screen(page):
    page.evaluate("scrollTo(0, 0)")
    bottoms = page.evaluate(
        "['.card', '.said'].map((s) => document.querySelector(s).getBoundingClientRect().bottom)"
    )
    assert max(bottoms) < 800


def test_every_text_has_enough_contrast(page):
    worst, where, count = page.worst_contrast()
    assert count > 300
    assert worst >= 4.5, where  # WCAG 2.1, AA


def test_headings_go_down_one_level_at_a_time_and_links_lead_somewhere(page):
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map((h) => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in itertools.pairwise(levels))
    lonely = page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map((a) => a.getAttribute('href'))"
        ".filter((h) => !document.getElementById(h.slice(1)))"
    )
    assert lonely == []


def test_page_prints(page):
    pdf = page.print_to_pdf()
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 60


def test_without_script_everything_is_there_to_read(results):
    text = results.read_text(encoding="utf-8")
    assert "<button" not in text  # made by the script, so none is dead without it
    assert '<p class="filter" hidden>' in text
