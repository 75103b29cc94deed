"""Releases from large files of votes: memory, processor seconds, clock, beside an older checkout.

`private-ensembles release` runs as a user's process. If the environment variable OLD names the
folder of an older checkout, both take turns:

    git worktree add /tmp/old v0.3.0 && OLD=/tmp/old python benchmarks/run.py own_files
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine
from benchmarks.writing import format_section, format_table

# A file is its name, what it holds, queries, teachers, classes, and the noise of the labels.
FILES = (
    ("v.csv", "votes", 1_000_000, 10, 10, "reproducible"),
    ("v.csv", "votes", 1_000_000, 50, 10, "reproducible"),
    ("id.csv", "votes and names", 1_000_000, 50, 10, "secure"),
    ("v.npy", "votes", 1_000_000, 50, 10, "reproducible"),
    ("v.npz", "votes", 1_000_000, 50, 10, "reproducible"),
    ("v.parquet", "votes", 1_000_000, 50, 10, "reproducible"),
    ("c.npz", "counts", 500, 250, 100_000, "reproducible"),
)
QUICK = (("v.csv", "votes", 1000, 10, 10, "reproducible"),)
# So many labels are asked for. MIB is how much memory a release may take.
LABELS, ROUNDS, MIB = 500, 3, 500
SHOWN = 5  # of the files, on the page
# A release is waited for so many seconds of the clock; then it is not measured again.
PATIENCE = 120
_TOO_LONG = f"over {PATIENCE} s by the clock"
_SHOWN = {"seconds": "{:.1f}", "mib": "{:.0f}"}
_FILE = ["name", "holds", "queries", "teachers", "classes", "noise"]
# The kernel's own number: what a process inherits from the one that started it is not in it.
_COMMAND = r"""
import re, sys
from pathlib import Path
from private_ensembles.command.main import main
code = main(sys.argv[1:])
status = Path("/proc/self/status").read_text()
print("peak", re.search(r"VmHWM:\s+(\d+) kB", status)[1], file=sys.stderr)
sys.exit(code)
"""


def write_file(path: Path, holds: str, queries: int, teachers: int, classes: int) -> None:
    """Write a file of votes or counts as whole numbers of 64 bits, as people's programs do."""
    generator = np.random.default_rng(0)
    truth = generator.integers(0, classes, (queries, 1))
    wrong = generator.random((queries, teachers)) < 0.4
    votes = np.where(wrong, generator.integers(0, classes, wrong.shape), truth)
    if holds == "counts":
        votes = np.stack([np.bincount(row, minlength=classes) for row in votes])
    if path.suffix == ".npy":
        np.save(path, votes)
    elif path.suffix == ".npz" and holds == "counts":
        np.savez_compressed(path, counts=votes)
    elif path.suffix == ".npz":
        np.savez_compressed(path, votes=votes)
    else:
        frame = pd.DataFrame(votes).add_prefix("teacher")
        if holds == "votes and names":
            frame.insert(0, "id", [f"query{number:07}" for number in range(queries)])
        frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)


def measure_release(root: Path, path: Path, teachers: int, classes: int, noise: str) -> dict:
    """Return what a release by a checkout took: seconds, wall_seconds and mib, nan if too long."""
    unset = {"OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment["PYTHONPATH"] = str(root / "workflow")
    budget = ["--epsilon", "2", "--delta", "1e-5", "--shards", "disjoint"]
    asked = ["--teachers", str(teachers), "--classes", str(classes), "--labels", str(LABELS)]
    asked += ["--noise", noise, "--anyway"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _COMMAND, "release", str(path), *asked, *budget]
        before, started = os.times(), time.perf_counter()
        try:
            completed = subprocess.run(
                [*command, "--out", folder],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return dict.fromkeys(("seconds", "wall_seconds", "mib"), math.nan)
        wall, after = time.perf_counter() - started, os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    peak = re.search(r"^peak (\d+)$", completed.stderr, re.MULTILINE)
    assert peak is not None
    return {"seconds": spent, "wall_seconds": wall, "mib": int(peak[1]) / 1024}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each file and checkout, with the median of all rounds in each column."""
    roots = {"new": ROOT} | ({"old": Path(os.environ["OLD"])} if "OLD" in os.environ else {})
    rows = []
    for file in QUICK if quick else FILES:
        name, holds, queries, teachers, classes, noise = file
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            write_file(path, holds, queries, teachers, classes)
            waiting_roots = dict(roots)
            for _ in range(1 if quick else ROUNDS):
                for code, root in list(waiting_roots.items()):
                    print(f"{code}: {' '.join(map(str, file))}", file=sys.stderr, flush=True)
                    measured = measure_release(root, path, teachers, classes, noise)
                    rows.append(dict(zip(_FILE, file, strict=True)) | {"code": code} | measured)
                    if math.isnan(measured["seconds"]):
                        del waiting_roots[code]
    groups = pd.DataFrame(rows).groupby([*_FILE, "code"], sort=False, as_index=False)
    return add_machine(groups.median(), describe_machine("numpy", "pandas", "pyarrow", "opendp"))


def section(data: pd.DataFrame) -> str:
    """Return what was measured as a section of the page: the files that need most memory."""
    columns = {"file": "{file}", "holds": "{holds}", "noise": "{noise}"}
    columns |= {"teachers × classes × queries": "{sizes}"}
    columns |= {"seconds": "{seconds}", "memory (MiB)": "{mib}"}
    new = data[data["code"] == "new"].sort_values("mib", ascending=False, na_position="first")
    rows = [_format_row(file) for file in new.head(SHOWN).to_dict("records")]
    kept = "kept" if new["mib"].max() <= MIB else "MISSED"
    text = (
        f"`private-ensembles release` of {LABELS} labels, the start of Python and the plan "
        f"included: medians of {ROUNDS}; of {len(new)} files those that need most memory (target, "
        f"at most {MIB} MiB: {kept}). A rehearsal draws noise from a seed; most of a release's "
        "time goes into its certificate."
    )
    return format_section(
        "Large files of votes",
        "own_files",
        text,
        data,
        format_table(columns, pd.DataFrame(rows), words=3),
    )


def _format_row(file: dict) -> dict[str, str]:
    """Return what is shown of one file."""
    row = {"file": f".{file['name'].partition('.')[2]}", "holds": file["holds"]}
    row["noise"] = "release" if file["noise"] == "secure" else "rehearsal"
    row["sizes"] = f"{file['teachers']:,} × {file['classes']:,} × {file['queries']:,}"
    for name, form in _SHOWN.items():
        row[name] = _TOO_LONG if math.isnan(file[name]) else form.format(file[name])
    return row
