"""The paper's figures: first the data as a tidy frame, then a drawing of that frame alone."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.ticker import MultipleLocator

from private_ensembles.darrm.error import error_at, expected_error
from private_ensembles.darrm.gamma import gamma_constant, gamma_subsampling
from private_ensembles.pate.gnmax import least_order, order_grid, sigma_curve
from private_ensembles.report import style

FAMILIES = ("gamma_opt", "gamma_sub", "gamma_const")
# The dashes of gamma_sub go on top of the line of gamma_opt: at m = 1 the two are equal.
_DRAWN = ("gamma_const", "gamma_opt", "gamma_sub")
# Points of p at which errors are drawn; odd, so that p = 1/2 is one of them.
_ERROR_POINTS = 201


def gamma_shapes(solutions: Iterable[Mapping[str, object]], prior: str) -> pd.DataFrame:
    """Return the data behind Figure 2 of DaRRM.

    solutions: contents of ``results/darrm/gamma/*.json``, which share K, epsilon and Delta and
    differ in m. Columns: m, family, quantity, x, y, with quantity ``gamma`` (x = l, the number of
    teachers that say 1; y = gamma(l)), ``error`` (x = p, the probability with which every teacher
    says 1; y = total variation distance to the majority) or ``expected_error`` (x missing; y =
    mean error under ``prior``). Raises ValueError for solutions of unequal K, epsilon or Delta, or
    two of the same m.
    """
    solutions = list(solutions)
    common = {tuple(s[name] for name in ("K", "epsilon", "Delta")) for s in solutions}
    if len(common) != 1 or len({s["m"] for s in solutions}) != len(solutions):
        raise ValueError("figure2: gammas must share K, epsilon and Delta and differ in m")
    p = np.linspace(0, 1, _ERROR_POINTS)
    parts = []
    for solution in solutions:
        K, m, epsilon = solution["K"], solution["m"], solution["epsilon"]
        gammas = {
            "gamma_opt": np.asarray(solution["gamma"], dtype=float),
            "gamma_sub": gamma_subsampling(K, m),
            "gamma_const": gamma_constant(K, m, epsilon, solution["Delta"], solution["delta"]),
        }
        for family, gamma in gammas.items():
            for quantity, x, y in (
                ("gamma", np.arange(K + 1.0), gamma),
                ("error", p, error_at(gamma, p)),
                ("expected_error", [np.nan], [expected_error(gamma, prior)]),
            ):
                part = {"m": m, "family": family, "quantity": quantity, "x": x, "y": y}
                parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def draw_gamma_shapes(data: pd.DataFrame, *paths: str, title: str = "") -> None:
    """Draw Figure 2 from the frame of :func:`gamma_shapes` and save it under every path."""
    allowances = list(dict.fromkeys(data["m"]))
    with style.figure(
        2, len(allowances), size=(2.6 * len(allowances) + 0.6, 5.4), squeeze=False
    ) as (drawn, axes):
        for column, m in enumerate(allowances):
            top, bottom = axes[:, column]
            for family in _DRAWN:
                part = data[(data["m"] == m) & (data["family"] == family)]
                looks = style.look(family)
                shape = part[part["quantity"] == "gamma"]
                top.plot(shape["x"], shape["y"], label=style.label(family), **looks)
                error = part[part["quantity"] == "error"]
                mean = part.loc[part["quantity"] == "expected_error", "y"].item()
                looks.pop("marker")
                bottom.plot(error["x"], error["y"], **looks)
                bottom.axhline(mean, color=looks["color"], linewidth=0.9, linestyle=":")
            top.set(title=f"$m = {m}$", xlabel="teachers saying 1, $l$", ylim=(-0.03, 1.05))
            top.xaxis.set_major_locator(MultipleLocator(max(1, int(shape["x"].max()) // 5)))
            bottom.set(xlabel="$p$, the same for every teacher")
            bottom.set(xlim=(-0.02, 1.02), ylim=(-0.015, 0.53))
            bottom.set_title(_mean_errors(data, m), fontsize=8)
            if column:
                top.tick_params(labelleft=False)
                bottom.tick_params(labelleft=False)
        axes[0, 0].set_ylabel(r"noise function $\gamma(l)$")
        axes[1, 0].set_ylabel(r"error $\mathcal{E}(\mathrm{DaRRM}_\gamma)$")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        # Outside, so that it never covers a curve.
        order = [_DRAWN.index(family) for family in FAMILIES]
        drawn.legend(
            [handles[i] for i in order],
            [labels[i] for i in order],
            loc="outside lower center",
            ncols=len(FAMILIES),
        )
        if title:
            drawn.suptitle(title, fontsize=10)
        style.save(drawn, *paths)


def _mean_errors(data: pd.DataFrame, m: int) -> str:
    means = data[(data["m"] == m) & (data["quantity"] == "expected_error")]
    values = dict(zip(means["family"], means["y"], strict=True))
    names = (family.removeprefix("gamma_") for family in FAMILIES)
    return "expected error (dotted)\n" + "  ".join(
        f"{name} {values[family]:.3g}" for name, family in zip(names, FAMILIES, strict=True)
    )


def sigma_search(
    datasets: Iterable[Mapping[str, object]], *, order_max: float, order_step: float
) -> pd.DataFrame:
    """Return the data behind Figure 10 of DaRRM.

    datasets: mappings with ``name``, ``epsilon``, ``delta`` of one label. Columns: dataset,
    epsilon, delta, order (Rényi order lambda), sigma_squared (votes squared), role: ``curve``,
    ``minimum`` (the grid's least) or ``printed_order`` (lambda_min + 3, which the paper prints
    beside the minimum's sigma).
    """
    parts = []
    for dataset in datasets:
        budget = dataset["epsilon"], dataset["delta"]
        orders = order_grid(*budget, order_max=order_max, order_step=order_step)
        if not orders.size:
            raise ValueError(f"order_max = {order_max}: no order below it for {dataset['name']}")
        squares = sigma_curve(*budget, orders)
        best = int(np.argmin(squares))
        printed = np.array([least_order(*budget) + 3])
        for role, x, y in (
            ("curve", orders, squares),
            ("minimum", orders[[best]], squares[[best]]),
            ("printed_order", printed, sigma_curve(*budget, printed)),
        ):
            part = {"order": x, "sigma_squared": y, "role": role}
            names = {"dataset": dataset["name"], "epsilon": budget[0], "delta": budget[1]}
            parts.append(pd.DataFrame(names | part))
    return pd.concat(parts, ignore_index=True)


def draw_sigma_search(data: pd.DataFrame, *paths: str) -> None:
    """Draw Figure 10 from the frame of :func:`sigma_search` and save it under every path."""
    names = list(dict.fromkeys(data["dataset"]))
    with style.figure(1, len(names), size=(3.9 * len(names), 3.6), squeeze=False) as (drawn, axes):
        for axis, name in zip(axes[0], names, strict=True):
            part = data[data["dataset"] == name]
            roles = dict(iter(part.groupby("role")))
            curve, color = roles["curve"], style.look(name)["color"]
            axis.plot(curve["order"], curve["sigma_squared"], color=color)
            for role, marker, words in (
                ("minimum", "o", "minimum"),
                ("printed_order", "X", "order in Table 4"),
            ):
                order, square = roles[role][["order", "sigma_squared"]].iloc[0]
                axis.plot(
                    [order],
                    [square],
                    marker=marker,
                    markersize=8,
                    linestyle="none",
                    color=color if role == "minimum" else style.BLACK,
                    label=rf"{words}: $\lambda$ = {order:.2f}, $\sigma$ = {square**0.5:.2f}",
                )
            epsilon, delta = part[["epsilon", "delta"]].iloc[0]
            axis.set(
                title=rf"{style.label(name)}, $\varepsilon$ = {epsilon:g}, $\delta$ = {delta:g}",
                xlabel=r"Rényi order $\lambda$",
                ylabel=r"$\sigma^2$ (votes squared)",
                yscale="log",
            )
            axis.set_ylim(top=curve["sigma_squared"].max() * 3)  # room for the legend
            axis.legend(loc="upper right")
        style.save(drawn, *paths)
