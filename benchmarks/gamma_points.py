"""The hard points of gamma: many teachers and small budgets, this code against an older commit.

python benchmarks/run.py gamma_points                     this code at the hardest points
python benchmarks/run.py gamma_points --against COMMIT    and the older one in turns at COMPARED
python benchmarks/run.py gamma_points --full              every corner, some between, K = 5001
python benchmarks/run.py gamma_points --minutes 30        as many of them as are begun by then
python benchmarks/run.py gamma_points --resume            keep what earlier runs measured

Every measurement is a process of its own on one thread; seconds are processor time, the least of
the rounds, and LIMIT of them end it. Old and new take turns, so that a busy machine slows both.
"""

from __future__ import annotations

import itertools
import math
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks import machine, process

UNIFORM, COMMON = "uniform:0.5,1", "common:0.5,1"
COMPARED = (
    (501, 3, 0.1, 0.0, COMMON),
    (501, 3, 1.0, 1e-5, COMMON),
    (501, 20, 0.1, 1e-5, UNIFORM),
)
# The hardest of what must take less than a minute: small budgets, where most rows bind.
POINTS = (
    *COMPARED,
    (1001, 1, 0.01, 1e-5, COMMON),
    (1001, 1, 1.0, 1e-3, COMMON),
    (1001, 3, 0.1, 1e-3, COMMON),
    (1001, 3, 1.0, 1e-5, COMMON),
    (1001, 1, 3.0, 1e-3, COMMON),
    (2001, 40, 0.1, 1e-5, UNIFORM),
)
# Of the range of K = 1001, the small budgets first, which take longest; exp(m epsilon)
# overflows beyond m epsilon = 690.
CORNERS = tuple(
    (1001, m, epsilon, Delta, prior)
    for few, Delta, m, epsilon, prior in itertools.product(
        (True, False),
        (1e-3, 1e-5, 0.0),
        (1, 3, 9, 100, 500),
        (3.0, 1.0, 0.1, 0.01),
        (UNIFORM, COMMON),
    )
    if few == (m < 100) and m * epsilon <= 690
)
# Between the corners, where nothing says that a point is no dearer than they are.
BETWEEN = (
    (1001, 2, 2.0, 1e-3, UNIFORM),
    (1001, 2, 0.3, 1e-3, UNIFORM),
    (1001, 2, 0.3, 1e-3, COMMON),
    (1001, 5, 0.3, 1e-3, UNIFORM),
    (1001, 5, 2.0, 1e-3, COMMON),
    (1001, 20, 0.3, 1e-3, COMMON),
    (701, 3, 0.3, 1e-3, UNIFORM),
)
LARGEST = ((5001, 71, 0.1, 1e-5, UNIFORM),)
QUICK = ((203, 3, 0.1, 1e-5, COMMON),)
RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "gamma_points.csv"
KEYS = ("K", "m", "epsilon", "Delta", "prior")
ROUNDS = 3
TARGET = 60.0  # seconds that every point of the range may take
LIMIT = 120.0  # seconds of processor time for one optimisation
CLOCK_LIMIT = 1800.0  # and of clock time


def measure_point(K: int, m: float, epsilon: float, Delta: float, prior: str) -> dict:
    """One certified optimisation, imports paid before."""
    from private_ensembles.darrm.optimize import optimize_gamma

    optimize_gamma(5, 2, 0.1, 1e-5, solver="highs")
    solver = "auto" if _has_interior() else "highs"
    with _processor_time(LIMIT):
        seconds, solution = process.least(
            "", lambda: optimize_gamma(K, m, epsilon, Delta, prior=prior, solver=solver)
        )
    return {
        **seconds,
        "memory_mib": process.peak(),
        "utility": solution.utility,
        "gap": solution.utility_upper_bound - solution.utility,
        "certified": solution.certificate.holds,
        "method": solution.certificate.method,
        "rounds": solution.solver["rounds"],
    }


