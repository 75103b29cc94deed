"""DPBag's figures over epsilon: labels that a budget buys beside SAA's, and students on them.

Drawn from the frames of `papers.dpbag.tables` (`label_counts`, `student_accuracy`) alone, at one
delta: one row of panels per model, one column per number of shards.
"""

import math
from collections.abc import Callable, Iterator

import pandas as pd

from private_ensembles.papers.common import style
from private_ensembles.papers.compare.reproduced import flag_stand_ins

PLAIN = "whole loss of a label composed"
_SAA = "SAA: one partition"
_LOOKS = {
    _SAA: {"color": style.VERMILION, "marker": "x", "linestyle": "--"},
    PLAIN: {"color": style.ORANGE, "marker": "P", "linestyle": "-"},
}
_MODELS = {"logistic": "logistic", "boosted_trees": "boosted trees"}
# The ticks of a ratio to SAA's labels are these; neighbouring bars are so much of epsilon apart.
_MULTIPLES, _ASIDE = (0.5, 1, 1.5, 2, 4, 8, 16), 0.12
_BUDGET = r"privacy budget $\varepsilon$"


def draw_labels(counts: pd.DataFrame, delta: float, *paths: str) -> None:
    """Draw labels within a budget as multiples of SAA's: DPBag by k, the whole loss composed.

    Personalised counts depend on the votes and are not for release.

    Args:
        counts: the frame of `papers.dpbag.tables.label_counts`, of all models.
        delta: the one that is drawn.
        paths: the files to write.

    Raises:
        ValueError: there is no row at `delta`.
    """
    counts = _select_delta(counts, delta, "counts")
    is_personalised = counts["accounting"] == "personalised"
    saa_labels = counts[~is_personalised & (counts["k"] == 1)].set_index(["model", "n", "epsilon"])
    saa_labels = saa_labels["releasable_mean"].groupby(level=[0, 1, 2]).first()
    keys = pd.MultiIndex.from_frame(counts[["model", "n", "epsilon"]])
    base = saa_labels.reindex(keys).to_numpy()
    names = ["releasable_mean", "releasable_sd", "plain_labels"]
    counts = counts.assign(**{name: counts[name] / base for name in names})

    def draw(axis, rows: pd.DataFrame) -> None:
        personal = rows["accounting"] == "personalised"
        partitions = list(_partitions(counts, "k"))
        for position, (k, look) in enumerate(partitions):
            line = _dodge(rows[personal & (rows["k"] == k)], position, len(partitions))
            _draw_line(axis, line, "releasable_mean", _dpbag(k), look, "releasable_sd")
        _draw_line(axis, rows.drop_duplicates("epsilon"), "plain_labels", PLAIN)
        axis.axhline(1, label=_SAA, color=style.VERMILION, linewidth=1.2, linestyle="--")
        axis.set_yscale("log")
        style.set_plain_ticks(axis.yaxis, _MULTIPLES)

    _draw_panels(counts, draw, "labels / SAA's", delta, paths, "exact votes: not for release")


def draw_students(students: pd.DataFrame, delta: float, *paths: str) -> None:
    """Draw the students' mean accuracy with bars of one standard deviation; without privacy: dots.

    Args:
        students: the frame of `papers.dpbag.tables.student_accuracy`, of all models.
        delta: the one that is drawn.
        paths: the files to write.

    Raises:
        ValueError: there is no row at `delta`.
    """
    without_privacy = students[students["method"] == "npb"].set_index("model")["accuracy_mean"]
    students = _select_delta(students, delta, "students")

    def draw(axis, rows: pd.DataFrame) -> None:
        partitions = list(_partitions(students[students["method"] == "dpbag"], "k"))
        size = 1 + len(partitions)
        saa = _dodge(rows[rows["method"] == "saa"], 0, size)
        _draw_line(axis, saa, "accuracy_mean", _SAA, spread="accuracy_sd")
        for position, (k, look) in enumerate(partitions, start=1):
            line = _dodge(rows[(rows["method"] == "dpbag") & (rows["k"] == k)], position, size)
            _draw_line(axis, line, "accuracy_mean", _dpbag(k), look, "accuracy_sd")
        for value in without_privacy.get(rows["model"].iloc[:1], ()):
            dots = {"color": style.BLACK, "linewidth": 1, "linestyle": style.DOTS}
            axis.axhline(value, label="without privacy (NPB)", **dots)

    _draw_panels(students, draw, "student's accuracy", delta, paths)


def _dodge(rows: pd.DataFrame, position: int, size: int) -> pd.DataFrame:
    """Return the rows moved a little aside, so that bars of the same epsilon stand side by side."""
    return rows.assign(epsilon=rows["epsilon"] + _ASIDE * (position - (size - 1) / 2))


def _select_delta(frame: pd.DataFrame, delta: float, name: str) -> pd.DataFrame:
    chosen = frame[[math.isclose(value, delta) for value in frame["delta"]]]
    if not len(chosen):
        raise ValueError(f"{name}: must have rows at delta = {delta}")
    return chosen


def _partitions(frame: pd.DataFrame, column: str) -> Iterator[tuple[int, dict]]:
    sizes = sorted(k for k in frame[column].unique() if k > 1)
    # Looks are taken from the last, so that the most partitions look the same in every figure.
    return zip(sizes, style.SEQUENCE[-len(sizes) :], strict=False)


def _dpbag(k: int) -> str:
    return f"DPBag, {k} partitions"


def _draw_line(
    axis, rows, column: str, name: str, look: dict | None = None, spread: str = ""
) -> None:
    rows = rows.dropna(subset=[column]).sort_values("epsilon")
    if len(rows):
        error = rows[spread].fillna(0) if spread else None
        values = rows["epsilon"], rows[column], error
        axis.errorbar(*values, label=name, capsize=2, elinewidth=0.8, **(look or _LOOKS[name]))


def _draw_panels(
    frame: pd.DataFrame, draw: Callable, title: str, delta: float, paths: tuple, mark: str = ""
) -> None:
    """Draw one row of panels per model, one column per n, without empty ones, and one legend."""
    models = [name for name in _MODELS if name in set(frame["model"])]
    shards = {name: sorted(frame[frame["model"] == name]["n"].unique()) for name in models}
    columns = max(map(len, shards.values()))
    shape, size = (len(models), columns), (max(6.4, 2.5 * columns), 2.5 * len(models) + 0.8)
    with style.open_figure(*shape, size=size, squeeze=False, sharey=True) as (drawn, axes):
        for model, line in zip(models, axes, strict=True):
            for axis in line[len(shards[model]) :]:
                axis.set_visible(False)
            for n, axis in zip(shards[model], line, strict=False):
                draw(axis, frame[(frame["model"] == model) & (frame["n"] == n)])
                axis.set_title(f"{_MODELS[model]}, {n} shards")
                axis.set_xlabel(_BUDGET)
                axis.set_xticks(sorted(frame["epsilon"].dropna().unique()))
            line[0].set_ylabel(title)
        handles = dict(zip(*reversed(axes[0, 0].get_legend_handles_labels()), strict=True))
        wide = 3 if columns > 2 else 2
        data = ", ".join(map(style.label, dict.fromkeys(frame["dataset"])))
        words = f"{data}, δ = {style.format_number(delta)}"
        drawn.legend(handles.values(), handles, loc="outside upper center", ncols=wide, title=words)
        marks = "stand-in data" if flag_stand_ins(frame).any() else ""
        style.add_warning(drawn, "; ".join(filter(None, (marks, mark))))
        style.save_figure(drawn, *paths)
