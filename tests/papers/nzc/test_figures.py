"""NZC's Figure 2 is drawn from its frame: a line of its own in each panel."""

from private_ensembles.papers.nzc.figures import draw_ensembles


def test_each_panel_has_the_numbers_of_its_column(drawn, published):
    data = published("nzc/figure2")
    draw_ensembles(data)
    panels = {
        column: line.get_ydata().tolist()
        for column, axis in zip(
            ("accuracy", "distance", "qualified", "qualified_wrong"), drawn[0].axes, strict=True
        )
        for line in axis.lines
    }
    rows = data[data["panel"] == "teachers"]
    for column in ("accuracy", "qualified", "qualified_wrong"):
        assert panels[column] == (100 * rows[column]).tolist()
    rest = data[data["panel"] == "distance"]
    assert panels["distance"] == (100 * rest["qualified"]).tolist()
