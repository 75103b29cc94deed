"""Claimed against exact privacy: the ledger in one picture."""

import numpy as np
import pandas as pd

from private_ensembles.registry import MECHANISMS
from private_ensembles.report import style

# NZC's exact value is 1e90 and its claim 1e-9: what lies beyond these is drawn on the border.
_LOW, _HIGH = 0.01, 20.0


def draw_ledger(table: pd.DataFrame, *paths: str) -> None:
    """Draw one mark per row of the ledger that has a claim and an exact value.

    table: results/privacy_ledger.csv. On the diagonal a claim is exact, above it is safe, below it
    is false. Values beyond the axes stand on the border, with the exact one written beside.
    """
    known = table.dropna(subset=["claimed_epsilon", "exact_epsilon"])
    with style.figure(size=(7.4, 5.2)) as (drawn, axis):
        ends = np.array([_LOW, _HIGH])
        axis.plot(ends, ends, color=style.BLACK, linewidth=1, label="exact")
        axis.fill_between(ends, _LOW, ends, color=style.VERMILION, alpha=0.08, linewidth=0)
        axis.text(2, 0.05, "claims that fail", color="#a33b00")
        axis.text(0.03, 5, "claims that hold, with room to spare", color="#444444")
        for name, rows in known.groupby("mechanism", sort=False):
            exact = rows["exact_epsilon"].clip(_LOW, _HIGH)
            claimed = rows["claimed_epsilon"].clip(_LOW, _HIGH)
            look = style.look(name) | {"linestyle": ""}
            axis.plot(exact, claimed, label=MECHANISMS[name].label, clip_on=False, **look)
            if (beyond := rows["exact_epsilon"].max()) > _HIGH:
                least = rows["claimed_epsilon"].min()
                axis.annotate(
                    f"{MECHANISMS[name].label.partition(',')[0]}: claimed {least:.0e},\n"
                    f"exact {beyond:.0e}",
                    (_HIGH, _LOW),
                    (-8, 8),
                    textcoords="offset points",
                    ha="right",
                )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlim(_LOW, _HIGH)
        axis.set_ylim(_LOW, _HIGH)
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_formatter("{x:g}")
        axis.set_xlabel(r"exact $\varepsilon$")
        axis.set_ylabel(r"claimed $\varepsilon$")
        drawn.legend(loc="outside right upper", fontsize=8)
        style.save(drawn, *paths)
