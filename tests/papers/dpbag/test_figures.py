"""DPBag's figures show the tables' numbers at one delta."""

import numpy as np
import pytest

from private_ensembles.papers.dpbag import figures


@pytest.fixture(scope="module")
def counts(published):
    return published("dpbag/table6", "dpbag/table8")


@pytest.fixture(scope="module")
def students(published):
    return published("dpbag/table5", "dpbag/table7")


def lines(axis):
    """Name -> [(epsilon, value), ...] of the lines with a name."""
    named = zip(*axis.get_legend_handles_labels(), strict=True)
    return {
        name: list(zip(*(bar.lines[0] if hasattr(bar, "lines") else bar).get_data(), strict=True))
        for bar, name in named
    }


def panel(figure, title):
    (axis,) = [axis for axis in figure.axes if axis.get_title() == title and axis.get_visible()]
    return lines(axis)


def test_labels_drawn_are_those_of_the_tables_at_one_delta(counts, drawn):
    figures.draw_labels(counts, 1e-3, "unused.png")
    shown = panel(drawn[0], "logistic, 100 shards")
    mine = counts[(counts["model"] == "logistic") & (counts["n"] == 100)]
    mine = mine[mine["delta"] == 1e-3]
    alone = mine[(mine["accounting"] != "personalised") & (mine["k"] == 1)]
    saa = alone.drop_duplicates("epsilon").set_index("epsilon")["releasable_mean"]
    for k in (10, 50, 100):
        rows = mine[(mine["accounting"] == "personalised") & (mine["k"] == k)]
        base = saa.loc[rows["epsilon"]].to_numpy()
        wanted = list(zip(rows["epsilon"], rows["releasable_mean"] / base, strict=True))
        found = shown[f"DPBag, {k} partitions"]
        assert np.allclose([y for _, y in found], [y for _, y in wanted])
        # Bars of one epsilon stand beside each other, and nearer to it than to the next.
        assert [round(x) for x, _ in found] == [x for x, _ in wanted]
    assert len({points[0][0] for name, points in shown.items() if "partitions" in name}) == 3
    plain = dict(shown[figures.PLAIN])
    assert len(plain) == mine["epsilon"].nunique()
    # What the finding of the published run says.
    for name, points in shown.items():
        if "partitions" in name:
            assert all(plain[round(x)] > y > 1 for x, y in points)
    for axis in drawn[0].axes:
        low, high = axis.get_ylim()
        assert all(low <= y <= high for points in lines(axis).values() for _, y in points)


def test_students_drawn_are_those_of_the_tables_with_the_one_without_privacy(students, drawn):
    figures.draw_students(students, 1e-3, "unused.png")
    shown = panel(drawn[0], "boosted trees, 150 shards")
    rows = students[(students["model"] == "boosted_trees") & (students["n"] == 150)]
    rows = rows[(rows["delta"] == 1e-3) & (rows["method"] == "dpbag") & (rows["k"] == 50)]
    found = shown["DPBag, 50 partitions"]
    assert [y for _, y in found] == rows["accuracy_mean"].tolist()
    assert [round(x) for x, _ in found] == rows["epsilon"].tolist()
    free = students[(students["method"] == "npb") & (students["model"] == "boosted_trees")]
    assert shown["without privacy (NPB)"][0][1] == free["accuracy_mean"].iloc[0]


def test_figures_need_rows_at_their_delta(students):
    with pytest.raises(ValueError, match=r"students: must have rows at delta = 0\.5"):
        figures.draw_students(students, 0.5, "unused.png")
