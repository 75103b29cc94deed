"""PATE's figures, each drawn from the tidy frame that `experiments.pate` makes and nothing else."""

import pandas as pd
from matplotlib.ticker import LogLocator, NullFormatter

from private_ensembles.report import style

_LEAST_COST = 1e-20
_MARK = "data-dependent privacy costs: not for release"


def _stamp(drawn, text: str = _MARK) -> None:
    """Say on the figure itself what must not be published."""
    drawn.supxlabel(text, fontsize=8, color="#8a1f11")


def draw_noise_comparison(data: pd.DataFrame, *paths: str, source: str) -> None:
    """Draw Figure 4 from the frame of `experiments.pate.noise_comparison`; source: whose votes."""
    largest = data.loc[data["mechanism"] == "lnmax", "teachers"].iloc[0]
    with style.figure(1, 2, size=(8.4, 3.9), sharey=True) as (drawn, (left, right)):
        for name in ("lnmax", "gnmax"):
            part = data[(data["mechanism"] == name) & (data["teachers"] == largest)]
            left.plot(
                part["epsilon"], 100 * part["accuracy"], label=style.label(name), **style.look(name)
            )
        left.set_title(f"noise, {largest} teachers")
        left.set_ylabel("expected accuracy of labels (%)")
        for teachers, look in zip(sorted(data["teachers"].unique()), style.SEQUENCE, strict=False):
            part = data[(data["mechanism"] == "gnmax") & (data["teachers"] == teachers)]
            right.plot(
                part["epsilon"], 100 * part["accuracy"], label=f"{teachers} teachers", **look
            )
        right.set_title("size of the ensemble, Gaussian noise")
        for axis in (left, right):
            axis.set_xscale("log")
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
            axis.xaxis.set_major_formatter("{x:g}")
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.set_xlabel(r"privacy cost $\varepsilon$ of all labels")
            axis.legend(loc="lower right")
        _stamp(drawn, f"{source}; {_MARK}")
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
        left.set_xlabel("votes for the plurality")
        left.set_ylabel("queries answered (expected)")
        dots = left.twinx()
        # Costs far below any that matters are not drawn, or the axis would show little else.
        part = bins[(bins["mechanism"] == names[0]) & (bins["label_rdp"] > _LEAST_COST)]
        middle = (part["bin_low"] + part["bin_high"]) / 2
        dots.plot(middle, part["label_rdp"], "o", color=style.BLACK, markersize=3)
        dots.set_yscale("log")
        dots.set_ylim(_LEAST_COST, 1)
        dots.set_ylabel(rf"dots: Rényi cost of a label at $\lambda$ = {part['order'].iloc[0]:g}")
        dots.grid(False)
        dots.spines["right"].set_visible(True)
        for name in names:
            part = cost[cost["mechanism"] == name]
            right.plot(
                part["answered"],
                part["epsilon"],
                label=style.label(name),
                **style.look(name) | {"marker": ""},
            )
            if part["epsilon_selection"].notna().any():
                right.fill_between(
                    part["answered"],
                    part["epsilon_selection"],
                    color=style.look(name)["color"],
                    alpha=0.3,
                    linewidth=0,
                    label="thresholds alone",
                )
        right.set_xlabel("queries answered (expected)")
        right.set_ylabel(r"privacy cost $\varepsilon$")
        right.set_ylim(bottom=0)
        handles, labels = left.get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside upper center", ncols=len(labels))
        right.text(
            0.98,
            0.03,
            "shaded: cost of the thresholds alone",
            ha="right",
            transform=right.transAxes,
        )
        _stamp(drawn, f"{source}; {_MARK}")
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
            look = style.look(name) | {"marker": ""}
            left.plot(curve.mean().index, 100 * curve.mean(), label=style.label(name), **look)
            left.fill_between(
                curve.mean().index,
                100 * curve.min(),
                100 * curve.max(),
                color=look["color"],
                alpha=0.2,
                linewidth=0,
            )
        left.set_xlabel("epoch of the student")
        left.set_ylabel("accuracy (%)")
        left.set_title("student (line: mean, band: seeds)")
        for name, part in cost.groupby("aggregator", sort=False):
            middle.plot(
                part["answered"],
                part["epsilon"],
                label=style.label(name),
                **style.look(name) | {"marker": ""},
            )
        middle.set_xlabel("labels bought (expected)")
        middle.set_ylabel(r"privacy cost $\varepsilon$ of all labels")
        middle.set_ylim(bottom=0)
        middle.set_title("data-dependent cost")
        for name, part in consensus.groupby("aggregator", sort=False):
            right.stairs(
                part["labels"] / part["labels"].sum(),
                [*100 * part["share_low"], 100 * part["share_high"].iloc[-1]],
                label=style.label(name),
                color=style.look(name)["color"],
                linestyle=style.look(name)["linestyle"],
            )
        right.set_xlabel("votes for the plurality (% of teachers)")
        right.set_ylabel("share of labels")
        right.set_title("consensus behind the labels")
        handles, labels = left.get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside upper center", ncols=len(labels))
        _stamp(drawn, f"{source}; {_MARK}")
        style.save(drawn, *paths)
