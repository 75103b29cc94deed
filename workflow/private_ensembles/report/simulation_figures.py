"""Figures of priors (Figure 9) and of sweeps beyond the paper: data first, then the drawing."""

from collections.abc import Iterable, Mapping
from itertools import cycle

import matplotlib.colors as colors
import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, ScalarFormatter

from private_ensembles.darrm.error import error_at, expected_error_estimate
from private_ensembles.darrm.gamma import gamma_constant, gamma_subsampling
from private_ensembles.darrm.simulations import proof
from private_ensembles.report import style

PRIOR_FAMILIES = ("gamma_opt_U", "gamma_opt_P", "gamma_sub", "gamma_const")
COMPARED = ("gamma_sub", "gamma_dsub", "gamma_const")
# An expected error below this is what scaling for the certificate leaves of no noise at all.
_NOTHING = 1e-9
_ACTUAL = {
    "absolute-uniform:0,1": "$p_i$ ~ Uniform[0, 1]",
    "fixed:0.5": "$p_i = 0.5$",
    "uniform:0.9,1": "$p_i$ ~ Uniform[0, 0.1]",
}


def prior_shapes(
    solutions: Mapping[str, Iterable[Mapping[str, object]]], actual: Iterable[str]
) -> pd.DataFrame:
    """Return the data behind Figure 9 of DaRRM: which prior to optimise for.

    solutions: ``U`` and ``P`` -> contents of ``results/darrm/gamma/*.json`` optimised for that
    prior, which share K, epsilon and Delta and have the same m in the same order. actual: how the
    p_i are really distributed, a prior's name or ``fixed:p`` (every p_i = p).

    Columns: m, family, quantity, x, y, half_width, actual, method; quantity ``gamma`` (x = l, y =
    gamma(l)), ``scaling`` (as in ``figures.gamma_shapes``) or ``expected_error`` (y = mean error
    under ``actual``, half_width of its 99 % interval, 0 where exact). Raises ValueError for
    solutions that do not match.
    """
    pairs = list(zip(*(list(solutions[name]) for name in ("U", "P")), strict=True))
    names = ("K", "epsilon", "Delta", "delta", "m")
    if any(u[name] != p[name] for u, p in pairs for name in names):
        raise ValueError("figure9: gammas of the two priors must share K, m, epsilon and Delta")
    rows = []
    for u, p in pairs:
        K, m, budget = u["K"], u["m"], (u["epsilon"], u["Delta"], u["delta"])
        gammas = {
            "gamma_opt_U": np.asarray(u["gamma"], dtype=float),
            "gamma_opt_P": np.asarray(p["gamma"], dtype=float),
            "gamma_sub": gamma_subsampling(K, m),
            "gamma_const": gamma_constant(K, m, *budget),
        }
        for family, gamma in gammas.items():
            base = {"m": m, "family": family}
            for l, value in enumerate(gamma):
                rows.append(base | {"quantity": "gamma", "x": l, "y": value})
            rows.append(base | {"quantity": "scaling", "y": proof(gamma, m, *budget)[0]})
            for distribution in actual:
                rows.append(
                    base
                    | {"quantity": "expected_error", "actual": distribution}
                    | mean_error(gamma, distribution)
                )
    columns = ["m", "family", "quantity", "x", "y", "half_width", "actual", "method"]
    return pd.DataFrame(rows, columns=columns)


def mean_error(gamma: np.ndarray, distribution: str) -> dict[str, object]:
    """Mean error of gamma where the p_i follow ``distribution``: y, half_width, method."""
    kind, _, value = distribution.partition(":")
    if kind == "fixed":
        return {"y": float(error_at(gamma, float(value))), "half_width": 0.0, "method": "exact"}
    estimate = expected_error_estimate(gamma, distribution)
    return {"y": estimate.error, "half_width": estimate.half_width, "method": estimate.method}


