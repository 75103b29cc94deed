"""release on the command line: once, on record, secure, and nothing of the votes but labels."""

import csv
import hashlib
import json
import multiprocessing

import numpy as np
import pytest

from private_ensembles.command import release
from private_ensembles.command.main import main
from private_ensembles.experiments import own_votes, releases

WORDS = ["--classes", "3", "--epsilon", "5", "--mechanism", "gnmax_analytic"]


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
    names = {path.name for path in folder.iterdir()}
    assert names == {"labels.csv", "mechanisms.csv", "releases.csv", ".lock"}
    (record,) = rows(folder / "releases.csv")
    digest = hashlib.sha256((folder / "labels.csv").read_bytes()).hexdigest()
    assert record["labels_sha256"] == digest
    assert float(record["epsilon"]) == found["epsilon"] <= 5
    assert found["asked"]["noise"] == "secure"
    labels = rows(folder / "labels.csv")
    assert 0 < len(labels) <= 20
    assert {row["label"] for row in labels} <= {"0", "1", "2"}
    assert found["all_releases"]["epsilon"] >= found["epsilon"]


def test_a_second_release_is_refused_until_it_is_allowed(votes, tmp_path, capsys, monkeypatch):
    assert main(["release", votes, *WORDS]) == 0
    labels = tmp_path / "results" / "own" / "release" / "labels.csv"
    before = labels.read_bytes()
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(own_votes, "release", lambda *_: pytest.fail("drawn"))
        assert main(["release", votes, *WORDS]) == 2
        # Nor are votes looked at.
        assert main(["release", "gone.csv", *WORDS]) == 2
    first, error = capsys.readouterr().err.splitlines(keepends=True)
    assert first == error
    assert "labels of your votes are out already (1 release" in error
    assert error.endswith("or allow it with --again\n")
    assert labels.read_bytes() == before
    assert main(["release", votes, *WORDS, "--again"]) == 0
    shown = capsys.readouterr().out
    assert "Releasing again. With the 1 release before" in shown
    record = releases.read(labels.with_name("releases.csv"))
    assert len(record) == 2
    assert str(releases.together(record)) in shown


def test_the_record_is_the_workflow_s(votes, tmp_path):
    """A release of the workflow in the same folder counts, and the other way round."""
    folder = tmp_path / "results" / "own" / "release"
    assert str(release.RESULTS / "release" / "releases.csv") == releases.RELEASES
    folder.mkdir(parents=True)
    earlier = releases.Release("now", "gnmax", 1.0, 1e-5, "disjoint_shards", "replace_one", "0")
    releases.append(earlier)
    assert main(["release", votes, *WORDS]) == 2
    assert main(["release", votes, *WORDS, "--again"]) == 0
    assert len(releases.read()) == 2


def test_a_rehearsal_is_called_one_and_is_not_counted(votes, tmp_path, capsys):
    for _ in range(2):
        assert main(["release", votes, *WORDS, "--noise", "reproducible"]) == 0
        assert "A REHEARSAL" in capsys.readouterr().out
    folder = tmp_path / "results" / "own" / "rehearsal"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rehearsal_labels.csv", "rehearsal_mechanisms.csv", ".lock"}
    assert not folder.with_name("release").exists()


def test_labels_are_on_record_before_they_are_seen(votes, tmp_path, monkeypatch):
    folder = tmp_path / "results" / "own" / "release"
    append = releases.append

    def appending(one, path):
        assert not (folder / "labels.csv").exists()
        unseen = [part for part in folder.iterdir() if ".part" in part.name]
        assert {part.stat().st_mode & 0o777 for part in unseen} == {0o600}
        append(one, path)
        raise OSError("no space left")

    monkeypatch.setattr(releases, "append", appending)
    assert main(["release", votes, *WORDS]) == 2
    assert len(releases.read(folder / "releases.csv")) == 1
    assert {path.name for path in folder.iterdir()} == {"releases.csv", ".lock"}


def test_what_fails_before_the_draw_leaves_no_record(votes, tmp_path, capsys):
    assert main(["release", votes, *WORDS, "--labels", "21"]) == 2
    assert "--labels = 21: must be at least 1 and at most" in capsys.readouterr().err
    assert main(["release", votes, *WORDS, "--labels", "0"]) == 2
    assert "--labels = 0: must be at least 1" in capsys.readouterr().err
    assert main(["release", votes, "--classes", "3", "--mechanism", "ladder"]) == 2
    assert "no mechanism applies: ladder: for two classes only" in capsys.readouterr().err
    assert releases.read() == []


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


def _hold(folder, held, let_go):
    with release._locked(folder):
        held.set()
        let_go.wait(30)


def test_two_at_once_take_turns(tmp_path):
    context = multiprocessing.get_context("fork")
    held, let_go, second = (context.Event() for _ in range(3))
    first = context.Process(target=_hold, args=(tmp_path, held, let_go))
    other = context.Process(target=_hold, args=(tmp_path, second, let_go))
    first.start()
    assert held.wait(30)
    other.start()
    assert not second.wait(0.3)
    let_go.set()
    assert second.wait(30)
    for process in (first, other):
        process.join(30)
        assert process.exitcode == 0
