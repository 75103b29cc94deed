"""How long a plan lets a person wait over a grid of sizes, beside an older checkout: its slowest.

Each is made as `waiting` makes it. If the environment variable OLD names the folder of an older
checkout, it plans the same slowest tasks:

    git worktree add /tmp/old v0.1.0 && OLD=/tmp/old python benchmarks/run.py plan_grid
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine
from benchmarks.waiting import measure_plan
from benchmarks.writing import format_section, format_table

# A task is teachers, classes, queries (a label of each is wanted) and epsilon.
GRID = tuple(
    itertools.product((5, 10, 20, 40, 100, 250, 1000), (2, 3, 10), (1, 20, 100, 1000), (0.5, 2, 8))
)
QUICK = ((5, 2, 1, 2), (40, 2, 20, 2))
# So many rows are shown. So many of the slowest tasks are measured again, and so often.
SHOWN, REPEATED, AGAIN = 5, 20, 1
DELTA, GOAL = 1e-5, 1.5
# A checkout is waited for so many seconds of the clock.
PATIENCE = 300
_TASK = ["teachers", "classes", "queries", "epsilon"]


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each task, and for the slowest one of each checkout: the least seconds."""
    grid = list(QUICK if quick else GRID)
    rows = [_measure_task(task, "new") for task in grid]
    slowest = sorted(rows, key=lambda row: -row["seconds"])[:REPEATED]
    repeated_tasks = {tuple(row[name] for name in _TASK) for row in slowest}
    codes = ("new", "old") if "OLD" in os.environ else ("new",)
    for _ in range(AGAIN):
        # They are measured in turns, so that a busy machine is as busy for both.
        rows += [_measure_task(task, code) for task in sorted(repeated_tasks) for code in codes]
    data = pd.DataFrame(rows)
    least = data.groupby([*_TASK, "code"], sort=False, as_index=False).min()
    return add_machine(least, describe_machine("numpy", "scipy", "threadpoolctl"))


def section(data: pd.DataFrame) -> str:
    """Return the slowest plans as a section of the page."""
    new = data[data["code"] == "new"]
    columns = {
        "teachers × classes × queries": "{teachers:,} × {classes} × {queries:,}",
        "ε": "{epsilon:g}",
        "seconds": "{seconds:.2f}",
    }
    within = int((new["seconds"] <= GOAL).sum())
    text = (
        f"The slowest of {len(new)} plans of 5 to 1,000 teachers, 2, 3 and 10 classes and 1 to "
        "1,000 labels, at ε = 0.5, 2 and 8, δ = 10⁻⁵ and secure noise, measured "
        f"[in the same way](#waiting-for-a-plan); {within} of them take at most {GOAL} s."
    )
    slowest = new.sort_values("seconds", ascending=False, kind="stable").head(SHOWN)
    return format_section(
        "The slowest plans", "plan_grid", text, data, format_table(columns, slowest)
    )


def _measure_task(task: tuple, code: str) -> dict:
    """Return what a plan of the task took by a checkout."""
    root = ROOT if code == "new" else Path(os.environ["OLD"])
    sizes = dict(zip(_TASK, task, strict=True))
    arguments = sizes | {"what": "plan", "delta": DELTA, "noise": "secure"}
    measured = measure_plan(root, arguments, PATIENCE)
    return sizes | {"code": code} | measured
