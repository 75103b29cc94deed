"""Charts of dots as inline SVG: a name and a line per row, legible at any width, light or dark.

Places are shares of the width, so that text and dots keep their size at 400 and at 1280 pixels.
Every mark has its values in words (``<title>``); ``page.js`` says them on hovering and by arrow
keys. Kinds of marks differ in shape (``templates/charts.html``) and colour (``page.css``: ``.k0``
to ``.k5``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from private_ensembles.page.page import TEMPLATES

_CHARTS = TEMPLATES.get_template("charts.html").module


@dataclass(frozen=True)
class Scale:
    """The horizontal axis: from low to high, logarithmic or not, with a label at every tick."""

    low: float
    high: float
    ticks: Sequence[float]
    label: str
    log: bool = False

    def share(self, value: float) -> float:
        """Return the place of a value in per cent of the width; the border for what is beyond.

        >>> Scale(0.1, 10, (1,), "ε", log=True).share(1)
        50.0
        """
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return round(100 * (at - low) / (high - low), 2)


@dataclass(frozen=True)
class Mark:
    """One dot: its row, value, kind (a place in the chart's kinds) and what it says in words.

    row: a part of one more or less is a little below or above the row's line. tint: the class of
    its colour, if that is not its kind's.
    """

    row: float
    value: float
    kind: int
    words: str
    tint: str = ""


def dot_chart(
    title: str,
    rows: Sequence[str],
    marks: Sequence[Mark],
    scale: Scale,
    guides: Sequence[float] = (),
    key: str = "",
) -> Markup:
    """Return one chart as HTML; rows: their names; guides: values at which a line is drawn.

    key: a `legend` of its own. Marks with a value that is not a number are left out.
    """
    shown = [mark for mark in marks if not math.isnan(mark.value)]
    return _CHARTS.dots(title, rows, shown, scale, guides, key)


def legend(kinds: Mapping[int, str], tints: Mapping[int, str] | None = None) -> Markup:
    """Return what the kinds of marks mean, each with its shape and its own tint, if it has one."""
    return _CHARTS.legend(kinds, tints or {})
