"""Each mechanism has one name and one look: in every table, figure and page of the tiny runs.

Figures are drawn anew from the runs' own tables, and their lines, legends and ticks are read.
"""

import functools
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color, to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text

from private_ensembles.labels import display_names, registry
from private_ensembles.labels.task import Protection
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.common import style
from private_ensembles.papers.ledger import figure as ledger
from private_ensembles.papers.pate import figures
from private_ensembles.release import own_votes as accounts
from private_ensembles.release import pool
from private_ensembles.release.record import Total
from private_ensembles.report import own_figure, own_page, planner_figure

RUNS = ("tiny", "tiny_pate", "tiny_nzc")
LABELS = {entry.label for entry in registry.ENTRIES}
SHORT = {name for entry in registry.ENTRIES for name in display_names.short_labels([entry.name])}
# What files call mechanisms. Two papers have the same identifiers as theirs.
IDENTIFIERS = {*registry.entries(), "confident", "interactive"} - {"dpbag", "nzc"}
# What may be said behind a name: a threshold, a number, a row of a paper.
PARTICULAR = (
    r", (K as written|moderate|aggressive|m of them|"
    r"(\d+|few) (queries|teachers)|(first|second) label)$"
)
# What legends of figures of mechanisms say of other things.
NO_NAMES = (
    r"the same, told another accuracy|(hard|easy) queries \(\d+%\)|"
    r"exact|exact is at least|proven|claimed|(unproven|fails): not for release"
)
# Figures that show no mechanism: gamma families, data sets, numbers of partitions or teachers.
OTHERS = {
    *("darrm/figure2", "darrm/figure6", "darrm/figure7", "darrm/figure8", "darrm/figure9"),
    *(f"darrm/figure{number}_region" for number in (2, 6, 7, 8)),
    *("darrm/figure10", "darrm/objectives", "darrm/sweeps", "darrm/noiseless"),
    *("dpbag/label_counts", "dpbag/student_accuracy", "nzc/figure2"),
}


def is_a_name(words):
    """Whether words are meant as a mechanism's name: a short one, perhaps with more behind it."""
    return words.partition(",")[0] in SHORT or words in IDENTIFIERS


def is_the_name(words):
    """Whether words are a mechanism's label, or its short name, perhaps with what is particular."""
    return re.sub(PARTICULAR, "", words) in LABELS | SHORT


@pytest.fixture(scope="module", params=RUNS)
def results(request, finish_run):
    return finish_run(request.param) / "results"


def read(path):
    """A table of a run, or None if the run did not make it."""
    return pd.read_csv(path) if path.exists() else None


def test_names_in_tables_are_labels(results):
    named = 0
    for path in results.rglob("*.csv"):
        table = pd.read_csv(path)
        if {"mechanism", "name"} <= set(table):
            expected = [registry.get_entry(name).label for name in table["mechanism"]]
            assert table["name"].tolist() == expected, path
            named += 1
        elif "mechanism" in table:
            known = {*registry.entries(), "moderate", "aggressive"}
            assert set(table["mechanism"]) <= known, path
    assert named or not (results / "planner").exists()


def drawings(results):
    """What draws each figure of a run that shows mechanisms, by the figure's folder and name."""
    known = {
        "planner/correct_labels": ("planner/tables/planner", planner_figure.draw_plan),
        "pate/figure1": (
            "pate/tables/figure1",
            functools.partial(figures.draw_students, source="x"),
        ),
        "pate/figure4": (
            "pate/tables/figure4",
            functools.partial(figures.draw_noise_comparison, source="x"),
        ),
        "pate/figure5": (
            "pate/tables/figure5",
            functools.partial(figures.draw_threshold_effects, source="x"),
        ),
        "audit/claimed_exact": ("privacy_ledger", ledger.draw_ledger),
    }
    tables = {figure: read(results / f"{name}.csv") for figure, (name, _) in known.items()}
    return {
        figure: functools.partial(draw, tables[figure])
        for figure, (_, draw) in known.items()
        if tables[figure] is not None
    }


def looks_of(words):
    """The looks, (colour, mark, dash), of the mechanisms that have this label or short name."""
    for entry in registry.ENTRIES:
        if words in (entry.label, *display_names.short_labels([entry.name])):
            yield style.COLORS[entry.plot_style[0]], *entry.plot_style[1:]


def has_look(line, look):
    """Whether a line has a mechanism's colour, mark and dash; its width and paleness are free."""
    color, *marks = look
    drawn = [line.get_marker(), line.get_linestyle()]
    return same_color(line.get_color(), color) and drawn == marks


