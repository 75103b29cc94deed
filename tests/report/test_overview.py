"""The picture of all comparisons: a square each, in its place, with its status and its row."""

import re

import pandas as pd
import pytest

from private_ensembles.report import overview, printed_numbers

ROW = {"paper": "nzc", "item": "table2", "dataset": "mnist", "row": "nzc", "column": "accuracy"}
ROW |= {"published_sd": "", "reproduced_sd": "", "note": "", "status": "match", "kind": "number"}


def place_of(published, reproduced, tolerance=""):
    """In which column one comparison stands."""
    numbers = {"published": published, "reproduced": reproduced, "tolerance": tolerance}
    (paper,) = overview.overview(pd.DataFrame([ROW | numbers]), {})
    (found,) = [place for place, squares in enumerate(paper.places) if squares]
    return overview.PLACES[found]


@pytest.mark.parametrize(
    ("published", "reproduced", "tolerance", "place"),
    [
        ("100", "49.9", "", "less than half"),
        ("100", "50", "", "less"),
        ("100", "98.9", "", "less"),
        ("100", "99", "", "within 1\N{NO-BREAK SPACE}%"),
        ("100", "101", "", "within 1\N{NO-BREAK SPACE}%"),
        ("100", "101.1", "", "more"),
        ("100", "200", "", "more"),
        ("100", "201", "", "more than twice"),
        ("1e-8", "1e-8", "0", "within 1\N{NO-BREAK SPACE}%"),
        ("0", "0.0", "", "within 1\N{NO-BREAK SPACE}%"),
        ("0", "0.004", "0.005", "within 1\N{NO-BREAK SPACE}%"),
        ("0", "0.006", "0.005", "more than twice"),
        ("0", "-0.006", "0.005", "less than half"),
        ("-0.02", "-0.03", "", "less"),
        ("-0.02", "0.03", "", "more than twice"),
        ("5", "inf", "", "more than twice"),
    ],
)
def test_a_square_stands_where_ours_is_beside_print(published, reproduced, tolerance, place):
    assert place_of(published, reproduced, tolerance) == place


def test_every_comparison_has_a_square_that_leads_to_its_row(root):
    fidelity = pd.read_csv(root / "docs" / "fidelity.csv", dtype=str, keep_default_na=False)
    rows = printed_numbers.list_numbers(fidelity, "All")
    anchors = re.findall(r'<td id="([^"]+)"', rows)
    assert len(set(anchors)) == len(fidelity)
    squares = {}
    for paper in overview.overview(fidelity, {"dpbag": "DPBag: bagged", "darrm": "DaRRM"}):
        of_paper = fidelity[fidelity["paper"] == paper.paper]
        found = {square.anchor: square for place in paper.places for square in place}
        assert len(found) + paper.without == len(of_paper)
        assert paper.without == (of_paper["reproduced"] == "").sum()
        squares |= found
    assert set(squares) <= set(anchors)
    for number, row in fidelity[fidelity["reproduced"] != ""].iterrows():
        square = squares[printed_numbers.row_anchor(number)]
        assert (square.status, square.is_relation) == (row["status"], row["kind"] == "relation")
        assert f"printed {row['published']}, ours" in square.words


def test_papers_stand_in_the_order_of_the_page(root):
    rows = [
        ROW | {"paper": paper, "published": "1", "reproduced": "1", "tolerance": ""}
        for paper in "cab"
    ]
    found = overview.overview(pd.DataFrame(rows), {"a": "A: one", "b": "B"})
    assert [(one.paper, one.title) for one in found] == [("a", "A"), ("b", "B"), ("c", "c")]
    assert overview.statuses_of(found) == ["match"]
