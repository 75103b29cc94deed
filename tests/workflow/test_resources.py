"""What rules ask for and what jobs get and need: memory, and threads that do not spin when idle."""

import csv
import functools
import json
import os
import re

import pytest
import yaml

from private_ensembles.papers.darrm.mathematics import linear_program

from . import changes

# Beside a job that Slurm runs there are two Snakemakes in the same allocation.
SNAKEMAKE_MB = 300
# Peaks (MB) at full size, by the jobs' logs, where tiny runs say little: Glyph's 25,000 queries of
# 150 classes, and gamma of 1,001 teachers.
FULL_SIZE = {
    "account_votes": 428,
    "release_nzc_labels": 208,
    "release_pate_labels": 195,
    "compare_noise": 414,
    "draw_threshold_effects": 490,
    "optimize_gamma": 165,
    "plan_mechanisms": 170,
    "synthesize_votes": 101,
}


@pytest.fixture(scope="module")
def requests(tmp_path_factory, copy_workflow, run_snakemake):
    """MB that each rule asks for at an attempt, and whether it runs locally: functions of both."""
    folder = changes.silenced(copy_workflow(tmp_path_factory.mktemp("requests") / "workflow-copy"))
    everything = {"papers": ["darrm", "pate", "dpbag", "nzc"]}
    (folder / "everything.yaml").write_text(yaml.safe_dump(everything))

    def ask(attempt):
        done = run_snakemake(
            folder,
            "-n",
            "--attempt",
            str(attempt),
            "--configfile",
            "everything.yaml",
            "--",
            "all",
            "sweeps",
            "publish_docs",
        )
        assert done.returncode == 0, done.stderr
        jobs = re.split(r"^(?=(?:local)?rule )", done.stdout + done.stderr, flags=re.MULTILINE)[1:]
        found = {}
        for job in jobs:
            local, name = re.match(r"(local)?rule (\w+):", job).groups()
            if "    log: " in job:
                request = int(re.search(r"mem_mb=(\d+)", job)[1])
                assert found.setdefault(name, (request, bool(local))) == (request, bool(local))
        return found

    return functools.cache(ask)


@pytest.fixture(scope="module")
def peaks(finished_tiny_run, finished_tiny_pate_run, finished_tiny_nzc_run):
    """The largest peak (MB) of each rule's jobs, by their benchmark files and by their own logs.

    A benchmark looks twice a second and misses what shorter jobs need; the kernel does not.
    """
    largest = {}
    for run in (finished_tiny_run, finished_tiny_pate_run, finished_tiny_nzc_run):
        benchmarks = run / "results/benchmarks"
        for path in benchmarks.rglob("*.tsv"):
            name = path.relative_to(benchmarks)
            rule = name.parts[0]
            log = run / "logs" / name.with_name(path.name.removesuffix(".tsv") + ".log")
            with open(path, newline="") as file:
                rows = csv.DictReader(file, delimiter="\t")
                sampled = max(float(row["max_rss"]) for row in rows)
            exact = re.search(r"peak memory (\d+) MiB", log.read_text())
            kernel = float(exact.group(1)) if exact else 0
            largest[rule] = max(largest.get(rule, 0), sampled, kernel)
    return largest


@pytest.mark.slow
def test_every_job_asks_for_twice_the_memory_at_its_next_attempt(root, requests):
    first, second = requests(1), requests(2)
    # Of other configurations, or of the papers' own data.
    elsewhere = {"download_data", "apply_votes", "cast_forest_votes", "release_batch"}
    scripts = {path.stem for path in (root / "workflow/scripts").rglob("*.py")}
    assert scripts - elsewhere <= set(first)
    assert {name: 2 * mb for name, (mb, _) in first.items()} == {
        name: mb for name, (mb, _) in second.items()
    }


