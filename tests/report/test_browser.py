"""A whole run's page in a real browser: short, readable, sorted, no dead link, used by keyboard."""

import itertools
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlparse

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.colors import rgb_to_hsv, to_hex, to_rgb

from private_ensembles.papers.common import style
from private_ensembles.report import index
from tests import browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="needs chromium"),
]

SCREEN, SCREENS = 800, 15
LINKS = "[...document.querySelectorAll('a[href]')].map((a) => a.href)"
LOSS = 'document.querySelector("#darrm-table2 table")'
FOLDED = "document.querySelectorAll('details').forEach((d) => { d.open = %s; })"


@pytest.fixture(scope="module")
def written(root, published_results):
    teachers = published_results / "darrm" / "privacy" / "teachers.csv"
    teachers.parent.mkdir()
    quantities = {"quantity": ["b10", "b9", "a", ""], "value": [np.inf, 2.0, 10.0, np.nan]}
    pd.DataFrame({"dataset": "mnist", "stand_in": 0} | quantities).to_csv(teachers, index=False)
    made = index.build(
        fidelity=published_results / "fidelity.csv",
        tables=[*sorted(published_results.glob("*/tables/*.csv")), teachers],
        figures=sorted(published_results.glob("*/figures/*.png")),
        ledger=[published_results / "privacy_ledger.csv"],
        data="paper",
        config=yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8")),
    )
    path = published_results / "index.html"
    path.write_text(made, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(written, tmp_path_factory):
    with browser.open_page(written, tmp_path_factory.mktemp("profile")) as page:
        page.resize(1280, SCREEN)
        yield page


@pytest.fixture
def opened(page):
    """The page with everything unfolded, and as it was after the test."""
    closed = page.evaluate("[...document.querySelectorAll('details')].map((d) => d.open)")
    page.evaluate(FOLDED % "true")
    yield page
    page.evaluate(
        f"(() => {{ const was = {str(closed).lower()};"
        " document.querySelectorAll('details').forEach((d, i) => { d.open = was[i]; }); })()"
    )


def missing(addresses):
    """The files among these addresses that are not there."""
    paths = {Path(unquote(urlparse(one).path)) for one in addresses if one.startswith("file:")}
    return sorted(str(path) for path in paths if not path.exists())


def test_the_page_has_few_screens_with_every_chapter_unfolded(page):
    chapters, height = page.evaluate(
        "[[...document.querySelectorAll('.chapter')].map((c) => c.open),"
        " document.documentElement.scrollHeight]"
    )
    assert len(chapters) == 9
    assert all(chapters)
    assert height <= SCREENS * SCREEN


def test_the_rail_names_every_chapter_and_stays(page):
    names = page.evaluate("[...document.querySelectorAll('.rail a')].map((a) => a.textContent)")
    assert names == [
        *("Findings", "Choose a mechanism", "DaRRM", "PATE", "DPBag", "NZC", "Audit"),
        *("All numbers", "This run"),
    ]
    page.evaluate("document.getElementById('nzc').scrollIntoView()")
    top = page.evaluate("document.querySelector('.rail').getBoundingClientRect().top")
    assert 0 <= top < 50
    page.evaluate("scrollTo(0, 0)")


def test_a_folded_chapter_opens_for_a_link_into_it(page):
    page.evaluate("document.getElementById('darrm').open = false")
    page.evaluate("location.hash = 'darrm-table2'")
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    assert page.evaluate(
        "[document.getElementById('darrm').open, document.getElementById('darrm-table2').open]"
    ) == [True, True]
    page.evaluate("document.getElementById('darrm-table2').open = false")


def test_files_beside_the_page_are_linked_and_exist(page):
    links = page.evaluate(LINKS)
    assert len([one for one in links if one.endswith((".csv", ".png", ".pdf"))]) > 30
    assert missing(links) == []


def test_mailed_alone_the_page_has_no_link_to_a_file(written, tmp_path):
    alone = shutil.copy(written, tmp_path / "index.html")
    with browser.open_page(Path(alone), tmp_path / "profile") as page:
        links = [one.partition("#")[0] for one in page.evaluate(LINKS)]
        assert set(links) == {Path(alone).resolve().as_uri()}
        # It looked for one figure, to learn that it is not where it was made.
        assert {urlparse(one).scheme for one in page.requests} <= {"file", "data"}
        assert page.complaints in ([], ["Failed to load resource: net::ERR_FILE_NOT_FOUND"])


def test_links_survive_another_name_of_the_folder(written, tmp_path):
    folder = shutil.copytree(written.parent, tmp_path / "results of #1")
    with browser.open_page(folder / "index.html", tmp_path / "profile") as page:
        page.evaluate(
            "new Promise((done) => { const at = performance.now(); (function look() {"
            " document.querySelector('a.file[href]') || performance.now() > at + 5000"
            " ? done() : setTimeout(look, 20); })(); })"
        )
        links = page.evaluate(LINKS)
        assert len([one for one in links if one.endswith((".csv", ".png", ".pdf"))]) > 30
        assert missing(links) == []
        assert page.complaints == []


def test_without_script_everything_is_there_to_read(written, tmp_path):
    with browser.open_page(written, tmp_path / "profile") as page:
        page.resize(1280, SCREEN)
        page.reload_without_script()
        seen = (
            "['.control', '.filter', 'th button', '.thumbnails a', '#fidelity .mark', 'a.square',"
            " '#darrm-accuracy .mark', '.headline', 'figure img'].map("
            "(s) => [...document.querySelectorAll(s)].some((e) => e.checkVisibility()))"
        )
        assert page.evaluate(seen) == [False] * 3 + [True] * 6
        # Chapters and tables unfold by themselves.
        x, y = page.evaluate(
            "(() => { const s = document.querySelector('#nzc-leads summary:last-of-type');"
            " s.scrollIntoView({block: 'center'}); const b = s.getBoundingClientRect();"
            " return [b.x + 8, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        assert page.evaluate("document.querySelectorAll('#nzc-leads details[open]').length") == 1


def test_a_square_says_its_comparison_and_leads_to_its_row(page):
    page.evaluate("document.querySelector('.squares').focus()")
    for _ in range(3):
        page.press("ArrowRight", 39)
    said = page.evaluate("document.querySelector('.overview .said-here').textContent")
    assert re.fullmatch(r"darrm .*: printed \S+, ours \S+, [a-z ]+", said)
    page.press("Enter", 13)
    row, height = page.evaluate(
        "(() => { const r = document.querySelector('tr:has(> :target)');"
        " return [r.textContent, r.getBoundingClientRect().top]; })()"
    )
    assert row.startswith(said.split(": printed")[0])
    assert 0 < height < SCREEN
    page.evaluate("document.querySelector('details.rows:has(:target)').open = false")
    page.evaluate("history.replaceState(null, '', location.pathname); scrollTo(0, 0)")


def test_every_thumbnail_shows_the_figure_that_it_leads_to(page):
    pairs = page.evaluate(
        "[...document.querySelectorAll('.thumbnails a')].map((a) => [a.querySelector('img')?.src,"
        " document.querySelector(`${a.hash} figure img`)?.src])"
    )
    assert len(pairs) > 25
    assert all(small == large for small, large in pairs)
    assert sum(small is not None for small, _ in pairs) > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(opened, scheme):
    opened.emulate(scheme)
    worst, where, count = opened.worst_contrast()
    shade = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.emulate("light")
    assert (shade == "rgb(255, 255, 255)") == (scheme == "light")
    assert count > 5000
    assert worst >= 4.5, where  # WCAG 2.1, AA


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_window(opened, width):
    opened.resize(width, SCREEN)
    inner, outer = opened.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    wide = opened.evaluate(
        "[...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, svg, .heard')"
        " && e.checkVisibility() && e.getBoundingClientRect().right > innerWidth)"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    size = opened.evaluate("parseFloat(getComputedStyle(document.querySelector('li')).fontSize)")
    opened.resize(1280, SCREEN)
    assert inner <= outer
    assert wide == []
    assert size >= 14


@pytest.mark.parametrize("width", [1280, 400])
def test_what_is_printed_and_ours_are_in_sight_beside_the_status(opened, width):
    opened.resize(width, SCREEN)
    seen = opened.evaluate(
        "['printed', 'relations'].map((name) => {"
        " const cells = [...document.querySelector(`#all-${name} thead tr`).cells];"
        " const box = (text) => cells.find((c) => c.textContent === text).getBoundingClientRect();"
        " return [box('where').right, box('published').left, box('published').right,"
        " box('ours').left, box('ours').right, box('status').left, box('status').right]; })"
    )
    opened.resize(1280, SCREEN)
    for edges in seen:
        assert edges == sorted(edges)
        assert edges[-1] <= width


def test_sliders_rank_mechanisms_at_a_budget_and_number_of_labels_by_keyboard(
    page, published_results
):
    place = "#planner-planner .control label:nth-of-type(%d) input"
    ranking = (
        "[...document.querySelectorAll('#planner-planner .ranking li .value')]"
        ".map((v) => Number(v.textContent))"
    )
    few = pd.read_csv(published_results / "planner" / "tables" / "fewer_labels.csv")
    few = few.assign(right=100 * few["correct"] / few["wanted"])
    budgets, wanted = sorted(few["budget_epsilon"].unique()), sorted(few["wanted"].unique())

    def move(slider, key, code):
        page.evaluate(f"document.querySelector('{place % slider}').focus()")
        page.press(key, code)

    def check(epsilon, labels):
        """The ranking is that of the table, and the slider says its first."""
        shown = page.evaluate(ranking)
        rows = few[(few["budget_epsilon"] == epsilon) & (few["wanted"] == labels)]
        assert len(shown) > 3
        assert shown == sorted(shown, reverse=True)
        assert shown[0] == pytest.approx(rows["right"].max(), abs=0.051)
        told = page.evaluate("document.activeElement.getAttribute('aria-valuetext')")
        told = told.replace("\xa0", " ")
        assert told.startswith(f"ε = {epsilon:g}, Q = {labels}: ")
        assert told.endswith(f", {shown[0]:.1f} % of labels right")

    move(1, "Home", 36)
    check(budgets[0], wanted[-1])
    move(1, "End", 35)
    check(budgets[-1], wanted[-1])
    move(2, "Home", 36)
    assert wanted[0] == 1
    check(budgets[-1], 1)
    chosen = (
        "[...document.querySelectorAll('#planner-planner th.chosen')].map((h) => h.textContent)"
    )
    assert page.evaluate(chosen) == [f"ε\xa0=\xa0{budgets[-1]:g}", "Q\xa0=\xa01"]


def test_the_planner_says_whose_plan_it_is_and_marks_every_value(page, root):
    planner = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))["planner"]
    words = page.evaluate("document.querySelector('#planner-planner .chooser').textContent")
    assert f"{planner['teachers']} teachers, {planner['n_classes']} classes" in words
    # A mark lies below the middle of the thumb: at the ends that is 8 pixels from the border.
    slider, marks = page.evaluate(
        "(() => { const s = document.querySelector('#planner-planner input[name=epsilon]');"
        " const b = s.getBoundingClientRect(); return [[b.left + 8, b.right - 8],"
        " [...s.list.options].map((o) => { const b = o.getBoundingClientRect();"
        " return [o.label, b.left + b.width / 2]; })]; })()"
    )
    assert [words for words, _ in marks] == [f"{budget:g}" for budget in planner["epsilons"]]
    places = np.linspace(*slider, len(marks))
    assert [at for _, at in marks] == pytest.approx(list(places), abs=1)


def test_sliders_and_filters_are_in_the_address_and_come_back(written, tmp_path):
    state = (
        "[location.hash, document.querySelector('#planner-planner output').textContent,"
        " document.querySelector('#all-printed [role=status]').textContent,"
        " document.querySelector('#all-printed').open,"
        " document.querySelector('#darrm-table2').open]"
    )
    with browser.open_page(written, tmp_path / "profile") as page:
        first, at_first, *_ = page.evaluate(state)
        assert first == ""
        page.evaluate("document.querySelector('#planner-planner input').focus()")
        page.press("Home", 36)
        page.evaluate(
            "(() => { const f = document.querySelector('#all-printed .filter');"
            " const i = f.querySelector('input'); i.value = 'Table2 MNIST';"
            " i.dispatchEvent(new Event('input'));"
            " [...f.querySelectorAll('button')].find((b) => /^match/.test(b.textContent)).click();"
            " document.querySelector('#all-printed').open = true; })()"
        )
        # A link within the page keeps them.
        page.evaluate("location.hash = 'darrm-table2'")
        page.evaluate("new Promise((done) => setTimeout(done, 100))")
        set_to = page.evaluate(state)
        anchor, words = set_to[0].split("?")
        assert anchor == "#darrm-table2"
        assert dict(parse_qsl(words)) == {
            "planner-planner.epsilon": "0.25",
            "all-printed.words": "Table2 MNIST",
            "all-printed.status": "match",
        }
        page.reload()
        assert page.evaluate(state) == set_to
        # What the address does not say, or what is not there, is as at first.
        page.evaluate("location.hash = '#nzc?planner-planner.epsilon=0.3&all-printed.status=no'")
        page.evaluate("new Promise((done) => setTimeout(done, 100))")
        _, at_last, rows, *_ = page.evaluate(state)
        assert at_last == at_first != set_to[1]
        shown, every = rows.removesuffix(" rows").split(" of ")
        assert shown == every
        assert page.complaints == []


def test_tab_stops_at_nothing_folded_and_once_in_the_headings_of_a_table(written, tmp_path):
    with browser.open_page(written, tmp_path / "profile") as page:
        page.resize(1280, SCREEN)
        page.evaluate("document.querySelectorAll('.chapter').forEach((c) => { c.open = false; })")
        for unfolded in ("#planner", "#planner-planner .chooser details"):
            page.evaluate(f"document.querySelector('{unfolded}').open = true")
        stops = []
        while True:
            page.press("Tab", 9)
            stop = page.evaluate(
                "(() => { const a = document.activeElement; if (a === document.body) return null;"
                " window.tables ??= [...document.querySelectorAll('table')];"
                " return [a.checkVisibility({contentVisibilityAuto: true}),"
                " a.closest('th') ? tables.indexOf(a.closest('table')) : -1]; })()"
            )
            if stop is None:
                break
            stops.append(stop)
        assert all(seen for seen, _ in stops)
        tables = [table for _, table in stops if table >= 0]
        assert len(tables) == len(set(tables)) > 0
        assert len(stops) < 100
        # The other headings by arrow keys; a box with nothing to scroll is no stop.
        page.evaluate("document.querySelector('#planner-planner th button').focus()")
        page.press("ArrowRight", 39)
        assert page.evaluate("document.activeElement.textContent") == "ε\xa0=\xa00.25"
        boxes = page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter((b) => b.checkVisibility())"
            ".map((b) => [b.tabIndex === 0,"
            " b.scrollWidth > b.clientWidth || b.scrollHeight > b.clientHeight])"
        )
        assert boxes
        assert all(stop == scrolls for stop, scrolls in boxes)


