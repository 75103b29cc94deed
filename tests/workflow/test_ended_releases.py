"""The release of own votes, ended: what was seen is charged, what was charged can be finished.

The script of the rule is ended in each state of the disk that it or what it calls makes, in a fork.
Snakemake itself is killed, and meets a command in the same folder, as it happens to people. What
all doors call is ended by tests/release/test_transaction.py, each time; these are slow.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from private_ensembles.base import files as io
from private_ensembles.base import provenance
from private_ensembles.release import ledger_file, own_votes, transaction
from private_ensembles.release.ledger_file import lock_of
from private_ensembles.report import own_figure as own_figure
from private_ensembles.run import file_names
from private_ensembles.run.check import check

from .. import ending
from ..conftest import users_environment
from ..ledgers import releases, seen_is_charged
from ..release import flat

pytestmark = pytest.mark.slow

OWN = Path("results/own")
RELEASE = OWN / "release"
MECHANISMS = ["gnmax_analytic", "permute_and_flip"]
TINY = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "1")
GIVEN = ("votes=votes.npz", "n_teachers=60", "n_classes=3", "shards=disjoint", "epsilon=20")


def drawn_votes(path):
    votes = np.random.default_rng(0).choice(3, (20, 60), p=[0.8, 0.1, 0.1]).astype(np.uint8)
    np.savez(path, votes=votes)


def newest(folder=Path()):
    """The labels of the last release, as they were charged; None if they are not known."""
    one = releases(folder / OWN)[-1]
    return None if one.batch.labels is None else one.terms.labels_text(one.batch)


def nothing_uncharged_is_seen(folder=Path()):
    """No file that others may read, finished or not, tells of labels that are not on the ledger."""
    seen_is_charged(folder / OWN)
    hashes = {
        hashlib.sha256(one.terms.labels_text(one.batch).encode()).hexdigest().encode()
        for one in releases(folder / OWN)
    }
    for path in (folder / "results/provenance/own").rglob("labels.csv.json"):
        assert set(re.findall(rb"\b[0-9a-f]{64}\b", path.read_bytes())) <= hashes, path


@pytest.fixture
def job(root, tmp_path, fake_snakemake, monkeypatch, stand_in):
    """Run the rule's script as it is, but for the plan and the figure, which are made once."""
    monkeypatch.chdir(tmp_path)
    drawn_votes("votes.npz")
    config = yaml.safe_load((root / "config.yaml").read_text())
    config |= {"votes": "votes.npz", "n_classes": 3, "shards": "disjoint", "epsilon": 5}
    config["n_teachers"] = 60
    config["planner"] |= {"mechanisms": MECHANISMS}
    settings = check(config)
    own = file_names.own_votes(settings)
    params = flat.params_of(settings)
    snakemake = fake_snakemake(inputs={"votes": "votes.npz"}, params=params)
    snakemake.output = type(snakemake.output)(**own)
    snakemake.config = settings.to_dict()
    known = {}

    def once(module, name):
        function = getattr(module, name)

        def make(*given, **more):
            if name not in known:
                known[name] = function(*given, **more)
            return known[name]

        monkeypatch.setattr(module, name, make)

    for name in ("plan_for", "labels_and_budgets_table", "private_table"):
        once(own_votes, name)
    once(provenance, "surroundings")

    def draw(table, curves, profile, *paths):
        for path in paths:
            Path(path).write_bytes(b"a figure")

    monkeypatch.setattr(own_figure, "draw_own", draw)
    stand_in(io, "os", fsync=lambda _: None)  # a process that ends leaves what it wrote
    script = str(root / "workflow" / "scripts" / "release" / "apply_votes.py")

    def run():
        runpy.run_path(script, {"snakemake": snakemake})

    run.outputs = [Path(path) for path in own.values()]
    run.script, run.config = script, snakemake.config
    run()
    shutil.rmtree("results")
    return run


def finished(run, monkeypatch):
    """Run the job again, as the same command does; return what had become of its labels before.

    Before, Snakemake removes the outputs of a job that has failed or was incomplete.
    """
    nothing_uncharged_is_seen()
    before = releases()
    state = "uncharged"
    if before:
        state = "lost" if before[-1].batch.labels is None else "charged"
    for path in run.outputs:
        path.unlink(missing_ok=True)
    with monkeypatch.context() as patched:
        if state == "charged":
            patched.setattr(own_votes, "draw_labels", lambda *_: pytest.fail("drawn"))
        if state == "lost":
            with pytest.raises(SystemExit):
                run()
            patched.setitem(run.config["own"]["release"], "again", True)
        run()
    after = releases()
    assert after[: len(before)] == before
    assert len(after) == len(before) + (state != "charged")
    assert all(path.is_file() for path in run.outputs)
    assert (RELEASE / "labels.csv").read_text() == newest()
    nothing_uncharged_is_seen()
    number = f"{len(after):04}"
    assert {path.name for path in RELEASE.iterdir()} == {
        *("index.html", "labels.csv", "mechanisms.csv", "mechanisms.pdf", "mechanisms.png"),
        *("curves.csv", number),
    }
    shown = {"labels.csv", "mechanisms.csv", "statement.html", "certificate.json"}
    assert {path.name for path in (RELEASE / number).iterdir()} == shown
    shutil.rmtree("results")
    return state


