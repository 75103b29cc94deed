"""release on the command line: once, on record, secure, and nothing of the votes but labels."""

import csv
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from private_ensembles.command import release
from private_ensembles.command.main import main
from private_ensembles.jobs import io
from private_ensembles.release import own_votes, record, releasing, showing

from .. import ending

WORDS = [
    "--teachers",
    "60",
    "--classes",
    "3",
    "--epsilon",
    "5",
    "--shards",
    "disjoint",
    "--mechanism",
    "gnmax_analytic",
]


SHOWN = {"labels.csv", "mechanisms.csv", "statement.html", "certificate.json"}


@pytest.fixture
def votes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn = np.random.default_rng(0).choice(3, (20, 60), p=[0.8, 0.1, 0.1])
    np.savez(tmp_path / "votes.npz", votes=drawn)
    return "votes.npz"


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_labels_are_released_with_secure_noise_and_put_on_record(votes, tmp_path, capsys):
    assert main(["release", votes, *WORDS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    folder = tmp_path / "results" / "own" / "release"
    assert {path.name for path in folder.iterdir()} == {"0001", "releases.csv"}
    (record,) = rows(folder / "releases.csv")
    assert (record["file"], record["labels"]) == ("0001/labels.csv", "20")
    assert (folder / "releases.csv").stat().st_mtime_ns % 10**9 == 0
    folder = folder / "0001"
    assert {path.name for path in folder.iterdir()} == SHOWN
    digest = hashlib.sha256((folder / "labels.csv").read_bytes()).hexdigest()
    assert record["labels_sha256"] == digest
    assert float(record["epsilon"]) == found["epsilon"] <= 5
    assert found["asked"]["noise"] == "secure"
    labels = rows(folder / "labels.csv")
    assert 0 < len(labels) <= 20
    assert {row["label"] for row in labels} <= {"0", "1", "2"}
    assert found["all_releases"]["epsilon"] >= found["epsilon"]
    times = {path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(times) == 1  # how long the draw took is nobody's business
    assert times.pop() % 10**9 == 0


OTHER = [*WORDS, "--epsilon", "4"]


def test_the_same_request_again_shows_the_same_labels_and_costs_nothing(
    votes, tmp_path, capsys, monkeypatch
):
    assert main(["release", votes, *WORDS]) == 0
    labels = tmp_path / "results" / "own" / "release" / "0001" / "labels.csv"
    before = labels.read_bytes()
    labels.unlink()
    with monkeypatch.context() as patched:
        patched.setattr(own_votes, "release", lambda *_: pytest.fail("drawn"))
        assert main(["release", votes, *WORDS]) == 0
    assert "drawn and charged before: they cost nothing more" in capsys.readouterr().out
    assert labels.read_bytes() == before
    assert len(record.read()) == 1


def test_a_second_release_is_refused_until_it_is_allowed(votes, tmp_path, capsys, monkeypatch):
    assert main(["release", votes, *WORDS]) == 0
    labels = tmp_path / "results" / "own" / "release" / "0001" / "labels.csv"
    before = labels.read_bytes()
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(own_votes, "release", lambda *_: pytest.fail("drawn"))
        assert main(["release", votes, *OTHER]) == 2
        # Nor are votes looked at.
        assert main(["release", "gone.csv", *OTHER]) == 2
    first, error = capsys.readouterr().err.splitlines(keepends=True)
    assert first == error
    assert "labels of your votes are out already (1 release" in error
    assert error.endswith("or allow it with --again\n")
    assert labels.read_bytes() == before
    assert main(["release", votes, *OTHER, "--again"]) == 0
    shown = capsys.readouterr().out
    assert "Releasing again. With the 1 release before" in shown
    releases = record.read(labels.parent.with_name("releases.csv"))
    assert len(releases) == 2
    assert labels.read_bytes() == before  # each release has a folder of its own
    assert (labels.parents[1] / "0002" / "labels.csv").exists()
    assert str(record.together(releases)) in shown


def test_the_record_is_the_workflow_s(votes, tmp_path):
    """A release of the workflow in the same folder counts, and the other way round."""
    folder = tmp_path / "results" / "own" / "release"
    assert str(release.RESULTS / "release" / "releases.csv") == record.RELEASES
    folder.mkdir(parents=True)
    noted = '{"task": {"reach": 1}}', 3, "0001/labels.csv"
    earlier = record.Release(
        "now", "gnmax", 1.0, 1e-5, "disjoint_shards", "replace_one", "0", *noted
    )
    record.append(earlier)
    assert main(["release", votes, *WORDS]) == 2
    assert main(["release", votes, *WORDS, "--again"]) == 0
    assert len(record.read()) == 2


def test_a_rehearsal_is_called_one_and_is_not_counted(votes, tmp_path, capsys):
    for _ in range(2):
        assert main(["release", votes, *WORDS, "--noise", "reproducible"]) == 0
        assert "A REHEARSAL" in capsys.readouterr().out
    folder = tmp_path / "results" / "own" / "rehearsal"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rehearsal_labels.csv", "rehearsal_mechanisms.csv"}
    # Whoever has the seed can take the noise away: for its owner's eyes.
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in folder.glob("*.csv")} == {0}
    assert not folder.with_name("release").exists()


def test_labels_are_on_record_before_they_are_seen(votes, tmp_path, monkeypatch):
    folder = tmp_path / "results" / "own" / "release"
    append = record.append

    def appending(one, path, **more):
        assert {path.name for path in folder.iterdir()} == set()
        (drawn,) = folder.with_name("private").glob("*/labels.csv")
        assert drawn.stat().st_mode & 0o777 == 0o600
        append(one, path, **more)
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(record, "append", appending)
        assert main(["release", votes, *WORDS]) == 2
    assert {path.name for path in folder.iterdir()} == {"releases.csv"}
    assert main(["release", votes, *WORDS]) == 0
    (one,) = record.read(folder / "releases.csv")
    assert hashlib.sha256((folder / one.file).read_bytes()).hexdigest() == one.labels_sha256


def test_a_total_budget_is_kept(votes, tmp_path, capsys):
    assert main(["release", votes, *WORDS, "--total-budget", "4"]) == 2
    assert "must be at most --total-budget = 4; epsilon = 4 is left" in capsys.readouterr().err
    assert record.read() == []
    assert main(["release", votes, *WORDS, "--total-budget", "9"]) == 0
    assert "of the total budget, epsilon = 4." in capsys.readouterr().out
    assert main(["release", votes, *OTHER, "--again", "--total-budget", "9.5"]) == 0


@pytest.fixture
def planned_once(votes, monkeypatch, stand_in):
    """Plan once, and do not wait for the disk: only the release itself is ended again and again."""
    plan, known = own_votes.plan_for, []

    def planned(*given, **more):
        known[:] = known or [plan(*given, **more)]
        return known[0]

    monkeypatch.setattr(own_votes, "plan_for", planned)
    for module in (io, record):
        stand_in(module, "os", fsync=lambda _: None)
    assert main(["release", votes, *WORDS, "--out", "planned"]) == 0


def ended(votes, folder):
    """What is there after the command ended somewhere: all that is seen is charged, and it can end.

    Returns whether the labels were charged.
    """
    charged = {one.labels_sha256 for one in record.read(folder / "releases.csv")}
    for path in folder.rglob("*"):
        if "labels" in path.name and path.stat().st_size:
            kept = list(folder.parent.glob("private/*/labels.csv"))
            (of,) = [one for one in kept if hashlib.sha256(one.read_bytes()).hexdigest() in charged]
            assert of.read_bytes().startswith(path.read_bytes())
    with pytest.MonkeyPatch.context() as patched:
        if charged:
            patched.setattr(own_votes, "release", lambda *_: pytest.fail("drawn"))
        assert main(["release", votes, *WORDS]) == 0
    (one,) = record.read(folder / "releases.csv")
    assert charged <= {one.labels_sha256}
    assert hashlib.sha256((folder / one.file).read_bytes()).hexdigest() == one.labels_sha256
    assert {path.name for path in folder.iterdir()} == {"0001", "releases.csv"}
    assert {path.name for path in (folder / "0001").iterdir()} == SHOWN
    shutil.rmtree(folder.parent)
    return bool(charged)


def test_a_command_that_is_killed_in_any_state_shows_nothing_uncharged_and_can_be_finished(
    votes, planned_once, capfd
):
    where = (release, releasing, record, showing, io)
    work = ending.at_every_state(lambda: main(["release", votes, *WORDS]), where, release.RESULTS)
    states = [ended(votes, release.RESULTS / "release") for _ in work]
    assert states.count(True) > 15 < states.count(False)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_command_that_is_ended_at_any_line_shows_nothing_uncharged_and_can_be_finished(
    votes, planned_once, number, capfd
):
    where = (release, releasing, record, showing, io)
    work = ending.at_every_line(lambda: main(["release", votes, *WORDS]), where, ending.by(number))
    states = [ended(votes, release.RESULTS / "release") for _ in work]
    assert len(states) > 150
    assert states.count(True) > 30 < states.count(False)


def test_a_command_whose_disk_fills_up_shows_nothing_uncharged_and_can_be_finished(
    votes, planned_once, capfd
):
    states = []
    for size in range(0, 2400, 40):
        ending.with_room_for(size, lambda: main(["release", votes, *WORDS]))
        states.append(ended(votes, release.RESULTS / "release"))
    assert set(states) == {True, False}


@pytest.mark.parametrize(
    ("module", "name", "place", "charged"),
    [
        (releasing, "_write", "results/own/private", 0),
        (showing, "writer", "results/own/release/0001/labels.csv", 1),
    ],
)
def test_a_full_disk_is_one_line_that_says_where_and_whether_the_labels_are_charged(
    votes, capsys, monkeypatch, module, name, place, charged
):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, name, full if charged == 0 else lambda _: full)
    assert main(["release", votes, *WORDS]) == 2
    remedy = ": the labels are charged, and the same command puts them in place" * charged
    *_, error = capsys.readouterr().err.splitlines()
    assert error == f"error: {place}: No space left on device{remedy}"
    assert len(record.read()) == charged


def test_a_release_that_nobody_hears_of_is_made_all_the_same(votes, tmp_path):
    """A closed pipe is no bad input: the labels are there and charged."""
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"PYTHONPATH": str(Path(release.__file__).parents[2])}
    words = [sys.executable, "-m", "private_ensembles", "release", votes, *WORDS]
    done = subprocess.run(
        words, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment, check=False
    )
    os.close(writer)
    assert done.returncode == 0
    assert done.stderr.startswith("expected on an assumed profile, not yours")
    assert (tmp_path / "results/own/release/0001/labels.csv").is_file()
    assert len(record.read()) == 1


