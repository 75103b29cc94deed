"""Points at which gamma took long for no good reason, beside an older checkout.

Each is a process of its own on one thread. The environment variable OLD names the folder of the
older checkout, and both take turns:

    git worktree add /tmp/old v0.1.0 && OLD=/tmp/old python benchmarks/run.py gamma_corners
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from benchmarks.measuring import ROOT, add_machine, describe_machine, run_in_checkout
from benchmarks.writing import format_section, format_table

PRIOR = "uniform:0.5,1"
# The first two took longest of their kind; at the others searches ended far from the optimum.
POINTS = (
    (1001, 1, 1.0, 1e-3),
    (201, 3, 0.1, 1e-5),
    (203, 1, 1.0, 1e-3),
    (201, 1, 0.01, 1e-3),
)
ROUNDS = 3
KEYS = ("K", "m", "epsilon", "Delta")
_OPTIMIZE = """
import json, sys, time
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
K, m, epsilon, Delta, prior = json.loads(sys.argv[1])
optimize_gamma(5, 2, 0.1, 1e-5)
started = time.process_time(), time.perf_counter()
solution = optimize_gamma(K, m, epsilon, Delta, prior=prior)
print(json.dumps({
    "seconds": time.process_time() - started[0],
    "wall_seconds": time.perf_counter() - started[1],
    "utility": solution.utility,
    "gap": solution.utility_upper_bound - solution.utility,
    "certified": solution.certificate.holds,
}))
"""


def measure_point(root: Path, point: tuple) -> dict:
    """Return what a checkout's certified optimisation took and came to, imports paid before."""
    return run_in_checkout(root, _OPTIMIZE, [*point, PRIOR])


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each point and checkout: medians of ROUNDS. quick: one of a small point."""
    roots = {"new": ROOT} | ({"old": Path(os.environ["OLD"])} if "OLD" in os.environ else {})
    facts = describe_machine("numpy", "scipy", "highspy")
    rows = []
    for _ in range(1 if quick else ROUNDS):
        for point in [(35, 1, 0.01, 1e-3)] if quick else POINTS:
            for code, root in roots.items():
                row = dict(zip(KEYS, point, strict=True)) | {"code": code}
                rows.append(row | measure_point(root, point))
    medians = pd.DataFrame(rows).groupby([*KEYS, "code"], sort=False, as_index=False).median()
    return add_machine(medians.to_dict("records"), facts)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    rows = []
    for point, codes in data.groupby(list(KEYS), sort=False):
        by_code = codes.set_index("code")
        row = dict(zip(KEYS, point, strict=True)) | by_code.loc["new"].to_dict()
        row |= {"old": "", "old_gap": ""}
        if "old" in by_code.index:
            old = by_code.loc["old"]
            row |= {"old": f"{old['seconds']:.2f}", "old_gap": f"{old['gap']:.1e}"}
        rows.append(row)
    columns = {
        "K": "{K}",
        "m": "{m}",
        "ε": "{epsilon}",
        "Δ": "{Delta}",
        "before (s)": "{old}",
        "now (s)": "{seconds:.2f}",
        "gap before": "{old_gap}",
        "gap now": "{gap:.1e}",
    }
    text = (
        "The section above was measured with an older checkout (before). Here are two points at "
        "which it took longest and two at which its search ended far from the optimum, prior "
        f"Uniform[0.5, 1]: medians of {ROUNDS} rounds, in turns."
    )
    return format_section(
        "γ where it was slow or rough",
        "gamma_corners",
        text,
        data,
        format_table(columns, pd.DataFrame(rows)),
    )
