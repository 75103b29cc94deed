"""The hard points of gamma: the corners of the range of 1001 teachers, and what lies between.

Every measurement is a process of its own on one thread. All of them take an hour or two.
"""

from __future__ import annotations

import itertools

import pandas as pd

from benchmarks.measuring import (
    add_machine,
    describe_machine,
    peak_memory,
    run_in_process,
    time_call,
)
from benchmarks.writing import format_section, format_table

UNIFORM, COMMON = "uniform:0.5,1", "common:0.5,1"
# These are the corners of the range of K = 1001; exp(m epsilon) overflows beyond m epsilon = 690.
CORNERS = tuple(
    (1001, m, epsilon, Delta, prior)
    for Delta, m, epsilon, prior in itertools.product(
        (1e-3, 1e-5, 0.0), (1, 3, 9, 100, 500), (3.0, 1.0, 0.1, 0.01), (UNIFORM, COMMON)
    )
    if m * epsilon <= 690
)
# These points lie between the corners, where one might be dearer than they are, and beyond them.
OTHERS = (
    (501, 3, 0.1, 0.0, COMMON),
    (501, 3, 1.0, 1e-5, COMMON),
    (501, 20, 0.1, 1e-5, UNIFORM),
    (701, 3, 0.3, 1e-3, UNIFORM),
    (1001, 2, 2.0, 1e-3, UNIFORM),
    (1001, 2, 0.3, 1e-3, UNIFORM),
    (1001, 2, 0.3, 1e-3, COMMON),
    (1001, 5, 0.3, 1e-3, UNIFORM),
    (1001, 5, 2.0, 1e-3, COMMON),
    (1001, 20, 0.3, 1e-3, COMMON),
    (2001, 40, 0.1, 1e-5, UNIFORM),
)
SHOWN = 4  # of the points, on the page
QUICK = ((203, 3, 0.1, 1e-5, COMMON),)
KEYS = ("K", "m", "epsilon", "Delta", "prior")
SYMBOLS = ("K", "m", "ε", "Δ", "prior")


def measure_point(K: int, m: float, epsilon: float, Delta: float, prior: str) -> dict:
    """Measure one certified optimisation, imports paid before."""
    from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma

    optimize_gamma(5, 2, 0.1, 1e-5)
    seconds, solution = time_call(lambda: optimize_gamma(K, m, epsilon, Delta, prior=prior))
    return {
        **seconds,
        "memory_mib": peak_memory(),
        "utility": solution.utility,
        "gap": solution.utility_upper_bound - solution.utility,
        "certified": solution.certificate.holds,
        "method": solution.certificate.method,
    }


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return measurements as a tidy frame: the point, and what it took. quick: one small point."""
    facts = describe_machine("numpy", "scipy", "highspy")
    points = QUICK if quick else CORNERS + OTHERS
    points = [dict(zip(KEYS, point, strict=True)) for point in points]
    rows = [point | run_in_process(measure_point, **point) for point in points]
    return add_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    costliest = data.sort_values("seconds", ascending=False).head(SHOWN)
    measured = set(data[list(KEYS)].itertuples(index=False, name=None))
    within = data[data["K"] <= 1001]
    text = (
        f"One certified γ, δ = 1 − (1 − Δ)^m, at the costliest of {len(within)} points of up to "
        f"1001 teachers, {len(set(CORNERS) & measured)} of the {len(CORNERS)} corners of the range "
        f"of K = 1001 among them. None took more than {within['seconds'].max():.1f} s (target: "
        f"60 s) and {within['memory_mib'].max():.0f} MiB (target: 1.5 GiB), and no upper bound on "
        f"every private γ's utility is above ours by more than {within['gap'].max():.1e} (gap)."
    )
    columns = {name: f"{{{key}}}" for name, key in zip(SYMBOLS, KEYS, strict=True)}
    columns |= {"seconds": "{seconds:.1f}", "memory (MiB)": "{memory_mib:.0f}"}
    columns |= {"gap": "{gap:.1e}"}
    return format_section(
        "The hard points of γ",
        "gamma_points",
        text,
        data,
        format_table(columns, costliest),
    )
