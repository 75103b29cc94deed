"""Every figure can be read: no words on others, none beyond the border, none pale; equal bytes."""

import functools
import itertools

import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from private_ensembles.papers.common import style
from private_ensembles.papers.darrm.figures import (
    draw_feasible_region,
    draw_gamma_shapes,
    draw_prior_shapes,
    draw_sigma_search,
)
from private_ensembles.papers.dpbag import figures as dpbag_figures
from private_ensembles.papers.ledger.figure import draw_ledger
from private_ensembles.papers.nzc.figures import draw_ensembles
from private_ensembles.report import planner_figure as planner_figures
from private_ensembles.report.own_figure import draw_own
from studies.best_label.figure import draw_best_label
from studies.many_labels.figure import draw_many_labels
from tests.papers.common.twice import assert_equal_bytes
from tests.papers.darrm import test_figures as darrm
from tests.papers.lanes import slow_but
from tests.papers.pate import test_figures as pate
from tests.report import test_own_figure as own

SETTING = {"setting": darrm.SETTING}
ENSEMBLE = {"ensemble": "250 teachers, 10 classes"}
# What draws each figure, what it is given (a file in docs/ if it is a text, what makes the data if
# it is a function), and its words.
FIGURES = {
    "planner": (planner_figures.draw_plan, ["planner/planner"], ENSEMBLE),
    "many_labels": (draw_many_labels, ["studies/many_labels", "studies/equal_budget"], {}),
    "best_label": (draw_best_label, ["studies/best_label"], {}),
    "label_counts": (dpbag_figures.draw_labels, [("dpbag/table6", "dpbag/table8"), 1e-3], {}),
    "students": (dpbag_figures.draw_students, [("dpbag/table5", "dpbag/table7"), 1e-3], {}),
    "ledger": (draw_ledger, ["privacy_ledger"], {}),
    "ensembles": (draw_ensembles, ["nzc/figure2"], {}),
    "own": (draw_own, [own.TABLE, own.CURVES, own.PROFILE], {}),
    "shapes": (draw_gamma_shapes, [functools.partial(darrm.shapes, 6)], SETTING),
    "region": (draw_feasible_region, [darrm.region], SETTING),
    "priors": (draw_prior_shapes, [darrm.priors], SETTING),
    "search": (draw_sigma_search, [darrm.search], {}),
} | {
    draw.__name__: (draw, [data], {"source": f"{source}, δ = 10⁻⁸"})
    for draw, data, source in pate.FIGURES
}


@pytest.fixture
def draw(request, published):
    """What draws a figure, given paths alone."""
    function, given, options = FIGURES[request.param]
    read = []
    for one in given:
        if isinstance(one, str | tuple):
            read.append(published(*([one] if isinstance(one, str) else one)))
        else:
            read.append(one() if callable(one) else one)
    return functools.partial(function, *read, **options)


def words(drawn):
    """The texts that are drawn, ticks beyond the axes left out."""
    beyond = set()
    for axes in drawn.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low <= tick.get_loc() <= high:
                    beyond |= {tick.label1, tick.label2}
    for text in drawn.findobj(Text):
        shown = text.get_visible() and (text.axes is None or text.axes.get_visible())
        if shown and text.get_text().strip() and text not in beyond:
            yield text


@pytest.mark.parametrize("draw", slow_but(FIGURES, "planner"), indirect=True)
def test_equal_data_give_equal_bytes(draw, tmp_path):
    """Of one figure in every format; what makes them stable is one function's business."""
    kinds = ("png", "pdf", "svg") if draw.func is planner_figures.draw_plan else ("png",)
    assert_equal_bytes(draw, tmp_path, kinds, least=5000)


# In the default lane the one of two figures that are drawn alike.
ALIKE = ("students", "many_labels", "ensembles", "priors", "draw_noise_comparison")
QUICK = [name for name in FIGURES if name not in ALIKE]


@pytest.mark.parametrize("draw", slow_but(FIGURES, *QUICK), indirect=True)
def test_words_stand_apart_inside_the_border_and_have_contrast(draw, monkeypatch):
    found = []

    def look(drawn, *paths):
        drawn.draw_without_rendering()
        width, height = drawn.canvas.get_width_height()
        boxes = [(text.get_text(), text.get_window_extent()) for text in words(drawn)]
        assert len(boxes) > 10
        found.extend(
            f"{said!r} is beyond the border"
            for said, box in boxes
            if min(box.x0, box.y0, width - box.x1, height - box.y1) < -1
        )
        found.extend(
            f"{one!r} lies on {other!r}"
            for (one, a), (other, b) in itertools.combinations(boxes, 2)
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
        )
        found.extend(
            f"{text.get_text()!r} is too pale"
            for text in words(drawn)
            if style._contrast(to_rgb(text.get_color())) < 4.5  # WCAG 2.1, AA
        )

    monkeypatch.setattr(style, "save_figure", look)
    draw()
    assert found == []
