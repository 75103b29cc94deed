"""What it costs to choose the noise of each query: levels that share a budget, against one level.

Each level alone has GNMax's least noise for as many labels as the budget allows. Then the
filter says how much more delta the free choice between them has, and by what common factor the
noise has to grow. All levels stand on one grid, so that what the grid itself costs cancels.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from benchmarks.measuring import describe, least, with_machine
from benchmarks.writing import chapter, table
from private_ensembles.accounting.adaptive.common_grid import Run, on_grid
from private_ensembles.accounting.adaptive.families import two_classes
from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.adaptive.levels import levels_curve, values_of_levels
from private_ensembles.figures import style

DELTA = 1e-5
# Points of the grid per standard deviation of a label's loss, in two classes and in more.
FINENESS, COARSER = 10, 5
# How many labels of its own a level has to leave the budget for, where it keeps a reserve.
LABELS_LEFT = 8
UNITS = (1, 2, 4)
# Classes, teachers, epsilon, units and their total.
TOTALS = [
    (2, 51, 1.0, units, total)
    for units in ((1, 2), UNITS, (1, 2, 4, 8))
    for total in (20, 40, 80, 160, 320)
    if total % units[-1] == 0  # else units that the dearest level cannot spend are left for others
]
OTHERS = [
    (2, 11, 1.0, UNITS, 160),
    (2, 251, 1.0, UNITS, 160),
    (2, 51, 0.2, UNITS, 160),
    (2, 51, 3.0, UNITS, 160),
    (10, 51, 1.0, UNITS, 40),
    (10, 51, 1.0, UNITS, 160),
    (10, 251, 3.0, UNITS, 160),
]
CASES = TOTALS + OTHERS
QUICK = [(2, 11, 1.0, (1, 2), 40)]


def family(classes: int, teachers: int, scale: float):
    """The neighbouring pairs of one label of GNMax."""
    if classes > 2:
        return GaussianMaximum(scale, teachers, classes)
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return two_classes(ndtr(margins), ndtr(-margins))


def least_alone(classes: int, teachers: int, epsilon: float, labels: int, fineness: float) -> float:
    """The sigma at which one level alone has DELTA at epsilon on this grid, nearly."""

    def height(log: float) -> float:
        pairs = family(classes, teachers, math.exp(log))
        options = {"fineness": fineness, "lower": False, "least": epsilon}
        found = levels_curve([pairs], [1], labels, epsilon, DELTA, **options)
        return math.log(found.delta(epsilon) / DELTA)

    # Secants, whose steps are no longer than is safe; the height falls as the noise grows.
    last = math.log(0.8 * math.sqrt(4 * labels * math.log(1 / DELTA)) / epsilon)
    known, slope, log = height(last), -8.0, last
    for _ in range(30):
        log = last - min(max(known / slope, -0.2), 0.2)
        found = height(log)
        if abs(found) < 1e-5:
            break
        slope = min((found - known) / (log - last), -1.0)
        last, known = log, found
    return math.exp(log)


class Budget:
    """Deltas of levels at given noise on one grid, for all of them or for some."""

    def __init__(self, scales, classes, teachers, epsilon, units, total, fineness):
        runs = [
            Run(family(classes, teachers, scale), total // cost)
            for scale, cost in zip(scales, units, strict=True)
        ]
        labels, width = max(run.labels for run in runs), max(run.width for run in runs)
        self.found = on_grid(runs, labels, width, epsilon, DELTA, fineness)
        self.units, self.total, self.epsilon = units, total, epsilon

    def delta(self, chosen=None, reserves=None) -> float:
        """Delta of any choice between the levels whose places are given, all unless given."""
        places = range(len(self.units)) if chosen is None else chosen
        kernels = [self.found.kernels[place] for place in places]
        units = [self.units[place] for place in places]
        near = self.found.around(self.epsilon, self.epsilon)
        grid = self.found.grid
        values = values_of_levels(kernels, units, self.total, grid, DELTA, reserves, near)
        return self.found.curve(values).delta(self.epsilon)


def measure_choice(classes: int, teachers: int, epsilon: float, units: tuple, total: int) -> dict:
    """What the choice costs if all levels cost the same alone, with and without reserves."""
    fineness = FINENESS if classes == 2 else COARSER
    setting = classes, teachers, epsilon, units, total, fineness
    alone = [least_alone(classes, teachers, epsilon, total // u, fineness) for u in units]
    level = Budget(alone, *setting)
    one = max(level.delta([place]) for place in range(len(units)))
    kept = [0, *(LABELS_LEFT * cost for cost in units[1:])]
    # A reserve of more than half of the budget hardly leaves a choice.
    sensible = 2 * max(kept) <= total
    rows = {
        "free": level.delta(),
        "reserved": level.delta(reserves=kept) if sensible else math.nan,
    }
    # How fast delta falls as all noise grows turns a ratio of deltas into a factor of noise.
    more = Budget([1.02 * scale for scale in alone], *setting)
    slope = math.log(rows["free"] / more.delta()) / math.log(1.02)
    factors = {f"{name}_factor": (delta / one) ** (1 / slope) for name, delta in rows.items()}
    # Noise in proportion to the root of the units, so that the dearest level alone keeps delta.
    last = alone[-1] * math.sqrt(units[-1])
    plain = Budget([last / math.sqrt(cost) for cost in units], *setting)
    natural = plain.delta() / max(plain.delta([place]) for place in range(len(units)))
    ratios = {name: delta / one for name, delta in rows.items()}
    spread = last / alone[0]
    return {"scale": alone[0], "spread": spread, "natural": natural} | ratios | factors


def measure(*, quick: bool = False) -> pd.DataFrame:
    """All measurements as a tidy frame, a choice a row. quick: a small one."""
    facts = describe("numpy", "scipy")
    rows = []
    for case in QUICK if quick else CASES:
        arguments = dict(
            zip(("classes", "teachers", "epsilon", "units", "total"), case, strict=True)
        )
        timing, found = least(lambda given=arguments: measure_choice(**given))
        words = {"units": " ".join(map(str, arguments["units"]))}
        rows.append(arguments | words | timing | found)
    return with_machine(rows, facts)


def draw(data: pd.DataFrame, *paths: Path | str) -> None:
    """Draw what the choice costs over the units, for so many levels: without and with reserves."""
    curves = data[(data["classes"] == 2) & (data["teachers"] == 51) & (data["epsilon"] == 1.0)]
    with style.figure(1, 2, size=(7.8, 3.4), sharex=True, sharey=True) as (drawn, axes):
        titles = {
            "free_factor": "any level until the budget is spent",
            "reserved_factor": f"dear levels leave {LABELS_LEFT} of their labels' units",
        }
        for axis, (name, title) in zip(axes, titles.items(), strict=True):
            for (units, part), look in zip(
                curves.groupby("units", sort=False), style.SEQUENCE, strict=False
            ):
                part = part.sort_values("total")
                label = f"units {units.replace(' ', ', ')}"
                axis.plot(part["total"], 100 * (part[name] - 1), label=label, **look)
            axis.set(xscale="log", xlabel="units of the budget", title=title)
            style.plain_ticks(axis.xaxis, sorted(set(curves["total"])), alone=True)
        axes[0].set_ylabel("more noise for the choice, per cent")
        style.legend(drawn, axes[0], "lower", 3)
        style.save(drawn, *paths)


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    shown = data.assign(
        factor=100 * (data["free_factor"] - 1),
        reserved_more=[
            "–" if math.isnan(factor) else f"{100 * (factor - 1):.2f} %"
            for factor in data["reserved_factor"]
        ],
        wider=100 * (data["spread"] - 1),
        natural_more=100 * (data["natural"] - 1),
    )
    columns = {
        "units": "{units}",
        "in all": "{total}",
        "classes": "{classes}",
        "teachers": "{teachers}",
        "ε": "{epsilon:g}",
        "σ of level 1 alone": "{scale:.2f}",
        "δ of the choice": "{free:.3f}",
        "more noise": "{factor:.2f} %",
        "with reserves": "{reserved_more}",
        "dearest level's σ√u": "{wider:+.2f} %",
        "σ ∝ 1/√u: more δ": "{natural_more:.2f} %",
    }
    return chapter(
        "What a free choice of noise costs",
        "levels",
        f"GNMax, δ = {style.number(DELTA)}. Each level alone has the noise at which as many "
        "labels of it as the budget pays for spend it. *δ of the choice* is that of the dearest "
        "way to choose levels and queries label by label, as a multiple of what one level costs. "
        "*More noise* is the common factor that makes up for it. *With reserves* is the same if "
        f"every level but the first has to leave the units of {LABELS_LEFT} more of its labels "
        "(not shown if these are more than half of the budget). *Dearest level's σ√u* compares it "
        "with the first level's σ. The last column is another schedule, σ in proportion to 1/√u: "
        "by how much the δ of the choice is above that of the dearest of these levels alone. "
        "Theorems: [sessions.md](../sessions.md).",
        data,
        table(columns, shown, words=1),
        "![More noise for the choice over the units of the budget](levels.png)",
    )
