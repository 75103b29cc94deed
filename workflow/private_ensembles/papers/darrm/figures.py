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
# If there are more panels, they stand in several rows.
_COLUMNS = 4
# Errors below are not drawn if the axis is logarithmic: at p = 1/2 every error is 0.
_LOG_ERRORS = (1e-6, 1)
# Scaling for the certificate leaves an expected error below this if there is no noise at all.
_NOTHING = 1e-10
# An error below this is 0 up to rounding.
_NO_ERROR = 1e-12
# Words that belong to a mark stand above it.
_ABOVE = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center"}
_ACTUAL = {
    "absolute-uniform:0,1": "$p_i$ ~ Uniform[0, 1]",
    "fixed:0.5": "$p_i = 0.5$",
    "uniform:0.9,1": "$p_i$ ~ Uniform[0, 0.1]",
}


def describe_setting(solution: Mapping[str, object]) -> str:
    """Return what the panels of a figure share, as words.

    Args:
        solution: K, epsilon and Delta of one of the figure's gammas.

    >>> describe_setting({"K": 11, "epsilon": 0.1, "Delta": 1e-5})
    'K = 11, ε = 0.1, Δ = 10⁻⁵'
    """
    epsilon, delta = (style.format_number(float(solution[name])) for name in ("epsilon", "Delta"))
    return f"K = {solution['K']}, ε = {epsilon}, Δ = {delta}"