@contextmanager
def _processor_time(limit: float) -> Iterator[None]:
    """TimeoutError after so many seconds of this process."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {limit:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _has_interior() -> bool:
    """Whether the library measured searches from the inside; older ones are asked for HiGHS."""
    from importlib.util import find_spec

    modules = "private_ensembles.darrm.centre", "private_ensembles.darrm.interior"
    return any(find_spec(module) is not None for module in modules)


def measure(
    *,
    quick: bool = False,
    full: bool = False,
    against: str | None = None,
    minutes: float | None = None,
    resume: bool = False,
) -> pd.DataFrame:
    """Measurements as a tidy frame: code (old or new), the point, and what it took.

    A point that takes longer than LIMIT has no numbers and is not tried again. minutes : of clock
    time, after which no other point is begun; those of POINTS come first. resume : keep the rows of
    RESULTS, and measure what `_stale` says.
    """
    points = QUICK if quick else POINTS
    if full or minutes:
        points = tuple(dict.fromkeys((*points, *CORNERS, *BETWEEN, *LARGEST)))
    kept = pd.DataFrame()
    if resume:
        kept = pd.read_csv(RESULTS, dtype={"against": "str"})
        kept["against"] = kept["against"].fillna("")
        points = _stale(kept, points)
    ends = time.monotonic() + 60 * (minutes or math.inf)
    facts = {**machine.describe("numpy", "scipy", "highspy"), "commit": machine.commit()}
    rows = []
    with process.checkout(against) if against else nullcontext() as folder:
        for point in points:
            if time.monotonic() > ends:
                break
            compared = bool(against) and point in (*QUICK, *COMPARED)
            codes = {"new": None} | ({"old": folder} if compared else {})
            for _ in range(ROUNDS if compared else 1):
                for code, library in list(codes.items()):
                    arguments = dict(zip(KEYS, point, strict=True))
                    run = partial(process.in_a_process, "gamma_points", "measure_point")
                    try:
                        result = run(library=library, limit=CLOCK_LIMIT, **arguments)
                    except (subprocess.TimeoutExpired, TimeoutError, RuntimeError) as error:
                        if "TimeoutError" not in str(error) and isinstance(error, RuntimeError):
                            raise
                        result = {}
                        del codes[code]
                    rows.append({"code": code, **arguments, **result})
                    print(rows[-1], file=sys.stderr, flush=True)
    data = pd.DataFrame(rows)
    machine.attach(data, facts)
    data["against"] = against or ""
    if rows and len(kept):
        done = set(data[[*KEYS, "code"]].itertuples(index=False, name=None))
        names = kept[[*KEYS, "code"]].itertuples(index=False, name=None)
        kept = kept[[name not in done for name in names]]
    return pd.concat([part for part in (kept, data) if len(part)], ignore_index=True)


def _stale(kept: pd.DataFrame, points: tuple) -> tuple:
    """The points that have no row, or other code's of over TARGET, then what else other code made.

    The latter are costliest first; LARGEST, which takes as long as ten of them, last.
    """
    new = kept[kept["code"] == "new"]
    present = {commit: machine.unchanged_since(commit) for commit in new["machine_commit"].unique()}
    other, done = {}, set()
    for row in new.itertuples():
        point = tuple(getattr(row, name) for name in KEYS)
        if present[row.machine_commit]:
            done.add(point)
        elif row.seconds <= TARGET:
            other[point] = row.seconds
    missing = [point for point in points if point not in done and point not in other]
    again = sorted((point for point in points if point in other), key=lambda point: -other[point])
    return tuple(sorted((*missing, *again), key=lambda point: point in LARGEST))


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    facts = machine.attached(data)
    against = data["against"].max()
    command = f" --against {against}" if against else ""
    command += " --resume" if data["machine_date"].nunique() > 1 else ""
    lines = [
        "# Benchmark: the hard points of γ",
        "",
        f"Made by `python benchmarks/run.py gamma_points{command}`. Seconds are processor time on "
        "one thread, the least of the rounds; δ = 1 − (1 − Δ)^m; every γ is certified. The gap is "
        "the upper bound on every private γ's utility less the utility.",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "| K | m | ε | Δ | prior | code | rounds measured | seconds | peak memory (MiB) "
        "| utility | gap | proof | commit |",
        "|" + " ---: |" * 4 + " --- | --- |" + " ---: |" * 5 + " --- | --- |",
    ]
    for key, group in data.groupby([*KEYS, "code"], sort=False):
        done = group.dropna(subset=["seconds"]) if "seconds" in group else group.iloc[:0]
        head = "| " + " | ".join(f"{value:g}" for value in key[:4]) + f" | {key[4]} | {key[5]} | "
        if done.empty:
            commit = group["machine_commit"].iloc[0]
            lines.append(head + f"{len(group)} | > {LIMIT:g} | | | | | {commit} |")
            continue
        best = done.loc[done["seconds"].idxmin()]
        lines.append(
            head + f"{len(group)} | {best['seconds']:.1f} | {best['memory_mib']:.0f} | "
            f"{best['utility']:.9f} | {best['gap']:.1e} | {best['method']} | "
            f"{against if key[5] == 'old' else best['machine_commit']} |"
        )
    new = data[data["code"] == "new"]
    measured = set(new[list(KEYS)].itertuples(index=False, name=None))
    left = [point for point in CORNERS if point not in measured]
    if 0 < len(left) < len(CORNERS):
        lines += [
            "",
            f"Of the {len(CORNERS)} corners of the range of K = 1001 these {len(left)} were not "
            "measured (m, ε, Δ, prior): "
            + "; ".join("{1:g}, {2:g}, {3:g}, {4}".format(*point) for point in left)
            + ".",
        ]
    within = new[new["K"] <= 1001]
    if not left and within.get("seconds", pd.Series([math.nan])).notna().all():
        lines += [
            "",
            f"All {len(CORNERS)} corners of the range of K = 1001 are here. Of the {len(within)} "
            f"points of up to 1001 teachers the costliest took {within['seconds'].max():.1f} s and "
            f"{within['memory_mib'].max():.0f} MiB; the largest gap is {within['gap'].max():.1e}.",
        ]
    return "\n".join([*lines, ""])
