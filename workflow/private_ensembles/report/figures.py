"""The paper's figures: first the data as a tidy frame, then a drawing of that frame alone."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from private_ensembles.darrm.error import error_at, expected_error
from private_ensembles.darrm.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
)
from private_ensembles.darrm.simulations import proof, worst_data_set_bound
from private_ensembles.pate.gnmax import least_order, order_grid, sigma_curve
from private_ensembles.report import style

FAMILIES = ("gamma_opt", "gamma_sub", "gamma_dsub", "gamma_const")
BOUND = "worst_data_set_bound"
# The dashes of gamma_sub go on top of the line of gamma_opt: at m = 1 the two are equal.
_DRAWN = ("gamma_const", "gamma_opt", "gamma_dsub", "gamma_sub", BOUND)
# Points of p at which errors are drawn; odd, so that p = 1/2 is one of them.
_ERROR_POINTS = 201
# Panels side by side, beyond which they go on below.
_COLUMNS = 4


def gamma_shapes(
    solutions: Iterable[Mapping[str, object]],
    prior: str,
    *,
    subsamples: Sequence[int] | None = None,
    delta_prime: float | None = None,
) -> pd.DataFrame:
    """Return the data behind Figures 2, 6, 7 and 8 of DaRRM.

    solutions: contents of ``results/darrm/gamma/*.json``, which share K, epsilon and Delta and
    differ in m. subsamples, delta_prime (Figure 6): how many teachers gamma_sub draws at each
    solution, default m, and the slack of general composition for gamma_const, default simple
    composition. Double subsampling is drawn where Delta = 0, as in the paper.

    Columns: m, subsamples, family, quantity, x, y, with quantity ``gamma`` (x = l, the number of
    teachers that say 1; y = gamma(l)), ``error`` (x = p, the probability with which every teacher
    says 1; y = total variation distance to the majority), ``expected_error`` (x missing; y = mean
    error under ``prior``) or ``scaling`` (x missing; y = the share by which gamma must be scaled
    down to be certified: 0, or about 1e-12 where it meets the allowance exactly). At m = 1 the
    family ``worst_data_set_bound`` has the bound of Lemma 3.2 as its ``error``. Raises ValueError
    for solutions of unequal K, epsilon or Delta, or two of the same m.
    """
    solutions = list(solutions)
    common = {tuple(s[name] for name in ("K", "epsilon", "Delta")) for s in solutions}
    if len(common) != 1 or len({s["m"] for s in solutions}) != len(solutions):
        raise ValueError("figure: gammas must share K, epsilon and Delta and differ in m")
    p = np.linspace(0, 1, _ERROR_POINTS)
    parts = []
    for solution, drawn in zip(solutions, subsamples or [s["m"] for s in solutions], strict=True):
        K, m, budget = solution["K"], solution["m"], (solution["epsilon"], solution["Delta"])
        delta = solution["delta"]
        gammas = {
            "gamma_opt": np.asarray(solution["gamma"], dtype=float),
            "gamma_sub": gamma_subsampling(K, drawn),
            "gamma_const": gamma_constant(K, m, *budget, delta, delta_prime=delta_prime),
        }
        if solution["Delta"] == delta == 0:
            gammas["gamma_dsub"] = gamma_double_subsampling(K, m)
        for family, gamma in gammas.items():
            for quantity, x, y in (
                ("gamma", np.arange(K + 1.0), gamma),
                ("error", p, error_at(gamma, p)),
                ("expected_error", [np.nan], [expected_error(gamma, prior)]),
                ("scaling", [np.nan], [proof(gamma, m, *budget, delta)[0]]),
            ):
                parts.append(_part(m, drawn, family, quantity, x, y))
        if m == 1:
            parts.append(_part(m, drawn, BOUND, "error", p, worst_data_set_bound(K, p)))
    return pd.concat(parts, ignore_index=True)


def _part(m, subsamples, family, quantity, x, y) -> pd.DataFrame:
    names = {"m": m, "subsamples": subsamples, "family": family, "quantity": quantity}
    return pd.DataFrame(names | {"x": x, "y": y})


def draw_gamma_shapes(data: pd.DataFrame, *paths: str, title: str = "") -> None:
    """Draw one of Figures 2, 6, 7, 8 from the frame of :func:`gamma_shapes`, save it everywhere."""
    allowances = list(dict.fromkeys(data["m"]))
    columns = len(allowances) if len(allowances) <= _COLUMNS else 3
    blocks = -(-len(allowances) // columns)
    size = (2.6 * columns + 0.6, 5.2 * blocks + 0.3)
    with style.figure(2 * blocks, columns, size=size, squeeze=False) as (drawn, axes):
        handles = {}
        for index, m in enumerate(allowances):
            block, column = divmod(index, columns)
            pair = axes[2 * block : 2 * block + 2, column]
            handles |= _draw_allowance(*pair, data[data["m"] == m])
            if column:
                for axis in pair:
                    axis.tick_params(labelleft=False)
            else:
                pair[0].set_ylabel(r"noise function $\gamma(l)$")
                pair[1].set_ylabel(r"error $\mathcal{E}(\mathrm{DaRRM}_\gamma)$")
        for axis in axes.flat:
            axis.set_visible(axis.has_data())
        shown = [name for name in (*FAMILIES, BOUND) if name in handles]
        drawn.legend(
            [handles[name] for name in shown],
            [style.label(name) for name in shown],
            loc="outside lower center",  # so that it never covers a curve
            ncols=len(shown) if len(shown) <= columns else 2,
        )
        if title:
            drawn.suptitle(title, fontsize=10)
        style.save(drawn, *paths)


def _draw_allowance(top, bottom, data: pd.DataFrame) -> dict[str, object]:
    """Draw shapes and errors of one m; return one line per family for the legend."""
    handles = {}
    m, subsamples = data[["m", "subsamples"]].iloc[0]
    for family in [name for name in _DRAWN if name in set(data["family"])]:
        part = data[data["family"] == family]
        looks = style.look(family)
        marker = looks.pop("marker")
        error = part[part["quantity"] == "error"]
        (handles[family],) = bottom.plot(error["x"], error["y"], **looks)
        if family == BOUND:
            continue
        shape = part[part["quantity"] == "gamma"]
        (handles[family],) = top.plot(
            shape["x"], shape["y"], marker=marker, markevery=_marked(len(shape)), **looks
        )
        mean = part.loc[part["quantity"] == "expected_error", "y"].item()
        bottom.axhline(mean, color=looks["color"], linewidth=0.9, linestyle=":")
    title = f"$m = {m:g}$" if m == subsamples else f"$M = {subsamples:g}$: $m = {m:.4f}$"
    top.set(title=title, xlabel="teachers saying 1, $l$", ylim=(-0.03, 1.05))
    top.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    bottom.set(xlabel="$p$, the same for every teacher")
    bottom.set(xlim=(-0.02, 1.02), ylim=(-0.015, 0.53))
    bottom.set_title(_mean_errors(data), fontsize=8)
    return handles


def _marked(size: int) -> list[int]:
    """The points of a shape that carry a mark: not all of many, and symmetric as gamma is."""
    half = range(size // 2 - 1, -1, -max(1, size // 14))  # the middle is where they differ
    return sorted([*half, *(size - 1 - index for index in half)])


def _mean_errors(data: pd.DataFrame) -> str:
    means = data[data["quantity"] == "expected_error"]
    values = dict(zip(means["family"], means["y"], strict=True))
    words = [
        f"{family.removeprefix('gamma_')} {_short(values[family])}"
        for family in FAMILIES
        if family in values
    ]
    # Four do not fit beside each other.
    lines = [words[:2], words[2:]] if len(words) > 3 else [words]
    return "\n".join(["expected error (dotted)", *("   ".join(line) for line in lines)])


def _short(value: float) -> str:
    """Three digits; what scaling for the certificate leaves of no noise at all is 0."""
    return "0" if value < 1e-10 else f"{value:.3g}"


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