def draw_gamma_shapes(data: pd.DataFrame, *paths: str, setting: str) -> None:
    """Draw one of Figures 2, 6, 7 and 8, and save it at every path.

    Allowances at which no family adds noise have no panel but a line of text. Errors of many m are
    orders of magnitude apart: their axis is logarithmic.

    Args:
        data: as `figure_data.gamma_shapes` returns it.
        paths: of the files.
        setting: K, epsilon and Delta, as text.
    """
    all_allowances = list(dict.fromkeys(data["m"]))
    noisy = data[(data["quantity"] == "gamma") & (data["y"] < 1 - _NOTHING)]
    allowances = [m for m in all_allowances if m in set(noisy["m"])] or all_allowances[:1]
    columns = _columns(allowances)
    blocks = -(-len(allowances) // columns)
    logarithmic = len(all_allowances) > _COLUMNS
    largest = data.loc[data["quantity"] == "error", "y"].max()
    errors = (
        {"yscale": "log", "ylim": _LOG_ERRORS}
        if logarithmic
        else {"ylim": (-0.015, 1.15 * largest)}
    )
    size = (max(4.6, 7.4 / columns * columns + 0.4), 4.9 * blocks + 0.6)
    with style.open_figure(2 * blocks, columns, size=size, squeeze=False) as (figure, axes):
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
        noiseless = ", ".join(f"{m:g}" for m in all_allowances if m not in allowances)
        figure.suptitle(
            setting + (f"; at m = {noiseless} no γ adds noise" if noiseless else ""), fontsize=9
        )
        shown = [name for name in (*FAMILIES, BOUND) if name in handles]
        lines, words = [handles[name] for name in shown], [style.label(name) for name in shown]
        legend_columns = len(shown) if len(shown) < columns else 2
        figure.legend(lines, words, loc="outside lower center", ncols=legend_columns)
        style.save_figure(figure, *paths)


def _columns(allowances: list[float]) -> int:
    """Return how many panels stand side by side: all of few, or three."""
    return len(allowances) if len(allowances) <= _COLUMNS else 3


def _draw_allowance(top, bottom, data: pd.DataFrame, errors: dict) -> dict[str, object]:
    """Draw shapes and errors of one m; return one line per family. errors: their axis."""
    handles = {}
    m, subsamples = data[["m", "subsamples"]].iloc[0]
    for family in [name for name in _DRAWN if name in set(data["family"])]:
        curves = data[data["family"] == family]
        looks = style.line_style(family)
        marker = looks.pop("marker")
        error = curves[curves["quantity"] == "error"]
        (handles[family],) = bottom.plot(error["x"], error["y"], **looks)
        if family == BOUND:
            continue
        shape = curves[curves["quantity"] == "gamma"]
        marks = {"marker": marker, "markevery": _points_with_markers(shape["y"].to_numpy())}
        (handles[family],) = top.plot(shape["x"], shape["y"], **marks, **looks)
        mean = curves.loc[curves["quantity"] == "expected_error", "y"].item()
        bottom.axhline(mean, color=looks["color"], linewidth=0.9, linestyle=":")
    title = f"$m = {m:g}$" if m == subsamples else f"$M = {subsamples:g}$: $m = {m:.4f}$"
    top.set(title=title, xlabel="teachers saying 1, $l$", ylim=(-0.03, 1.05))
    top.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    bottom.set(xlabel="$p$ of every teacher", xlim=(-0.02, 1.02), xticks=[0, 0.5, 1])
    bottom.set(**errors)
    bottom.set_title(_mean_errors(data), fontsize=8)
    return handles


def _points_with_markers(values: np.ndarray) -> list[int]:
    """Return the points of a shape that carry a mark: not all of many, symmetric as gamma is.

    Spikes carry one: values below both of their neighbours by a twentieth.
    """
    size = len(values)
    half = set(range(size // 2 - 1, -1, -max(1, size // 14)))  # the middle is where they differ
    fall = np.diff(values)
    half |= set((np.flatnonzero((fall[:-1] < -0.05) & (fall[1:] > 0.05)) + 1).tolist())
    return sorted(half | {size - 1 - index for index in half})


def _mean_errors(data: pd.DataFrame) -> str:
    """Return the expected errors of all families, as the title of a panel."""
    means = data[data["quantity"] == "expected_error"]
    values = dict(zip(means["family"], means["y"], strict=True))
    words = []
    for family in FAMILIES:
        if family in values:
            error = "0" if values[family] < _NOTHING else f"{values[family]:.3g}"
            words.append(f"{family.removeprefix('gamma_')} {error}")
    # No more than two fit beside each other.
    lines = [words[:2], words[2:]]
    return "\n".join(["expected error (dotted)", *("   ".join(line) for line in lines)])


def draw_sigma_search(data: pd.DataFrame, *paths: str) -> None:
    """Draw Figure 10, and save it at every path.

    Args:
        data: as `figure_data.sigma_search` returns it.
        paths: of the files.
    """
    names = list(dict.fromkeys(data["dataset"]))
    with style.open_figure(1, len(names), size=(3.9 * len(names), 3.6), squeeze=False) as (
        figure,
        axes,
    ):
        for axis, name in zip(axes[0], names, strict=True):
            rows = data[data["dataset"] == name]
            roles = dict(iter(rows.groupby("role")))
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
            epsilon, delta = rows[["epsilon", "delta"]].iloc[0]
            budget = rf"$\varepsilon$ = {epsilon:g}, $\delta$ = {style.format_number(delta)}"
            axis.set(
                title=f"{style.label(name)}, {budget}",
                xlabel=r"Rényi order $\lambda$",
                ylabel=r"$\sigma^2$ (votes squared)",
                yscale="log",
            )
            axis.set_ylim(top=curve["sigma_squared"].max() * 3)  # room for the legend
            axis.legend(loc="upper right")
        style.save_figure(figure, *paths)


def draw_feasible_region(data: pd.DataFrame, *paths: str, setting: str) -> None:
    """Draw the feasible region, one panel for each m, and save it at every path.

    The region is a narrow band around the diagonal, so that p - p' is drawn over (p + p') / 2.

    Args:
        data: as `figure_data.feasible_region` returns it.
        paths: of the files.
        setting: K, epsilon and Delta, as text.
    """
    allowances = list(dict.fromkeys(data["m"]))
    columns = _columns(allowances)
    rows = -(-len(allowances) // columns)
    size = (max(4.6, 2.6 * columns), 2.6 * rows + 0.5)
    with style.open_figure(rows, columns, size=size, squeeze=False, sharey=True) as (figure, axes):
        for axis, m in zip(axes.flat, allowances, strict=False):
            corners = data[data["m"] == m]
            x, y = (corners["p"] + corners["p_prime"]) / 2, corners["p"] - corners["p_prime"]
            axis.fill(x, y, facecolor=style.SKY, alpha=0.35, edgecolor=style.BLUE)
            axis.plot(x, y, "o", color=style.BLUE, markersize=3)
            for corner, teachers in enumerate(corners["teachers"]):
                if teachers:
                    position = x.iloc[corner], y.iloc[corner]
                    axis.plot(*position, "o", color=style.VERMILION, markersize=8)
                    axis.annotate(
                        str(int(teachers)), position, color=style.BLACK, fontsize=9, **_ABOVE
                    )
            height = y.abs().max()
            axis.set(title=f"$m = {m:g}$", xlabel="$(p + p') / 2$")
            axis.set(xlim=(-0.12, 1.12), ylim=(-1.35 * height, 1.35 * height), xticks=[0, 0.5, 1])
        for axis in axes.flat:
            axis.set_visible(axis.has_data())
        for axis in axes[:, 0]:
            axis.set_ylabel("$p - p'$")
        words = "numbers: teachers at each corner in the assignment that costs most"
        figure.suptitle(f"{setting}\n{words}", fontsize=9)
        style.save_figure(figure, *paths)


def draw_prior_shapes(data: pd.DataFrame, *paths: str, setting: str) -> None:
    """Draw Figure 9, and save it at every path.

    A distribution under which every family's error is 0 has no panels but a line of text.

    Args:
        data: as `figure_data.prior_shapes` returns it.
        paths: of the files.
        setting: K, epsilon and Delta, as text.
    """
    allowances = list(dict.fromkeys(data["m"]))
    largest = data.dropna(subset="actual").groupby("actual", sort=False)["y"].max()
    actual = list(largest.index[largest >= _NO_ERROR])
    shape = len(allowances), 1 + len(actual)
    size = 2.9 + 2.3 * len(actual), 2.9 * len(allowances) + 0.6
    widths = {"width_ratios": [1.35] + [1] * len(actual)}
    with style.open_figure(*shape, size=size, squeeze=False, gridspec_kw=widths) as (figure, axes):
        for row, m in zip(axes, allowances, strict=True):
            curves = data[data["m"] == m]
            for family in reversed(PRIOR_FAMILIES):
                shape = curves[(curves["family"] == family) & (curves["quantity"] == "gamma")]
                style.draw_line(row[0], shape["x"], shape["y"], family)
            row[0].set(title=f"$m = {m}$", xlabel="teachers saying 1, $l$", ylim=(-0.03, 1.05))
            row[0].set_ylabel(r"noise function $\gamma(l)$")
            row[0].xaxis.set_major_locator(MaxNLocator(6, integer=True))
            errors = curves[curves["quantity"] == "expected_error"]
            for axis, distribution in zip(row[1:], actual, strict=True):
                _draw_errors(axis, errors[errors["actual"] == distribution])
                axis.set_title(f"actual: {_ACTUAL.get(distribution, distribution)}", fontsize=9)
        without_error = [_ACTUAL.get(name, name) for name in largest.index if name not in actual]
        words = (
            f"; at {', '.join(without_error)} every symmetric $\\gamma$ has error 0"
            if without_error
            else ""
        )
        figure.suptitle(setting + words, fontsize=9)
        style.add_legend(figure, axes[0, 0], "lower", 2, reverse=True)
        style.save_figure(figure, *paths)


def _draw_errors(axis, errors: pd.DataFrame) -> None:
    """Draw one mark per family, with its value and 99 % interval, on a logarithmic axis."""
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
