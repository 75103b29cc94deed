"""How long a plan or a release lets a person wait, and its memory, beside an older checkout.

Each is made in a fresh Python with the machine's own number of BLAS threads. If the environment
variable OLD names the folder of an older checkout, both take turns:

    git worktree add /tmp/old v0.1.0 && OLD=/tmp/old python benchmarks/run.py waiting
"""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path

import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine, run_in_checkout
from benchmarks.writing import format_section, format_table

# A task is what, teachers, classes, queries, labels, noise, and the processor seconds that it
# should take.
TASKS = (
    ("plan", 250, 10, 500, 500, "secure", 1.0),
    ("release", 250, 10, 500, 500, "secure", 1.5),
    ("plan", 250, 10, 500, 500, "reproducible", 1.0),
    ("plan", 40, 7, 300, 300, "secure", 1.0),
    ("plan", 40, 7, 300, 300, "reproducible", 1.0),
    ("plan", 5000, 150, 10_000, 10_000, "secure", 5.0),
    ("plan", 250, 1000, 500, 500, "secure", math.nan),
    ("plan", 250, 1000, 500, 500, "reproducible", math.nan),
    ("plan", 250, 100, 500, 1, "secure", 0.5),
    ("plan", 250, 100, 500, 1, "reproducible", 0.5),
    ("plan", 1_000_000, 2, 500, 500, "secure", 5.0),
    ("plan", 70_000, 3, 500, 500, "reproducible", 5.0),
    ("plan", 1_000_000, 10, 500, 500, "secure", 5.0),
    ("plan", 1_000_000, 3, 500, 500, "reproducible", 5.0),
    ("plan", 250, 100_000, 500, 500, "secure", 5.0),
    ("plan", 250, 100_000, 500, 500, "reproducible", 5.0),
)
QUICK = TASKS[:1]
# Teachers and classes that are not on the page, as others there take as long or longer.
LEFT_OUT = ((40, 7), (70_000, 3), (1_000_000, 2), (1_000_000, 3))
_REFUSED = "refused"
_SIZES = ["teachers", "classes", "queries", "labels"]
_TASK = ["what", *_SIZES, "noise"]
EPSILON, DELTA, ROUNDS = 2.0, 1e-5, 3
# A checkout is waited for so many seconds of the clock; then it is not measured again.
PATIENCE = 30
_PLAN = """
import json, sys, time
import private_ensembles
from private_ensembles import plan
wanted = json.loads(sys.argv[1])
what = wanted.pop("what")
things = "Ensemble" in private_ensembles.__all__  # not yet in a checkout of 0.3
if things:
    from private_ensembles import Budget, Ensemble, Protection, Rehearsal, Wanted
if what == "release":
    import numpy as np
    from private_ensembles import release_labels
    size = wanted["teachers"], [0.8] + [0.2 / (wanted["classes"] - 1)] * (wanted["classes"] - 1)
    counts = np.random.default_rng(0).multinomial(*size, wanted["queries"])
    asked = {key: wanted[key] for key in ("labels", "epsilon", "delta", "noise")}
started = time.process_time(), time.perf_counter()
try:
    if things:
        ensemble = Ensemble(wanted["teachers"], wanted["classes"])
        budget = Budget(wanted["epsilon"], wanted["delta"])
        labels = Wanted(wanted.get("labels", wanted["queries"]), wanted["queries"])
        noise = {"rehearsal": None if wanted["noise"] == "secure" else Rehearsal()}
    if what == "plan":
        ranked = plan(ensemble, budget, labels, **noise) if things else plan(**wanted)
        best, right = ranked[0].mechanism, ranked[0].correct
    else:
        if things:
            asked = {"labels": labels, "protection": Protection.disjoint(), **noise}
            released = release_labels(counts, budget, **asked, anyway=True)
        else:
            released = release_labels(counts, shards="disjoint", anyway=True, **asked)
        best, right = released.mechanism, float("nan")
except ValueError as error:
    best, right = f"error: {error}", float("nan")
status = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: nan"
print(json.dumps({
    "seconds": time.process_time() - started[0],
    "wall_seconds": time.perf_counter() - started[1],
    "mib": float(status.partition("VmHWM:")[2].split()[0]) / 1024,
    "best": best,
    "right": right,
}))
"""