def test_a_job_that_is_killed_in_any_state_shows_nothing_uncharged_and_can_be_finished(
    job, monkeypatch, capfd
):
    where = (job.script, transaction, ledger_file, io, provenance)
    states = [
        finished(job, monkeypatch) for _ in ending.visit_every_state(job, where, Path("results"))
    ]
    assert set(states) == {"uncharged", "lost", "charged"}
    assert states.count("charged") > 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_job_that_is_ended_at_any_line_shows_nothing_uncharged_and_can_be_finished(
    job, number, monkeypatch, capfd
):
    where = (job.script, transaction, ledger_file, io, provenance)
    states = [
        finished(job, monkeypatch)
        for _ in ending.end_at_every_line(job, where, ending.kill_with(number))
    ]
    assert len(states) > 250
    assert set(states) == {"uncharged", "lost", "charged"}


def test_a_job_whose_disk_fills_up_shows_nothing_uncharged_and_can_be_finished(
    job, monkeypatch, capfd
):
    """The certificate is the largest: the ledger holds it, too."""
    states = []
    for size in [0, 500, 5_000, 20_000, 100_000, 200_000, 10**6]:
        ending.run_with_room_for(size, job)
        states.append(finished(job, monkeypatch))
    assert {"uncharged", "charged"} <= set(states)


@pytest.fixture
def folder(tmp_path, copy_workflow):
    """The workflow with votes, and few mechanisms to plan."""
    folder = copy_workflow(tmp_path / "copy")
    drawn_votes(folder / "votes.npz")
    tiny = folder / "config" / "scenarios" / "tiny.yaml"
    settings = yaml.safe_load(tiny.read_text())
    settings["planner"]["mechanisms"] = MECHANISMS
    tiny.write_text(yaml.safe_dump(settings))
    return folder


@contextlib.contextmanager
def started(folder, *words):
    """A process in the folder, as a user's shell starts it; what it printed is in `said`."""
    with open(folder / f"said-{time.monotonic_ns()}.txt", "w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=folder,
            env={**users_environment(), "PWD": str(folder), "PYTHONPATH": str(folder / "workflow")},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        process.said = lambda: Path(said.name).read_text(encoding="utf-8")
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def nobody_releases(folder):
    """Hold the folder's lock, so that who wants to release here waits."""
    lock = lock_of(folder / OWN / "ledger.sqlite")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def wait_until_it_waits(process):
    deadline = time.monotonic() + 120
    while "is held by another process: waiting" not in process.said():
        assert process.poll() is None, process.said()
        assert time.monotonic() < deadline, process.said()
        time.sleep(0.05)


def ends_well(process):
    assert process.wait(timeout=300) == 0, process.said()


SNAKEMAKE = ("snakemake", *TINY, "--config", *GIVEN)
PLANNED = [word for name in MECHANISMS for word in ("--mechanism", name)]
COMMAND = ("private_ensembles", "release", "votes.npz", "--teachers", "60", "--classes", "3")
COMMAND += ("--epsilon", "20", "--shards", "disjoint", *PLANNED)


@pytest.mark.parametrize("first", ["the orphan", "the next run"])
def test_a_job_whose_snakemake_was_killed_and_the_same_command_make_one_release(folder, first):
    """The orphaned job goes on, and Snakemake's clean-up for the next one deletes what it made."""
    with contextlib.ExitStack() as running:
        with nobody_releases(folder):
            run = running.enter_context(started(folder, *SNAKEMAKE))
            wait_until_it_waits(run)
            run.kill()
            run.wait()
            with started(folder, *SNAKEMAKE, "--unlock") as unlocked:
                ends_well(unlocked)
            if first == "the orphan":
                again = None
            else:
                again = running.enter_context(started(folder, *SNAKEMAKE))
                wait_until_it_waits(again)
        if again is None:
            deadline = time.monotonic() + 120
            while not releases(folder / OWN):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            again = running.enter_context(started(folder, *SNAKEMAKE))
        ends_well(again)
    (_,) = releases(folder / OWN)
    assert (folder / RELEASE / "labels.csv").read_text() == newest(folder)
    nothing_uncharged_is_seen(folder)


def test_workflow_and_command_at_once_in_one_folder_make_one_release(folder):
    """Without `again` there is one charge, and whoever made the labels can have them."""
    with contextlib.ExitStack() as running:
        with nobody_releases(folder):
            run = running.enter_context(started(folder, *SNAKEMAKE))
            wait_until_it_waits(run)
            words = [*COMMAND, "--labels", "7"]
            command = running.enter_context(started(folder, *words))
            wait_until_it_waits(command)
        statuses = {"workflow": run.wait(timeout=300), "command": command.wait(timeout=300)}
        said = run.said() + command.said()
    assert sorted(statuses.values())[0] == 0 < sorted(statuses.values())[1]
    assert said.count("labels of your votes are out already (1 release") == 1
    (one,) = releases(folder / OWN)
    nothing_uncharged_is_seen(folder)
    # Snakemake removes the files of a job that was refused: the command's were among them.
    mine = SNAKEMAKE if statuses["workflow"] == 0 else words
    with started(folder, *mine) as back:
        ends_well(back)
    assert releases(folder / OWN) == [one]
    assert (folder / RELEASE / "labels.csv").read_text() == newest(folder)


def test_an_interrupted_workflow_is_continued_by_the_same_command(folder):
    """Ctrl-C in a terminal goes to Snakemake and to its job."""
    said = ""
    with started(folder, *SNAKEMAKE) as run:
        while not releases(folder / OWN):
            assert run.poll() is None, run.said()
            time.sleep(0.01)
        for line in subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(run.pid)], capture_output=True, text=True, check=True
        ).stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(line), signal.SIGINT)
        run.send_signal(signal.SIGINT)
        run.wait(timeout=120)
        said = run.said()
    nothing_uncharged_is_seen(folder)
    with started(folder, *SNAKEMAKE) as again:
        ends_well(again)
        said += again.said()
    (_,) = releases(folder / OWN)
    assert (folder / RELEASE / "labels.csv").read_text() == newest(folder)
    assert "Traceback" not in said