def draw_prior_shapes(data: pd.DataFrame, *paths: str) -> None:
    """Draw Figure 9 from the frame of :func:`prior_shapes` and save it under every path."""
    allowances = list(dict.fromkeys(data["m"]))
    actual = list(dict.fromkeys(data["actual"].dropna()))
    size = (3.2 + 2.6 * len(actual), 2.9 * len(allowances) + 0.5)
    with style.figure(
        len(allowances),
        1 + len(actual),
        size=size,
        squeeze=False,
        gridspec_kw={"width_ratios": [1.35, *[1] * len(actual)]},
    ) as (drawn, axes):
        for row, m in zip(axes, allowances, strict=True):
            part = data[data["m"] == m]
            for family in reversed(PRIOR_FAMILIES):
                shape = part[(part["family"] == family) & (part["quantity"] == "gamma")]
                row[0].plot(shape["x"], shape["y"], label=style.label(family), **style.look(family))
            row[0].set(title=f"$m = {m}$", xlabel="teachers saying 1, $l$", ylim=(-0.03, 1.05))
            row[0].set_ylabel(r"noise function $\gamma(l)$")
            row[0].xaxis.set_major_locator(MaxNLocator(6, integer=True))
            errors = part[part["quantity"] == "expected_error"]
            for axis, distribution in zip(row[1:], actual, strict=True):
                _draw_errors(axis, errors[errors["actual"] == distribution])
                axis.set_title(f"actual: {_ACTUAL.get(distribution, distribution)}", fontsize=9)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        drawn.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=4)
        style.save(drawn, *paths)


