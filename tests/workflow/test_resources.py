"""What rules ask for, against what their jobs needed."""

import csv
import re

import pytest

# Beside a job that Slurm runs there are two Snakemakes in the same allocation.
SNAKEMAKE_MB = 300


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
def peaks(finished_tiny_run):
    """The largest peak (MB) of each rule's jobs, by their benchmark files and by their own logs.

    A benchmark looks twice a second and misses what shorter jobs need; the kernel does not.
    """
    largest = {}
    for path in (finished_tiny_run / "results/benchmarks").rglob("*.tsv"):
        rule = path.relative_to(finished_tiny_run / "results/benchmarks").parts[0]
        log = (
            finished_tiny_run
            / "logs"
            / path.relative_to(finished_tiny_run / "results/benchmarks").with_name(
                path.name.removesuffix(".tsv") + ".log"
            )
        )
        with open(path, newline="") as file:
            sampled = max(float(row["max_rss"]) for row in csv.DictReader(file, delimiter="\t"))
        exact = re.search(r"peak memory (\d+) MiB", log.read_text())
        largest[rule] = max(largest.get(rule, 0), sampled, float(exact.group(1)) if exact else 0)
    return largest


def test_every_rule_with_a_script_asks_for_growing_memory(root, requests):
    assert set(requests) == {path.stem for path in (root / "workflow/scripts").glob("*.py")}


def test_no_job_needs_more_memory_than_its_rule_asks_for(peaks, requests):
    assert len(peaks) >= 12
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
        if requests[rule][0] > 4 * peak + 400
    }
    assert absurd == {}
