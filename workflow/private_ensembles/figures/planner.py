"""The planner's figure: expected right labels over the budget, one line per mechanism."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from private_ensembles import mechanisms
from private_ensembles.figures import style


def drawn_names(data: pd.DataFrame) -> list[str]:
    """Return the mechanisms that apply to some budget, those with the most right labels first."""
    best = _applicable(data).groupby("mechanism")["correct"].max()
    return list(best.sort_values(ascending=False).index)


def look(name: str) -> dict[str, object]:
    """Return mark and dash from the style; the colour is the mechanism's own."""
    return style.look(name) | {"color": getattr(style, mechanisms.load(name).color.upper())}


def family(name: str) -> str:
    """Return what mechanisms have in common that differ in their proof alone."""
    return mechanisms.load(name).family or name


def _families(data: pd.DataFrame):
    """The rows of mechanisms that differ in their proof alone, under the name of the best."""
    names = drawn_names(data)
    for common in dict.fromkeys(map(family, names)):
        members = [name for name in names if family(name) == common]
        yield members[0], data[data["mechanism"].isin(members)]


def _applicable(data: pd.DataFrame) -> pd.DataFrame:
    return data[data["not_applicable"].isna() | (data["not_applicable"] == "")]


def draw_plan(data: pd.DataFrame, *paths: str, ensemble: str = "") -> None:
    """Draw the frame of `planner.study.plan_table` and save it under every path.

    One point per budget and mechanism; mechanisms that apply to no budget are left out. ensemble:
    what the table does not say of it, such as its numbers of teachers and classes.
    """
    data = _applicable(data)
    wanted = data["wanted"].max()
    with style.figure(1, 1, size=(7.6, 4.4)) as (drawn, axis):
        ends = []
        for best, part in _families(data):
            part = part.sort_values("budget_epsilon")
            line = look(best)
            axis.plot(part["budget_epsilon"], part["correct"], **line)
            last = part.iloc[-1]
            words = str(last["name"]).split(",")[0]
            ends.append((last["budget_epsilon"], last["correct"], words, line["color"]))
        ticks = sorted(set(data["budget_epsilon"]))
        # No further than the last budget: beyond it stand names.
        ends_of = [ticks[0], ticks[-1]], [wanted, wanted]
        axis.plot(*ends_of, color=style.BLACK, linewidth=0.8, linestyle=style.DOTS)
        axis.annotate("labels wanted", (ticks[0], wanted), va="bottom")
        delta = f"δ = {style.number(data['delta'].iloc[0])}"
        axis.set_title(", ".join(filter(None, (ensemble, f"{wanted:,} labels wanted", delta))))
        axis.set(
            xscale="log",
            xlabel=r"total privacy budget $\varepsilon$ of all labels together",
            ylabel="right labels, expected",
            ylim=(0, 1.08 * wanted),
        )
        style.direct_labels(axis, ends, gap=0.06 * wanted)
        axis.set_xticks(ticks, minor=False)
        axis.xaxis.set_minor_locator(style.plt.NullLocator())
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
        style.save(drawn, *paths)


def short(data: pd.DataFrame) -> pd.Series:
    """Return each mechanism's name without how its noise is found, unless two have the same.

    >>> table = pd.DataFrame({"mechanism": ["a", "b"], "name": ["A, by x", "B"]})
    >>> short(table).tolist(), short(table.assign(name=["A, by x", "A, by y"])).tolist()
    (['A', 'B'], ['A, by x', 'A, by y'])
    """
    names = data["name"].str.partition(",")[0]
    return names if names.nunique() == data["mechanism"].nunique() else data["name"]


def rank(axis: Axes, data: pd.DataFrame) -> None:
    """Draw one budget's plans as bars, the best on top.

    data: as for `draw_plan`, one budget, with `chosen`.
    """
    data = _applicable(data).iloc[::-1]
    colours = [look(name)["color"] for name in data["mechanism"]]
    bars = axis.barh(range(len(data)), data["correct"], height=0.4, color=colours)
    axis.bar_label(bars, fmt="{:,.0f}", padding=3)
    # Names above their bars: beside them they would leave no room on a telephone.
    for place, (name, chosen) in enumerate(zip(short(data), data["chosen"], strict=True)):
        weight = "bold" if chosen else "normal"
        axis.annotate(name, (0, place + 0.24), va="bottom", ha="left", fontweight=weight)
    axis.set(yticks=[], ylim=(-0.4, len(data) - 0.25))
    axis.margins(x=0.12)
    axis.set_xlabel(f"right labels of {data['wanted'].max():,} wanted, expected on the profile")
