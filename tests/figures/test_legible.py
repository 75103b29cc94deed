"""Every figure can be read: no words on other words, none beyond the border, none too pale."""

import functools
import itertools

import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from private_ensembles.figures import best_label as best_label_figure
from private_ensembles.figures import darrm as darrm_figures
from private_ensembles.figures import dpbag as dpbag_figures
from private_ensembles.figures import ledger as ledger_figure
from private_ensembles.figures import many_labels as many_labels_figure
from private_ensembles.figures import planner as planner_figure
from private_ensembles.figures import style

from . import test_darrm as darrm
from . import test_pate as pate


def published(root, name):
    return pd.read_csv(root / "docs" / f"{name}.csv")


def planner(root):
    table = published(root, "planner/planner")
    return functools.partial(planner_figure.draw_plan, table, ensemble="250 teachers, 10 classes")


def many_labels(root):
    tables = (published(root, name) for name in ("planner/many_labels", "pate/equal_budget"))
    return functools.partial(many_labels_figure.draw, *tables)


def best_label(root):
    return functools.partial(best_label_figure.draw, published(root, "planner/best_label"))


def label_counts(root):
    tables = [published(root, f"dpbag/{name}") for name in ("table6", "table8")]
    return functools.partial(dpbag_figures.draw_labels, pd.concat(tables), 1e-3)


def students(root):
    tables = [published(root, f"dpbag/{name}") for name in ("table5", "table7")]
    return functools.partial(dpbag_figures.draw_students, pd.concat(tables), 1e-3)


def ledger(root):
    return functools.partial(ledger_figure.draw_ledger, published(root, "privacy_ledger"))


def of_darrm(draw, data, **options):
    return lambda root: functools.partial(draw, data(), **options)


SETTING = {"setting": darrm.SETTING}
FIGURES = {
    "planner": planner,
    "many_labels": many_labels,
    "best_label": best_label,
    "label_counts": label_counts,
    "students": students,
    "ledger": ledger,
    "shapes": of_darrm(
        darrm_figures.draw_gamma_shapes, functools.partial(darrm.shapes, 6), **SETTING
    ),
    "region": of_darrm(darrm_figures.draw_feasible_region, darrm.region, **SETTING),
    "priors": of_darrm(darrm_figures.draw_prior_shapes, darrm.priors, **SETTING),
    "search": of_darrm(darrm_figures.draw_sigma_search, darrm.search),
} | {
    draw.__name__: of_darrm(draw, data, source=source)
    for draw, data, source in ((*one[:2], one[2] + ", δ = 10⁻⁸") for one in pate.FIGURES)
}


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


@pytest.mark.parametrize("name", FIGURES)
def test_words_stand_apart_inside_the_border_and_have_contrast(root, name, monkeypatch):
    found = []

    def look(drawn, *paths):
        drawn.canvas.draw()
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

    monkeypatch.setattr(style, "save", look)
    FIGURES[name](root)()
    assert found == []