@pytest.mark.parametrize("noise", ["secure", "reproducible"])
@pytest.mark.parametrize("option", ["votes", "--class-names", "--answer"])
def test_labels_are_written_over_nothing_that_is_read(votes, tmp_path, capsys, noise, option):
    folder = tmp_path / "results" / "own" / ("release" if noise == "secure" else "rehearsal")
    folder.mkdir(parents=True)
    file = folder / ("votes.npz" if option == "votes" else "words.txt")
    os.link(votes, file) if option == "votes" else file.write_text("a\nb\nc\n")
    given = [str(file)] if option == "votes" else [votes, option, str(file)]
    capsys.readouterr()
    assert main(["release", *given, *WORDS, "--noise", noise]) == 2
    error = capsys.readouterr().err
    assert "must be another file than" in error
    assert error.count("\n") == 1
    assert list(folder.iterdir()) == [file]


def test_what_fails_before_the_draw_leaves_no_record(votes, tmp_path, capsys):
    assert main(["release", votes, *WORDS, "--labels", "21"]) == 2
    assert "--labels = 21: must be at least 1 and at most" in capsys.readouterr().err
    assert main(["release", votes, *WORDS, "--labels", "0"]) == 2
    assert "--labels = 0: must be at least 1" in capsys.readouterr().err
    assert main(["release", votes, *WORDS[:-1], "ladder"]) == 2
    assert "no mechanism applies: ladder: for two classes only" in capsys.readouterr().err
    assert record.read() == []


