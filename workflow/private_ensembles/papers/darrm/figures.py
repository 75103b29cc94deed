"""DaRRM's figures, drawn from the frames of `papers.darrm.figure_data` and nothing else."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from private_ensembles.papers.common import style

FAMILIES = ("gamma_opt", "gamma_sub", "gamma_dsub", "gamma_const")
PRIOR_FAMILIES = ("gamma_opt_U", "gamma_opt_P", "gamma_sub", "gamma_const")
BOUND = "worst_data_set_bound"
# The dashes of gamma_sub go on top of the line of gamma_opt: at m = 1 the two are equal.
_DRAWN = ("gamma_const", "gamma_opt", "gamma_dsub", "gamma_sub", BOUND)
# Panels side by side, beyond which they go on below.
_COLUMNS = 4
# Errors below are not drawn if the axis is logarithmic: at p = 1/2 every error is 0.
_LOG_ERRORS = (1e-6, 1)
# What an expected error below this is: scaling for the certificate leaves it of no noise at all.
_NOTHING = 1e-10
# An error that is 0 up to rounding.
_NO_ERROR = 1e-12
# Where words stand that are above a mark.
_ABOVE = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center"}
_ACTUAL = {
    "absolute-uniform:0,1": "$p_i$ ~ Uniform[0, 1]",
    "fixed:0.5": "$p_i = 0.5$",
    "uniform:0.9,1": "$p_i$ ~ Uniform[0, 0.1]",
}


def describe_setting(solution: Mapping[str, object]) -> str:
    """Return what the panels of a figure share, as words; solution: one of its gammas.

    >>> describe_setting({"K": 11, "epsilon": 0.1, "Delta": 1e-5})
    'K = 11, ε = 0.1, Δ = 10⁻⁵'
    """
    epsilon, delta = (style.format_number(float(solution[name])) for name in ("epsilon", "Delta"))
    return f"K = {solution['K']}, ε = {epsilon}, Δ = {delta}"


def draw_gamma_shapes(data: pd.DataFrame, *paths: str, setting: str) -> None:
    """Draw one of Figures 2, 6, 7 and 8 from the frame of `gamma_shapes`, saved at every path.

    setting: K, epsilon and Delta, as text. Allowances at which no family adds noise have no panel
    but a line of text. Errors of many m are orders of magnitude apart: their axis is logarithmic.
    """
    everything = list(dict.fromkeys(data["m"]))
    noisy = data[(data["quantity"] == "gamma") & (data["y"] < 1 - _NOTHING)]
    allowances = [m for m in everything if m in set(noisy["m"])] or everything[:1]
    columns = _columns(allowances)
    blocks = -(-len(allowances) // columns)
    log = len(everything) > _COLUMNS
    largest = data.loc[data["quantity"] == "error", "y"].max()
    errors = {"yscale": "log", "ylim": _LOG_ERRORS} if log else {"ylim": (-0.015, 1.15 * largest)}
    size = (max(4.6, 7.4 / columns * columns + 0.4), 4.9 * blocks + 0.6)
    with style.open_figure(2 * blocks, columns, size=size, squeeze=False) as (drawn, axes):
        handles = {}
        for index, m in enumerate(allowances):
            block, column = divmod(index, columns)
            pair = axes[2 * block : 2 * block + 2, column]
            handles |= _draw_allowance(*pair, data[data["m"] == m], errors)
            if column:
                for axis in pair:
                    axis.tick_params(labelleft=False)
            else:
                pair[0].set_ylabel(r"noise function $\gamma(l)$")
                pair[1].set_ylabel(r"error $\mathcal{E}(\mathrm{DaRRM}_\gamma)$")
        for axis in axes.flat:
            axis.set_visible(axis.has_data())
        quiet = ", ".join(f"{m:g}" for m in everything if m not in allowances)
        drawn.suptitle(setting + (f"; at m = {quiet} no γ adds noise" if quiet else ""), fontsize=9)
        shown = [name for name in (*FAMILIES, BOUND) if name in handles]
        lines, words = [handles[name] for name in shown], [style.label(name) for name in shown]
        wide = len(shown) if len(shown) < columns else 2
        drawn.legend(lines, words, loc="outside lower center", ncols=wide)
        style.save_figure(drawn, *paths)


def _columns(allowances: list[float]) -> int:
    """How many panels stand side by side: all of few, or three."""
    return len(allowances) if len(allowances) <= _COLUMNS else 3


def _draw_allowance(top, bottom, data: pd.DataFrame, errors: dict) -> dict[str, object]:
    """Draw shapes and errors of one m; return one line per family. errors: their axis."""
    handles = {}
    m, subsamples = data[["m", "subsamples"]].iloc[0]
    for family in [name for name in _DRAWN if name in set(data["family"])]:
        part = data[data["family"] == family]
        looks = style.line_style(family)
        marker = looks.pop("marker")
        error = part[part["quantity"] == "error"]
        (handles[family],) = bottom.plot(error["x"], error["y"], **looks)
        if family == BOUND:
            continue
        shape = part[part["quantity"] == "gamma"]
        marks = {"marker": marker, "markevery": _points_with_markers(shape["y"].to_numpy())}
        (handles[family],) = top.plot(shape["x"], shape["y"], **marks, **looks)
        mean = part.loc[part["quantity"] == "expected_error", "y"].item()
        bottom.axhline(mean, color=looks["color"], linewidth=0.9, linestyle=":")
    title = f"$m = {m:g}$" if m == subsamples else f"$M = {subsamples:g}$: $m = {m:.4f}$"
    top.set(title=title, xlabel="teachers saying 1, $l$", ylim=(-0.03, 1.05))
    top.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    bottom.set(xlabel="$p$ of every teacher", xlim=(-0.02, 1.02), xticks=[0, 0.5, 1])
    bottom.set(**errors)
    bottom.set_title(_mean_errors(data), fontsize=8)
    return handles


def _points_with_markers(values: np.ndarray) -> list[int]:
    """The points of a shape that carry a mark: not all of many, symmetric as gamma is, and spikes.

    A spike is a value below both of its neighbours by a twentieth.
    """
    size = len(values)
    half = set(range(size // 2 - 1, -1, -max(1, size // 14)))  # the middle is where they differ
    fall = np.diff(values)
    half |= set((np.flatnonzero((fall[:-1] < -0.05) & (fall[1:] > 0.05)) + 1).tolist())
    return sorted(half | {size - 1 - index for index in half})


def _mean_errors(data: pd.DataFrame) -> str:
    means = data[data["quantity"] == "expected_error"]
    values = dict(zip(means["family"], means["y"], strict=True))
    words = []
    for family in FAMILIES:
        if family in values:
            shown = "0" if values[family] < _NOTHING else f"{values[family]:.3g}"
            words.append(f"{family.removeprefix('gamma_')} {shown}")
    # No more than two fit beside each other.
    lines = [words[:2], words[2:]]
    return "\n".join(["expected error (dotted)", *("   ".join(line) for line in lines)])


def draw_sigma_search(data: pd.DataFrame, *paths: str) -> None:
    """Draw Figure 10 from the frame of `sigma_search`, saved at every path."""
    names = list(dict.fromkeys(data["dataset"]))
    with style.open_figure(1, len(names), size=(3.9 * len(names), 3.6), squeeze=False) as (
        drawn,
        axes,
    ):
        for axis, name in zip(axes[0], names, strict=True):
            part = data[data["dataset"] == name]
            roles = dict(iter(part.groupby("role")))
            curve, color = roles["curve"], style.line_style(name)["color"]
            axis.plot(curve["order"], curve["sigma_squared"], color=color)
            for role, marker, words in (
                ("minimum", "o", "minimum"),
                ("printed_order", "X", "order in Table 4"),
            ):
                order, square = roles[role][["order", "sigma_squared"]].iloc[0]
                label = rf"{words}: $\lambda$ = {order:.2f}, $\sigma$ = {square**0.5:.2f}"
                mark = {"marker": marker, "markersize": 8, "linestyle": "none"}
                mark["color"] = color if role == "minimum" else style.BLACK
                axis.plot([order], [square], label=label, **mark)
            epsilon, delta = part[["epsilon", "delta"]].iloc[0]
            budget = rf"$\varepsilon$ = {epsilon:g}, $\delta$ = {style.format_number(delta)}"
            axis.set(
                title=f"{style.label(name)}, {budget}",
                xlabel=r"Rényi order $\lambda$",
                ylabel=r"$\sigma^2$ (votes squared)",
                yscale="log",
            )
            axis.set_ylim(top=curve["sigma_squared"].max() * 3)  # room for the legend
            axis.legend(loc="upper right")
        style.save_figure(drawn, *paths)


def draw_feasible_region(data: pd.DataFrame, *paths: str, setting: str) -> None:
    """Draw the frame of `feasible_region`, one panel for each m, saved at every path.

    setting: K, epsilon and Delta, as text.
    The region is a narrow band around the diagonal, so that p - p' is drawn over (p + p') / 2.
    """
    allowances = list(dict.fromkeys(data["m"]))
    columns = _columns(allowances)
    rows = -(-len(allowances) // columns)
    size = (max(4.6, 2.6 * columns), 2.6 * rows + 0.5)
    with style.open_figure(rows, columns, size=size, squeeze=False, sharey=True) as (drawn, axes):
        for axis, m in zip(axes.flat, allowances, strict=False):
            part = data[data["m"] == m]
            x, y = (part["p"] + part["p_prime"]) / 2, part["p"] - part["p_prime"]
            axis.fill(x, y, facecolor=style.SKY, alpha=0.35, edgecolor=style.BLUE)
            axis.plot(x, y, "o", color=style.BLUE, markersize=3)
            for place, how_many in enumerate(part["teachers"]):
                if how_many:
                    at = x.iloc[place], y.iloc[place]
                    axis.plot(*at, "o", color=style.VERMILION, markersize=8)
                    axis.annotate(str(int(how_many)), at, color=style.BLACK, fontsize=9, **_ABOVE)
            reach = y.abs().max()
            axis.set(title=f"$m = {m:g}$", xlabel="$(p + p') / 2$")
            axis.set(xlim=(-0.12, 1.12), ylim=(-1.35 * reach, 1.35 * reach), xticks=[0, 0.5, 1])
        for axis in axes.flat:
            axis.set_visible(axis.has_data())
        for axis in axes[:, 0]:
            axis.set_ylabel("$p - p'$")
        words = "numbers: teachers at each corner in the assignment that costs most"
        drawn.suptitle(f"{setting}\n{words}", fontsize=9)
        style.save_figure(drawn, *paths)


def draw_prior_shapes(data: pd.DataFrame, *paths: str, setting: str) -> None:
    """Draw Figure 9 from the frame of `prior_shapes`, saved at every path.

    setting: K, epsilon and Delta, as text. A distribution under which every family's error is 0
    has no panels but a line of text.
    """
    allowances = list(dict.fromkeys(data["m"]))
    largest = data.dropna(subset="actual").groupby("actual", sort=False)["y"].max()
    actual = list(largest.index[largest >= _NO_ERROR])
    shape = len(allowances), 1 + len(actual)
    size = 2.9 + 2.3 * len(actual), 2.9 * len(allowances) + 0.6
    widths = {"width_ratios": [1.35] + [1] * len(actual)}
    with style.open_figure(*shape, size=size, squeeze=False, gridspec_kw=widths) as (drawn, axes):
        for row, m in zip(axes, allowances, strict=True):
            part = data[data["m"] == m]
            for family in reversed(PRIOR_FAMILIES):
                shape = part[(part["family"] == family) & (part["quantity"] == "gamma")]
                style.draw_line(row[0], shape["x"], shape["y"], family)
            row[0].set(title=f"$m = {m}$", xlabel="teachers saying 1, $l$", ylim=(-0.03, 1.05))
            row[0].set_ylabel(r"noise function $\gamma(l)$")
            row[0].xaxis.set_major_locator(MaxNLocator(6, integer=True))
            errors = part[part["quantity"] == "expected_error"]
            for axis, distribution in zip(row[1:], actual, strict=True):
                _draw_errors(axis, errors[errors["actual"] == distribution])
                axis.set_title(f"actual: {_ACTUAL.get(distribution, distribution)}", fontsize=9)
        none = [_ACTUAL.get(name, name) for name in largest.index if name not in actual]
        words = f"; at {', '.join(none)} every symmetric $\\gamma$ has error 0" if none else ""
        drawn.suptitle(setting + words, fontsize=9)
        style.add_legend(drawn, axes[0, 0], "lower", 2, reverse=True)
        style.save_figure(drawn, *paths)


def _draw_errors(axis, errors: pd.DataFrame) -> None:
    """One mark per family, with its value and 99 % interval; they are orders of magnitude apart."""
    values = errors.set_index("family").loc[list(PRIOR_FAMILIES)]
    least, top = values["y"].min(), values["y"].max()
    short = [style.short_label(family) for family in PRIOR_FAMILIES]
    axis.set_yticks(range(len(short)), short)
    axis.set(xlabel="expected error", ylim=(len(short) - 0.5, -0.5))
    for index, (family, row) in enumerate(values.iterrows()):
        looks = style.line_style(family)
        mark = {"color": looks["color"], "marker": looks["marker"], "markersize": 7}
        axis.errorbar([row["y"]], [index], xerr=[row["half_width"]], linestyle="none", **mark)
        words = style.format_number(float(f"{row['y']:.3g}"))
        axis.annotate(words, (row["y"], index), fontsize=8, **_ABOVE)
    axis.set_xscale("log")
    axis.set_xlim(max(least, _NO_ERROR) / 12, 12 * top)  # room for the numbers
