"""The figure of the study of many labels: right labels, and the noise that they need."""

import pandas as pd
from matplotlib.ticker import PercentFormatter

from private_ensembles.labels import display_names, registry
from private_ensembles.papers.common import style
from private_ensembles.report.planner_figure import mechanism_family

# GNMax has three accounts: the paper's, the exact one of the noisy counts, and that of the labels.
ACCOUNTS = ("gnmax", "gnmax_analytic", "gnmax_exact")
# The first tasks of PATE's are drawn, paler one after the other.
_TASKS = 2


def draw_many_labels(study: pd.DataFrame, equal_budget: pd.DataFrame | None, *paths: str) -> None:
    """Draw the frame of `noise_laws.compare_noise_laws` and save it under every path.

    equal_budget: that of `studies.equal_budget`, whose tasks are drawn each with its largest
    number of labels; None if there are no votes.
    """
    with style.open_figure(2, 2, size=(7.8, 7.0)) as (drawn, ((first, second), (third, words))):
        _draw_correct_labels(study, first)
        _draw_noise_ratios(study, second)
        if equal_budget is None:
            third.set_visible(False)
        else:
            _draw_accuracies(equal_budget, third)
        words.axis("off")
        lines = {line.get_label(): line for axis in (first, second) for line in axis.lines}
        labels = [style.label(name) for name in registry.entries() if style.label(name) in lines]
        words.legend([lines[label] for label in labels], labels, loc="center")
        style.save_figure(drawn, *paths)


def _draw_correct_labels(study: pd.DataFrame, axis) -> None:
    """Draw one line per mechanism; if several differ in their proof alone, the two at the ends."""
    families: dict[str, list[str]] = {}
    mechanisms = set(study["mechanism"])
    # The registry's first proof of a family is the loosest, and its last the tightest.
    for name in (name for name in registry.entries() if name in mechanisms):
        families.setdefault(mechanism_family(name), []).append(name)
    for members in families.values():
        for name in dict.fromkeys((members[0], members[-1])):
            part = study[study["mechanism"] == name]
            style.draw_line(axis, part["labels"], part["right"], name)
    first = study.iloc[0]
    axis.set(
        xscale="log",
        xlabel="labels Q",
        ylabel=f"right labels, {first['lead']} votes ahead of {first['teachers']}",
        title=f"ε = {first['epsilon']:g}, δ = {style.format_number(first['delta'])} for all labels",
    )
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def _draw_noise_ratios(study: pd.DataFrame, axis) -> None:
    for name in ACCOUNTS:
        part = study[study["mechanism"] == name]
        style.draw_line(axis, part["labels"], part["ratio"], name)
    axis.axhline(study["limit"].iloc[0], color=style.BLACK, linewidth=0.8, linestyle=style.DOTS)
    options = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    axis.annotate("√(2/π)", (0.02, study["limit"].iloc[0]), (0, 3), **options)
    axis.set(
        xscale="log",
        xlabel="labels Q",
        ylabel="σ as a share of what the counts need",
        title=f"{display_names.short_labels([ACCOUNTS[0]])[0]}: noise by three accounts",
    )


def _draw_accuracies(table: pd.DataFrame, axis) -> None:
    most = table.groupby("task")["queries"].transform("max")
    table = table[(table["queries"] == most) & table["mechanism"].isin(ACCOUNTS)]
    tasks = list(dict.fromkeys(table["task"]))[:_TASKS]
    # Words stand at the end where the tasks are further apart.
    tops = table[table["task"].isin(tasks)].groupby(["epsilon", "task"])["accuracy"].max().unstack()
    distances = (tops.max(axis=1) - tops.min(axis=1)).iloc[[0, -1]]
    text_epsilon = distances.iloc[::-1].idxmax()
    side = "right" if text_epsilon == distances.index[-1] else "left"
    for position, task in enumerate(tasks):
        rows = table[table["task"] == task].sort_values("epsilon")
        for name in ACCOUNTS:
            part = rows[rows["mechanism"] == name]
            axis.plot(
                part["epsilon"],
                part["accuracy"],
                **style.line_style(name) | {"alpha": 1 - 0.5 * position},
            )
        delta = style.format_number(rows["delta"].iloc[0])
        text = f"{style.label(task)}, {rows['queries'].iloc[0]:,} labels, δ = {delta}"
        anchor = text_epsilon, tops.loc[text_epsilon, task]
        # Lines of the other task pass behind the words.
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85}
        axis.annotate(text, anchor, (0, 6), textcoords="offset points", ha=side, bbox=box)
    axis.set(
        xscale="log", xlabel="ε of all labels together", ylabel="right labels", title="PATE's votes"
    )
    axis.margins(y=0.12)
    style.set_plain_ticks(axis.xaxis, sorted(set(table["epsilon"])), hide_minor=True)
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