def test_a_chart_says_its_values_by_arrow_keys_and_under_the_pointer(page):
    page.evaluate("document.querySelector('#fidelity .plot > svg').focus()")
    said = "document.querySelector('#fidelity .chart .said-here').textContent"
    assert page.evaluate(said) == ""
    page.press("ArrowRight", 39)
    first = page.evaluate(said)
    page.press("ArrowRight", 39)
    assert first.startswith("GNMax, published σ; ")
    assert page.evaluate(said) != first
    x, y = page.evaluate(
        "(() => { scrollTo(0, 0);"
        " const b = document.querySelector('#fidelity .plot .mark.k0').getBoundingClientRect();"
        " scrollTo(0, b.top - 300); return [b.x + b.width / 2, 300 + b.height / 2]; })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    marked = page.evaluate("document.querySelector('#fidelity .mark.on title').textContent")
    assert page.evaluate(said) == marked
    page.evaluate("scrollTo(0, 0)")


def test_a_status_is_chosen_by_its_button(opened):
    field = "document.querySelector('#all-printed .filter')"
    rows = (
        "[...document.querySelector('#all-printed').querySelectorAll('tbody tr')]"
        ".filter((r) => !r.hidden)"
        ".map((r) => r.querySelector('td > .status').lastChild.textContent.trim())"
    )
    chips = f"[...{field}.querySelectorAll('button')]"
    button = f"{chips}.find((b) => b.textContent.startsWith('differs'))"
    every = len(opened.evaluate(rows))
    counts = dict(
        text.rsplit(" ", 1) for text in opened.evaluate(f"{chips}.map((b) => b.textContent)")
    )
    assert sum(map(int, counts.values())) == every
    opened.evaluate(f"{button}.click()")
    chosen = opened.evaluate(rows)
    assert chosen == ["differs"] * int(counts["differs"])
    assert 0 < len(chosen) < every
    opened.evaluate(f"{button}.click()")
    assert len(opened.evaluate(rows)) == every


def test_headings_and_first_columns_stay_in_view(opened):
    kept = opened.evaluate(
        "(() => { const box = document.querySelector('#all-printed .scroll.tall');"
        " box.scrollTo(300, 2000); const at = box.getBoundingClientRect();"
        " const head = box.querySelector('th').getBoundingClientRect();"
        " const rows = [...box.querySelectorAll('tbody tr')];"
        " const cell = rows[150].cells[0].getBoundingClientRect();"
        " box.scrollTo(0, 0); return [head.top - at.top, cell.left - at.left]; })()"
    )
    assert all(0 <= place <= 2 for place in kept)


@pytest.mark.parametrize("width", [1280, 400])
def test_what_became_of_a_row_stays_in_sight(opened, width):
    opened.resize(width, SCREEN)
    places = opened.evaluate(
        "[...document.querySelectorAll('.judged')].filter((t) => t.checkVisibility())"
        ".flatMap((table) => { const box = table.parentElement;"
        " const cell = table.tBodies[0].rows[0].cells;"
        " return [0, 150, 9999].map((left) => { box.scrollTo(left, 0);"
        " const [b, c] = [box, cell[cell.length - 1]].map((e) => e.getBoundingClientRect());"
        " const first = cell[0].getBoundingClientRect(); box.scrollTo(0, 0);"
        " return [box.ariaLabel, b.left + box.clientLeft + box.clientWidth - c.right,"
        " c.left - first.right]; }); })"
    )
    opened.resize(1280, SCREEN)
    assert {"All printed numbers beside ours", "Privacy ledger"} <= {name for name, *_ in places}
    # At the right end of its box, beside the first column, which stays too.
    assert [one for one in places if abs(one[1]) > 1 or one[2] < -1] == []


def test_figures_are_dark_in_the_dark_and_every_colour_of_them_can_be_seen(page):
    """Colours, and those of words, as the page's filter changes them; and white, its ground."""
    inks = [to_hex(style.darken_for_text(colour)) for colour in style.COLORS.values()]
    lines = [*style.COLORS.values(), *(look["color"] for look in style.SEQUENCE)]
    page.emulate("dark")
    shown, shade = page.evaluate(
        "(() => { const canvas = document.createElement('canvas');"
        " const pen = canvas.getContext('2d', {willReadFrequently: true});"
        " pen.filter = getComputedStyle(document.querySelector('img')).filter;"
        f" return [{['#ffffff', *lines, *inks, style.WARNING]}.map((colour) => {{"
        " pen.fillStyle = colour; pen.fillRect(0, 0, 9, 9);"
        " return [...pen.getImageData(4, 4, 1, 1).data.slice(0, 3)]; }),"
        " getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)]; })()"
    )
    page.emulate("light")
    assert page.evaluate("getComputedStyle(document.querySelector('img')).filter") == "none"
    ground, *others = np.array(shown) / 255
    assert np.abs(255 * ground - shade).max() < 10
    contrasts = [style._contrast(ground) / style._contrast(colour) for colour in others]
    assert min(contrasts[: len(lines)]) >= 3  # WCAG 2.1, AA: of lines
    assert min(contrasts[len(lines) :]) >= 4.5  # and of words
    pairs = zip(style.COLORS.values(), others[: len(style.COLORS)], strict=True)
    hues = [[rgb_to_hsv(one)[0] for one in (to_rgb(a), b)] for a, b in pairs]
    # Round the circle; black has none.
    assert max(abs((a - b + 0.5) % 1 - 0.5) for a, b in hues if a) < 0.06


def test_the_printed_page_leaves_long_tables_out(page):
    pdf = page.print_to_pdf()
    assert pdf.startswith(b"%PDF")
    # All pages are upright, so none ends because the next one lies across.
    assert 10 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 45
    assert len(set(re.findall(rb"/MediaBox\s*\[([^\]]*)\]", pdf))) == 1
    assert page.evaluate("document.querySelector('#all-printed').open") is False


@pytest.fixture
def paper(page):
    """The page as it is laid out for paper; and as it was after the test."""
    page.call("Emulation.setEmulatedMedia", media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    yield page
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.call("Emulation.setEmulatedMedia", media="")
    page.resize(1280, SCREEN)


def test_a_printed_table_and_its_headings_fit_on_the_paper(paper):
    width = 688  # A4 without its margins, in CSS pixels
    paper.resize(width, SCREEN)
    tables = paper.evaluate(
        "[...document.querySelectorAll('table')].filter((t) => t.checkVisibility())"
        ".map((t) => [t.parentElement.ariaLabel, t.getBoundingClientRect().right])"
    )
    assert len(tables) > 10
    assert [name for name, right in tables if right > width + 1] == []
    # A box of its own would be missing where the heading of a table is printed again.
    shown = "[...document.querySelectorAll('th button, .control')].map("
    boxes = paper.evaluate(f"{shown} (b) => getComputedStyle(b).display)")
    assert set(boxes) == {"contents", "none"}


def test_no_name_is_cut_and_no_text_lies_on_another(page):
    """Names beside charts, first columns of tables, and the values at an axis, at both widths."""
    cut = (
        "[...document.querySelectorAll('.names span, td:first-child, .card *')].filter((e) =>"
        " e.checkVisibility() && getComputedStyle(e).overflow !== 'visible' &&"
        " e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"
    )
    # Ticks of one axis, from left to right: each begins where the one before has ended.
    over = (
        "[...document.querySelectorAll('.plot > svg')].filter((s) => s.checkVisibility())"
        ".flatMap((s) => [...s.querySelectorAll(':scope > text')].map("
        "(t) => t.getBoundingClientRect()).filter((b, i, all) => i && b.left < all[i - 1].right)"
        ".map((b) => [s.ariaLabel, b.left]))"
    )
    found = []
    for width in (1280, 400):
        page.resize(width, SCREEN)
        found.append(page.evaluate(f"[{cut}, {over}]"))
    page.resize(1280, SCREEN)
    assert found == [[[], []], [[], []]]


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


def test_a_click_sorts_numbers_as_numbers_and_says_so(opened):
    click(opened, LOSS, "ε total")
    ascending = [float(text) for text in column(opened, LOSS, "ε total")]
    assert ascending == sorted(ascending)
    assert len(set(ascending)) > 3
    assert sorted_by(opened, LOSS) == [["ε total", "ascending"]]
    click(opened, LOSS, "ε total")
    assert [float(text) for text in column(opened, LOSS, "ε total")] == ascending[::-1]
    assert sorted_by(opened, LOSS) == [["ε total", "descending"]]
    click(opened, LOSS, "queries")
    queries = [int(text) for text in column(opened, LOSS, "queries")]
    assert queries == sorted(queries)
    assert sorted_by(opened, LOSS) == [["queries", "ascending"]]


def test_text_sorts_naturally_and_what_is_empty_or_infinite_has_its_place(opened):
    teachers = 'document.querySelector("#darrm-teachers table")'
    click(opened, teachers, "quantity")
    assert column(opened, teachers, "quantity") == ["a", "b9", "b10", ""]
    click(opened, teachers, "value")
    assert column(opened, teachers, "value") == ["2", "10", "∞", ""]
    click(opened, teachers, "value")
    assert column(opened, teachers, "value") == ["∞", "10", "2", ""]


def test_tables_sort_by_keyboard_alone(opened):
    opened.evaluate(f"{LOSS}.querySelectorAll('button')[1].focus()")
    assert opened.evaluate("document.activeElement.textContent") == "queries"
    click(opened, LOSS, "dataset")
    opened.press("Enter", 13)
    assert sorted_by(opened, LOSS) == [["queries", "ascending"]]


def test_a_field_filters_the_list_of_all_comparisons(opened):
    rows = (
        "[...document.querySelectorAll('#all details tbody tr')]"
        ".filter((r) => r.checkVisibility()).length"
    )
    field = "document.querySelector('#all details .filter input')"
    everything = opened.evaluate(rows)
    opened.evaluate(
        f"(() => {{ const f = {field}; f.value = 'Table2 MNIST';"
        " f.dispatchEvent(new Event('input')); })()"
    )
    assert 0 < opened.evaluate(rows) < everything
    opened.evaluate(
        f"(() => {{ const f = {field}; f.value = ''; f.dispatchEvent(new Event('input')); }})()"
    )
    assert opened.evaluate(rows) == everything


def test_pictures_appear_and_have_words_for_those_who_cannot_see_them(opened):
    images = opened.evaluate(
        "Promise.all([...document.querySelectorAll('figure img')].map((i) => i.decode().then("
        "() => [i.naturalWidth, i.getBoundingClientRect().width, i.alt])))"
    )
    assert len(images) > 10
    for natural, shown, alt in images:
        assert natural > 100
        assert shown > 100
        assert len(alt) > 30


def test_the_verdict_in_words_stands_on_the_first_screen(page):
    page.evaluate("scrollTo(0, 0)")
    bottoms = page.evaluate(
        "['.headline', '.squares'].map("
        "(s) => document.querySelector(s).getBoundingClientRect().bottom)"
    )
    assert max(bottoms) < SCREEN


def test_headings_go_down_one_level_at_a_time(opened):
    levels = opened.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map((h) => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in itertools.pairwise(levels))


def test_the_browser_complains_of_nothing_and_asks_for_nothing(page, written):
    assert page.complaints == []
    outside = [address for address in page.requests if not address.startswith("data:")]
    assert outside == [written.as_uri()]
