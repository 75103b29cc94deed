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
SHOWN = 10  # rules on the page


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
    runs = data.groupby(["code", "round"], sort=False).agg(
        cpu=("cpu", "first"), wall=("wall", "first"), jobs=("jobs", "sum")
    )
    medians = runs.groupby("code", sort=False).median().reset_index()
    medians["code"] = medians["code"].map({"old": "before", "new": "now"})
    rules = data.groupby(["rule", "code"])["seconds"].median().unstack("code")
    jobs = data[data["code"] == "new"].groupby("rule")["jobs"].first()
    rules = rules.assign(jobs=jobs).dropna(subset="jobs").reset_index()
    columns = {"rule": "{rule}", "jobs": "{jobs:.0f}"}
    if "old" in rules:
        columns["s, before"] = "{old:.1f}"
    columns["s, now" if "old" in rules else "s"] = "{new:.1f}"
    turns = ", in turns with an older checkout (before)" if "old" in rules else ""
    rounds = data["round"].nunique()
    times = "once" if rounds == 1 else f"medians of {rounds}"
    return format_section(
        title,
        name,
        f"Whole runs of `{command}` in an empty folder{turns}: {times}.",
        data,
        format_table(
            {
                "run": "{code}",
                "jobs": "{jobs:.0f}",
                "CPU (s)": "{cpu:.0f}",
                "clock (s)": "{wall:.0f}",
            },
            medians,
            words=1,
        ),
        f"Seconds of the clock of all jobs of a rule, for the {SHOWN} rules that take longest:",
        format_table(columns, rules.sort_values("new", ascending=False).head(SHOWN), words=1),
    )
