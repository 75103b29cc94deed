"""The run on embedded data: CPU seconds, clock, what its jobs take, and what Snakemake takes.

If the environment variable OLD names the folder of an older checkout, both run in turns:

    git worktree add /tmp/old v0.3.0 && OLD=/tmp/old python benchmarks/run.py embedded
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine
from benchmarks.writing import format_section, format_table

# The tests' tiny configuration.
TINY = ["--configfile", str(ROOT / "config/scenarios/tiny.yaml")]
ROUNDS, CORES = 3, 2
SHOWN = 5  # rules on the page


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
    """Return a row for each checkout, round and rule, as `measure_runs` does.

    quick: one round of the tests' tiny configuration.
    """
    return measure_runs(TINY if quick else [], 1 if quick else ROUNDS)


def measure_runs(arguments: list[str], rounds: int) -> pd.DataFrame:
    """Return a row for each checkout, round and rule.

    Its columns are code (`old` or `new`), round, rule, jobs, seconds and longest (of the clock, of
    the rule's jobs), and of the whole run cpu (seconds of all its processes) and wall (seconds).

    Args:
        arguments: what follows `snakemake --cores`.
        rounds: how often each checkout runs, in turns.
    """
    codes = {"old": Path(os.environ["OLD"])} if "OLD" in os.environ else {}
    codes["new"] = ROOT
    facts = describe_machine("snakemake", "numpy", "scipy")
    rows = [
        row
        for number in range(rounds)
        for code, checkout in codes.items()
        for row in make_rows(code, number, *measure_run(checkout.resolve(), arguments))
    ]
    return add_machine(rows, facts)


def make_rows(
    code: str, number: int, whole: dict[str, float], seconds: dict[str, list[float]]
) -> list[dict]:
    """Return a run's rows, one for each rule: whole and seconds as `measure_run` returns them."""
    return [
        {"code": code, "round": number, "rule": rule, "jobs": len(job_times)}
        | {"seconds": sum(job_times), "longest": max(job_times)}
        | whole
        for rule, job_times in seconds.items()
    ]


def measure_run(
    checkout: Path, arguments: list[str]
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Run a checkout's workflow in an empty folder.

    Returns:
        The run's cpu and wall seconds by name, and the wall seconds of each rule's jobs.
    """
    environment = dict(os.environ)
    for variable in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPATH"):
        environment.pop(variable, None)  # a user has none of them
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "snakemake", "--directory", folder, "--cores", str(CORES)]
        before, start = os.times(), time.monotonic()
        subprocess.run(
            [*command, *arguments],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        wall, after = time.monotonic() - start, os.times()
        cpu = after.children_user + after.children_system
        cpu -= before.children_user + before.children_system
        return {"cpu": cpu, "wall": wall}, job_seconds(Path(folder))


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    return format_runs(data, "The run on embedded data", "embedded", f"snakemake --cores {CORES}")


def format_runs(data: pd.DataFrame, title: str, name: str, command: str) -> str:
    """Return the results of runs by a command as the section of the benchmark `name`."""
    now = data[data["code"] == "new"]
    whole = now.groupby("round").agg({"cpu": "first", "wall": "first", "jobs": "sum"}).median()
    rules = now.groupby("rule").agg(jobs=("jobs", "first"), seconds=("seconds", "median"))
    rules = rules.sort_values("seconds", ascending=False).head(SHOWN).reset_index()
    rounds = data["round"].nunique()
    times = "once" if rounds == 1 else f"medians of {rounds}"
    return format_section(
        title,
        name,
        f"A whole run of `{command}` in an empty folder ({times}): {whole['jobs']:.0f} jobs, "
        f"{whole['cpu']:,.0f} s of the processor, {whole['wall']:.0f} s by the clock. The rules "
        "whose jobs take longest together, by the clock:",
        data,
        format_table({"rule": "{rule}", "jobs": "{jobs}", "seconds": "{seconds:.1f}"}, rules, 1),
    )
