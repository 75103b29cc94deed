"""The run on embedded data: clock time, what its jobs take, and what is left for Snakemake."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine
from benchmarks.writing import format_section, format_table

ROUNDS, CORES = 3, 2


def job_seconds(folder: Path) -> dict[str, list[float]]:
    """Return the wall seconds of every job's script by rule, from the benchmark files of a run."""
    seconds: dict[str, list[float]] = {}
    benchmarks = Path(folder) / "results" / "benchmarks"
    for path in sorted(benchmarks.rglob("*.tsv")):
        rule = path.relative_to(benchmarks).parts[0]
        seconds.setdefault(rule, []).append(float(pd.read_csv(path, sep="\t")["s"].sum()))
    if not seconds:
        raise ValueError(f"folder = {folder}: must hold benchmark files in results/benchmarks")
    return seconds


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return rows of round, rule, jobs, seconds, longest (s), and the whole run's wall (s).

    quick: one round of the tests' tiny configuration.
    """
    facts = describe_machine("snakemake", "numpy", "scipy")
    rows = []
    for number in range(1 if quick else ROUNDS):
        arguments = ["--configfile", str(ROOT / "config/scenarios/tiny.yaml")] if quick else []
        wall, seconds = measure_run(arguments)
        rows += [
            {"round": number, "rule": rule, "jobs": len(job_times), "seconds": sum(job_times)}
            | {"longest": max(job_times), "wall": wall}
            for rule, job_times in seconds.items()
        ]
    return add_machine(rows, facts)


def measure_run(arguments: list[str]) -> tuple[float, dict[str, list[float]]]:
    """Run the workflow in an empty folder; return wall seconds, and those of each rule's jobs."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "snakemake", "--directory", folder, "--cores", str(CORES)]
        start = time.monotonic()
        subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
        return time.monotonic() - start, job_seconds(Path(folder))


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    runs = data.groupby("round").agg(
        wall=("wall", "first"), seconds=("seconds", "sum"), jobs=("jobs", "sum")
    )
    idle = 1 - runs["seconds"] / (CORES * runs["wall"])
    rules = data.groupby("rule")[["jobs", "seconds"]].min().reset_index()
    jobs = runs["jobs"].iloc[0]
    return format_section(
        "The run on embedded data",
        "embedded",
        f"Whole runs of `snakemake --cores {CORES}` in an empty folder. Seconds are of the clock.",
        data,
        f"{len(runs)} runs of {jobs} jobs took {_range(runs['wall'])} s, their jobs "
        f"{_range(runs['seconds'])} s together. What no job uses of the cores, for Snakemake's own "
        "work and while one of them has nothing to do, is at most "
        f"{idle.max():.0%} (target for Snakemake's: under a third). Each rule's jobs together:",
        format_table(
            {"rule": "{rule}", "jobs": "{jobs}", "seconds": "{seconds:.1f}"},
            rules.sort_values("seconds", ascending=False),
            words=1,
        ),
    )


def _range(values: pd.Series) -> str:
    return f"{values.min():.0f} to {values.max():.0f}"
