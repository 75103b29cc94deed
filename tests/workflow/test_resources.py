"""What rules ask for, against what their jobs needed."""

import csv
import re

import pytest

# Beside a job that Slurm runs there are two Snakemakes in the same allocation.
SNAKEMAKE_MB = 300
# Peaks (MB) at full size, by the jobs' logs, where tiny votes say little: Glyph's 25,000 queries of
# 150 classes.
FULL_SIZE = {
    "account_votes": 297,
    "ask_nzc_labels": 208,
    "buy_labels": 195,
    "compare_equal_budgets": 428,
    "compare_noise": 514,
    "draw_threshold_effects": 490,
    "plan_mechanisms": 240,
    "synthesize_votes": 101,
}


@pytest.fixture(scope="module")
def requests(root):
    """MB that each rule asks for at its first attempt on a CPU, and whether it runs locally."""
    found = {}
    for path in (root / "workflow/rules").glob("*.smk"):
        text = path.read_text(encoding="utf-8")
        for block in re.split(r"^(?=rule )", text, flags=re.MULTILINE)[1:]:
            name = re.match(r"rule (\w+):", block).group(1)
            request = re.search(r"mem_mb=growing\((?:\d+ if GPUS else )?(\d+)\)", block)
            if request:
                found[name] = int(request.group(1)), "localrule: True" in block
    return found


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


def test_every_rule_with_a_script_asks_for_growing_memory(root, requests):
    assert set(requests) == {path.stem for path in (root / "workflow/scripts").glob("*.py")}


def test_no_job_needs_more_memory_than_its_rule_asks_for(peaks, requests):
    assert len(peaks) >= 25
    peaks = peaks | {rule: max(peak, peaks[rule]) for rule, peak in FULL_SIZE.items()}
    short = {
        rule: (peak, requests[rule])
        for rule, peak in peaks.items()
        if peak + (0 if requests[rule][1] else SNAKEMAKE_MB) > requests[rule][0]
    }
    assert short == {}


def test_no_rule_asks_for_absurdly_more_than_its_jobs_need(peaks, requests):
    # The paper's data need up to four times the memory of the tiny run.
    absurd = {
        rule: (peak, requests[rule])
        for rule, peak in peaks.items()
        if requests[rule][0] > 4 * max(peak, FULL_SIZE.get(rule, 0)) + 400
    }
    assert absurd == {}
