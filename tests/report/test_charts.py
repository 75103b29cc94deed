"""Charts of dots: places on the axis, words of every mark, nothing that is not a number."""

import math
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

from private_ensembles.report.charts import (
    Mark,
    Scale,
    dot_chart,
    legend,
    spent_chart,
)
from private_ensembles.report.page import ASSETS

LINEAR = Scale(0.5, 1.0, (0.5, 0.75, 1.0), "share")


@pytest.mark.parametrize(
    ("scale", "value", "share"),
    [
        (LINEAR, 0.75, 50.0),
        (LINEAR, 0.2, 0.0),
        (LINEAR, 3.0, 100.0),
        (Scale(0.01, 100, (1,), "ε", log=True), 0.1, 25.0),
        (Scale(0.01, 100, (1,), "ε", log=True), math.inf, 100.0),
    ],
)
def test_a_value_has_its_place_and_what_is_beyond_stands_on_the_border(scale, value, share):
    assert scale.share(value) == share


def test_a_chart_names_its_rows_and_says_every_value():
    marks = [Mark(1, 0.75, 0, "b & c: 0.75"), Mark(0, 2.0, 3, "far"), Mark(0, math.nan, 0, "none")]
    root = ElementTree.fromstring(dot_chart("A < B", ["a", "b & c"], marks, LINEAR, guides=[0.75]))
    assert [span.text for span in root.iter("span")] == ["a", "b & c"]
    shown = [svg for svg in root.iter("svg") if "mark" in svg.get("class", "")]
    assert [svg.find("title").text for svg in shown] == ["b & c: 0.75", "far"]
    first, second = shown
    assert (first.get("x"), first.get("y")) == ("50.0%", "28.5")
    assert second.get("class").split() == ["mark", "k3", "beyond"]
    assert len([line for line in root.iter("line") if line.get("class") == "guide"]) == 1


def test_kinds_differ_in_shape_and_a_tint_changes_the_colour_alone():
    root = ElementTree.fromstring(legend(dict.fromkeys(range(6), "w"), {2: "fails"}))
    keys = [svg for svg in root.iter("svg") if "mark" in svg.get("class", "")]
    shapes = {ElementTree.tostring(svg[0]) for svg in keys}
    assert len(shapes) == 6
    assert keys[2].get("class") == "mark fails"


def _light(colour):
    digits = colour.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    shares = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_marks_stand_out_from_the_page(scheme):
    """WCAG 2.1 asks 3 to 1 of what is drawn."""
    css = (ASSETS / "page.css").read_text(encoding="utf-8")
    block = re.findall(r":root \{([^}]*--paper[^}]*)\}", css)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", block))
    behind = _light(colours["paper"])
    for name in ("k0", "k1", "k2", "k3", "k4", "k5", "bad"):
        ends = sorted((_light(colours[name]), behind))
        assert (ends[1] + 0.05) / (ends[0] + 0.05) >= 3, name


@pytest.fixture(scope="module")
def ledger(root):
    return pd.read_csv(root / "docs" / "privacy_ledger.csv")


def test_every_claim_with_another_number_is_a_dot_with_its_model_and_adjacency(ledger):
    shown = re.findall(r"<title>(.*?)</title>", spent_chart(ledger))
    known = ledger[ledger["exact_epsilon"].notna() | ledger["proven_epsilon"].notna()]
    assert len(shown) == len(known)
    models = ("disjoint shards", "shared data")
    assert all(any(model in words for model in models) for words in shown)
    assert all("replace one" in words or "add remove" in words for words in shown)


def test_a_claim_that_fails_stands_on_the_border_in_its_own_colour(ledger):
    failing = ledger[ledger["verdict"] == "fails"]
    assert set(failing["mechanism"]) == {"nzc"}
    marks = re.findall(r'class="mark ([^"]*)" x="([^"]*)"', spent_chart(failing))
    dots = [place for tint, place in marks if tint == "fails beyond"]
    assert dots == ["100.0%"] * len(failing)


def test_an_exact_value_counts_before_a_proven_one():
    row = {
        "mechanism": "gnmax",
        "setting": "s",
        "claimed_epsilon": 2.0,
        "proven_epsilon": 2.0,
        "exact_epsilon": 1.0,
        "verdict": "holds",
        "privacy_model": "disjoint_shards",
        "adjacency": "replace_one",
    }
    both = pd.DataFrame([row, row | {"exact_epsilon": float("nan")}])
    places = re.findall(r'<svg class="mark k(\d)" x="([\d.]+)%"', spent_chart(both))
    assert [kind for kind, _ in places] == ["0", "2"]
    assert 0 < float(places[0][1]) < float(places[1][1]) == 50.0
