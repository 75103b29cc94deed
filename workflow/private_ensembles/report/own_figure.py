"""The figure of somebody's own votes: the ranking, and the profile on which it was made."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from private_ensembles.report import style
from private_ensembles.report.planner_figures import rank

# Shares of right votes at which the profile is drawn: middles of equal steps, so that a density
# without bound at an end stays finite.
_SHARES = (np.arange(400) + 0.5) / 400


def draw_own(table: pd.DataFrame, profile: Mapping, *paths: str) -> None:
    """Draw `rank` above the profile's distribution of right votes, and save under every path.

    table: one budget's plans with `chosen`. profile: easy_share, easy, hard.
    """
    bars = 0.5 * int((table["not_applicable"] == "").sum()) + 0.7
    ratios = {"height_ratios": [bars, 2.0]}
    with style.figure(2, 1, size=(4.8, bars + 2.0), gridspec_kw=ratios) as (drawn, (top, below)):
        rank(top, table)
        _profile(below, profile)
        style.save(drawn, *paths)


def _profile(axis: Axes, profile: Mapping) -> None:
    share = profile["easy_share"]
    parts = [
        (1 - share, profile["hard"], "hard queries", style.VERMILION, "//"),
        (share, profile["easy"], "easy queries", style.BLUE, None),
    ]
    floor = np.zeros_like(_SHARES)
    for weight, shape, name, color, hatch in parts:
        density = weight * _beta(*shape)
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


def _beta(a: float, b: float) -> np.ndarray:
    """The density of a Beta distribution at the shares drawn, summed to one."""
    logs = (a - 1) * np.log(_SHARES) + (b - 1) * np.log1p(-_SHARES)
    found = np.exp(logs - logs.max())
    return found / found.sum()
