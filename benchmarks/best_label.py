"""One label of many votes: the best that is known, beside a bound on all that may be.

The planner's profile, more votes than the program of the best label has room for. `optimal_label`
draws some of them; `optimal_label.relaxation` bounds every label.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np
import pandas as pd

from benchmarks import machine
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.optimal_label.relaxation import bound_on_right
from private_ensembles.votes.synthetic import ConsensusProfile, synthetic_counts

NAMES = ("exponential", "permute_and_flip", "gnmax_exact", "optimal_label")
DELTA, CLASSES = 1e-5, 10
TEACHERS, EPSILONS, QUERIES = 250, (0.02, 0.05, 0.1, 0.2, 0.2676), 20_000
QUICK = 30, (0.15,), 500
PROFILE = ConsensusProfile(CLASSES, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=1.0)


def measure(*, quick: bool = False, full: bool = False) -> pd.DataFrame:
    """One row per epsilon: how often each mechanism's label is right, the bound and its seconds.

    quick: few teachers and queries. full: nothing more than without.
    """
    teachers, epsilons, queries = QUICK if quick else (TEACHERS, EPSILONS, QUERIES)
    counts, labels = synthetic_counts(PROFILE, teachers, queries, np.random.default_rng(0))
    every = np.arange(queries)
    rows = []
    for epsilon in epsilons:
        print(f"epsilon = {epsilon}", file=sys.stderr, flush=True)
        task = Task(epsilon, DELTA, 1, 1, teachers, CLASSES, profile=PROFILE)
        row = {"teachers": teachers, "epsilon": epsilon, "queries": queries}
        for name in NAMES:
            mechanism = load(name)
            parameters = mechanism.calibrate(task)
            parts = [mechanism.law.distribution(part, parameters) for part in np.split(counts, 10)]
            row[name] = np.concatenate(parts)[every, labels].mean()
        started = process_time()
        row["bound"] = bound_on_right(teachers, epsilon, PROFILE, DELTA)
        rows.append(row | {"seconds": process_time() - started})
    data = pd.DataFrame(rows)
    machine.attach(data, machine.describe("numpy", "scipy", "highspy"))
    return data


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    first = data.iloc[0]
    labels = [registry.entry(name).label for name in NAMES]
    lines = [
        "# Benchmark: one label of many votes",
        "",
        "Made by `python benchmarks/run.py best_label --write-docs`; numbers behind it: "
        f"[best_label.csv](best_label.csv). How often one label of {first['teachers']:.0f} "
        f"teachers and {CLASSES} classes is right at (ε, {DELTA:g}), on the planner's profile: a "
        f"mean over {first['queries']:,.0f} queries drawn from it, the same for all. The optimal "
        "label is that of some of the votes, drawn. No label that treats all classes alike is "
        "right more often than the bound, in expectation on the profile. Seconds are processor "
        "time of the bound on one thread. Theorems: [best-label.md](../best-label.md).",
        "",
        *(f"- {name}: {value}" for name, value in machine.attached(data).items()),
        "",
        f"| ε | {' | '.join(labels)} | bound | gap | seconds |",
        "|" + " ---: |" * 8,
    ]
    for row in data.itertuples():
        chances = [getattr(row, name) for name in NAMES]
        shown = " | ".join(
            f"**{one:.4f}**" if one == max(chances) else f"{one:.4f}" for one in chances
        )
        gap = row.bound - max(chances)
        lines.append(
            f"| {row.epsilon:g} | {shown} | {row.bound:.4f} | {gap:.4f} | {row.seconds:.0f} |"
        )
    return "\n".join([*lines, ""])
