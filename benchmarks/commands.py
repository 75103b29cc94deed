"""Commands as a user types them, beside those of an older checkout: seconds and memory.

If the environment variable OLD names the folder of an older checkout, both run in turns:

    git worktree add /tmp/old v0.3.0 && OLD=/tmp/old python benchmarks/run.py commands
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine
from benchmarks.writing import format_section, format_table

ROUNDS = 3
PYTHON = [sys.executable, "-m"]


def write_counts(queries: int, classes: int) -> None:
    """Write counts of 250 teachers, among whom all but ten classes have no vote."""
    counts = np.zeros((queries, classes), dtype=np.int32)
    shares = [0.55, *[0.05] * 9]
    counts[:, :10] = np.random.default_rng(0).multinomial(250, shares, size=queries)
    np.save("votes.npy", counts)


def write_votes(queries: int, teachers: int) -> None:
    """Write a CSV of votes on two classes."""
    votes = (np.random.default_rng(0).random((queries, teachers)) < 0.7).astype(np.int8)
    names = ",".join(f"teacher{number}" for number in range(teachers))
    np.savetxt("votes.csv", votes, fmt="%d", delimiter=",", header=names, comments="")


def release(votes: str, teachers: int, classes: int, mechanism: str) -> list[str]:
    """Return the command that releases a label for each query of a file."""
    sizes = ["--teachers", str(teachers), "--classes", str(classes), "--epsilon", "2"]
    stated = ["--shards", "disjoint", "--mechanism", mechanism, "--anyway", "--out", "released"]
    kind = ["--votes-kind", "counts"] if votes.endswith("npy") else []
    return [*PYTHON, "private_ensembles", "release", votes, *sizes, *stated, *kind]


def plan(teachers: int, classes: int, labels: int) -> list[str]:
    """Return the command that plans labels for a budget of epsilon 2."""
    sizes = ["--teachers", str(teachers), "--classes", str(classes), "--queries", str(labels)]
    return [*PYTHON, "private_ensembles", "plan", *sizes, "--epsilon", "2"]


def gamma(K: int, m: int, epsilon: float, Delta: float, prior: str) -> list[str]:
    """Return the command that optimises gamma and writes its certificate."""
    setting = ["-K", str(K), "-m", str(m), "--epsilon", str(epsilon), "--Delta", str(Delta)]
    file = ["--prior", prior, "--out", "gamma.json"]
    return [*PYTHON, "private_ensembles", "gamma", *setting, *file]


# By name: the command, and what writes the file that it reads.
COMMANDS: dict[str, tuple[list[str], Callable[[], None]]] = {
    "the first run, two cores": (
        [*PYTHON, "snakemake", "--cores", "2", "--snakefile", "{code}/Snakefile"],
        lambda: None,
    ),
    "500 labels, 100,000 classes, `gnmax_exact`": (
        release("votes.npy", 250, 100_000, "gnmax_exact"),
        lambda: write_counts(500, 100_000),
    ),
    "500 labels, 100,000 classes, `gnmax`": (
        release("votes.npy", 250, 100_000, "gnmax"),
        lambda: write_counts(500, 100_000),
    ),
    "500 labels, ten classes, `gnmax_exact`": (
        release("votes.npy", 250, 10, "gnmax_exact"),
        lambda: write_counts(500, 10),
    ),
    "500 labels, ten classes, `gnmax`": (
        release("votes.npy", 250, 10, "gnmax"),
        lambda: write_counts(500, 10),
    ),
    "10⁶ labels, CSV of ten teachers": (
        release("votes.csv", 10, 2, "gnmax"),
        lambda: write_votes(1_000_000, 10),
    ),
    "10⁶ labels, CSV of 50 teachers": (
        release("votes.csv", 50, 2, "gnmax"),
        lambda: write_votes(1_000_000, 50),
    ),
    "plan: 500 labels, 250 teachers, ten classes": (plan(250, 10, 500), lambda: None),
    "plan: one label, 100 teachers, 100 classes": (plan(100, 100, 1), lambda: None),
    "plan: one label, 10⁶ teachers, two classes": (plan(1_000_000, 2, 1), lambda: None),
    "γ: K = 1001, m = 1, ε = 1, Δ = 10⁻³": (
        gamma(1001, 1, 1.0, 1e-3, "uniform:0.5,1"),
        lambda: None,
    ),
    "γ: K = 201, m = 3, ε = 0.1, Δ = 10⁻⁵": (
        gamma(201, 3, 0.1, 1e-5, "uniform:0.5,1"),
        lambda: None,
    ),
}
QUICK = ("500 labels, ten classes, `gnmax`",)
# A command is waited for so many seconds of the clock; then `timeout` ends it with this status.
PATIENCE, TIMED_OUT = 600, 124


def run_command(name: str, code: Path) -> dict[str, float]:
    """Run a command of this code in an empty folder; return its seconds and MiB, or infinity.

    Processor seconds are those of all its processes; memory is that of the largest.
    """
    command, write_input = COMMANDS[name]
    environment = os.environ | {"PYTHONPATH": str(code / "workflow")}
    for variable in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        environment.pop(variable, None)  # a user has neither
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_input()
        words = ["timeout", str(PATIENCE), *(word.replace("{code}", str(code)) for word in command)]
        with open("output", "wb") as output:
            start = time.monotonic()
            process = subprocess.Popen(words, env=environment, stdout=output, stderr=output)
            _, status, used = os.wait4(process.pid, 0)
            wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == TIMED_OUT:
            return {"seconds": math.inf, "wall": math.inf, "memory_mib": used.ru_maxrss / 1024}
        if process.returncode:
            raise RuntimeError(f"{name}: {Path('output').read_text(encoding='utf-8')}")
    seconds = used.ru_utime + used.ru_stime
    return {"seconds": seconds, "wall": wall, "memory_mib": used.ru_maxrss / 1024}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each command, round and checkout."""
    codes = {"old": Path(os.environ["OLD"])} if "OLD" in os.environ else {}
    codes["new"] = ROOT
    facts = describe_machine("numpy", "scipy", "pandas", "snakemake", "opendp")
    rows, impatient = [], set()
    for number in range(1 if quick else ROUNDS):
        for name in QUICK if quick else COMMANDS:
            for code, folder in codes.items():
                if (name, code) in impatient:  # waited for once
                    continue
                print(f"{name}: {code}, round {number}", file=sys.stderr, flush=True)
                measured = run_command(name, folder.resolve())
                if math.isinf(measured["wall"]):
                    impatient.add((name, code))
                rows.append({"command": name, "code": code, "round": number} | measured)
    return add_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """Return the section of the page."""
    medians = data.groupby(["command", "code"], sort=False)[["seconds", "wall", "memory_mib"]]
    found = medians.median().unstack("code")
    rows = []
    for name in data["command"].unique():
        row = {"command": name}
        for code in ("old", "new"):
            for what in ("seconds", "wall", "memory_mib"):
                row[f"{code}_{what}"] = _format_number(found.loc[name].get((what, code)))
        rows.append(row)
    columns = {"command": "{command}"} | {
        f"{words}, {when}": f"{{{code}_{what}}}"
        for what, words in (("seconds", "CPU s"), ("wall", "clock s"), ("memory_mib", "MiB"))
        for code, when in (("old", "before"), ("new", "now"))
    }
    text = (
        f"Medians of {data['round'].nunique()} rounds in turns, each command in a process of its "
        "own with the start of Python, imports, files and certificates. Processor time is that of "
        "all its processes, memory that of the largest. Before: an older checkout."
    )
    return format_section(
        "Commands, before and now",
        "commands",
        text,
        data,
        format_table(columns, pd.DataFrame(rows), words=1),
    )


def _format_number(value: float | None) -> str:
    """Return a number as the table shows it; nothing where there is none."""
    if value is None or math.isnan(value):
        return ""
    return f"over {PATIENCE}" if math.isinf(value) else f"{value:.3g}"
