"""Sessions that are killed at random moments: all that was seen was charged, and work goes on.

Each process makes a session if there is none, releases batches and exports them, until it is
killed. The next one goes on with what is there. On the disk of the tests, and on a small disk in
memory that is nearly full.
"""

import contextlib
import multiprocessing
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest

from private_ensembles import Session
from private_ensembles.release import session_export

from . import flat

SIZES = {"teachers": 11, "classes": 2, "labels": 9000, "epsilon": 8.0, "delta": 1e-3}
COUNTS = np.array([[8, 3], [2, 9], [6, 5]])
BATCHES = 12


def work(folder, draws, seen):
    """Go on where the process before was killed; say outside what was drawn and what was seen."""
    drawn = Session._draw

    def noted(self, counts, *rest):
        labels = drawn(self, counts, *rest)
        if self._tried:  # else it is for a made-up query
            with open(draws, "a", encoding="utf-8") as file:
                file.write(f"{len(counts)}\n")
        return labels

    Session._draw = noted
    path = folder / "a.session"
    with contextlib.suppress(OSError):  # a disk that is full for now
        if not path.exists():
            stated = {"shards": "disjoint", "anyway": True}
            flat.create(path, mechanisms=["gnmax_analytic"], **stated, **SIZES).close()
        with Session.open(path) as session:
            start = session.state.batches
            for number in range(start, start + BATCHES):
                session.release(COUNTS, key=f"batch {number}", again=True)
                with open(seen, "a", encoding="utf-8") as file:
                    file.write(f"{len(COUNTS)}\n")
            session_export.export(session, folder / "out")


def total(path):
    """The sum of whole lines: the last may have been cut off."""
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return sum(map(int, lines))


def killed_again_and_again(folder, notes, times, seed):
    """Kill the work at random moments, and check after each; return how many batches there are.

    A first process is timed in a folder of its own, and says how long the moments are apart.
    """
    generator = random.Random(seed)
    draws, seen = notes / "draws", notes / "seen"
    fork = multiprocessing.get_context("fork")
    alone = notes / "alone"
    alone.mkdir()
    started = time.monotonic()
    process = fork.Process(target=work, args=(alone, alone / "draws", alone / "seen"))
    process.start()
    process.join()
    lasts = time.monotonic() - started
    for _ in range(times):
        process = fork.Process(target=work, args=(folder, draws, seen))
        process.start()
        time.sleep(generator.uniform(0, lasts))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        if not (folder / "a.session").exists():
            continue
        with Session.open(folder / "a.session") as session:
            state = session.verify()
            stored = sum(len(batch.labels or []) for batch in session.batches())
        assert total(seen) <= stored <= state.labels
        assert total(draws) <= state.labels
    process = fork.Process(target=work, args=(folder, draws, seen))
    process.start()
    process.join()
    assert process.exitcode == 0
    with Session.open(folder / "a.session") as session:
        return session.verify().batches


@pytest.fixture(scope="module", autouse=True)
def planned_once():
    """What children fork has the plan's numbers: each makes a session in a moment."""
    flat.planned(mechanisms=["gnmax_analytic"], shards="disjoint", **SIZES)


@pytest.mark.parametrize(
    "times", [15, pytest.param(200, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_kills_at_random_moments_show_nothing_uncharged(tmp_path, times):
    notes = tmp_path / "notes"
    notes.mkdir()
    assert killed_again_and_again(tmp_path, notes, times, seed=1) > BATCHES


@pytest.fixture
def small_disk(tmp_path):
    """A folder in memory with room for one session and little more."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a disk in memory")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize(
    "times", [10, pytest.param(200, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_a_disk_that_is_nearly_full_shows_nothing_uncharged(small_disk, tmp_path, times):
    notes = tmp_path / "notes"
    notes.mkdir()
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 60_000)
    assert killed_again_and_again(small_disk, notes, times, seed=2) >= 1
