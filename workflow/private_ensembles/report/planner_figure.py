"""The planner's figures: right labels over budgets."""

import pandas as pd
from matplotlib.axes import Axes

from private_ensembles.labels import display_names, registry
from private_ensembles.papers.common import style


def drawn_names(data: pd.DataFrame) -> list[str]:
    """Return the mechanisms that apply to some budget, those with the most right labels first."""
    best = _select_applicable(data).groupby("mechanism")["correct"].max()
    return list(best.sort_values(ascending=False, kind="stable").index)


def mechanism_family(name: str) -> str:
    """Return the family of a mechanism: those of one family differ in their proof alone."""
    return registry.get_entry(name).family


def _select_applicable(data: pd.DataFrame) -> pd.DataFrame:
    return data[data["not_applicable"].isna() | (data["not_applicable"] == "")]


def draw_plan(data: pd.DataFrame, *paths: str, ensemble: str = "") -> None:
    """Draw expected right labels over budgets, a line for each mechanism.

    Mechanisms that differ in their proof alone are one line, under the name of the best. Mechanisms
    that apply to no budget are left out.

    Args:
        data: A frame of `labels.planner.planning.tabulate_plans`.
        *paths: Where to save the figure.
        ensemble: What the table does not say of the ensemble, such as its numbers of teachers and
            classes.
    """
    data = _select_applicable(data)
    wanted = data["wanted"].max()
    with style.open_figure(1, 1, size=(7.6, 4.4)) as (drawn, axis):
        ends = []
        mechanisms = drawn_names(data)
        families = {}
        for family in dict.fromkeys(map(mechanism_family, mechanisms)):
            members = [name for name in mechanisms if mechanism_family(name) == family]
            families[members[0]] = data[data["mechanism"].isin(members)]
        for (best, part), words in zip(
            families.items(), display_names.short_labels(families), strict=True
        ):
            part = part.sort_values("budget_epsilon")
            line = style.line_style(best)
            axis.plot(part["budget_epsilon"], part["correct"], **line)
            last = part.iloc[-1]
            ends.append((last["budget_epsilon"], last["correct"], words, line["color"]))
        ticks = sorted(set(data["budget_epsilon"]))
        # The line goes no further than the last budget, because names stand beyond it.
        ends_of = [ticks[0], ticks[-1]], [wanted, wanted]
        axis.plot(*ends_of, color=style.BLACK, linewidth=0.8, linestyle=style.DOTS)
        axis.annotate("labels wanted", (ticks[0], wanted), va="bottom")
        delta = f"δ = {style.format_number(data['delta'].iloc[0])}"
        axis.set_title(", ".join(filter(None, (ensemble, f"{wanted:,} labels wanted", delta))))
        axis.set(
            xscale="log",
            xlabel=r"total privacy budget $\varepsilon$ of all labels together",
            ylabel="right labels, expected",
            ylim=(0, 1.08 * wanted),
        )
        style.label_line_ends(axis, ends, gap=0.06 * wanted)
        style.set_plain_ticks(axis.xaxis, ticks, hide_minor=True)
        style.save_figure(drawn, *paths)


def rank(axis: Axes, data: pd.DataFrame) -> None:
    """Draw one budget's plans as bars, the best on top.

    Args:
        axis: Where to draw.
        data: As for `draw_plan`, but of one budget, and with the column `chosen`.
    """
    data = _select_applicable(data).iloc[::-1]
    colours = [style.line_style(name)["color"] for name in data["mechanism"]]
    bars = axis.barh(range(len(data)), data["correct"], height=0.4, color=colours)
    axis.bar_label(bars, fmt="{:,.0f}", padding=3)
    # Names are above their bars: beside them they would leave no room on a telephone.
    labels = display_names.short_labels(data["mechanism"])
    for height, (label, chosen) in enumerate(zip(labels, data["chosen"], strict=True)):
        weight = "bold" if chosen else "normal"
        axis.annotate(label, (0, height + 0.24), va="bottom", ha="left", fontweight=weight)
    axis.set(yticks=[], ylim=(-0.4, len(data) - 0.25))
    axis.margins(x=0.12)
    axis.set_xlabel(f"right labels of {data['wanted'].max():,} wanted, expected on the profile")