def check_figure(drawn):
    """Fail unless names in a figure are labels, and lines have the looks of whom legends name."""
    drawn.canvas.draw()
    said = [text.get_text() for text in drawn.findobj(Text)]
    for words in said:
        assert is_the_name(words) or not is_a_name(words), words
    for axis in drawn.axes:
        for text in axis.texts:
            inks = [style.darken_for_text(color) for color, *_ in looks_of(text.get_text())]
            assert not inks or to_rgb(text.get_color()) in {*inks, (0, 0, 0)}, text
        for line, words in zip(*axis.get_legend_handles_labels(), strict=True):
            assert is_the_name(words) or re.fullmatch(NO_NAMES, words), words
            if isinstance(line, Line2D) and (looks := list(looks_of(words))):
                assert any(has_look(line, look) for look in looks), words
    return said


def test_figures_name_and_draw_mechanisms_as_the_list_says(results, monkeypatch):
    shown = []
    monkeypatch.setattr(
        style, "save_figure", lambda drawn, *paths: shown.extend(check_figure(drawn))
    )
    drawn = drawings(results)
    for draw in drawn.values():
        draw()
    assert any(map(is_the_name, shown))
    for path in results.glob("*/figures/*.png"):
        assert f"{path.parents[1].name}/{path.stem}" in {*drawn, *OTHERS}, path


def check_page(page):
    """Fail unless names of mechanisms on a page are their labels, and no identifier is a name."""
    text = re.sub(r'src="data:[^"]*"', "", page)
    cells = [
        (unescape(found[2] or ""), unescape(re.sub("<[^>]*>", "", found[3])))
        for found in re.finditer(
            r'<(td|span|li)\b(?: title="([^"]*)")?[^>]*>(.*?)</\1>', text, re.S
        )
    ]
    for title, said in cells:
        words = said
        if title in registry.entries():
            assert words == registry.get_entry(title).label
        assert words not in IDENTIFIERS, words
        assert not re.fullmatch(r"(lnmax|nzc)-\w+", words), words
        # A printed number is named by its place: paper, item, data set, row and then the column.
        if re.match(r"(darrm|pate|dpbag|nzc) [a-z]", words) and ": " in words:
            words = words.rpartition(", ")[0]
        # A relation compares two; what does not apply is listed before the reason.
        for part in re.split(" above | · |: ", words):
            assert is_the_name(part) or not is_a_name(part), words
    assert any(is_the_name(words) for _, words in cells)


def test_the_page_names_mechanisms_by_their_labels(results):
    check_page((results / "index.html").read_text(encoding="utf-8"))


def test_own_votes_name_and_draw_mechanisms_as_the_list_says(monkeypatch, tmp_path):
    counts = np.random.default_rng(0).multinomial(15, [0.8, 0.2], 20)
    votes = Votes(2, np.zeros(20, dtype=np.int64), counts=counts)
    profile = {"easy_share": 0.7, "easy": [20, 2], "hard": [2, 2], "confusion": 1}
    settings = {
        "mechanisms": registry.offered_mechanisms(),
        "privacy_model": "disjoint_shards",
        "adjacency": "replace_one",
        "teacher_epsilon": None,
        "teacher_Delta": 0,
        "teachers": 15,
        "n_classes": 2,
        "queries": 20,
        "labels": 2,
        "profile": profile,
    }
    budget = {"epsilon": 2.0, "delta": 1e-5, "labels_wanted": 2, "noise": "reproducible"}
    plan = accounts.plan_for(votes, settings, budget, Protection.disjoint(), seed=0)
    table, curves = accounts.public_table(plan), accounts.labels_and_budgets_table(plan, 0)
    said = []
    monkeypatch.setattr(
        style, "save_figure", lambda drawn, *paths: said.extend(check_figure(drawn))
    )
    own_figure.draw_own(table, curves, profile)
    assert any(map(is_the_name, said))
    (tmp_path / "a.png").write_bytes(b"PNG")
    labels = pd.DataFrame({"query": [0, 1], "label": [1, 0]})
    total = Total(2.0, 1e-5, "replace_one")
    shown = {"figure": tmp_path / "a.png", "labels_file": "labels.csv", "total": total}
    facts = accounts.public_facts(plan) | {"answered": pool.describe_order(pool.FIRST)}
    check_page(own_page.build(table, curves, labels, facts, profile, **shown))


def test_documents_name_mechanisms_by_their_labels_in_tables(root):
    begins = tuple(f"{name}," for name in SHORT)
    for path in (root / "README.md", *(root / "docs").glob("*.md")):
        rows = re.findall(r"^\| (.*?) \|", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for row in rows:
            for words in re.sub(r" \(.*?\)", "", row.strip("*")).split("; "):
                assert words in LABELS or not words.startswith(begins), (path.name, row)
