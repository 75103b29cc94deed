"""Claimed, proven and exact privacy of every mechanism: the ledger in one picture."""

import pandas as pd

from private_ensembles.labels import display_names
from private_ensembles.papers.common import style

# NZC's exact value is 1e90 and its claim 1e-9: what is beyond these is drawn on the border.
_LOW, _HIGH = 0.004, 30.0
# How the line of a row is drawn, and its claim, if the verdict is not a good one.
_LINES = {
    "unproven": {"color": style.ORANGE, "linestyle": ":", "linewidth": 1.6, "marker": "x"},
    "fails": {"color": "#a33b00", "linestyle": "-", "linewidth": 1.6, "marker": "x"},
}
_MARKS = {
    "exact_epsilon": {"marker": "o", "color": style.BLACK, "label": "exact"},
    "lower_epsilon": {"marker": ">", "color": style.BLACK, "label": "exact is at least"},
    "proven_epsilon": {"marker": "|", "color": style.BLUE, "label": "proven", "markersize": 11},
    "claimed_epsilon": {
        "marker": "D",
        "color": style.VERMILION,
        "markerfacecolor": "none",
        "label": "claimed",
    },
}


def draw_ledger(table: pd.DataFrame, *paths: str) -> None:
    """Draw one line per row of the ledger that has a claim and another number, by mechanism.

    table: results/privacy_ledger.csv. A line leads from the exact epsilon (or from the least that
    it can be, or else from the proven one) to the claimed one. If the claim is unproven the line
    is dotted, if it fails the line is red, and either is crossed out: not for release, says the
    legend. Values beyond the axis are on its border, with the numbers beside them.
    """
    end = table["exact_epsilon"].fillna(table["lower_epsilon"]).fillna(table["proven_epsilon"])
    table = table.assign(audited=end)
    known = table.dropna(subset=["claimed_epsilon", "audited"]).reset_index(drop=True)
    groups = list(known.groupby("mechanism", sort=False))
    place, ticks = 0.0, []
    with style.open_figure(size=(8.6, 0.6 + 0.085 * (len(known) + 2 * len(groups)))) as (
        drawn,
        axis,
    ):
        for name, rows in groups:
            first = place
            for row in rows.to_dict("records"):
                _draw_row(axis, row, place)
                place += 1
            ticks.append(((first + place - 1) / 2, display_names.mechanism_label(name)))
            axis.axhline(place + 0.5, color="#dddddd", linewidth=0.6)
            place += 2
            if (rows["audited"] > _HIGH).any():  # NZC
                # What no axis holds: the range of claims and of exact values.
                words = [
                    f"{what} {rows[column].min():.0e} to {rows[column].max():.0e}"
                    for what, column in (("claimed", "claimed_epsilon"), ("exact", "audited"))
                ]
                at = ((_LOW * _HIGH) ** 0.5, (first + place - 3) / 2)
                looks = {"ha": "center", "va": "center", "color": "#a33b00"}
                box = {"facecolor": "white", "edgecolor": "none", "pad": 2}
                axis.text(*at, ", ".join(words), bbox=box, **looks)
        axis.set_yticks([at for at, _ in ticks], [label for _, label in ticks])
        axis.set_ylim(place - 1, -1.5)
        axis.grid(False, axis="y")
        axis.set_xscale("log")
        axis.set_xlim(_LOW, _HIGH)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel(r"$\varepsilon$, each at the $\delta$ that the ledger states")
        handles = [axis.plot([], [], linestyle="", **mark)[0] for mark in _MARKS.values()]
        handles += [
            axis.plot([], [], label=f"{verdict}: not for release", **line)[0]
            for verdict, line in _LINES.items()
        ]
        drawn.legend(handles=handles, loc="outside upper center", ncols=3)
        style.save_figure(drawn, *paths)


def _draw_row(axis, row, height: float) -> None:
    ends = [min(max(row[name], _LOW), _HIGH) for name in ("audited", "claimed_epsilon")]
    line = _LINES.get(row["verdict"], {"color": "#bbbbbb", "linewidth": 1})
    axis.plot(ends, [height, height], markevery=[1], **line)
    for name, mark in _MARKS.items():
        if row[name] == row[name]:
            value = min(max(row[name], _LOW), _HIGH)
            axis.plot(value, height, clip_on=False, linestyle="", **{**mark, "label": "_"})
