"""Secure noise: how long the labels of many queries and classes take, beside an older checkout.

If the environment variable OLD names the folder of an older checkout, both draw in turns:

    git worktree add /tmp/old v0.3.0 && OLD=/tmp/old python benchmarks/run.py noise
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine, run_in_checkout
from benchmarks.writing import format_section, format_table

ROUNDS = 3
SIGMA, TEACHERS = 40.0, 250
# Queries, classes, and whether the older checkout draws as well, for which it takes minutes.
SIZES = ((1, 10, True), (500, 10, True), (50, 100_000, True), (500, 100_000, False))
QUICK = ((5, 10, True),)
# The first adds continuous noise, the second whole numbers.
MECHANISMS = ("gnmax_exact", "gnmax")
DRAW = """
import json, sys, time
import numpy as np
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism

name, queries, classes, teachers, sigma = json.loads(sys.argv[1])
law, source = load_mechanism(name).law, SecureNoise()
counts = np.zeros((queries, classes), dtype=np.int64)
counts[:, :10] = np.random.default_rng(0).multinomial(teachers, [0.55] + [0.05] * 9, size=queries)
law.draw(counts[:1], GaussianNoise(sigma), source)  # what is imported late is imported now
started = time.process_time(), time.perf_counter()
law.draw(counts, GaussianNoise(sigma), source)
ended = time.process_time(), time.perf_counter()
status = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: nan"
peak = float(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps([ended[0] - started[0], ended[1] - started[1], peak, counts.nbytes / 2**20]))
"""


def measure_draw(mechanism: str, queries: int, classes: int, code: Path) -> dict[str, float]:
    """Return the seconds of drawing all labels with this code, and the largest memory, MiB."""
    wanted = [mechanism, queries, classes, TEACHERS, SIGMA]
    seconds, wall, peak, counts = run_in_checkout(code, DRAW, wanted)
    return {"seconds": seconds, "wall": wall, "peak_mib": peak, "counts_mib": counts}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each mechanism, size, checkout and round."""
    old = Path(os.environ["OLD"]).resolve() if "OLD" in os.environ else None
    rows = []
    for number in range(1 if quick else ROUNDS):
        for queries, classes, compared in QUICK if quick else SIZES:
            for mechanism in MECHANISMS:
                for code, folder in (("old", old if compared else None), ("new", ROOT)):
                    if folder is None:
                        continue
                    size = {"mechanism": mechanism, "queries": queries, "classes": classes}
                    print(f"{number} {code} {size}", file=sys.stderr, flush=True)
                    measured = measure_draw(mechanism, queries, classes, folder)
                    rows.append({"round": number, "code": code} | size | measured)
    return add_machine(rows, describe_machine("numpy", "scipy", "opendp"))


def section(data: pd.DataFrame) -> str:
    """Return the section of the page."""
    keys = ["queries", "classes", "mechanism"]
    medians = data.groupby([*keys, "code"])[["seconds", "wall", "peak_mib", "counts_mib"]].median()
    rows = []
    slowest = medians["seconds"].xs("new", level="code").groupby(keys[:2]).idxmax()
    for (queries, classes, mechanism), found in medians.groupby(keys):
        if (queries, classes, mechanism) not in set(slowest):
            continue
        by_code = found.droplevel(keys)
        new = by_code.loc["new"]
        old = by_code.loc["old"] if "old" in by_code.index else None
        rows.append(
            {
                "counts": f"{queries:,} × {classes:,}",
                "mechanism": mechanism,
                "old": "" if old is None else f"{old['seconds']:.3g}",
                "new": new["seconds"],
                "times": "" if old is None else f"{old['seconds'] / new['seconds']:.0f}",
                "memory": new["peak_mib"],
            }
        )
    columns = {
        "queries × classes": "{counts}",
        "mechanism": "`{mechanism}`",
        "before (s)": "{old}",
        "now (s)": "{new:.2g}",
        "times as fast": "{times}",
        "memory (MiB)": "{memory:.0f}",
    }
    text = (
        f"Secure Gaussian noise of σ = {SIGMA:g} votes on those of {TEACHERS} teachers, all of "
        f"them for ten classes: medians of {data['round'].nunique()} rounds by `gnmax` (whole "
        "numbers) or `gnmax_exact` (continuous), whichever is slower. Before: an older checkout, "
        "with a draw of OpenDP's sampler for each count. Memory is the whole process's."
    )
    table = format_table(columns, pd.DataFrame(rows), words=2)
    return format_section("Noise for many classes", "noise", text, data, table)
