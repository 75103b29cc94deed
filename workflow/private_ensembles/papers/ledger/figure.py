"""Claimed, proven and exact privacy of every mechanism: the ledger in one picture."""

import pandas as pd

from private_ensembles.labels import display_names
from private_ensembles.papers.common import style

# NZC's exact value is 1e90 and its claim 1e-9: values beyond these are drawn on the border.
_LOW, _HIGH = 0.004, 30.0
# The line of a row and its claim are drawn like this if the verdict is not a good one.
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

    A line leads from the exact epsilon (or from the least that it can be, or else from the proven
    one) to the claimed one. If the claim is unproven the line is dotted, if it fails the line is
    red, and either is crossed out: not for release, says the legend. Values beyond the axis are on
    its border, with the numbers beside them.

    Args:
        table: results/privacy_ledger.csv.
        paths: of the files.
    """
    end = table["exact_epsilon"].fillna(table["lower_epsilon"]).fillna(table["proven_epsilon"])
    table = table.assign(audited=end)
    comparable = table.dropna(subset=["claimed_epsilon", "audited"]).reset_index(drop=True)
    groups = list(comparable.groupby("mechanism", sort=False))
    height, ticks = 0.0, []
    with style.open_figure(size=(8.6, 0.6 + 0.085 * (len(comparable) + 2 * len(groups)))) as (
        figure,
        axis,
    ):
        for name, rows in groups:
            first = height
            for row in rows.to_dict("records"):
                _draw_row(axis, row, height)
                height += 1
            ticks.append(((first + height - 1) / 2, display_names.mechanism_label(name)))
            axis.axhline(height + 0.5, color="#dddddd", linewidth=0.6)
            height += 2
            if (rows["audited"] > _HIGH).any():  # NZC
                # No axis holds the ranges of claims and of exact values, so they are written.
                words = [
                    f"{name_of_value} {rows[column].min():.0e} to {rows[column].max():.0e}"
                    for name_of_value, column in (
                        ("claimed", "claimed_epsilon"),
                        ("exact", "audited"),
                    )
                ]
                position = ((_LOW * _HIGH) ** 0.5, (first + height - 3) / 2)
                looks = {"ha": "center", "va": "center", "color": "#a33b00"}
                box = {"facecolor": "white", "edgecolor": "none", "pad": 2}
                axis.text(*position, ", ".join(words), bbox=box, **looks)
        axis.set_yticks([middle for middle, _ in ticks], [label for _, label in ticks])
        axis.set_ylim(height - 1, -1.5)
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
        figure.legend(handles=handles, loc="outside upper center", ncols=3)
        style.save_figure(figure, *paths)


def _draw_row(axis, row, height: float) -> None:
    """Draw one row of the ledger at a height."""
    ends = [min(max(row[name], _LOW), _HIGH) for name in ("audited", "claimed_epsilon")]
    line = _LINES.get(row["verdict"], {"color": "#bbbbbb", "linewidth": 1})
    axis.plot(ends, [height, height], markevery=[1], **line)
    for name, mark in _MARKS.items():
        if row[name] == row[name]:
            value = min(max(row[name], _LOW), _HIGH)
            axis.plot(value, height, clip_on=False, linestyle="", **{**mark, "label": "_"})