@pytest.mark.slow
def test_no_job_needs_more_memory_than_its_rule_asks_for(peaks, requests):
    requests = requests(1)
    assert len(peaks) >= 25
    peaks = peaks | {rule: max(peak, peaks[rule]) for rule, peak in FULL_SIZE.items()}
    short = {
        rule: (peak, requests[rule])
        for rule, peak in peaks.items()
        if peak + (0 if requests[rule][1] else SNAKEMAKE_MB) > requests[rule][0]
    }
    assert short == {}


@pytest.mark.slow
def test_no_rule_asks_for_absurdly_more_than_its_jobs_need(peaks, requests):
    requests = requests(1)
    # The paper's data need up to four times the memory of the tiny run.
    absurd = {
        rule: (peak, requests[rule])
        for rule, peak in peaks.items()
        if requests[rule][0] > 4 * max(peak, FULL_SIZE.get(rule, 0)) + 400
    }
    assert absurd == {}


SNAKEFILE = """
rule count:
    output: "{threads}.txt"
    threads: lambda wc: int(wc.threads)
    script: "count.py"
"""


def test_waiting_threads_are_passive(root):
    text = (root / "workflow" / "rules" / "common.smk").read_text(encoding="utf-8")
    assert '"OMP_WAIT_POLICY": "PASSIVE"' in text


def test_trainings_do_not_depend_on_what_else_is_in_a_batch(root):
    """As tests/training/teachers/test_stacked.py sees it; a value that somebody has set stays."""
    text = (root / "workflow" / "rules" / "common.smk").read_text(encoding="utf-8")
    assert 'os.environ.setdefault("MKL_CBWR", "AUTO")' in text


# All that computes on several threads, each on enough work to wake its threads.
LIBRARIES = """
import json, os, sys
sys.path.insert(0, snakemake.params.package)
import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info

from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.training.teachers.device import choose_device

def busy():
    # Threads of this process that have computed for 0.1 s or more.
    ticks = 0.1 * os.sysconf("SC_CLK_TCK")
    found = 0
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        found += int(fields[11]) + int(fields[12]) >= ticks
    return found

threads = snakemake.threads
choose_device("cpu", threads)
import torch
a = np.random.default_rng(0).standard_normal((1000, 1000))
for _ in range(10):
    a @ a
scipy.linalg.solve(a, a)
tensor = torch.from_numpy(a)
for _ in range(10):
    tensor @ tensor
for solver in ("highs", "auto"):
    optimize_gamma(K=101, m=20, epsilon=0.1, Delta=1e-5, solver=solver, threads=threads)
facts = {
    "pools": [pool["num_threads"] for pool in threadpool_info()],
    "torch": torch.get_num_threads(),
    "busy": busy(),
}
json.dump(facts, open(snakemake.output[0], "w"))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs Linux's /proc")
def test_numerical_libraries_compute_on_as_many_threads_as_the_rule_says(
    tmp_path, root, run_snakemake, monkeypatch
):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    params = f'    params: package="{root}/workflow"\n    script:'
    (tmp_path / "Snakefile").write_text(SNAKEFILE.replace("    script:", params))
    (tmp_path / "count.py").write_text(LIBRARIES)
    done = run_snakemake(tmp_path, "--cores", "2", "1.txt", "2.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    for threads in (1, 2):
        facts = json.loads((tmp_path / f"{threads}.txt").read_text())
        assert facts["torch"] == threads
        assert len(facts["pools"]) >= 2
        assert set(facts["pools"]) == {threads}
    # With one thread, nobody but the main thread has computed.
    assert json.loads((tmp_path / "1.txt").read_text())["busy"] == 1


def test_solvers_are_told_their_threads():
    highs = linear_program.Highs(threads=2)
    assert highs.model.getOptionValue("threads")[1] == 2
    try:
        gurobi = linear_program.Gurobi(threads=2)
    except linear_program.SolverUnavailable as reason:
        pytest.skip(str(reason))
    assert gurobi.api.Model(env=gurobi.environment).Params.Threads == 2