def measure_plan(root: Path, arguments: dict, patience: float | None = None) -> dict:
    """Return what a plan or a release by a checkout took: seconds, wall_seconds, mib, best, right.

    The last is how many labels a plan expects to be right.

    Args:
        root: the checkout's folder.
        arguments: what, and those of the call.
        patience: seconds of the clock until it is no longer waited for; None: PATIENCE.
    """
    patience = PATIENCE if patience is None else patience
    # Threads are as the machine has them, and modules compiled once, as those that pip installs.
    unset = {
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "PYTHONDONTWRITEBYTECODE",
    }
    try:
        return run_in_checkout(root, _PLAN, arguments, unset=unset, patience=patience)
    except subprocess.TimeoutExpired:
        no_numbers = dict.fromkeys(("seconds", "wall_seconds", "mib", "right"), math.nan)
        return no_numbers | {"best": f"no end in {patience} s"}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each task and checkout, with the least of all rounds in each column."""
    roots = {"new": ROOT} | ({"old": Path(os.environ["OLD"])} if "OLD" in os.environ else {})
    rows = []
    for what, teachers, classes, queries, labels, noise, goal in QUICK if quick else TASKS:
        sizes = {"what": what, "teachers": teachers, "classes": classes, "queries": queries}
        sizes |= {"labels": labels, "noise": noise}
        arguments = sizes | {"epsilon": EPSILON, "delta": DELTA}
        waiting_roots = dict(roots)
        for _ in range(1 if quick else ROUNDS):
            for code, root in list(waiting_roots.items()):
                measured = measure_plan(root, arguments)
                rows.append(sizes | {"code": code} | measured | {"goal": goal})
                if math.isnan(measured["seconds"]):
                    del waiting_roots[code]
    data = pd.DataFrame(rows)
    least = data.groupby([*_TASK, "code", "best"], sort=False, as_index=False).min()
    return add_machine(least, describe_machine("numpy", "scipy", "threadpoolctl"))


def section(data: pd.DataFrame) -> str:
    """Return what was measured as a section of the page: a row for each size that is shown."""
    columns = {
        "teachers × classes × queries": "{teachers:,} × {classes:,} × {queries:,}",
        "labels": "{labels:,}",
        "plan (s)": "{plan}",
        "rehearsal (s)": "{rehearsal}",
        "release (s)": "{release}",
        "goal (s)": "{goal}",
        "memory (MiB)": "{mib:.0f}",
    }
    new = data[data["code"] == "new"]
    is_left_out = pd.Series(zip(*(new[name] for name in _SIZES[:2]), strict=True)).isin(LEFT_OUT)
    sizes = new[~is_left_out.to_numpy()].groupby([*_SIZES, "goal"], sort=False, dropna=False)
    rows = [_format_row(tasks) for _, tasks in sizes]
    with_goal = new[new["goal"].notna()]
    text = (
        f"Plans, plans of rehearsals and releases by `release_labels` at ε = {EPSILON:g} and "
        "δ = 10⁻⁵, each in a fresh Python with all BLAS threads, without the import of the "
        f"package; the least of {ROUNDS}. **Bold**: the goal is met "
        f"({(with_goal['seconds'] <= with_goal['goal']).sum()} of {len(with_goal)} in all)."
    )
    shown = format_table(columns, pd.DataFrame(rows), words=1)
    return format_section("Waiting for a plan", "waiting", text, data, shown)


def _format_row(tasks: pd.DataFrame) -> dict:
    """Return what is shown of the tasks of one size: their seconds, and the most memory of all."""
    goal = tasks["goal"].iloc[0]
    row = {name: tasks[name].iloc[0] for name in _SIZES} | {"mib": tasks["mib"].max()}
    row |= {"goal": "" if math.isnan(goal) else f"{goal:g}"}
    row |= {"plan": "", "rehearsal": "", "release": ""}
    for _, task in tasks.iterrows():
        shown = _format_seconds(task)
        if task["seconds"] <= goal and shown != _REFUSED:
            shown = f"**{shown}**"
        is_rehearsal = (task["what"], task["noise"]) == ("plan", "reproducible")
        row["rehearsal" if is_rehearsal else task["what"]] = shown
    return row


def _format_seconds(measured: pd.Series) -> str:
    if measured["best"].startswith("error"):
        return _REFUSED
    seconds = measured["seconds"]
    return f"over {PATIENCE}" if math.isnan(seconds) else f"{seconds:.2f}"
