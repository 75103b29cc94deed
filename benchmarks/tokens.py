"""Draws by bounded scores: what tokens cost beside InvisibleInk's accountant, and seconds to draw.

The accountant is that of invink 0.1.0 on PyPI, for which `pip install --no-deps invink==0.1.0` is
enough. Without it, what it says is left out. Its batch counts the public prompt, too.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.measuring import (
    add_machine,
    describe_machine,
    peak_memory,
    run_in_process,
    time_call,
)
from benchmarks.writing import format_section, format_table
from private_ensembles import draw_scores, score_epsilon, score_scale
from private_ensembles.base.root_search import bisect_integers

PACKAGE = "invink"
EPSILON, DELTA = 3.0, 1e-6
DRAWS = (50, 500, 5_000, 50_000, 1_000_000)
LEFT_OUT = 50_000  # on the page, as it adds nothing to the rows beside it
# It takes long to find how many more draws the same budget buys if there are more than this.
_MOST_FOUND = 500
CLASSES, TIMES = (50_257, 200_000), 1000
QUICK = (50,), (2_000,), 20


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return one row per number of draws, and one per number of classes; quick: few of both."""
    facts = describe_machine("numpy", "scipy")
    counts, classes, times = QUICK if quick else (DRAWS, CLASSES, TIMES)
    clip, epsilon_of, reason = load_accountant()
    rows = []
    for draws in counts:
        # If the accountant is not there, zCDP gives the range, which is what it does.
        their_range = clip(draws) if clip else 2 * np.sqrt(2 * _rho() / draws)
        timing, bounds = time_call(partial(score_epsilon, their_range, draws, DELTA))
        row = {"draws": draws, "range": their_range, "upper": bounds.upper, "lower": bounds.lower}
        if epsilon_of:
            row["invink"] = epsilon_of(their_range, draws)
        row["allowed"] = score_scale(EPSILON, draws, DELTA)
        if draws <= _MOST_FOUND:
            row["more"] = _count_affordable_draws(their_range, draws) / draws - 1
        rows.append(row | timing)
    rows += [run_in_process(measure_draws, classes=size, times=times) for size in classes]
    return add_machine(rows, facts | {"invink": reason or "0.1.0"})


class Accountant(NamedTuple):
    """invink's accountant.

    Attributes:
        clip: returns the range that it allows for draws; None if it is not there.
        epsilon_of: returns its epsilon of draws of a range; None if it is not there.
        reason: why it is not there; None if it is.
    """

    clip: Callable[[int], float] | None
    epsilon_of: Callable[[float, int], float] | None
    reason: str | None


def load_accountant() -> Accountant:
    """Load invink's accountant, if it is installed."""
    module_spec = importlib.util.find_spec(PACKAGE)
    if module_spec is None:
        return Accountant(None, None, "left out: not installed")
    # The package loads transformers, and this file needs Python 3.12, but not its last functions,
    # which are the accountant.
    source = Path(module_spec.origin).with_name("utils.py").read_text(encoding="utf-8")
    namespace = {"math": math}
    exec(source[source.index("def cdp_delta(") :], namespace)

    def clip(draws: int) -> float:
        return 2 * namespace["get_clip"](EPSILON, draws, 1.0, 2, DELTA)

    def epsilon_of(range_: float, draws: int) -> float:
        return namespace["get_epsilon"](draws, range_ / 2, 2, 1.0, DELTA)

    return Accountant(clip, epsilon_of, None)


def measure_draws(classes: int, times: int) -> dict[str, float]:
    """Measure seconds of so many secure draws, each by its own scores, and peak memory, MiB."""
    scores = np.random.default_rng(0).normal(0, 3, classes)

    def draw() -> None:
        for _ in range(times):
            draw_scores(scores)

    timing, _ = time_call(draw)
    return {"classes": classes, "times": times, "peak": peak_memory()} | timing


def _rho() -> float:
    from private_ensembles.labels.noisy_counts import largest_rho

    return largest_rho(EPSILON, DELTA, "improved")


def _count_affordable_draws(range_: float, draws: int) -> int:
    """Return how many draws of this range our account allows."""

    def is_affordable(number: int) -> bool:
        return score_epsilon(range_, number, DELTA).upper <= EPSILON

    return bisect_integers(is_affordable, 2 * draws, draws)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    accounts = data[data["draws"].notna()]
    if "invink" not in accounts:
        accounts = accounts.assign(invink=np.nan)
    accounts = accounts.assign(
        wider=accounts["allowed"] / accounts["range"] - 1,
        shown=[f"{more:.1%}" if more == more else "" for more in accounts["more"]],
    )
    columns = {
        "draws": "{draws:,.0f}",
        "range": "{range:.5f}",
        "invink": "{invink:.4f}",
        "ours": "{upper:.4f}",
        "at least": "{lower:.4f}",
        "wider range": "{wider:.1%}",
        "or more draws": "{shown}",
        "seconds": "{seconds:.1f}",
    }
    draws = data[data["classes"].notna()]
    sampling = {
        "classes": "{classes:,.0f}",
        "draws": "{times:,.0f}",
        "seconds": "{seconds:.2f}",
        "memory (MiB)": "{peak:.0f}",
    }
    return format_section(
        "Tokens",
        "tokens",
        f"ε of [draws by bounded scores](../other-labels.md#draws-by-scores) at δ = {DELTA:g}, of "
        "the range 2C / (Bτ) that the accountant of invink 0.1.0 (InvisibleInk) allows at "
        f"ε = {EPSILON:g} by its clip C: by that accountant, by ours for an adaptive adversary, "
        "and at least, by one pair of scores. Then the wider range, or more draws, that ours "
        "allows at that ε, and the seconds of both bounds.",
        data,
        format_table(columns, accounts[accounts["draws"] != LEFT_OUT]),
        "Secure draws, exact for the floats given:",
        format_table(sampling, draws),
    )
