"""What a release shows appears whole, with one time for all of it, for those who may read it."""

import json
import os
import time

import pytest

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.release import statement
from private_ensembles.release.record import Total
from private_ensembles.release.release_files import write_atomically, write_release
from private_ensembles.release.release_plan import ReleasePlan
from private_ensembles.release.transaction import Labels
from tests.ledgers import NOTHING_PROVEN

TEXT = "query,label\n0,1\n"
TOTAL = Total(1.0, 1e-5, "replace_one")


def test_all_files_of_a_release_have_one_time_in_whole_seconds(tmp_path):
    folder = tmp_path / "0001"
    others = {"mechanisms.csv": lambda path: (path.write_text("a\n"), time.sleep(0.01))}
    files = write_release(Labels(TEXT, folder, TOTAL), others)
    assert files == {name: folder / name for name in ("labels.csv", "mechanisms.csv")}
    assert files["labels.csv"].read_text() == TEXT
    times = {path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(times) == 1
    assert times.pop() % 10**9 == 0
    modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {folder.stat().st_mode & 0o666}


def test_a_rehearsal_is_called_one_and_only_its_owner_may_read_it(tmp_path):
    files = write_release(
        Labels(TEXT, tmp_path), {"mechanisms.csv": lambda path: path.write_text("a\n")}
    )
    assert [path.name for path in files.values()] == [
        "rehearsal_labels.csv",
        "rehearsal_mechanisms.csv",
    ]
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("of_parent", "of_folder", "of_file"),
    [(0o755, 0o755, 0o644), (0o777, 0o755, 0o644), (0o700, 0o700, 0o600)],
)
def test_a_release_of_a_job_is_for_those_who_may_read_the_others(
    tmp_path, of_parent, of_folder, of_file
):
    tmp_path.chmod(of_parent)
    mask = os.umask(0o077)
    try:
        path = write_release(Labels(TEXT, tmp_path / "0001", TOTAL), {}, job=True)["labels.csv"]
    finally:
        os.umask(mask)
    assert path.parent.stat().st_mode & 0o777 == of_folder
    assert path.stat().st_mode & 0o777 == of_file


@pytest.mark.parametrize("mode", [None, 0o600])
def test_a_file_that_cannot_be_written_leaves_the_one_before(tmp_path, mode):
    path = tmp_path / "labels.csv"
    write_atomically(path, lambda unfinished: unfinished.write_text("before"), 1000, mode)
    assert path.stat().st_mtime == 1000

    def full(unfinished):
        unfinished.write_text("half")
        assert mode is None or unfinished.stat().st_mode & 0o777 == 0o600
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, full, 2000, mode)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_a_release_has_its_statement_and_its_certificate_beside_it(tmp_path):
    task = Task(Ensemble(9, 3), Budget(1.0, 1e-5), Wanted(2), secure=True)
    plan = ReleasePlan(task, "gnmax", load_mechanism("gnmax").calibrate(task), 1.0, None, "0")
    charged = statement.LedgerEntry(1.0, 1e-5, "2026-01-01T00:00:00+00:00", 1, "00", TOTAL)
    documents = statement.documents(plan, NOTHING_PROVEN, charged)
    files = write_release(Labels(TEXT, tmp_path, TOTAL, documents=documents, time=1000), {})
    assert list(files) == ["labels.csv", "certificate.json", "statement.html"]
    facts = json.loads(files["certificate.json"].read_text())["release"]
    assert json.loads(facts["terms"])["name"] == "gnmax"
    assert "2026-01-01T00:00:00+00:00" in files["statement.html"].read_text()
    assert {path.stat().st_mtime for path in tmp_path.iterdir()} == {1000}
