"""The figure of somebody's own votes: the ranking, what else could be asked for, the profile."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from private_ensembles.labels import display_names
from private_ensembles.papers.common import style
from private_ensembles.report.planner_figure import rank

# The profile is drawn at these shares of right votes: middles of equal steps, so that a density
# without bound at an end stays finite.
_SHARES = (np.arange(400) + 0.5) / 400


def draw_own(table: pd.DataFrame, curves: pd.DataFrame, profile: Mapping, *paths: str) -> None:
    """Draw the ranking, right labels over labels and over budgets, and the profile.

    Args:
        table: One budget's plans, with the column `chosen`.
        curves: A frame of `release.own_votes.labels_and_budgets_table`.
        profile: easy_share, easy and hard.
        *paths: Where to save the figure.
    """
    heights = [0.5 * int((table["not_applicable"] == "").sum()) + 0.7, 2.3, 2.3, 2.0]
    size, ratios = (4.4, sum(heights)), {"height_ratios": heights}
    with style.open_figure(4, 1, size=size, gridspec_kw=ratios) as (drawn, (top, *both, below)):
        rank(top, table)
        for axis, (over, (column, words)) in zip(both, _OVER.items(), strict=True):
            _draw_curves(axis, curves[curves["over"] == over], column, words)
        style.set_plain_ticks(both[0].xaxis, _decade_ticks(curves["wanted"]))
        both[0].legend(loc="lower left")
        style.set_plain_ticks(both[1].xaxis, sorted(set(curves["budget_epsilon"])))
        _draw_profile(below, profile)
        style.save_figure(drawn, *paths)


# Each panel has a column of `curves` on its axis, and says so in words.
_OVER = {
    "labels": ("wanted", "labels asked for, at the budget"),
    "epsilon": ("budget_epsilon", r"budget $\varepsilon$ of all labels together"),
}


def _draw_curves(axis: Axes, rows: pd.DataFrame, column: str, words: str) -> None:
    """Draw shares of right labels, a line for each mechanism; the chosen one's is the thicker."""
    rows = rows.assign(label=display_names.short_labels(rows["mechanism"]))
    for name, part in rows.groupby("mechanism", sort=False):
        part = part.sort_values(column)
        width = 2.4 if part["chosen"].iloc[0] else 1.2
        line = style.line_style(name) | {"linewidth": width}
        share = 100 * part["correct"] / part["wanted"]
        axis.plot(part[column], share, label=part["label"].iloc[0], **line)
    axis.set(xscale="log", xlabel=words, ylabel="right labels, %", ylim=(0, 100))


def _decade_ticks(values: pd.Series) -> list[int]:
    """Return 1, 10, 100 and so on up to the largest value, and that itself."""
    most = int(values.max())
    return [*(10**k for k in range(len(str(most))) if 2 * 10**k <= most), most]


def _draw_profile(axis: Axes, profile: Mapping) -> None:
    share = profile["easy_share"]
    parts = [
        (1 - share, profile["hard"], "hard queries", style.VERMILION, "//"),
        (share, profile["easy"], "easy queries", style.BLUE, None),
    ]
    floor = np.zeros_like(_SHARES)
    for weight, shape, name, color, hatch in parts:
        density = weight * _beta_density(*shape)
        axis.fill_between(
            100 * _SHARES,
            floor,
            floor + density,
            label=f"{name} ({weight:.0%})",
            facecolor=color,
            edgecolor="white",
            alpha=0.75,
            hatch=hatch,
            linewidth=0,
        )
        floor = floor + density
    axis.set(
        xlabel="teachers that are right on a query, % (profile, not votes)",
        ylabel="queries",
        yticks=[],
        xlim=(0, 100),
        ylim=(0, None),
    )
    axis.legend(loc="upper left")


def _beta_density(a: float, b: float) -> np.ndarray:
    """Return the density of a Beta distribution at the shares drawn, scaled to a sum of one."""
    logs = (a - 1) * np.log(_SHARES) + (b - 1) * np.log1p(-_SHARES)
    density = np.exp(logs - logs.max())
    return density / density.sum()
