"""Charts of dots: places on the axis, words of every mark, nothing that is not a number."""

import math
from xml.etree import ElementTree

import pytest

from private_ensembles.report.charts import Mark, Scale, dot_chart, legend

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
