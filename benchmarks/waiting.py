"""How long a plan lets a person wait, and how much memory it takes, beside an older checkout.

Each plan is made in a fresh Python with the machine's own number of BLAS threads. Where the
environment variable OLD names the folder of an older checkout, both take turns:

    git worktree add /tmp/old v0.1.0 && OLD=/tmp/old python benchmarks/run.py waiting
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd

from benchmarks.measuring import ROOT, describe, with_machine
from benchmarks.writing import chapter, table

# teachers, classes, queries, labels, noise
TASKS = (
    (250, 10, 500, 500, "secure"),
    (250, 10, 500, 500, "reproducible"),
    (40, 7, 300, 300, "secure"),
    (250, 1000, 500, 500, "secure"),
    (250, 1000, 500, 500, "reproducible"),
    (250, 100, 500, 1, "secure"),
    (70_000, 3, 500, 500, "reproducible"),
    (1_000_000, 10, 500, 500, "secure"),
    (1_000_000, 3, 500, 500, "reproducible"),
    (250, 100_000, 500, 500, "secure"),
    (250, 100_000, 500, 500, "reproducible"),
)
QUICK = TASKS[:1]
EPSILON, DELTA, ROUNDS = 2.0, 1e-5, 3
_PLAN = """
import json, resource, sys, time
from private_ensembles import plan
started = time.process_time(), time.perf_counter()
try:
    best = plan(**json.loads(sys.argv[1]))[0].mechanism
except ValueError as error:
    best = f"error: {error}"
print(json.dumps({
    "seconds": time.process_time() - started[0],
    "wall_seconds": time.perf_counter() - started[1],
    "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "best": best,
}))
"""


def planned(root: Path, arguments: dict) -> dict:
    """Return what a plan by the code of a checkout took: seconds, wall_seconds, mib, best."""
    threads = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
    environment = {name: value for name, value in os.environ.items() if name not in threads}
    environment["PYTHONPATH"] = str(root / "workflow")
    command = [sys.executable, "-c", _PLAN, json.dumps(arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def measure(quick: bool = False) -> pd.DataFrame:
    """Return a row for each task and checkout: of each number the least of all rounds."""
    roots = {"new": ROOT} | ({"old": Path(os.environ["OLD"])} if "OLD" in os.environ else {})
    rows = []
    for teachers, classes, queries, labels, noise in QUICK if quick else TASKS:
        sizes = {"teachers": teachers, "classes": classes, "queries": queries, "labels": labels}
        sizes |= {"noise": noise}
        arguments = sizes | {"epsilon": EPSILON, "delta": DELTA}
        for _ in range(1 if quick else ROUNDS):
            rows += [
                sizes | {"code": code} | planned(root, arguments) for code, root in roots.items()
            ]
    data = pd.DataFrame(rows)
    of = ["teachers", "classes", "queries", "labels", "noise", "code", "best"]
    least = data.groupby(of, sort=False, as_index=False).min()
    return with_machine(least, describe("numpy", "scipy", "threadpoolctl"))


def section(data: pd.DataFrame) -> str:
    """Return what was measured as a section of the page."""
    columns = {
        "task": "{teachers} x {classes} x {queries}, {labels} labels, {noise} noise",
        "code": "{code}",
        "best": "{best}",
        "processor": "{seconds:.2f} s",
        "clock": "{wall_seconds:.2f} s",
        "memory": "{mib:.0f} MiB",
    }
    text = (
        f"Plans of teachers x classes x queries at epsilon = {EPSILON:g}, delta = {DELTA:g}, each "
        "in a fresh Python with the machine's own number of BLAS threads; the least of three."
    )
    return chapter("Waiting for a plan", "waiting", text, data, table(columns, data, words=3))
