"""A killed run: nothing half-written counts as finished, and finished work is not done again.

Ten moments are drawn at random, five in each run of the workflow; twenty are drawn by
    PRIVATE_ENSEMBLES_KILL_ROUNDS=20 python -m pytest -m slow tests/workflow/test_kills.py
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import yaml

from . import comparison

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("PRIVATE_ENSEMBLES_KILL_ROUNDS", "10"))
TINY = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "2")
KILLS = 5  # in one run of the workflow, each followed by a resumption
JOBS = 25  # of the tiny run, without its target
TEACHERS = "results/teachers/digits/kind=private,K=5,seed=0.pt"
VOTES = TEACHERS.replace("teachers/", "votes/", 1).replace(".pt", ".npz")
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


def test_votes_of_slices_are_those_of_the_ensemble(tmp_path, run_snakemake, finished_tiny_run):
    folder = shutil.copytree(finished_tiny_run, tmp_path / "copy")
    (folder / "slices.yaml").write_text("teachers: {per_job: 3}\n")
    for path in (TEACHERS, VOTES):
        (folder / path).unlink()
    done = run_snakemake(folder, *TINY[:2], "slices.yaml", "--cores", "2", "--", VOTES)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {path.name for path in (folder / TEACHERS).parent.iterdir()}
    kinds = "private", "plain"  # the votes of both come from one job
    slices = {f"kind={kind},K=5,seed=0,slice={part}of2.pt" for kind in kinds for part in (1, 2)}
    assert names == slices | {"kind=plain,K=5,seed=0.pt"}
    both = [np.load(where / VOTES, allow_pickle=False) for where in (folder, finished_tiny_run)]
    assert np.array_equal(both[0]["votes"], both[1]["votes"])
    assert np.array_equal(both[0]["labels"], both[1]["labels"])


def test_killed_training_goes_on_from_its_checkpoint_to_the_same_bytes(
    tmp_path, run_snakemake, planned, finished_tiny_run
):
    folder = shutil.copytree(finished_tiny_run, tmp_path / "copy")
    (folder / TEACHERS).unlink()
    kill_training(folder)
    # Only its owner may read what is not for release.
    assert (folder / CHECKPOINT).stat().st_mode & 0o077 == 0
    assert run_snakemake(folder, "--unlock").returncode == 0
    training = long_training(folder, 1000)
    assert planned(folder, *training) == {"train_teachers": 1}  # and not the data set
    resumed = run_snakemake(folder, *training)
    assert resumed.returncode == 0, resumed.stderr
    assert "training goes on from there" in resumed.stderr
    assert list((folder / TEACHERS).parent.glob("*private*")) == [folder / TEACHERS]
    assert list((folder / TEACHERS).parent.glob(".*")) == []
    data = (folder / TEACHERS).read_bytes()

    (folder / TEACHERS).unlink()
    anew = run_snakemake(folder, *long_training(folder, 1000))
    assert anew.returncode == 0, anew.stderr
    assert "training goes on" not in anew.stderr
    assert (folder / TEACHERS).read_bytes() == data
