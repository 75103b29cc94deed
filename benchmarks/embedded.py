"""The run on embedded data: clock time, what its jobs take, and their longest chain.

python benchmarks/run.py embedded --against COMMIT    old code and new in turns, in one run
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pandas as pd

from benchmarks import machine, overhead, process

ROUNDS, CORES = 3, 2


def measure(*, quick: bool = False, full: bool = False, against: str | None = None) -> pd.DataFrame:
    """Rows of round, code, rule, jobs, seconds and longest (s), with the run's wall and chain (s).

    quick: one round of the tests' tiny configuration. full: nothing more than without. against: a
    commit, whose code is run in turns with the present one.
    """
    facts = machine.describe("snakemake", "numpy", "scipy")
    with ExitStack() as stack:
        trees = {"new": overhead.ROOT}
        if against:
            trees = {"old": stack.enter_context(process.checkout(against)).parent, **trees}
        rows = []
        for number in range(1 if quick else ROUNDS):
            for code, tree in trees.items():
                some = ["--configfile", str(tree / "tests/config/tiny.yaml")] if quick else []
                rows += [
                    {"round": number, "code": code, "against": against or "", **row}
                    for row in measure_run(tree, some)
                ]
    data = pd.DataFrame(rows)
    machine.attach(data, facts)
    return data


def measure_run(tree: Path, arguments: list[str]) -> list[dict]:
    """A whole run of the workflow in `tree`, in an empty folder: a row for each rule."""
    with tempfile.TemporaryDirectory() as folder:
        wall, _ = overhead.run(Path(folder), "--cores", str(CORES), *arguments, root=tree)
        seconds = overhead.job_seconds(Path(folder))
        command = [sys.executable, "-m", "snakemake", "--directory", folder, *arguments]
        dag = subprocess.run(
            [*command, "-n", "--forceall", "--dag"],
            cwd=tree,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    chain = longest_chain(dag, {rule: max(each) for rule, each in seconds.items()})
    return [
        {"rule": rule, "jobs": len(each), "seconds": sum(each), "longest": max(each)}
        | {"wall": wall, "chain": chain}
        for rule, each in seconds.items()
    ]


def longest_chain(dag: str, seconds: dict[str, float]) -> float:
    """Return at most how long the longest chain of jobs takes, each as long as its rule's longest.

    dag: as `snakemake --dag` prints it. seconds: by rule; others take none.

    >>> longest_chain('0[label = "all"] 1[label = "a"] 2[label = "a"] 1 -> 0 2 -> 1', {"a": 2})
    4.0
    """
    rules = {
        job: label.split("\\n")[0] for job, label in re.findall(r'(\d+)\[label = "([^"]*)"', dag)
    }
    needs = defaultdict(list)
    for first, then in re.findall(r"(\d+) -> (\d+)", dag):
        needs[then].append(first)

    @cache
    def until(job: str) -> float:
        return seconds.get(rules[job], 0.0) + max(map(until, needs[job]), default=0.0)

    return float(max(map(until, rules), default=0.0))


def page(data: pd.DataFrame) -> str:
    """The measurements as a page of Markdown."""
    against = data["against"].iloc[0]
    rounds = data["round"].nunique()
    lines = [
        "# Benchmark: the run on embedded data",
        "",
        "Made by `python benchmarks/run.py embedded"
        f"{f' --against {against}' if against else ''} --write-docs`; numbers behind it: "
        f"[embedded.csv](embedded.csv). Whole runs of `snakemake --cores {CORES}` in an empty "
        f"folder, {rounds} of each code, in turns; the least and the largest. Seconds are of the "
        "clock. The longest chain of jobs takes each job for as long as the longest of its rule.",
        "",
        *(f"- {name}: {value}" for name, value in machine.attached(data).items()),
        "",
        "| code | whole run (s) | jobs | all jobs together (s) | longest chain (s), at most |",
        "| --- | --- | ---: | --- | --- |",
    ]
    for code, rows in data.groupby("code", sort=False):
        runs = rows.groupby("round").agg(
            wall=("wall", "first"), chain=("chain", "first"), seconds=("seconds", "sum")
        )
        jobs = rows[rows["round"] == rows["round"].min()]["jobs"].sum()
        lines.append(
            f"| {code} | {_range(runs['wall'])} | {jobs} | {_range(runs['seconds'])} | "
            f"{_range(runs['chain'])} |"
        )
    least = data.groupby(["rule", "code"], sort=False)["seconds"].min().unstack()
    least = least.sort_values("new", ascending=False)
    shown = [code for code in ("old", "new") if code in least]
    lines += ["", f"| rule | {' | '.join(f'{code}, s' for code in shown)} |"]
    lines.append("| --- |" + " --: |" * len(shown))
    lines += [
        f"| {rule} | {' | '.join(f'{row[code]:.1f}' for code in shown)} |"
        for rule, row in least.iterrows()
    ]
    return "\n".join([*lines, ""])


def _range(values: pd.Series) -> str:
    return f"{values.min():.0f} to {values.max():.0f}"