def test_the_plan_and_what_is_printed_do_not_depend_on_the_votes(tmp_path, monkeypatch, capsys):
    """Two files of one size: but for the labels all is the same."""
    monkeypatch.chdir(tmp_path)
    shown = []
    for seed in (0, 1):
        drawn = np.random.default_rng(seed).integers(0, 3, (20, 60))
        np.savez(tmp_path / "votes.npz", votes=drawn)
        words = ["--out", f"results/{seed}", "--noise", "reproducible", "--json"]
        assert main(["release", "votes.npz", *WORDS, *words]) == 0
        shown.append(capsys.readouterr().out.replace(f"results/{seed}", "results"))
    assert shown[0] == shown[1]
    tables = [tmp_path / f"results/{seed}/rehearsal/rehearsal_mechanisms.csv" for seed in (0, 1)]
    assert tables[0].read_bytes() == tables[1].read_bytes()


def test_shards_must_be_stated_and_nothing_is_done_until_they_are(votes, tmp_path, capsys):
    assert main(["release", votes, "--classes", "3"]) == 2
    error = capsys.readouterr().err
    assert error.startswith('error: --shards: must be stated, "disjoint" ')
    assert error.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"votes.npz"}
    assert main(["release", votes, *WORDS[:4], "--noise", "reproducible"]) == 0


