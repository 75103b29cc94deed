"""One label of many votes: the best that is known, beside a bound on all that may be.

The planner's profile, more votes than the program of the best label has room for. `optimal_label`
draws some of them; `optimal_label.relaxation` bounds every label.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from benchmarks.measuring import describe, least, with_machine
from benchmarks.writing import chapter, table
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


def measure(*, quick: bool = False) -> pd.DataFrame:
    """One row per epsilon: how often each mechanism's label is right, the bound and its seconds.

    quick: few teachers and queries.
    """
    facts = describe("numpy", "scipy", "highspy")
    teachers, epsilons, queries = QUICK if quick else (TEACHERS, EPSILONS, QUERIES)
    counts, labels = synthetic_counts(PROFILE, teachers, queries, np.random.default_rng(0))
    every = np.arange(queries)
    rows = []
    for epsilon in epsilons:
        task = Task(epsilon, DELTA, 1, 1, teachers, CLASSES, profile=PROFILE)
        row = {"teachers": teachers, "epsilon": epsilon, "queries": queries}
        for name in NAMES:
            mechanism = load(name)
            parameters = mechanism.calibrate(task)
            parts = [mechanism.law.distribution(part, parameters) for part in np.split(counts, 10)]
            row[name] = np.concatenate(parts)[every, labels].mean()
        timing, row["bound"] = least(partial(bound_on_right, teachers, epsilon, PROFILE, DELTA))
        rows.append(row | timing)
    return with_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    first = data.iloc[0]
    best = data[list(NAMES)].max(axis=1)
    columns = {"ε": "{epsilon:g}"}
    columns |= {registry.entry(name).label: f"{{{name}:.4f}}" for name in NAMES}
    columns |= {"bound": "{bound:.4f}", "gap": "{gap:.4f}", "seconds": "{seconds:.0f}"}
    return chapter(
        "One label of many votes",
        "best_label",
        f"How often one label of {first['teachers']:.0f} teachers and {CLASSES} classes is right "
        f"at (ε, {DELTA:g}), on the planner's profile: a mean over {first['queries']:,.0f} queries "
        "drawn from it, the same for all. The optimal label is that of some of the votes, drawn. "
        "No label that treats all classes alike is right more often than the bound, in expectation "
        "on the profile. Seconds are of the bound. Theorems: [best-label.md](../best-label.md).",
        data,
        table(columns, data.assign(gap=data["bound"] - best)),
    )
