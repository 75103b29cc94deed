"""Sessions: what one plan for all batches saves, and how long a label takes in batches of one."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import add_machine, describe_machine, peak_memory, run_in_process
from benchmarks.writing import format_section, format_table
from private_ensembles.labels.planner import planning
from private_ensembles.labels.planner.defaults import planner_settings
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
)
from private_ensembles.release import record, release_plan
from private_ensembles.release.ledger_file import Batch
from private_ensembles.release.pool import Names
from private_ensembles.release.session import Session
from private_ensembles.release.session_terms import Terms

MECHANISM = "gnmax_exact"
# Epsilon and delta are those of all batches together: 250 teachers, ten classes, the usual profile.
SPLIT = {"batches": 10, "labels": 100, "epsilon": 2.0, "delta": 1e-5}
# Here epsilon and delta are those of each release.
RELEASES = {"releases": 12, "labels": 100, "epsilon": 1.0, "delta": 1e-6}
QUICK = {"labels": 4}
# These are mechanisms, teachers and batches of one label of two classes; the target is in ms.
SINGLE = [("gnmax_analytic", 250, 20_000), ("gnmax_exact", 250, 5_000)]
QUICK_SINGLE = [("gnmax_analytic", 11, 20)]
TARGET = 1.0
WORDS = {
    "split": "the budget cut into batches: right labels",
    "planned": "one plan for all batches: right labels",
    "apart": "releases of the same noise, added up: ε",
    "joint": "the same, by the account of all their labels: ε",
}


def plan_labels(labels: int, epsilon: float, delta: float) -> tuple[Task, object]:
    """Return the task of so many labels and the plan of the mechanism for them."""
    sizes = {"queries": labels, "labels": labels, "teachers": 250, "n_classes": 10}
    task = planning.build_task(planner_settings(**sizes), epsilon, delta, secure=True)
    (plan,) = planning.rank_on_profile(task, [MECHANISM], 0)
    return task, plan


def compare_budgets(batches: int, labels: int, epsilon: float, delta: float) -> list[dict]:
    """Return right labels if a budget is cut into batches, and if one plan serves all of them."""
    _, batch_plan = plan_labels(labels, epsilon / batches, delta / batches)
    _, joint_plan = plan_labels(batches * labels, epsilon, delta)
    facts = {"labels": batches * labels, "batches": batches, "budget": epsilon, "delta": delta}
    return [
        {
            "what": "split",
            "value": batches * batch_plan.correct,
            "sigma": batch_plan.parameters.sigma,
            **facts,
        },
        {
            "what": "planned",
            "value": joint_plan.correct,
            "sigma": joint_plan.parameters.sigma,
            **facts,
        },
    ]


def compare_records(releases: int, labels: int, epsilon: float, delta: float) -> list[dict]:
    """Return what a ledger says of releases with the same noise: by addition, and jointly."""
    task, plan = plan_labels(labels, epsilon, delta)
    terms = Terms.from_plan(release_plan.make_plan(task, plan, None), Names())
    batch = Batch(1, "0001", 1, 0, labels, labels, plan.epsilon, 0.0, None, None)
    recorded_release = record.Release(batch, terms)
    ledger_record = record.Record((recorded_release,) * releases)
    totals = {"apart": ledger_record.total, "joint": ledger_record.joint}
    facts = {"labels": releases * labels, "batches": releases, "budget": epsilon}
    return [
        {"what": what, "value": total.epsilon, "delta": total.delta, **facts}
        for what, total in totals.items()
    ]


def measure_single(mechanism: str, teachers: int, batches: int) -> dict:
    """Measure milliseconds of batches of one label, and memory; the file is in memory if it can."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        path = Path(folder) / "a.session"
        arguments = Ensemble(teachers, 2), Budget(2.0, 1e-6), Protection.disjoint()
        options = {"labels": batches + 1, "mechanisms": [mechanism], "anyway": True}
        with Session.create(path, *arguments, **options) as session:
            counts = np.array([[teachers - teachers // 4, teachers // 4]])
            session.release(counts)
            memory_before = peak_memory()
            started = time.process_time()
            for _ in range(batches):
                session.release(counts)
            spent = time.process_time() - started
            session.verify()
        size = path.stat().st_size
    per_label = {"value": 1000 * spent / batches, "grown_mib": peak_memory() - memory_before}
    facts = {"mechanism": mechanism, "teachers": teachers, "batches": batches}
    return {"what": "single", **per_label, "bytes": size / batches, **facts}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return a row for each number."""
    facts = describe_machine("numpy", "scipy", "opendp")
    rows = run_in_process(compare_budgets, **SPLIT | (QUICK if quick else {}))
    rows += run_in_process(compare_records, **RELEASES | (QUICK if quick else {}))
    for mechanism, teachers, batches in QUICK_SINGLE if quick else SINGLE:
        rows.append(
            run_in_process(measure_single, mechanism=mechanism, teachers=teachers, batches=batches)
        )
    return add_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """Return the section of the page."""
    budgets = data[data["what"].isin(WORDS)].assign(
        words=lambda rows: rows["what"].map(WORDS),
        noise=lambda rows: rows["sigma"].map(
            lambda sigma: "" if sigma != sigma else f"{sigma:.1f}"
        ),
    )
    columns = {
        "what": "{words}",
        "batches": "{batches:.0f}",
        "labels": "{labels:.0f}",
        "δ": "{delta:.2g}",
        "σ": "{noise}",
        "number": "{value:.4g}",
    }
    single = data[data["what"] == "single"]
    times = {
        "mechanism": "{mechanism}",
        "teachers": "{teachers:.0f}",
        "batches of one": "{batches:.0f}",
        "ms a label": "{value:.2f}",
        "MiB more memory": "{grown_mib:.1f}",
        "bytes of the file": "{bytes:.0f}",
    }
    is_kept = "kept" if (single["value"] <= TARGET).all() else "MISSED"
    return format_section(
        "Sessions",
        "sessions",
        "What one plan for all batches saves (250 teachers, ten classes, the usual profile), and "
        "how long a label takes in batches of one, with the session's file in memory.",
        data,
        format_table(columns, budgets, words=1),
        format_table(times, single, words=1),
        f"Target, {TARGET:g} ms of processor time for a label: {is_kept}.",
    )
