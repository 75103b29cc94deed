"""The figure of a student that asks in rounds shows each way to ask once."""

from matplotlib import pyplot

from private_ensembles.figures import active_learning, style
from private_ensembles.papers.active_learning import RANDOM, SESSION, SPLIT, study


def test_each_way_is_a_line_with_its_name(monkeypatch):
    table = study({"teachers": 30, "epsilon": 8, "labels": 20, "rounds": 2, "seeds": 2}, 1e-5, 0)
    seen = []
    monkeypatch.setattr(style, "save", lambda drawn, *_: seen.append(drawn))
    active_learning.draw(table)
    (drawn,) = seen
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == [SESSION, SPLIT, RANDOM]
    accuracy, right = drawn.axes
    assert [len(line.get_xdata()) for line in right.lines][:3] == [2, 2, 2]
    assert accuracy.get_xlabel() == "labels so far"
    pyplot.close(drawn)
