"""release on the command line: once, on record, secure, and nothing of the votes but labels."""

import csv
import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from private_ensembles.command import release
from private_ensembles.command.main import main
from private_ensembles.release import (
    own_votes,
    release_files,
    transaction,
)
from private_ensembles.release.record import Record, Total
from tests.ledgers import releases

WORDS = ["--teachers", "60", "--classes", "3", "--epsilon", "5"]
WORDS += ["--shards", "disjoint", "--mechanism", "gnmax_analytic"]


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
    assert {path.name for path in folder.iterdir()} == {"0001"}
    (one,) = releases()
    folder = folder / "0001"
    assert {path.name for path in folder.iterdir()} == SHOWN
    assert (folder / "labels.csv").read_text() == one.terms.labels_text(one.batch)
    assert one.cost.epsilon == found["epsilon"] <= 5
    assert found["asked"]["noise"] == "secure"
    labels = rows(folder / "labels.csv")
    assert 0 < len(labels) <= 20
    assert {row["label"] for row in labels} <= {"0", "1", "2"}
    assert found["all_releases"]["epsilon"] >= found["epsilon"]
    times = {path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(times) == 1  # how long the draw took is nobody's business
    assert times.pop() % 10**9 == 0


OTHER = [*WORDS, "--epsilon", "4"]
USELESS = [*WORDS, "--epsilon", "0.1", "--unit", "patient"]


def test_a_second_release_is_refused_until_it_is_allowed(votes, tmp_path, capsys, monkeypatch):
    assert main(["release", votes, *WORDS]) == 0
    labels = tmp_path / "results" / "own" / "release" / "0001" / "labels.csv"
    before = labels.read_bytes()
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(own_votes, "draw_labels", lambda *_: pytest.fail("drawn"))
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
    assert len(releases()) == 2
    assert labels.read_bytes() == before  # each release has a folder of its own
    assert (labels.parents[1] / "0002" / "labels.csv").exists()
    assert str(Record(tuple(releases())).total) in shown
    assert main(["release", votes, *WORDS, "--again", "--total-budget", "10"]) == 2
    assert "must be at most --total-budget = 10; epsilon = 1" in capsys.readouterr().err


def test_the_ledger_is_the_workflow_s():
    """A release of the workflow in the same folder counts, and the other way round."""
    assert transaction.OutputFolder(release.RESULTS / "release") == transaction.OutputFolder()


def test_what_was_spent_before_the_ledger_counts(votes, capsys):
    Path("results/own/release").mkdir(parents=True)
    old = Path("results/own/release/releases.csv")
    old.write_text("epsilon,delta,adjacency\n1.5,1e-6,replace_one\n")
    assert main(["release", votes, *WORDS]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.endswith(" with --already-spent EPSILON,DELTA\n")
    old.unlink()
    assert main(["release", votes, *WORDS, "--already-spent", "1.5,1e-06"]) == 0
    (one,) = releases()
    total = Record((one,), Total(1.5, 1e-6, "replace_one")).total
    assert f"at most {total}\n" in capsys.readouterr().out
    for wrong in ("1.5", "1,2,3", "a,b", "-1,0", "1,1", "inf,0"):
        with pytest.raises(SystemExit):
            main(["release", votes, *WORDS, f"--already-spent={wrong}"])
        assert "--already-spent" in capsys.readouterr().err


def test_a_rehearsal_is_called_one_only_warns_and_is_its_owner_s_alone(votes, tmp_path, capsys):
    assert main(["release", votes, *USELESS, "--noise", "reproducible"]) == 0
    shown = capsys.readouterr()
    assert "warning: usefulness = 0." in shown.err
    assert "A REHEARSAL" in shown.out
    folder = tmp_path / "results" / "own" / "rehearsal"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rehearsal_labels.csv", "rehearsal_mechanisms.csv"}
    # Whoever has the seed can take the noise away: for its owner's eyes.
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in folder.glob("*.csv")} == {0}
    assert not folder.with_name("release").exists()


def test_a_full_disk_is_one_line_that_says_that_the_labels_are_charged(votes, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(release_files, "writer", lambda _: full)
    assert main(["release", votes, *WORDS]) == 2
    place = "results/own/release/0001/labels.csv"
    remedy = "the labels are charged, and the same command puts them in place"
    *_, error = capsys.readouterr().err.splitlines()
    assert error == f"error: {place}: No space left on device: {remedy}"
    assert len(releases()) == 1


@pytest.mark.parametrize(("noise", "room"), [("secure", "release"), ("reproducible", "rehearsal")])
def test_labels_are_written_over_nothing_that_is_read(votes, tmp_path, capsys, noise, room):
    folder = tmp_path / "results" / "own" / room
    folder.mkdir(parents=True)
    os.link(votes, folder / "votes.npz")
    (folder / "words.txt").write_text("a\nb\nc\n")
    words = str(folder / "words.txt")
    for given in (
        [str(folder / "votes.npz")],
        [votes, "--class-names", words],
        [votes, "--answer", words],
    ):
        assert main(["release", *given, *WORDS, "--noise", noise]) == 2
        error = capsys.readouterr().err
        assert "must be another file than" in error, given
        assert error.count("\n") == 1
    assert {path.name for path in folder.iterdir()} == {"votes.npz", "words.txt"}


def test_what_fails_before_the_draw_leaves_no_record(votes, tmp_path, capsys):
    assert main(["release", votes, *WORDS, "--labels", "21"]) == 2
    assert "--labels = 21: must be at least 1 and at most" in capsys.readouterr().err
    assert main(["release", votes, *WORDS, "--labels", "0"]) == 2
    assert "--labels = 0: must be at least 1" in capsys.readouterr().err
    assert main(["release", votes, *WORDS[:-1], "ladder"]) == 2
    assert "no mechanism applies: ladder: for two classes only" in capsys.readouterr().err
    assert releases() == []


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


def test_what_is_of_little_use_stops_before_anything_is_drawn_or_written(
    votes, tmp_path, capsys, monkeypatch
):
    with monkeypatch.context() as patched:
        patched.setattr(own_votes, "draw_labels", lambda *_: pytest.fail("drawn"))
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
    (one,) = releases()
    assert one.plan.task.protection.unit == "patient"


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
