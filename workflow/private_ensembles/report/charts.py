"""Charts of dots as inline SVG: a name and a line per row, legible at any width, light or dark.

Places are shares of the width, so that text and dots keep their size at 400 and at 1280 pixels.
Every mark has its values in words (``<title>``); ``page.js`` says them on hovering and by arrow
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


# The chart of the first screen.
# Exact values, upper bounds if none is known, and claims that fail: kinds of marks.
_EXACT, _PROVEN, _FAILS = 0, 2, 4
_SCALE = Scale(
    0.1, 10, (0.1, 0.25, 0.5, 1, 2, 5, 10), "ε spent, as a share of the claimed ε", log=True
)


def spent_chart(ledger: pd.DataFrame) -> Markup:
    """Return one row per mechanism, a dot per setting: its exact ε over the claimed one.

    ledger: results/privacy_ledger.csv. If the exact ε is not known, the proven upper bound
    takes its place, as another mark. Values beyond the axis are on its border.
    """
    known = ledger[(ledger["claimed_epsilon"] > 0) & (ledger["claimed_epsilon"] < float("inf"))]
    end = known["exact_epsilon"].fillna(known["proven_epsilon"])
    known = known.assign(end=end)[end.notna()]
    order = list(dict.fromkeys(known["mechanism"]))
    marks = []
    for row in known.to_dict("records"):
        exact = row["exact_epsilon"] == row["exact_epsilon"]
        kind = _FAILS if row["verdict"] == "fails" else _EXACT if exact else _PROVEN
        words = (
            f"{display_names.mechanism_label(row['mechanism'])}; {display_names.format_setting(row['setting'])}: claimed "
            f"ε = {format_upper_bound(row['claimed_epsilon'], 3)}, {'exact' if exact else 'proven'} "
            f"{format_upper_bound(row['end'], 3)}; {row['verdict']}; {row['privacy_model']}, "
            f"{row['adjacency']}"
        )
        share = row["end"] / row["claimed_epsilon"]
        tint = "fails" if kind == _FAILS else ""
        at = order.index(row["mechanism"])
        marks.append(
            Mark(at, share, kind, display_names.format_powers(words.replace("_", " ")), tint)
        )
    share = [mark.value for mark in marks if mark.kind == _FAILS]
    beyond = ", by more than the axis holds" if share and min(share) > _SCALE.high else ""
    kinds = {
        _EXACT: "exact",
        _PROVEN: "proven at most: right of 1 the claim is unproven",
        _FAILS: f"the claim fails{beyond}",
    }
    used = {kind: words for kind, words in kinds.items() if kind in {mark.kind for mark in marks}}
    title = "Claimed against exact privacy: left of 1, less ε is spent than claimed"
    rows = [display_names.mechanism_label(name) for name in order]
    key = legend(used, {_FAILS: "fails"})
    return dot_chart(title, rows, marks, _SCALE, guides=[1.0], key=key)
