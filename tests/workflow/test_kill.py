"""A killed run: nothing half-written counts as finished, and finished work is not done again."""

import os
import signal
import subprocess
import sys
import time

TARGET = "results/votes/digits/kind=private,K=5,seed=0.npz"
TINY = ("--configfile", "tests/config/tiny.yaml", "--cores", "1", TARGET)


def test_killed_run_resumes_where_it_was(tmp_path, copy_workflow, run_snakemake, planned):
    folder = copy_workflow(tmp_path / "workflow-copy")
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", *TINY],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # The log of the next job tells that Snakemake has booked the data set as finished.
    log = folder / "logs/train_teachers/digits/kind=private,K=5,seed=0.log"
    deadline = time.monotonic() + 120
    while not log.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert log.exists()
    assert list(folder.glob("results/teachers/digits/*.pt")) == []

    assert run_snakemake(folder, "--unlock").returncode == 0
    plan = planned(folder, *TINY)
    assert plan == {"train_teachers": 1, "cast_votes": 1}
    done = run_snakemake(folder, *TINY)
    assert done.returncode == 0, done.stderr
    assert (folder / TARGET).exists()
    assert list((folder / "results").rglob(".*.part*")) == []
