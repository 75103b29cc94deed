"""Charts of dots as inline SVG: a name and a line per row, legible at any width, light or dark.

Places are shares of the width, so that text and dots keep their size at 400 and at 1280 pixels.
Every mark has its values in words (``<title>``); ``page.js`` says them on hovering and by arrow
keys. Kinds of marks differ in shape and colour (``page.css``: ``.k0`` to ``.k5``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

ROW = 19  # pixels, the height of a name's line in page.css
_AXIS = 22
# Shapes around the point (0, 0), in pixels; by kind.
_SHAPES = (
    '<circle r="4.6"/>',
    '<path d="M-4-4h8v8h-8z"/>',
    '<path d="M0-6L6 0 0 6-6 0z"/>',
    '<path d="M0-5.5L5.5 4.5h-11z"/>',
    '<path class="line" d="M-4.5-4.5l9 9m0-9l-9 9"/>',
    '<path class="line" d="M0-7v14"/>',
)


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
) -> str:
    """Return one chart as HTML; rows: their names; guides: values at which a line is drawn.

    key: a `legend` of its own.     Marks with a value that is not a number are left out.
    """
    shown = [mark for mark in marks if not math.isnan(mark.value)]
    height = ROW * len(rows)
    names = "".join(f"<span>{escape(name)}</span>" for name in rows)
    lines = "".join(
        f'<line x1="0" x2="100%" y1="{y}" y2="{y}"/>'
        for y in ((row + 0.5) * ROW for row in range(len(rows)))
    )
    lines += "".join(
        f'<line class="guide" x1="{x}%" x2="{x}%" y1="0" y2="{height}"/>'
        for x in map(scale.share, guides)
    )
    ticks = "".join(_tick(value, scale, height) for value in scale.ticks)
    dots = "".join(_mark(mark, scale) for mark in shown)
    summary = f"{title}: {len(rows)} rows, {scale.label}"
    return (
        f'<div class="chart"><p class="title">{escape(title)}</p>{key}<div class="plot">'
        f'<div class="names" aria-hidden="true">{names}</div>'
        f'<svg role="img" aria-label="{escape(summary)}" width="100%" height="{height + _AXIS}">'
        f"{lines}{ticks}{dots}</svg></div>"
        f'<div class="below"><p class="axis">{escape(scale.label)}</p></div></div>'
    )


def legend(kinds: Mapping[int, str], tints: Mapping[int, str] | None = None) -> str:
    """Return what the kinds of marks mean, each with its shape and its own tint, if it has one."""
    classes = {kind: f"k{kind}" for kind in kinds} | dict(tints or {})
    items = "".join(
        f'<li><svg class="key" width="16" height="16" aria-hidden="true">'
        f'<svg class="mark {classes[kind]}" x="8" y="8">{_SHAPES[kind]}</svg></svg> '
        f"{escape(words)}</li>"
        for kind, words in kinds.items()
    )
    return f'<ul class="legend">{items}</ul>'


def _tick(value: float, scale: Scale, height: float) -> str:
    at = scale.share(value)
    anchor = "start" if at < 3 else "end" if at > 97 else "middle"
    return (
        f'<line class="tick" x1="{at}%" x2="{at}%" y1="0" y2="{height + 4}"/>'
        f'<text x="{at}%" y="{height + 17}" text-anchor="{anchor}">{value:g}</text>'
    )


def _mark(mark: Mark, scale: Scale) -> str:
    y = (mark.row + 0.5) * ROW
    beyond = " beyond" if not scale.low <= mark.value <= scale.high else ""
    tint, x = mark.tint or f"k{mark.kind}", scale.share(mark.value)
    return (
        f'<svg class="mark {tint}{beyond}" x="{x}%" y="{y:g}">'
        f"<title>{escape(mark.words)}</title>{_SHAPES[mark.kind]}</svg>"
    )
