"""The figure of the adversaries: what they saw of epsilon, beside what is exact and proven."""

import pandas as pd

from private_ensembles.labels import display_names
from private_ensembles.papers.common import style

_ADVERSARIES = {
    ("natural", "given"): "a real record, queries as they come",
    ("natural", "chosen"): "a real record, queries chosen",
    ("natural", "repeated"): "a real record, one query repeated",
    ("poisoned", "given"): "a poisoned record, queries as they come",
    ("poisoned", "chosen"): "a poisoned record, queries chosen",
    ("poisoned", "repeated"): "a poisoned record, one query repeated",
    ("teacher", "repeated"): "the whole teacher, votes chosen",
}
# An epsilon below or above these is drawn on the border.
_LOW, _HIGH = 0.005, 30.0


def draw(table: pd.DataFrame, *paths: str) -> None:
    """Draw the table of `attacks.attack_ensembles`, a panel for each mechanism and knowledge.

    Each adversary has a row: the interval that was observed, and the exact epsilon of these votes.
    A line shows what is proven for all votes. What is beyond the axis is on its border.
    """
    groups = list(table.groupby(["mechanism", "training_known"], sort=False))
    heights = [len(rows) + 1.2 for _, rows in groups]
    size = (8.6, 1.5 + 0.27 * sum(heights))
    with style.open_figure(len(groups), 1, size=size, height_ratios=heights, squeeze=False) as (
        drawn,
        axes,
    ):
        for axis, ((mechanism, known), rows) in zip(axes[:, 0], groups, strict=True):
            _draw_panel(axis, rows.reset_index(drop=True))
            # The noise was given, neither published nor found for a budget: the family is named.
            family = display_names.mechanism_label(mechanism).split(",")[0]
            title = f"{family}: δ = {style.format_number(rows['delta'].iloc[0])}"
            hidden = {"noise": ", DP-SGD's noise known", "nothing": ", DP-SGD's noise hidden"}
            axis.set_title(title + hidden.get(known, ""), loc="left")
        axes[-1, 0].set_xlabel("ε of all labels together")
        drawn.legend(*_collect_legend(axes), loc="outside upper center", ncols=3)
        style.save_figure(drawn, *paths)


def _draw_panel(axis, rows: pd.DataFrame) -> None:
    def inside(values):
        return values.clip(_LOW, _HIGH)

    positions = rows.index
    axis.hlines(
        positions,
        inside(rows["observed_lower"]),
        inside(rows["observed_upper"]),
        color=style.SKY,
        linewidth=4,
        label="observed, with its interval",
    )
    axis.plot(
        inside(rows["exact_epsilon"]),
        positions,
        "o",
        color=style.BLACK,
        label="exact for these votes",
    )
    proven = rows["proven_epsilon"].dropna()
    if len(proven):
        axis.axvline(
            proven.iloc[0], color=style.VERMILION, linestyle="--", label="proven for all votes"
        )
    labels = [_ADVERSARIES[key] for key in zip(rows["record"], rows["queries_are"], strict=True)]
    axis.set_yticks(positions, labels)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xscale("log")
    axis.set_xlim(_LOW, _HIGH)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.grid(False, axis="y")


def _collect_legend(axes) -> tuple[list, list[str]]:
    """Return each handle once, of whichever panel has it."""
    handles = {}
    for axis in axes[:, 0]:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return list(handles.values()), list(handles)
