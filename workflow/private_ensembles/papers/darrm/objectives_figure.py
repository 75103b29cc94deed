"""The figure of the paper's Monte-Carlo objectives, from the frame of `monte_carlo`."""

import numpy as np
import pandas as pd

from private_ensembles.papers.common import style

# Each (algorithm, sampling) has a label and a look. No gamma family is shown, so none of their
# colours is used.
_SERIES = {
    ("algorithm4", "uniform:0,1"): (
        "Algorithm 4, $p_i$ from [0, 1] (text of C.2)",
        {"color": style.BLACK, "marker": "x", "linestyle": ":"},
    ),
    ("algorithm4", "uniform:0.5,1"): (
        "Algorithm 4, $p_i$ from [0.5, 1]",
        {"color": style.ORANGE, "marker": "v", "linestyle": "-"},
    ),
    ("algorithm5", "grid"): (
        "Algorithm 5, uniform on the grid as printed",
        {"color": style.SKY, "marker": "o", "linestyle": "--"},
    ),
    ("algorithm5", "multisets"): (
        "Algorithm 5, uniform on the multisets",
        {"color": style.PURPLE, "marker": "D", "linestyle": "-."},
    ),
}
_ROWS = (
    ("coefficient_error", "error of the coefficients, relative"),
    ("utility_loss", "loss of utility, relative"),
)


def draw_objectives(data: pd.DataFrame, *paths: str) -> None:
    """Draw medians and ranges over the repetitions, a column per K, and save them at every path.

    Args:
        data: as `monte_carlo.study_objectives` returns it.
        paths: of the files.
    """
    ensembles = list(dict.fromkeys(data["K"]))
    with style.open_figure(
        2, len(ensembles), size=(3.6 * len(ensembles) + 0.6, 6.0), squeeze=False
    ) as (
        figure,
        axes,
    ):
        for column, K in enumerate(ensembles):
            ensemble = data[data["K"] == K]
            for row, (quantity, axis_label) in enumerate(_ROWS):
                axis = axes[row, column]
                for (algorithm, sampling), (name, looks) in _SERIES.items():
                    estimates = ensemble[
                        (ensemble["algorithm"] == algorithm) & (ensemble["sampling"] == sampling)
                    ]
                    sampled = estimates[estimates["estimate"] == "sampled"]
                    runs = sampled.groupby("draws")[quantity]
                    medians = runs.median()
                    x = medians.index.to_numpy(dtype=float)
                    axis.plot(x, medians, label=name, **looks)
                    style.shade_band(axis, x, runs.min(), runs.max(), looks["color"], 0.18)
                    limit = estimates.loc[estimates["estimate"] == "limit", quantity].item()
                    if row == 0 and algorithm == "algorithm5":
                        axis.axhline(limit, color=looks["color"], linewidth=0.9, linestyle=":")
                axis.set(xscale="log", yscale="log")
                if row:
                    axis.set(xlabel="draws $T$", ylim=(1e-9, 3))
                else:
                    epsilon, m = ensemble["epsilon"].iloc[0], ensemble["m"].iloc[0]
                    axis.set_title(rf"$K = {K}$, $m = {m:g}$, $\varepsilon = {epsilon:g}$")
                    low = float(np.nanmin(data.loc[data["estimate"] == "sampled", quantity]))
                    axis.set_ylim(low / 2, 3)
                if column:
                    axis.tick_params(labelleft=False)
                else:
                    axis.set_ylabel(axis_label)
        style.add_legend(figure, axes[0, 0], "lower", 2)
        style.save_figure(figure, *paths)
