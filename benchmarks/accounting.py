"""PATE's account in its default form, with and without asking for every beta.

`confident_gnmax_privacy` with its defaults searches order, beta and sigma_SS under the exact cost
of publishing. Until November 2026 it worked out a smooth sensitivity for every beta; now only for
those that could be the best. Both ways run here, one after the other, on the synthetic votes of
`smooth_sensitivity`, and must find the same.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from unittest import mock

import pandas as pd

from benchmarks import machine, process
from benchmarks.smooth_sensitivity import CASES, votes
from private_ensembles.pate.confident import confident_gnmax_privacy
from private_ensembles.pate.smooth_sensitivity import Profile

ROUNDS = 3
WAYS = {"every beta": True, "as it is": False}


def measure_account(name: str, *, every: bool) -> dict:
    """Least seconds of ROUNDS accounts with empty caches, and what was found."""
    case, counts = CASES[name], votes(name)
    given = case.threshold, case.sigma1, case.sigma2, case.delta

    def run():
        process.forget()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # orders left out, at all sizes
            if not every:
                return confident_gnmax_privacy(counts, *given)
            # A bound that promises nothing: every beta is asked for.
            with mock.patch.object(Profile, "at_least", return_value=0.0):
                return confident_gnmax_privacy(counts, *given)

    timing, found = process.least("", run, ROUNDS)
    names = ("sanitized_order", "beta", "sigma_ss", "smooth_sensitivity", "sanitized_upper")
    return timing | {name: getattr(found, name) for name in names}


def measure(*, quick: bool = False, full: bool = False) -> pd.DataFrame:
    """All measurements as a tidy frame: name, way, seconds and what was found.

    quick: MNIST's size alone. full: nothing more than without.
    """
    rows = []
    for name in ("MNIST",) if quick else CASES:
        for way, every in WAYS.items():
            print(f"{name}: {way}", file=sys.stderr, flush=True)
            call = partial(process.in_a_process, "accounting", "measure_account")
            found = call(name=name, every=every)
            rows.append({"name": name, "way": way, **found})
    data = pd.DataFrame(rows)
    machine.attach(data, machine.describe("numpy", "scipy"))
    return data


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    facts = machine.attached(data)
    lines = [
        "# Benchmark: PATE's account in its default form",
        "",
        "Made by `python benchmarks/run.py accounting --write-docs`; numbers behind it: "
        "[accounting.csv](accounting.csv). `confident_gnmax_privacy(counts, T, σ1, σ2, δ)` with "
        "its defaults, on synthetic votes of the sizes of PATE's Table 2. Seconds are processor "
        f"time on one thread, the least of {ROUNDS} runs with empty caches. *Every β*: a smooth "
        "sensitivity is computed for each of 46 β at each order tried, as in earlier versions. *As "
        "it is*: only for those that could be the best. Matrices of at most a million counts are "
        "quick anyway, so every β is tried for them either way. Both find the same numbers.",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "| votes like | queries × classes | every β (s) | as it is (s) | times faster "
        "| largest relative difference |",
        "| --- |" + " ---: |" * 5,
    ]
    for name in data["name"].unique():
        part, case = data[data["name"] == name].set_index("way"), CASES[name]
        before, now = (part.loc[way] for way in WAYS)
        found = ["sanitized_order", "beta", "sigma_ss", "smooth_sensitivity", "sanitized_upper"]
        difference = max(abs(now[each] / before[each] - 1) for each in found)
        lines.append(
            f"| {name} | {case.queries:,} × {case.classes} | {before['seconds']:.3g} | "
            f"{now['seconds']:.3g} | {before['seconds'] / now['seconds']:.1f} | {difference:.1e} |"
        )
    return "\n".join([*lines, ""])
