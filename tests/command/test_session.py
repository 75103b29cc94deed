"""session on the command line: create, release, status, export, extend."""

import errno
import json
import os

import numpy as np
import pytest

from private_ensembles.base import files as io
from private_ensembles.command.main import main
from private_ensembles.release import release_files

CREATE = ["session", "create", "w.session", "--teachers", "60", "--classes", "3", "--labels", "20"]
CREATE += ["--epsilon", "5", "--shards", "disjoint", "--mechanism", "gnmax_analytic"]
RELEASE = ["session", "release", "w.session", "march.npz", "--key", "march"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn = np.random.default_rng(0).choice(3, (10, 60), p=[0.8, 0.1, 0.1])
    np.savez(tmp_path / "march.npz", votes=drawn)
    assert main(CREATE) == 0
    return tmp_path


def run_and_read(capsys, *words):
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_batches_are_released_until_the_labels_are_used_up(folder, capsys):
    assert main(["session", "status", "w.session", "--caps"]) == 0
    made = capsys.readouterr().out
    assert "labels: 0 charged in 0 batches, 20 remain" in made
    assert "a cap of 40 labels" in made
    first = run_and_read(capsys, *RELEASE)
    assert first["drawn"]
    assert (first["labels"], first["remaining"]) == (10, 10)
    labels = (folder / first["file"]).read_text()
    times = {(folder / name).stat().st_mtime_ns for name in (first["file"], "w.session")}
    assert len(times) == 1  # that of the charge: how long the draw took is nobody's business
    assert times.pop() % 10**9 == 0
    assert len(labels.splitlines()) == 11
    again = run_and_read(capsys, *RELEASE, "--out", "again.csv")
    assert not again["drawn"]
    assert again["head"] == first["head"]
    assert (folder / "again.csv").read_text() == labels
    april = run_and_read(capsys, *RELEASE[:-1], "april")
    assert april["remaining"] == 0
    assert main([*RELEASE[:-1], "may"]) == 2
    error = capsys.readouterr().err
    assert "10 queries: must be at most 0" in error
    assert error.count("\n") == 1


def test_labels_that_could_not_be_written_are_charged_and_come_with_the_same_command(
    folder, capsys
):
    (folder / "is_a_folder").mkdir()
    assert main([*RELEASE, "--out", "is_a_folder"]) == 2
    assert "the labels are charged, and the same command writes them" in capsys.readouterr().err
    assert not run_and_read(capsys, *RELEASE)["drawn"]


def test_status_says_what_was_spent_and_refuses_an_older_copy(folder, capsys):
    before = (folder / "w.session").read_bytes()
    head = run_and_read(capsys, *RELEASE)["head"]
    report = run_and_read(
        capsys, "session", "status", "w.session", "--curve", "--caps", "--head", head
    )
    assert 0 < report["spent"]["epsilon"] < report["total"]["epsilon"] == 5
    assert len(report["curve"]) == 5
    assert [row["cap"] for row in report["caps"]] == [10, 20, 40]
    (folder / "w.session").write_bytes(before)
    for words in (["session", "status", "w.session"], RELEASE):
        assert main([*words, "--head", head]) == 2
        assert "put back from an older copy" in capsys.readouterr().err


def test_export_writes_what_may_be_published(folder, capsys):
    run_and_read(capsys, *RELEASE)
    files = run_and_read(capsys, "session", "export", "w.session", "--out", "out")["files"]
    papers = {"certificate.json", "statement.html"}
    assert set(files) == {"batches.csv", "labels.csv", "session.json"} | papers
    assert all((folder / path).stat().st_size for path in files.values())


def test_a_cap_is_raised_only_at_a_cost_that_was_stated(folder, capsys):
    asked = run_and_read(capsys, "session", "extend", "w.session", "--labels", "30")
    assert not asked["extended"]
    extend = ["session", "extend", "w.session", "--labels", "30", "--epsilon"]
    assert main([*extend, "5.5"]) == 2
    assert "--epsilon = 5.5: must be at least" in capsys.readouterr().err
    assert run_and_read(capsys, *extend, "7")["extended"]
    assert run_and_read(capsys, "session", "status", "w.session")["remaining"] == 30


def test_labels_are_written_over_nothing_that_is_read(folder, capsys):
    os.symlink("w.session", "soft")
    os.link("w.session", "hard")
    (folder / "names").write_text("a\nb\nc\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    files = ["w.session", "soft", "hard", "w.session-journal", ".w.session.lock"]
    for out in (*files, "march.npz", "names", f"../{folder.name}/w.session"):
        capsys.readouterr()
        assert main([*RELEASE, "--out", out, "--class-names", "names"]) == 2
        error = capsys.readouterr().err
        assert "must be another file than" in error, out
        assert error.count("\n") == 1
        assert {path: path.read_bytes() for path in folder.iterdir()} == before, out


def test_the_usual_name_of_labels_may_be_that_of_the_votes(folder, capsys):
    np.savetxt("w.session.march.csv", np.zeros((2, 60), int), fmt="%d", delimiter=",")
    before = (folder / "w.session.march.csv").read_bytes()
    assert main([*RELEASE[:3], "w.session.march.csv", *RELEASE[4:]]) == 2
    assert "--out" not in capsys.readouterr().out
    assert (folder / "w.session.march.csv").read_bytes() == before


def test_an_export_is_not_written_over_the_session(folder, capsys):
    (folder / "out").mkdir()
    place = folder / "w.session"
    before = place.read_bytes()
    for name in ("labels.csv", "session.json", ".batches.part.csv"):
        place = place.rename(folder / "out" / name)
        assert main(["session", "export", f"out/{name}", "--out", "out"]) == 2
        assert "must be another file than" in capsys.readouterr().err, name
        assert [path.read_bytes() for path in (folder / "out").iterdir()] == [before], name


def test_an_export_on_a_full_disk_names_the_file(folder, capsys, stand_in):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    stand_in(release_files, "os", utime=full)
    assert main(["session", "export", "w.session", "--out", "out"]) == 2
    *_, error = capsys.readouterr().err.splitlines()
    assert error == "error: out/labels.csv: No space left on device"
    assert list((folder / "out").iterdir()) == []


def test_a_disk_without_locks_is_told_of(folder, capsys, stand_in):
    def none(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    stand_in(io, "fcntl", flock=none)
    assert main(RELEASE) == 2
    *_, error = capsys.readouterr().err.splitlines()
    assert error.startswith(f"error: {folder}/.w.session.lock: Function not implemented: this file")
    assert "use a folder on a local disk" in error


REFUSED = [
    (CREATE, "w.session: is there already"),
    ([*RELEASE[:-1], "#1"], "--key = '#1'"),
    ([*RELEASE[:-1], "a/b"], "say with --out"),
    (["session", "status", "march.npz"], "is damaged, or no ledger"),
    (["session", "status", "nothing"], "is not a session file"),
    ([*CREATE[:2], "x.session", *CREATE[3:], "--labels", "0"], "--labels = 0"),
]


def test_what_is_wrong_is_said_in_one_line(folder, capsys):
    for words, message in REFUSED:
        capsys.readouterr()
        assert main(words) == 2, words
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


def test_a_session_that_is_of_little_use_is_not_made_unless_it_is_allowed(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main([*CREATE[:-4], "--mechanism", "gnmax_analytic"]) == 2
    assert capsys.readouterr().err.startswith("error: --shards: must be stated")
    useless = [*CREATE, "--epsilon", "0.1", "--unit", "patient"]
    assert main(useless) == 2
    first, *_, error = capsys.readouterr().err.splitlines()
    assert first.startswith("expected on an assumed profile, not yours")
    assert error.startswith("error: usefulness = ")
    assert error.endswith("or allow it with --anyway")
    assert list(tmp_path.iterdir()) == []
    report = run_and_read(capsys, *useless, "--anyway")
    assert not report["expectation"]["useful"]
    assert report["plan"]["unit"] == "patient"
    assert main(["session", "status", "w.session"]) == 0
    assert "protects one patient, whose data one teacher has" in capsys.readouterr().out


def test_a_session_that_has_absent_ballots_reads_them_without_another_word(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    ballots = np.random.default_rng(0).choice([-1, 0, 1, 2], (10, 60), p=[0.3, 0.5, 0.1, 0.1])
    np.savez("march.npz", votes=ballots)
    np.savez("counts.npz", counts=[[(row == c).sum() for c in range(3)] for row in ballots])
    words = ["--absent", "--absent-share", "0.3", "--noise", "reproducible"]
    assert run_and_read(capsys, *CREATE, *words)["plan"]["absent"] is True
    first = run_and_read(capsys, *RELEASE)
    assert first["labels"] == 10
    assert main([*RELEASE[:3], "counts.npz", "--key", "april"]) == 0
    assert "60 teachers (some may be absent), 3 classes" in capsys.readouterr().out


def test_a_session_without_absent_ballots_refuses_them(folder, capsys):
    votes = np.full((2, 60), -1)
    np.savez("march.npz", votes=votes)
    assert main(RELEASE) == 2
    assert "'-1' is none of the classes 0 to 2" in capsys.readouterr().err
    assert run_and_read(capsys, "session", "status", "w.session")["labels"] == 0


def test_a_batch_of_the_same_votes_in_another_form_counts_labels_as_the_file_does(folder, capsys):
    """One vote a line, an absent ballot by its own name, classes from 1: as for `release`."""
    assert main([*CREATE[:2], "x.session", *CREATE[3:], "--first-class", "1", "--absent"]) == 0
    teachers = range(int(CREATE[CREATE.index("--teachers") + 1]))
    lines = [f"q{q},t{t},{q % 2 + 1 if t else 0}" for q in range(6) for t in teachers]
    (folder / "long.csv").write_text("\n".join(["task,worker,label", *lines]) + "\n")
    words = ["session", "release", "x.session", "long.csv", "--key", "long", "--out", "labels.csv"]
    capsys.readouterr()
    assert main(words) == 2
    assert "say --long=task,worker,label" in capsys.readouterr().err
    assert main([*words, "--long", "task,worker,label", "--absent-as", "0"]) == 0
    rows = (folder / "labels.csv").read_text().splitlines()
    assert rows[0] == "query,id,label"
    assert {row.split(",")[2] for row in rows[1:]} <= {"1", "2", "3"}
    assert [row.split(",")[1] for row in rows[1:]] == [f"q{q}" for q in range(6)][: len(rows) - 1]
