"""The run on the papers' data sets: CPU seconds, clock, and what its jobs take.

It takes a quarter of an hour, and its data come from the folder that the environment variable
MIRROR names, or from the internet. OLD is as in `embedded`:

    git worktree add /tmp/old v0.3.0 && OLD=/tmp/old python benchmarks/run.py paper_run
"""

from __future__ import annotations

import os

import pandas as pd

from benchmarks.embedded import CORES, TINY, format_runs, measure_runs


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each checkout and rule, as `embedded` does, of one round.

    quick: of the tests' tiny configuration.
    """
    mirror = [f"data_mirror={os.environ['MIRROR']}"] if "MIRROR" in os.environ else []
    return measure_runs(TINY if quick else ["--config", "data=paper", *mirror], 1)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    command = f"snakemake --cores {CORES} --config data=paper"
    return format_runs(data, "The run on the papers' data", "paper_run", command)
