"""PATE's figures, each drawn from a tidy frame of `papers.pate.experiment` and nothing else."""

import pandas as pd
from matplotlib.ticker import LogLocator, NullFormatter

from private_ensembles.labels import display_names
from private_ensembles.papers.common import style

# Costs below this are not drawn: none of them matters, and the axis would show little else.
_LEAST_COST = 1e-20
# Figure 4 has two mechanisms; this one is drawn for several numbers of teachers.
_ACCURATE = "gnmax"
# Each aggregator of Figure 5 has its hatch, as steps overlap.
_HATCHES = (None, "///", "\\\\\\")
# Marks on a line of many points are this far apart, as a share of the panel's diagonal.
_APART = 0.15
_COST = r"privacy cost $\varepsilon$ of all labels"
_MARK = "data-dependent privacy costs: not for release"


def draw_noise_comparison(data: pd.DataFrame, *paths: str, source: str) -> None:
    """Draw Figure 4.

    Args:
        data: the frame of `papers.pate.experiment.noise_comparison`.
        paths: the files to write.
        source: whose votes.
    """
    largest = data.loc[data["mechanism"] == "lnmax", "teachers"].iloc[0]
    with style.open_figure(1, 2, size=(7.6, 3.7), sharey=True) as (drawn, (left, right)):
        for name in ("lnmax", _ACCURATE):
            part = data[(data["mechanism"] == name) & (data["teachers"] == largest)]
            style.draw_line(left, part["epsilon"], 100 * part["accuracy"], name)
            _name_below(
                left, part, *display_names.short_labels([name]), style.line_style(name)["color"]
            )
        left.set(title=f"noise, K = {largest}", ylabel="expected accuracy of labels (%)")
        for teachers, look in zip(sorted(data["teachers"].unique()), style.SEQUENCE, strict=False):
            part = data[(data["mechanism"] == _ACCURATE) & (data["teachers"] == teachers)]
            right.plot(part["epsilon"], 100 * part["accuracy"], **look)
            _name_below(right, part, f"{teachers}", look["color"])
        right.set_title(f"{display_names.short_labels([_ACCURATE])[0]}, K as written")
        left.margins(x=0.16)  # room for the names
        right.margins(x=0.07)
        for axis in (left, right):
            axis.margins(y=0.12)
            axis.set(xscale="log", xlabel=_COST)
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
            axis.xaxis.set_major_formatter("{x:g}")
            axis.xaxis.set_minor_formatter(NullFormatter())
        style.add_warning(drawn, f"{source}; {_MARK}")
        style.save_figure(drawn, *paths)


def _name_below(axis, part: pd.DataFrame, name: str, color: object) -> None:
    """Write a line's name below its lowest point."""
    end = part.loc[part["accuracy"].idxmin()]
    lowest = end["epsilon"], 100 * end["accuracy"]
    text_options = {"xytext": (0, -14), "textcoords": "offset points", "ha": "center"}
    axis.annotate(name, lowest, color=style.darken_for_text(color), **text_options)


