"""A killed run: nothing half-written counts as finished, and finished work is not done again.

By default it is killed once, in the middle of a job. The slow test kills at ten moments drawn at
random, five in each run of the workflow; at twenty:
    PRIVATE_ENSEMBLES_KILL_ROUNDS=20 python -m pytest -m slow tests/workflow/test_kills.py
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import yaml

from . import comparison

ROUNDS = int(os.environ.get("PRIVATE_ENSEMBLES_KILL_ROUNDS", "10"))
TINY = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "2")
KILLS = 5  # in one run of the workflow, each followed by a resumption
JOBS = 25  # of the tiny run, without its target
TEACHERS = "results/teachers/digits/kind=private,K=5,seed=0.pt"
CHECKPOINT = TEACHERS.replace("kind", ".kind").replace(".pt", ".checkpoint")


def start(folder, *arguments):
    """Start Snakemake in a process group of its own."""
    environment = {**os.environ, "PWD": str(folder)}
    environment.pop("PYTHONPATH", None)
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(process):
    """SIGKILL to the whole process group, jobs included."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)


def wait_until(condition, process, seconds=600):
    """Wait until `condition()` holds or the process ends; fails when time is up."""
    deadline = time.monotonic() + seconds
    while not condition() and process.poll() is None:
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(-(-ROUNDS // KILLS)))
def test_run_killed_at_random_moments_and_resumed_ends_in_the_same_results(
    number, tmp_path, copy_workflow, run_snakemake, finished_tiny_run
):
    folder = copy_workflow(tmp_path / "workflow-copy")
    logs = folder / "logs"
    moment = random.Random(number)
    kills = min(KILLS, ROUNDS - number * KILLS)
    # Random in the progress of the run, then in time: no moment is out of reach on any machine.
    # Each resumed run is the one that is killed next.
    for started in sorted(moment.sample(range(JOBS), kills)):
        process = start(folder, *TINY)
        try:
            # A job's log stays where it is, so this counts jobs that were ever started.
            wait_until(lambda n=started: len(list(logs.rglob("*.log"))) >= n, process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=moment.uniform(0, 2))
        finally:
            kill(process)
        unlocked = run_snakemake(folder, "--unlock")
        assert unlocked.returncode == 0, unlocked.stderr
    done = run_snakemake(folder, *TINY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((folder / "results").rglob(".*.part*")) == []
    differing = comparison.differences(
        comparison.contents(finished_tiny_run), comparison.contents(folder)
    )
    assert differing == []


def long_training(folder, seconds):
    """Arguments for a training of 72 steps that writes a checkpoint every so many seconds."""
    longer = {"private_teachers": {"epochs": 8}, "epsilon": 1}
    config = {"teachers": {"checkpoint_seconds": seconds}, "darrm": {"embedded": longer}}
    (folder / "longer.yaml").write_text(yaml.safe_dump(config))
    return (*TINY[:2], "longer.yaml", "--cores", "1", "--", TEACHERS)


def kill_training(folder):
    """Start the training, and kill it as soon as there is a checkpoint."""
    process = start(folder, *long_training(folder, 0))
    try:
        wait_until((folder / CHECKPOINT).exists, process)
    finally:
        kill(process)
    assert (folder / CHECKPOINT).exists(), "training was over before it could be killed"
    assert not (folder / TEACHERS).exists()


def test_killed_run_repeats_neither_finished_jobs_nor_steps_before_a_checkpoint(
    tmp_path, copy_workflow, run_snakemake, planned
):
    folder = copy_workflow(tmp_path / "workflow-copy")
    kill_training(folder)
    # only its owner may read what is not for release
    assert (folder / CHECKPOINT).stat().st_mode & 0o077 == 0

    assert run_snakemake(folder, "--unlock").returncode == 0
    training = long_training(folder, 1000)
    assert planned(folder, *training) == {"train_teachers": 1}  # and not the data set
    done = run_snakemake(folder, *training)
    assert done.returncode == 0, done.stderr
    assert "training goes on from there" in done.stderr
    assert (folder / TEACHERS).exists()
    assert list((folder / TEACHERS).parent.glob(".*")) == []
    assert list((folder / "results").rglob(".*.part*")) == []


def test_worker_killed_alone_fails_its_job_and_the_next_run_recovers(
    tmp_path, copy_workflow, run_snakemake
):
    # What the kernel does to a process when memory runs out.
    folder = copy_workflow(tmp_path / "workflow-copy")
    tiny = (*TINY[:2], "--cores", "1", "results/datasets/digits.npz")
    process = start(folder, *tiny)
    log = folder / "logs/prepare_dataset/digits.log"
    try:
        wait_until(lambda: log.exists() and "process" in log.read_text(), process)
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(log.read_text().split("process ")[1].split()[0]), signal.SIGKILL)
        assert process.wait(timeout=120) != 0 or "finished" in log.read_text()
    finally:
        kill(process)
    done = run_snakemake(folder, *tiny)
    assert done.returncode == 0, done.stderr
    assert (folder / "results/datasets/digits.npz").exists()
    assert list((folder / "results").rglob(".*.part*")) == []
