"""Ledgers whose processes are killed at random moments, or race: what was seen was charged, once.

Each process makes a ledger if there is none, releases batches of a session or one release after
another, and shows them, until it is killed. The next one goes on with what is there. On the disk of
the tests, and on a small disk in memory that is nearly full.
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
from private_ensembles.base import files
from private_ensembles.release import (
    certificate,
    release_files,
    session_export,
    transaction,
)
from private_ensembles.release.record import Record
from private_ensembles.release.transaction import OutputFolder
from tests.ledgers import NOTHING_PROVEN, releases, seen_is_charged
from tests.release import flat
from tests.release.test_transaction import PLAN, POOL, asking, draw

SIZES = {"teachers": 11, "classes": 2, "labels": 9000, "epsilon": 8.0, "delta": 1e-3}
COUNTS = np.array([[8, 3], [2, 9], [6, 5]])
BATCHES = 12


def note(path, number):
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{number}\n")


class OfSession:
    """Batches of a session, released until the process is killed."""

    @staticmethod
    def work(folder, draws, seen):
        """Go on where the process before was killed; say outside what was drawn and seen."""
        drawn = Session._draw

        def noted(self, counts, *rest):
            labels = drawn(self, counts, *rest)
            if self._tried:  # else it is for a made-up query
                note(draws, len(counts))
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
                    note(seen, len(COUNTS))
                session_export.export(session, folder / "out")

    @staticmethod
    def check(folder):
        """Return the state of the ledger and how many labels it holds."""
        if not (folder / "a.session").exists():
            return None
        with Session.open(folder / "a.session") as session:
            return session.verify(), sum(len(batch.labels or []) for batch in session.batches())

    @staticmethod
    def ask(folder):
        """Ask for one batch, as whoever else asks for it, too."""
        with Session.open(folder / "a.session") as session:
            session.release(COUNTS, key="the same")

    @staticmethod
    def prepare(folder):
        """Make what both ask of."""
        stated = {"shards": "disjoint", "anyway": True}
        flat.create(folder / "a.session", mechanisms=["gnmax_analytic"], **stated, **SIZES).close()


class OfReleases:
    """Releases, one after the other, until the process is killed."""

    @staticmethod
    def release(folder, drawn, **change):
        place = OutputFolder(folder / "own" / "release")
        request = asking(folder / "votes.csv", **change)
        transaction.check_permission(request, place)
        with files.hold_lock(place.lock):
            labels = transaction.release_once(request, place, (PLAN, 0.9), POOL, drawn)
            release_files.write_release(labels, {})
        return labels

    @classmethod
    def work(cls, folder, draws, seen):
        def drawn(votes):
            labels = draw(votes)
            if len(labels) > 1:  # else it is for a made-up query
                note(draws, len(labels))
            return labels

        (folder / "votes.csv").write_text("0,1\n")
        with contextlib.suppress(OSError):
            start = len(releases(folder / "own"))
            for number in range(start, start + BATCHES):
                cls.release(folder, drawn, seed=number, again=True)
                note(seen, POOL.votes.n_queries)

    @staticmethod
    def check(folder):
        seen_is_charged(folder / "own")
        if not (folder / "own" / "ledger.sqlite").exists():
            return None
        known = Record.read_verified(folder / "own" / "ledger.sqlite")
        return known.state, sum(len(one.batch.labels or []) for one in known.releases)

    @classmethod
    def ask(cls, folder):
        cls.release(folder, draw)

    @staticmethod
    def prepare(folder):
        (folder / "votes.csv").write_text("0,1\n")


KINDS = pytest.mark.parametrize("kind", [OfSession, OfReleases])


def total(path):
    """The sum of whole lines: the last may have been cut off."""
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return sum(map(int, lines))


def killed_again_and_again(kind, folder, notes, times, seed):
    """Kill the work at random moments, and check after each; return how many batches there are.

    A first process is timed in a folder of its own, and says how long the moments are apart.
    """
    generator = random.Random(seed)
    draws, seen = notes / "draws", notes / "seen"
    fork = multiprocessing.get_context("fork")
    alone = notes / "alone"
    alone.mkdir()
    started = time.monotonic()
    process = fork.Process(target=kind.work, args=(alone, alone / "draws", alone / "seen"))
    process.start()
    process.join()
    lasts = time.monotonic() - started
    for _ in range(times):
        process = fork.Process(target=kind.work, args=(folder, draws, seen))
        process.start()
        time.sleep(generator.uniform(0, lasts))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        if (found := kind.check(folder)) is None:
            continue
        state, stored = found
        assert total(seen) <= stored <= state.labels
        assert total(draws) <= state.labels
    process = fork.Process(target=kind.work, args=(folder, draws, seen))
    process.start()
    process.join()
    assert process.exitcode == 0
    return kind.check(folder)[0].batches


@pytest.fixture(autouse=True)
def nothing_proven(monkeypatch):
    """A certificate takes a second, and a kilobyte of a small disk."""
    monkeypatch.setattr(certificate, "prove_or_explain", lambda *_: NOTHING_PROVEN)


@pytest.fixture(scope="module", autouse=True)
def planned_once():
    """What children fork has the plan's numbers: each makes a session in a moment."""
    flat.planned(mechanisms=["gnmax_analytic"], shards="disjoint", **SIZES)


@KINDS
@pytest.mark.parametrize(
    "times", [5, pytest.param(150, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_kills_at_random_moments_show_nothing_uncharged(kind, tmp_path, times):
    notes = tmp_path / "notes"
    notes.mkdir()
    assert killed_again_and_again(kind, tmp_path, notes, times, seed=1) > BATCHES


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


@KINDS
@pytest.mark.parametrize(
    "times", [3, pytest.param(100, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_a_disk_that_is_nearly_full_shows_nothing_uncharged(kind, small_disk, tmp_path, times):
    notes = tmp_path / "notes"
    notes.mkdir()
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 60_000)
    assert killed_again_and_again(kind, small_disk, notes, times, seed=2) >= 1


@KINDS
@pytest.mark.parametrize(
    "times", [3, pytest.param(100, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_two_processes_that_ask_for_the_same_make_one_charge(kind, tmp_path, times):
    fork = multiprocessing.get_context("fork")
    for number in range(times):
        folder = tmp_path / str(number)
        folder.mkdir()
        kind.prepare(folder)
        gate = fork.Barrier(2)

        def ask(folder=folder, gate=gate):
            gate.wait()
            kind.ask(folder)

        both = [fork.Process(target=ask) for _ in range(2)]
        for process in both:
            process.start()
        for process in both:
            process.join()
        assert [process.exitcode for process in both] == [0, 0]
        state, stored = kind.check(folder)
        assert (state.batches, stored) == (1, state.labels)