def _draw_errors(axis, errors: pd.DataFrame) -> None:
    """One mark per family, with its value and 99 % interval; they lie orders of magnitude apart."""
    values = errors.set_index("family").loc[list(PRIOR_FAMILIES)]
    least, top = values["y"].min(), values["y"].max()
    short = [style.label(family).split(" (")[0] for family in PRIOR_FAMILIES]
    axis.set_yticks(range(len(short)), short)
    axis.set(xlabel="expected error", ylim=(len(short) - 0.5, -0.5))
    if top < 1e-12:
        axis.set(xlim=(0, 1), xticks=[0])
        axis.text(
            *(0.5, 0.5),
            "0 for every\nsymmetric $\\gamma$",
            transform=axis.transAxes,
            ha="center",
            va="center",
        )
        return
    for index, (family, row) in enumerate(values.iterrows()):
        looks = style.look(family)
        axis.errorbar(
            [row["y"]],
            [index],
            xerr=[row["half_width"]],
            color=looks["color"],
            marker=looks["marker"],
            markersize=7,
            linestyle="none",
        )
        axis.annotate(
            f"{row['y']:.3g}",
            (row["y"], index),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axis.set_xscale("log")
    axis.set_xlim(max(least, 1e-12) / 8, 8 * top)  # room for the numbers


# Sweeps ------------------------------------------------------------------------------------------


def draw_sweeps(data: pd.DataFrame, *paths: str) -> None:
    """Draw how much larger the error of each family is than that of gamma_opt.

    data: rows of ``darrm.simulations.sweep``. One column per (epsilon, Delta), one row per family;
    x = m, y = its expected error over that of gamma_opt, one line per K, darker for larger K. A
    line ends where gamma_opt is no noise at all, and the ratio has no bound.
    """
    costs = list(data.groupby(["epsilon", "Delta"], sort=True).groups)
    sizes = sorted(data["K"].unique())
    shown = data.pivot_table(
        index=["K", "m", "epsilon", "Delta"], columns="family", values="expected_error"
    ).reset_index()
    shown = shown[shown["gamma_opt"] > _NOTHING]
    allowances = sorted(data["m"].unique())
    with style.figure(
        len(COMPARED),
        len(costs),
        size=(2.6 * len(costs) + 0.8, 2.5 * len(COMPARED) + 0.7),
        squeeze=False,
        sharey="row",
        sharex=True,
    ) as (drawn, axes):
        for line, family in zip(axes, COMPARED, strict=True):
            shades = _shades(style.look(family)["color"], len(sizes))
            for axis, (epsilon, Delta) in zip(line, costs, strict=True):
                part = shown[(shown["epsilon"] == epsilon) & (shown["Delta"] == Delta)]
                for K, shade in zip(sizes, shades, strict=True):
                    of_size = part[part["K"] == K].sort_values("m")
                    axis.plot(
                        of_size["m"], of_size[family] / of_size["gamma_opt"],
                        color=shade, marker="o", markersize=3, label=f"K = {K}",
                    )  # fmt: skip
                axis.axhline(1, color=style.BLACK, linewidth=0.8, linestyle=":")
                axis.set(xscale="log", yscale="log")
                axis.xaxis.set_major_locator(FixedLocator(allowances))
                axis.xaxis.set_major_formatter(ScalarFormatter())
                axis.xaxis.set_minor_formatter(NullFormatter())
                axis.tick_params(axis="x", labelsize=7)
            line[0].set_ylabel(f"error of {style.label(family).split(' (')[0]}\n" + "/ error of "
                               + style.label("gamma_opt").split(" (")[0])  # fmt: skip
            line[-1].legend(
                loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, handlelength=1.2
            )
        for axis, (epsilon, Delta) in zip(axes[0], costs, strict=True):
            axis.set_title(rf"$\varepsilon$ = {epsilon:g}, $\Delta$ = {Delta:g}")
        for axis in axes[-1]:
            axis.set_xlabel("privacy allowance $m$")
        style.save(drawn, *paths)


def draw_noiseless(data: pd.DataFrame, *paths: str) -> None:
    """Draw from which m on no noise is needed, over K.

    data: columns K, epsilon, Delta, noise, m: the least m at which gamma = 1 - noise is private.
    """
    data = data.dropna(subset="m")
    costs = list(data.groupby(["epsilon", "Delta"], sort=True).groups)
    # Not the colours of gamma families: one per epsilon, one mark and dash per Delta.
    colors_of = dict(zip(sorted(data["epsilon"].unique()), cycle((style.PURPLE, style.ORANGE))))
    marks_of = dict(zip(sorted(data["Delta"].unique()), cycle((("o", "-"), ("s", "--")))))
    with style.figure(1, 1, size=(6.4, 4.2)) as (drawn, axis):
        exact = data[data["noise"] == 0].sort_values("K")
        first = exact.drop_duplicates("K")
        axis.plot(
            first["K"], first["m"], color=style.BLACK, marker="x", linestyle="-",
            label="no noise at all: $m = (K+1)/2$" if (exact["m"] * 2 == exact["K"] + 1).all()
            else "no noise at all",
        )  # fmt: skip
        for epsilon, Delta in costs:
            marker, dash = marks_of[Delta]
            part = data[(data["epsilon"] == epsilon) & (data["Delta"] == Delta)]
            for noise, group in part[part["noise"] > 0].groupby("noise"):
                group = group.sort_values("K")
                axis.plot(
                    group["K"], group["m"], color=colors_of[epsilon], marker=marker,
                    linestyle=dash, markerfacecolor="none" if dash != "-" else None,
                    markersize=8 if dash != "-" else 4.5,
                    label=rf"a coin in {1 / noise:g} releases: $\varepsilon$ = {epsilon:g}, "
                    rf"$\Delta$ = {Delta:g}",
                )  # fmt: skip
        sizes = sorted(data["K"].unique())
        axis.set(xscale="log", yscale="log", xlabel="teachers $K$", ylabel="privacy allowance $m$")
        axis.xaxis.set_major_locator(FixedLocator(sizes))
        axis.xaxis.set_major_formatter(ScalarFormatter())
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_major_formatter(ScalarFormatter())
        axis.legend(loc="upper left", fontsize=8)
        style.save(drawn, *paths)


def _shades(color: str, number: int) -> list[tuple[float, float, float]]:
    """From a light to a dark shade of one colour, so that a family keeps its colour."""
    base = np.array(colors.to_rgb(color))
    shares = np.linspace(-0.6, 0.45, number) if number > 1 else [0.0]
    return [tuple(base + (1 - base) * -s if s < 0 else base * (1 - s)) for s in shares]
