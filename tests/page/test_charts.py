"""Charts of dots: places on the axis, words of every mark, nothing that is not a number."""

import math
import re
from xml.etree import ElementTree

import pytest

from private_ensembles.page.charts import Mark, Scale, dot_chart, legend
from private_ensembles.page.page import ASSETS

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