def draw_threshold_effects(data: pd.DataFrame, *paths: str, source: str) -> None:
    """Draw Figure 5.

    Args:
        data: the rows of `threshold_histogram` and of `answering_cost` together.
        paths: the files to write.
        source: whose votes.
    """
    bins, cost = data[data["panel"] == "histogram"], data[data["panel"] == "cost"]
    aggregators = list(dict.fromkeys(bins["mechanism"]))
    with style.open_figure(1, 2, size=(7.8, 4.0)) as (drawn, (left, right)):
        for name, hatch in zip(aggregators, _HATCHES, strict=False):
            part = bins[bins["mechanism"] == name]
            left.stairs(
                part["answered"],
                [*part["bin_low"], part["bin_high"].iloc[-1]],
                fill=hatch is None,
                hatch=hatch,
                facecolor="#d5ece4",
                edgecolor=style.line_style(name)["color"],
                linewidth=1.4,
                label=style.label(name),
            )
        left.set(xlabel="votes for the plurality", ylabel="queries answered (expected)")
        dots = left.twinx()
        part = bins[(bins["mechanism"] == aggregators[0]) & (bins["label_rdp"] > _LEAST_COST)]
        middle = (part["bin_low"] + part["bin_high"]) / 2
        dots.plot(middle, part["label_rdp"], "o", color=style.BLACK, markersize=3)
        dots.set(yscale="log", ylim=(_LEAST_COST / 100, 10))
        dots.set_ylabel(rf"dots: Rényi cost of a label at $\lambda$ = {part['order'].iloc[0]:g}")
        dots.grid(False)
        dots.spines["right"].set_visible(True)
        for name in aggregators:
            part = cost[cost["mechanism"] == name]
            style.draw_line(right, part["answered"], part["epsilon"], name, markevery=_APART)
            if part["epsilon_selection"].notna().any():
                color = style.line_style(name)["color"]
                style.shade_band(right, part["answered"], part["epsilon_selection"], 0, color, 0.3)
        right.set(xlabel="queries answered (expected)", ylabel=r"privacy cost $\varepsilon$")
        right.set_ylim(bottom=0)
        style.add_legend(drawn, left, "upper", len(aggregators))
        words = "shaded: cost of the thresholds alone"
        drawn.get_layout_engine().set(wspace=0.06)  # between two axes' words
        right.text(0.02, 0.97, words, va="top", transform=right.transAxes)
        style.add_warning(drawn, f"{source}; {_MARK}")
        style.save_figure(drawn, *paths)


def draw_students(data: pd.DataFrame, *paths: str, source: str) -> None:
    """Draw Figure 1: students' accuracy, privacy cost and consensus.

    Args:
        data: the frame of `figure_data.students_figure`. Its panels are `training` (aggregator,
            student_seed, epoch, accuracy), `cost` (aggregator, answered, epsilon) and `consensus`
            (aggregator, share_low, share_high, labels).
        paths: the files to write.
        source: whose votes.
    """
    training, cost, consensus = (
        data[data["panel"] == name] for name in ("training", "cost", "consensus")
    )
    with style.open_figure(2, 2, size=(7.6, 6.4)) as (drawn, ((first, second), (third, words))):
        for name, part in training.groupby("aggregator", sort=False):
            curve = part.groupby("epoch")["accuracy"]
            mean, low, high = 100 * curve.mean(), 100 * curve.min(), 100 * curve.max()
            style.draw_line(first, mean.index, mean, name, markevery=_APART)
            style.shade_band(first, mean.index, low, high, style.line_style(name)["color"], 0.2)
        first.set(xlabel="epoch of the student", ylabel="accuracy (%)")
        first.set_title("student (line: mean, band: seeds)")
        for name, part in cost.groupby("aggregator", sort=False):
            style.draw_line(second, part["answered"], part["epsilon"], name, markevery=_APART)
        second.set(xlabel="labels bought (expected)", ylabel=_COST)
        second.set(title="data-dependent cost", ylim=(0, None))
        for name, part in consensus.groupby("aggregator", sort=False):
            third.stairs(
                part["labels"] / part["labels"].sum(),
                [*100 * part["share_low"], 100 * part["share_high"].iloc[-1]],
                color=style.line_style(name)["color"],
                linestyle=style.line_style(name)["linestyle"],
                linewidth=1.8,
                baseline=None,
                zorder=2 + (name == "lnmax"),  # its dashes on top, where steps are equal
            )
        # Nearly all labels have nearly all votes, so on a linear axis the other steps are flat.
        third.set(xlabel="votes for the plurality (% of teachers)", ylabel="share of labels")
        third.set(title="consensus behind the labels", yscale="log", ylim=(1e-4, 1.5))
        words.axis("off")
        words.legend(*first.get_legend_handles_labels(), loc="center", title=source)
        style.add_warning(drawn, _MARK)
        style.save_figure(drawn, *paths)
