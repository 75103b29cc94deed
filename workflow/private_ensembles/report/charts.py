"""Charts of dots as inline SVG: a name and a line per row, legible at any width, light or dark.

Positions are shares of the width, so that text and dots keep their size at 400 and at 1280 pixels.
Every mark has its values in words (``<title>``); ``page.js`` shows them on hovering and by arrow
keys. Kinds of marks differ in shape (``templates/charts.html``) and colour (``page.css``: ``.k0``
to ``.k5``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from private_ensembles.base.digits import format_upper_bound
from private_ensembles.labels import display_names
from private_ensembles.report.page import TEMPLATES

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
        """Return the position of a value in per cent of the width; the border for what is beyond.

        >>> Scale(0.1, 10, (1,), "ε", log=True).share(1)
        50.0
        """
        low, high, clipped = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, clipped = math.log(low), math.log(high), math.log(clipped)
        return round(100 * (clipped - low) / (high - low), 2)


@dataclass(frozen=True)
class Mark:
    """One dot of a chart.

    Attributes:
        row: The number of its row; a fraction more or less is a little below or above the line.
        value: Its position on the axis.
        kind: The number of its kind in the chart's kinds.
        words: What it says in words.
        tint: The class of its colour, if that is not its kind's.
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
    """Return one chart as HTML; marks whose value is not a number are left out.

    Args:
        title: What the chart shows.
        rows: The names of the rows.
        marks: The dots.
        scale: The horizontal axis.
        guides: Values at which a line is drawn.
        key: A `legend` of its own.
    """
    shown = [mark for mark in marks if not math.isnan(mark.value)]
    return _CHARTS.dots(title, rows, shown, scale, guides, key)


def legend(kinds: Mapping[int, str], tints: Mapping[int, str] | None = None) -> Markup:
    """Return a legend of the kinds of marks, each with its shape and its own tint, if it has one.

    Args:
        kinds: What each kind means, by its number.
        tints: Classes of colours by kind, for kinds that have not their own.
    """
    return _CHARTS.legend(kinds, tints or {})


# The chart of the first screen has these kinds of marks: exact values, upper bounds where no exact
# value is known, and claims that fail.
_EXACT, _PROVEN, _FAILS = 0, 2, 4
_SCALE = Scale(
    0.1, 10, (0.1, 0.25, 0.5, 1, 2, 5, 10), "ε spent, as a share of the claimed ε", log=True
)


def spent_chart(ledger: pd.DataFrame) -> Markup:
    """Return a chart of the spent share of the claimed ε: a row per mechanism, a dot per setting.

    If the exact ε is not known, the proven upper bound takes its place, as another mark. Values
    beyond the axis are on its border.

    Args:
        ledger: The frame of results/privacy_ledger.csv.
    """
    finite = ledger[(ledger["claimed_epsilon"] > 0) & (ledger["claimed_epsilon"] < float("inf"))]
    spent = finite["exact_epsilon"].fillna(finite["proven_epsilon"])
    finite = finite.assign(spent=spent)[spent.notna()]
    order = list(dict.fromkeys(finite["mechanism"]))
    marks = []
    for row in finite.to_dict("records"):
        exact = row["exact_epsilon"] == row["exact_epsilon"]
        kind = _FAILS if row["verdict"] == "fails" else _EXACT if exact else _PROVEN
        mechanism = display_names.mechanism_label(row["mechanism"])
        words = (
            f"{mechanism}; {display_names.format_setting(row['setting'])}: "
            f"claimed ε = {format_upper_bound(row['claimed_epsilon'], 3)}, "
            f"{'exact' if exact else 'proven'} {format_upper_bound(row['spent'], 3)}; "
            f"{row['verdict']}; {row['privacy_model']}, {row['adjacency']}"
        )
        share = row["spent"] / row["claimed_epsilon"]
        tint = "fails" if kind == _FAILS else ""
        row_number = order.index(row["mechanism"])
        marks.append(
            Mark(
                row_number, share, kind, display_names.format_powers(words.replace("_", " ")), tint
            )
        )
    failing_shares = [mark.value for mark in marks if mark.kind == _FAILS]
    all_beyond = failing_shares and min(failing_shares) > _SCALE.high
    beyond = ", by more than the axis holds" if all_beyond else ""
    kinds = {
        _EXACT: "exact",
        _PROVEN: "proven at most: right of 1 the claim is unproven",
        _FAILS: f"the claim fails{beyond}",
    }
    used_kinds = {mark.kind for mark in marks}
    used = {kind: words for kind, words in kinds.items() if kind in used_kinds}
    title = "Claimed against exact privacy: left of 1, less ε is spent than claimed"
    rows = [display_names.mechanism_label(name) for name in order]
    key = legend(used, {_FAILS: "fails"})
    return dot_chart(title, rows, marks, _SCALE, guides=[1.0], key=key)
