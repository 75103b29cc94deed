"""PATE's figures, each drawn from the tidy frame that `experiments.pate` makes and nothing else."""

import pandas as pd
from matplotlib.ticker import LogLocator, NullFormatter

from private_ensembles.report import style

_LEAST_COST = 1e-20
_COST = r"privacy cost $\varepsilon$ of all labels"
_MARK = "data-dependent privacy costs: not for release"


def draw_noise_comparison(data: pd.DataFrame, *paths: str, source: str) -> None:
    """Draw Figure 4 from the frame of `experiments.pate.noise_comparison`; source: whose votes."""
    largest = data.loc[data["mechanism"] == "lnmax", "teachers"].iloc[0]
    with style.figure(1, 2, size=(8.4, 3.9), sharey=True) as (drawn, (left, right)):
        for name in ("lnmax", "gnmax"):
            part = data[(data["mechanism"] == name) & (data["teachers"] == largest)]
            style.line(left, part["epsilon"], 100 * part["accuracy"], name)
        left.set(title=f"noise, {largest} teachers", ylabel="expected accuracy of labels (%)")
        for teachers, look in zip(sorted(data["teachers"].unique()), style.SEQUENCE, strict=False):
            part = data[(data["mechanism"] == "gnmax") & (data["teachers"] == teachers)]
            looks = {"label": f"{teachers} teachers", **look}
            right.plot(part["epsilon"], 100 * part["accuracy"], **looks)
        right.set_title("size of the ensemble, Gaussian noise")
        for axis in (left, right):
            axis.set(xscale="log", xlabel=_COST)
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
            axis.xaxis.set_major_formatter("{x:g}")
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.legend(loc="lower right")
        style.warn(drawn, f"{source}; {_MARK}")
        style.save(drawn, *paths)


def draw_threshold_effects(data: pd.DataFrame, *paths: str, source: str) -> None:
    """Draw Figure 5 from the rows of `threshold_histogram` and `answering_cost` together."""
    bins, cost = data[data["panel"] == "histogram"], data[data["panel"] == "cost"]
    names = list(dict.fromkeys(bins["mechanism"]))
    with style.figure(1, 2, size=(9.2, 4.2)) as (drawn, (left, right)):
        for name in names:
            part = bins[bins["mechanism"] == name]
            left.stairs(
                part["answered"],
                [*part["bin_low"], part["bin_high"].iloc[-1]],
                fill=True,
                alpha=0.45,
                color=style.look(name)["color"],
                label=style.label(name),
            )
        left.set(xlabel="votes for the plurality", ylabel="queries answered (expected)")
        dots = left.twinx()
        # Costs far below any that matters are not drawn, or the axis would show little else.
        part = bins[(bins["mechanism"] == names[0]) & (bins["label_rdp"] > _LEAST_COST)]
        middle = (part["bin_low"] + part["bin_high"]) / 2
        dots.plot(middle, part["label_rdp"], "o", color=style.BLACK, markersize=3)
        dots.set(yscale="log", ylim=(_LEAST_COST, 1))
        dots.set_ylabel(rf"dots: Rényi cost of a label at $\lambda$ = {part['order'].iloc[0]:g}")
        dots.grid(False)
        dots.spines["right"].set_visible(True)
        for name in names:
            part = cost[cost["mechanism"] == name]
            style.line(right, part["answered"], part["epsilon"], name, marker="")
            if part["epsilon_selection"].notna().any():
                color = style.look(name)["color"]
                style.band(right, part["answered"], part["epsilon_selection"], 0, color, 0.3)
        right.set(xlabel="queries answered (expected)", ylabel=r"privacy cost $\varepsilon$")
        right.set_ylim(bottom=0)
        style.legend(drawn, left, "upper", len(names))
        words = "shaded: cost of the thresholds alone"
        right.text(0.98, 0.03, words, ha="right", transform=right.transAxes)
        style.warn(drawn, f"{source}; {_MARK}")
        style.save(drawn, *paths)


def draw_students(data: pd.DataFrame, *paths: str, source: str) -> None:
    """Draw Figure 1: students' accuracy, privacy cost and consensus, from one tidy frame.

    Panels of `data`: `training` (aggregator, student_seed, epoch, accuracy), `cost` (aggregator,
    answered, epsilon), `consensus` (aggregator, share_low, share_high, labels).
    """
    training, cost, consensus = (
        data[data["panel"] == name] for name in ("training", "cost", "consensus")
    )
    with style.figure(1, 3, size=(11.2, 3.9)) as (drawn, (left, middle, right)):
        for name, part in training.groupby("aggregator", sort=False):
            curve = part.groupby("epoch")["accuracy"]
            mean, low, high = 100 * curve.mean(), 100 * curve.min(), 100 * curve.max()
            style.line(left, mean.index, mean, name, marker="")
            style.band(left, mean.index, low, high, style.look(name)["color"], 0.2)
        left.set(xlabel="epoch of the student", ylabel="accuracy (%)")
        left.set_title("student (line: mean, band: seeds)")
        for name, part in cost.groupby("aggregator", sort=False):
            style.line(middle, part["answered"], part["epsilon"], name, marker="")
        middle.set(xlabel="labels bought (expected)", ylabel=_COST)
        middle.set(title="data-dependent cost", ylim=(0, None))
        for name, part in consensus.groupby("aggregator", sort=False):
            right.stairs(
                part["labels"] / part["labels"].sum(),
                [*100 * part["share_low"], 100 * part["share_high"].iloc[-1]],
                label=style.label(name),
                color=style.look(name)["color"],
                linestyle=style.look(name)["linestyle"],
            )
        right.set(xlabel="votes for the plurality (% of teachers)", ylabel="share of labels")
        right.set_title("consensus behind the labels")
        style.legend(drawn, left, "upper", training["aggregator"].nunique())
        style.warn(drawn, f"{source}; {_MARK}")
        style.save(drawn, *paths)
