"""What rules ask for, against what their jobs needed."""

import csv
import functools
import re

import pytest
import yaml

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


def test_every_job_asks_for_twice_the_memory_at_its_next_attempt(root, requests):
    first, second = requests(1), requests(2)
    # Of other configurations, or of the papers' own data.
    elsewhere = {"download_data", "apply_votes", "cast_forest_votes", "release_batch"}
    scripts = {path.stem for path in (root / "workflow/scripts").rglob("*.py")}
    assert scripts - elsewhere <= set(first)
    assert {name: 2 * mb for name, (mb, _) in first.items()} == {
        name: mb for name, (mb, _) in second.items()
    }


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


def test_no_rule_asks_for_absurdly_more_than_its_jobs_need(peaks, requests):
    requests = requests(1)
    # The paper's data need up to four times the memory of the tiny run.
    absurd = {
        rule: (peak, requests[rule])
        for rule, peak in peaks.items()
        if requests[rule][0] > 4 * max(peak, FULL_SIZE.get(rule, 0)) + 400
    }
    assert absurd == {}