def test_shared_data_of_plain_teachers_says_what_would_be_private(votes, capsys):
    assert main(["release", votes, *WORDS[:4], "--shards", "shared"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: --shards = shared: no mechanism applies")
    assert "(--teacher-epsilon = ...)" in error


USELESS = [*WORDS, "--epsilon", "0.1", "--unit", "patient"]


def test_what_is_of_little_use_stops_before_anything_is_drawn_or_written(
    votes, tmp_path, capsys, monkeypatch
):
    with monkeypatch.context() as patched:
        patched.setattr(own_votes, "release", lambda *_: pytest.fail("drawn"))
        assert main(["release", votes, *USELESS]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    first, *_, error = shown.err.splitlines()
    assert first.startswith("expected on an assumed profile, not yours")
    assert error.startswith("error: usefulness = 0.")
    assert error.endswith("or allow it with --anyway")
    assert {path.name for path in tmp_path.iterdir()} == {"votes.npz"}
    assert main(["release", votes, *USELESS, "--anyway", "--json"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert shown.err.splitlines()[0] == first
    assert "\nwarning: usefulness = 0." in shown.err
    assert not found["expectation"]["useful"]
    assert found["asked"]["unit"] == "patient"
    (one,) = record.read()
    assert json.loads(one.terms)["facts"]["unit"] == "patient"


def test_a_record_is_not_changed_by_a_release_that_stops(votes, tmp_path):
    assert main(["release", votes, *WORDS]) == 0
    own = tmp_path / "results" / "own"
    before = {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}
    assert main(["release", votes, *USELESS, "--again"]) == 2
    assert before == {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}


def test_a_rehearsal_only_says_what_would_stop_a_release(votes, capsys):
    assert main(["release", votes, *USELESS, "--noise", "reproducible"]) == 0
    shown = capsys.readouterr()
    assert "warning: usefulness = 0." in shown.err
    assert "A REHEARSAL" in shown.out


def test_votes_and_counts_of_the_same_absent_ballots_give_the_same_labels(tmp_path, monkeypatch):
    """A rehearsal of a file of each form; and without the statement both are refused."""
    monkeypatch.chdir(tmp_path)
    ballots = np.random.default_rng(0).choice([-1, 0, 1, 2], (20, 60), p=[0.3, 0.5, 0.1, 0.1])
    np.savez("votes.npz", votes=ballots)
    np.savez("counts.npz", counts=[[(row == c).sum() for c in range(3)] for row in ballots])
    cells = [",".join("" if vote < 0 else str(vote) for vote in row) for row in ballots]
    header = ",".join(f"teacher{at}" for at in range(60))
    Path("votes.csv").write_text("\n".join([header, *cells]) + "\n")
    words = [*WORDS, "--noise", "reproducible"]
    labels = set()
    for name in ("votes.npz", "counts.npz", "votes.csv"):
        stated = ["--absent", "--absent-share", "0.3"]
        assert main(["release", name, *words, *stated, "--out", name[:-4]]) == 0
        labels.add(Path(name[:-4], "rehearsal", "rehearsal_labels.csv").read_bytes())
        assert main(["release", name, *words, "--out", "no"]) == 2
        shutil.rmtree(name[:-4])
    assert len(labels) == 1
    assert not list(Path("no").rglob("*.csv"))
