"""Figures of the sweeps over K, m, epsilon and Delta, which go beyond DaRRM."""

from itertools import cycle

import matplotlib.colors as colors
import numpy as np
import pandas as pd
from matplotlib.ticker import ScalarFormatter

from private_ensembles.papers.common import style

COMPARED = ("gamma_sub", "gamma_dsub", "gamma_const")
# An expected error below this is what scaling for the certificate leaves of no noise at all.
_NOTHING = 1e-9


def draw_sweeps(data: pd.DataFrame, *paths: str) -> None:
    """Draw how much larger the error of each family is than that of gamma_opt.

    There is one column per (epsilon, Delta) and one row per family; x = m, y = its expected error
    over that of gamma_opt, one line per K, darker for larger K. A line ends where gamma_opt adds no
    noise at all, and the ratio has no bound.

    Args:
        data: rows of `simulations.sweep_gamma_families`.
        paths: of the files.
    """
    costs = list(data.groupby(["epsilon", "Delta"], sort=True).groups)
    sizes = sorted(data["K"].unique())
    errors = data.pivot_table(
        index=["K", "m", "epsilon", "Delta"], columns="family", values="expected_error"
    ).reset_index()
    errors = errors[errors["gamma_opt"] > _NOTHING]
    allowances = sorted(data["m"].unique())
    with style.open_figure(
        len(COMPARED),
        len(costs),
        size=(2.6 * len(costs) + 0.8, 2.5 * len(COMPARED) + 0.7),
        squeeze=False,
        sharey="row",
        sharex=True,
    ) as (figure, axes):
        for row, family in zip(axes, COMPARED, strict=True):
            shades = _shades(style.line_style(family)["color"], len(sizes))
            for axis, (epsilon, Delta) in zip(row, costs, strict=True):
                errors_at_cost = errors[(errors["epsilon"] == epsilon) & (errors["Delta"] == Delta)]
                for K, shade in zip(sizes, shades, strict=True):
                    errors_of_size = errors_at_cost[errors_at_cost["K"] == K].sort_values("m")
                    ratio = errors_of_size[family] / errors_of_size["gamma_opt"]
                    looks = {"color": shade, "marker": "o", "markersize": 3}
                    axis.plot(errors_of_size["m"], ratio, label=f"K = {K}", **looks)
                axis.axhline(1, color=style.BLACK, linewidth=0.8, linestyle=":")
                axis.set(xscale="log", yscale="log")
                style.set_plain_ticks(axis.xaxis, allowances)
                axis.tick_params(axis="x", labelsize=7)
            best = style.short_label("gamma_opt")
            row[0].set_ylabel(f"error of {style.short_label(family)}\n/ error of {best}")
            row[-1].legend(
                loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, handlelength=1.2
            )
        for axis, (epsilon, Delta) in zip(axes[0], costs, strict=True):
            axis.set_title(rf"$\varepsilon$ = {epsilon:g}, $\Delta$ = {Delta:g}")
        for axis in axes[-1]:
            axis.set_xlabel("privacy allowance $m$")
        style.save_figure(figure, *paths)


def draw_noiseless(data: pd.DataFrame, *paths: str) -> None:
    """Draw from which m on no noise is needed, over K.

    Args:
        data: columns K, epsilon, Delta, noise, m: the least m at which gamma = 1 - noise is
            private.
        paths: of the files.
    """
    data = data.dropna(subset="m")
    costs = list(data.groupby(["epsilon", "Delta"], sort=True).groups)
    # The colours are not those of gamma families: one per epsilon, and one mark per Delta.
    colors_of = dict(zip(sorted(data["epsilon"].unique()), cycle((style.PURPLE, style.ORANGE))))
    marks_of = dict(zip(sorted(data["Delta"].unique()), cycle((("o", "-"), ("s", "--")))))
    with style.open_figure(1, 1, size=(6.4, 4.2)) as (figure, axis):
        exact = data[data["noise"] == 0].sort_values("K")
        first = exact.drop_duplicates("K")
        words = "no noise at all"
        if (exact["m"] * 2 == exact["K"] + 1).all():
            words += ": $m = (K+1)/2$"
        axis.plot(first["K"], first["m"], color=style.BLACK, marker="x", linestyle="-", label=words)
        for epsilon, Delta in costs:
            marker, dash = marks_of[Delta]
            cost_rows = data[(data["epsilon"] == epsilon) & (data["Delta"] == Delta)]
            for noise, group in cost_rows[cost_rows["noise"] > 0].groupby("noise"):
                group = group.sort_values("K")
                looks = {"color": colors_of[epsilon], "marker": marker, "linestyle": dash}
                if dash != "-":
                    looks |= {"markerfacecolor": "none", "markersize": 8}
                words = (
                    rf"a coin in {1 / noise:g} releases: $\varepsilon$ = {epsilon:g}, "
                    rf"$\Delta$ = {Delta:g}"
                )
                axis.plot(group["K"], group["m"], label=words, **looks)
        sizes = sorted(data["K"].unique())
        axis.set(xscale="log", yscale="log", xlabel="teachers $K$", ylabel="privacy allowance $m$")
        style.set_plain_ticks(axis.xaxis, sizes)
        axis.yaxis.set_major_formatter(ScalarFormatter())
        axis.legend(loc="upper left", fontsize=8)
        style.save_figure(figure, *paths)


def _shades(color: str, number: int) -> list[tuple[float, float, float]]:
    """Return shades of one colour from light to dark, so that a family keeps its colour."""
    base = np.array(colors.to_rgb(color))
    shares = np.linspace(-0.6, 0.45, number) if number > 1 else [0.0]
    return [tuple(base + (1 - base) * -s if s < 0 else base * (1 - s)) for s in shares]
