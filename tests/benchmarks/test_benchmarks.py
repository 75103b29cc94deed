"""Each benchmark runs at its smallest size, and writes its numbers and its section."""

from importlib import import_module

import pandas as pd
import pytest

from benchmarks import gamma_points, run

TINY = {"linear": ((8, 8), 3, 200)}
# Constants by which a benchmark is smaller than with --quick; the others are quick enough.
SMALLEST = {
    "arithmetic": {"IMAGES": 16, "ROUNDS": 1, "SIDE": 128, "PRODUCTS": 1},
    "core_calls": {"list_calls": lambda: {"one": lambda: None}},
    "dpbag": {"FOLDERS": (), "GRID": ((50, 1),), "SAMPLE": 5},
    "gamma": {"ENUMERATED": (3, 5), "EXTRAPOLATED": (7,), "GROWTH": (3, 5)},
    "gamma_points": {"QUICK": ((11, 2, 0.1, 1e-5, gamma_points.COMMON),)},
    "many_labels": {"QUICK": [(2.0, 2, 11, 5)]},
    "plan_grid": {"QUICK": ((5, 2, 1, 2),), "AGAIN": 0},
    "sessions": {
        "SPLIT": {"batches": 2, "labels": 1, "epsilon": 2.0, "delta": 1e-5},
        "RELEASES": {"releases": 2, "labels": 1, "epsilon": 1.0, "delta": 1e-6},
        "QUICK": {},
    },
    "teachers": {
        "ENSEMBLES": {"cpu": (2, 3)},
        "MODELS": {"cpu": TINY},
        "SEQUENTIAL": 2,
        "gpu_name": lambda: None,
    },
    "tokens": {"QUICK": ((20,), (50,), 3)},
    "waiting": {"QUICK": (("plan", 11, 2, 5, 5, "reproducible", 60.0),)},
}
# A whole run of the workflow, large votes, another package, every mechanism, secure plans.
SLOW = ("embedded", "paper_run", "smooth_sensitivity", "libraries", "auditors", "sessions")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in run.BENCHMARKS]
)
def test_a_benchmark_runs_at_its_smallest_size(name, tmp_path, monkeypatch):
    benchmark = import_module(f"benchmarks.{name}")
    monkeypatch.delenv("OLD", raising=False)
    for constant, value in SMALLEST.get(name, {}).items():
        monkeypatch.setattr(benchmark, constant, value)
    if hasattr(benchmark, "run_in_process"):  # a fresh process takes seconds
        monkeypatch.setattr(benchmark, "run_in_process", lambda call, **given: call(**given))
    run.main([name, "--quick", "--output", str(tmp_path)])
    assert len(pd.read_csv(tmp_path / f"{name}.csv"))
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert f"[{name}.csv]({name}.csv)" in page
