"""The page of a plan: whole, harmless, and the numbers that it was given."""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from subprocess import run

import pytest

from private_ensembles.page.plan_page import build

FACTS = {
    "teachers": 40,
    "classes": 7,
    "queries": 300,
    "labels": 300,
    "epsilon": 2.0,
    "delta": 1e-6,
    "privacy_model": "disjoint_shards",
    "adjacency": "replace_one",
}
LINES = {
    "gnmax_exact": {"labels": [(1, 0.85), (300, 0.3093)], "epsilon": [(0.1, 0.151), (2.0, 0.3093)]},
    "confident_gnmax_exact": {"labels": [(300, 0.2)], "epsilon": [(2.0, 0.2)]},
}


@pytest.fixture
def page():
    levels = {"one teacher alone": 0.755}
    return build(
        FACTS, LINES, levels, ["Of 300 <labels> 93 are right."], ["On a profile & no votes."]
    )


def test_the_page_says_what_was_asked_and_the_lines_that_matter(page):
    assert "<title>A plan for 40 teachers, 7 classes</title>" in page
    assert "300 labels wanted of 300 queries; a budget of ε = 2, δ = 10⁻⁶" in page
    assert "<li>Of 300 &lt;labels&gt; 93 are right.</li>" in page
    assert "On a profile &amp; no votes." in page


def test_tables_hold_right_labels_and_gaps_where_nothing_was_computed(page):
    text = re.sub(r"<t[hd][^>]*>", "|", re.sub(r"</?(tr|thead|tbody)>", "\n", page))
    text = text.replace("</th>", "").replace("</td>", "")
    assert "|labels|GNMax|Confident-GNMax" in text
    assert "|1|0.85|\n" in text
    assert "|300|92.8|60.0\n" in text
    assert "|0.1|45.3|\n" in text


def test_the_page_needs_nothing_else_and_runs_no_script(page):
    assert "<script" not in page
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert re.findall(r"(?:src|href)=|url\(|https?:", page) == []
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_the_drawings_are_svg_that_stays_within_its_frame(page):
    drawings = re.findall(r"<svg role.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 2
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        circles = [one for one in root if one.tag == "circle"]
        assert len(circles) == 3
        assert all(0 <= float(one.attrib["cx"]) <= width for one in circles)
        assert all(0 <= float(one.attrib["cy"]) <= height for one in circles)
        assert root.attrib["aria-label"]


def test_who_has_no_extra_can_make_it(root):
    code = (
        "import sys\n"
        "for name in ('pandas', 'jinja2', 'markupsafe', 'matplotlib'): sys.modules[name] = None\n"
        "import private_ensembles.page.plan_page, private_ensembles.command.plan_page"
    )
    done = run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(root / "workflow")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
