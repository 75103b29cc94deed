"""The figure of the study of a student that asks for its labels round by round."""

import pandas as pd
from matplotlib.ticker import PercentFormatter

from private_ensembles.figures import style

# Colours of the ways to ask, in the order of the table, and their marks.
_LOOKS = (("blue", "o"), ("vermilion", "s"), ("black", "^"))


def draw(study: pd.DataFrame, *paths: str) -> None:
    """Draw the frame of `papers.active_learning.study` and save it under every path."""
    first = study.iloc[0]
    with style.figure(1, 2, size=(8.5, 4.2)) as (drawn, axes):
        for (asked, rows), (colour, mark) in zip(
            study.groupby("asked", sort=False), _LOOKS, strict=True
        ):
            ink = style.COLORS[colour]
            axes[0].errorbar(
                rows["labels"],
                rows["accuracy"],
                yerr=rows["se"],
                color=ink,
                marker=mark,
                markersize=4,
                linewidth=1.2,
                capsize=2,
                label=asked,
            )
            axes[1].plot(rows["labels"], rows["right"], color=ink, marker=mark, markersize=4)
        axes[1].axhline(study["plurality"].mean(), color=style.BLACK, linewidth=0.8, linestyle=":")
        axes[1].annotate(
            "most teachers are right",
            (rows["labels"].iloc[-1], study["plurality"].mean()),
            ha="right",
            va="bottom",
            fontsize=8,
        )
        axes[0].set(xlabel="labels so far", ylabel="images that the student knows")
        axes[1].set(xlabel="labels so far", ylabel="right labels among them", ylim=(0, 1))
        for axis in axes:
            axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        drawn.suptitle(
            f"{first['teachers']} teachers; ε = {first['epsilon']:g}, "
            f"δ = {style.number(first['delta'])} for all labels",
            fontsize=9,
        )
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        style.save(drawn, *paths)
