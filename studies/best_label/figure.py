"""The figure of the best label: right labels over the budget, and by number of labels."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from private_ensembles.papers.common import style

BEST = "optimal_label"
LOOK = {"color": style.BLACK, "marker": "|", "linestyle": "-."}
# Beside it stands what the field uses for more than two classes.
DRAWN = (BEST, "permute_and_flip", "exponential", "gnmax_exact")


def draw_best_label(study: pd.DataFrame, *paths: str) -> None:
    """Draw the frame of `comparison.compare` and save it under every path.

    The first of its true accuracies is drawn; dots are labels that were optimised for another one.
    """
    study = study[study["mechanism"].isin(DRAWN) & (study["accuracy"] == study["accuracy"].iloc[0])]
    budget = study["epsilon"].max()
    first = study.iloc[0]
    with style.open_figure(1, 2, size=(8.5, 4.4)) as (drawn, axes):
        _draw_lines(study[study["labels"] == 1], "epsilon", axes[0])
        _draw_lines(study[study["epsilon"] == budget], "labels", axes[1])
        drawn.suptitle(
            f"{first['teachers']} teachers, each right with probability {first['accuracy']:g}; "
            f"{first['n_classes']} classes; δ = {style.format_number(first['delta'])}",
            fontsize=9,
        )
        axes[0].set(xscale="log", xlabel="ε", ylabel="right labels", title="one label")
        axes[1].set(xscale="log", xlabel="labels Q", ylabel="right labels")
        axes[1].set_title(f"Q labels for ε = {budget:g} together")
        for axis, column in zip(axes, ("epsilon", "labels"), strict=True):
            style.set_plain_ticks(axis.xaxis, sorted(set(study[column])), hide_minor=True)
            axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        style.save_figure(drawn, *paths)


def _draw_lines(rows: pd.DataFrame, x: str, axis: Axes) -> None:
    """Draw one line per mechanism, and dots if the stated accuracy is not the true one."""
    for name, part in rows.groupby("mechanism", sort=False):
        is_true_accuracy = part["stated"].isna() | (part["stated"] == part["accuracy"])
        look = {"label": part["name"].iloc[0], **(LOOK if name == BEST else style.line_style(name))}
        axis.plot(part.loc[is_true_accuracy, x], part.loc[is_true_accuracy, "right"], **look)
        misjudged = part[~is_true_accuracy]
        if len(misjudged):
            label = "the same, told another accuracy"
            axis.plot(
                misjudged[x],
                misjudged["right"],
                ".",
                color=look["color"],
                alpha=0.6,
                label=label,
            )
