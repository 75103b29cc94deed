"""The planner's figures: right labels over budgets, and by number of labels."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from private_ensembles.figures import names, style
from private_ensembles.mechanisms import registry

# GNMax by the paper's account, the exact one of the noisy counts, and that of the labels.
ACCOUNTS = ("gnmax", "gnmax_analytic", "gnmax_exact")
# Of PATE's tasks the first ones are drawn, paler one after the other.
_TASKS = 2


def drawn_names(data: pd.DataFrame) -> list[str]:
    """Return the mechanisms that apply to some budget, those with the most right labels first."""
    best = _applicable(data).groupby("mechanism")["correct"].max()
    return list(best.sort_values(ascending=False).index)


def family(name: str) -> str:
    """Return what mechanisms have in common that differ in their proof alone."""
    return registry.entry(name).family or name


def _applicable(data: pd.DataFrame) -> pd.DataFrame:
    return data[data["not_applicable"].isna() | (data["not_applicable"] == "")]


def draw_plan(data: pd.DataFrame, *paths: str, ensemble: str = "") -> None:
    """Draw the frame of `planner.study.table_of` and save it under every path.

    One point per budget and mechanism; those that differ in their proof alone are one line, under
    the name of the best; mechanisms that apply to no budget are left out. ensemble:
    what the table does not say of it, such as its numbers of teachers and classes.
    """
    data = _applicable(data)
    wanted = data["wanted"].max()
    with style.figure(1, 1, size=(7.6, 4.4)) as (drawn, axis):
        ends = []
        mechanisms = drawn_names(data)
        families = {}
        for common in dict.fromkeys(map(family, mechanisms)):
            members = [name for name in mechanisms if family(name) == common]
            families[members[0]] = data[data["mechanism"].isin(members)]
        for (best, part), words in zip(families.items(), names.short(families), strict=True):
            part = part.sort_values("budget_epsilon")
            line = style.look(best)
            axis.plot(part["budget_epsilon"], part["correct"], **line)
            last = part.iloc[-1]
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
        style.plain_ticks(axis.xaxis, ticks, alone=True)
        style.save(drawn, *paths)


def rank(axis: Axes, data: pd.DataFrame) -> None:
    """Draw one budget's plans as bars, the best on top.

    data: as for `draw_plan`, one budget, with `chosen`.
    """
    data = _applicable(data).iloc[::-1]
    colours = [style.look(name)["color"] for name in data["mechanism"]]
    bars = axis.barh(range(len(data)), data["correct"], height=0.4, color=colours)
    axis.bar_label(bars, fmt="{:,.0f}", padding=3)
    # Names above their bars: beside them they would leave no room on a telephone.
    labels = names.short(data["mechanism"])
    for place, (label, chosen) in enumerate(zip(labels, data["chosen"], strict=True)):
        weight = "bold" if chosen else "normal"
        axis.annotate(label, (0, place + 0.24), va="bottom", ha="left", fontweight=weight)
    axis.set(yticks=[], ylim=(-0.4, len(data) - 0.25))
    axis.margins(x=0.12)
    axis.set_xlabel(f"right labels of {data['wanted'].max():,} wanted, expected on the profile")


# The study of many labels -----------------------------------------------------------------------


def draw_many_labels(study: pd.DataFrame, equal_budget: pd.DataFrame | None, *paths: str) -> None:
    """Draw the frame of `planner.studies.many_labels` and save it under every path.

    equal_budget: that of `papers.pate.equal_budget`, whose tasks are drawn each with its largest
    number of labels; None if there are no votes.
    """
    with style.figure(2, 2, size=(7.8, 7.0)) as (drawn, ((first, second), (third, words))):
        _right(study, first)
        _ratios(study, second)
        if equal_budget is None:
            third.set_visible(False)
        else:
            _votes(equal_budget, third)
        words.axis("off")
        lines = {line.get_label(): line for axis in (first, second) for line in axis.lines}
        labels = [style.label(name) for name in registry.entries() if style.label(name) in lines]
        words.legend([lines[label] for label in labels], labels, loc="center")
        style.save(drawn, *paths)


def _right(study: pd.DataFrame, axis) -> None:
    """One line per mechanism; of those that differ in their proof alone, the two at the ends."""
    families: dict[str, list[str]] = {}
    shown = set(study["mechanism"])
    # Of each family the registry's first proof is the loosest, and its last the tightest.
    for name in (name for name in registry.entries() if name in shown):
        families.setdefault(family(name), []).append(name)
    for members in families.values():
        for name in dict.fromkeys((members[0], members[-1])):
            part = study[study["mechanism"] == name]
            style.line(axis, part["labels"], part["right"], name)
    first = study.iloc[0]
    axis.set(
        xscale="log",
        xlabel="labels Q",
        ylabel=f"right labels, {first['lead']} votes ahead of {first['teachers']}",
        title=f"ε = {first['epsilon']:g}, δ = {style.number(first['delta'])} for all labels",
    )
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def _ratios(study: pd.DataFrame, axis) -> None:
    for name in ACCOUNTS:
        part = study[study["mechanism"] == name]
        style.line(axis, part["labels"], part["ratio"], name)
    axis.axhline(study["limit"].iloc[0], color=style.BLACK, linewidth=0.8, linestyle=style.DOTS)
    at = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    axis.annotate("√(2/π)", (0.02, study["limit"].iloc[0]), (0, 3), **at)
    axis.set(
        xscale="log",
        xlabel="labels Q",
        ylabel="σ as a share of what the counts need",
        title=f"{names.short([ACCOUNTS[0]])[0]}: noise by three accounts",
    )


def _votes(table: pd.DataFrame, axis) -> None:
    most = table.groupby("task")["queries"].transform("max")
    table = table[(table["queries"] == most) & table["mechanism"].isin(ACCOUNTS)]
    tasks = list(dict.fromkeys(table["task"]))[:_TASKS]
    # Words stand at the end where the tasks are further apart.
    tops = table[table["task"].isin(tasks)].groupby(["epsilon", "task"])["accuracy"].max().unstack()
    apart = (tops.max(axis=1) - tops.min(axis=1)).iloc[[0, -1]]
    place_of_words = apart.iloc[::-1].idxmax()
    side = "right" if place_of_words == apart.index[-1] else "left"
    for place, task in enumerate(tasks):
        rows = table[table["task"] == task].sort_values("epsilon")
        for name in ACCOUNTS:
            part = rows[rows["mechanism"] == name]
            axis.plot(
                part["epsilon"], part["accuracy"], **style.look(name) | {"alpha": 1 - 0.5 * place}
            )
        delta = style.number(rows["delta"].iloc[0])
        words = f"{style.label(task)}, {rows['queries'].iloc[0]:,} labels, δ = {delta}"
        at = place_of_words, tops.loc[place_of_words, task]
        # Lines of the other task pass behind the words.
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85}
        axis.annotate(words, at, (0, 6), textcoords="offset points", ha=side, bbox=box)
    axis.set(
        xscale="log", xlabel="ε of all labels together", ylabel="right labels", title="PATE's votes"
    )
    axis.margins(y=0.12)
    style.plain_ticks(axis.xaxis, sorted(set(table["epsilon"])), alone=True)
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
