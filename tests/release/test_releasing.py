"""A release is made once: charged before it is seen, and put into place whatever ended it."""

import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from private_ensembles.jobs import io
from private_ensembles.release import record, releasing, showing
from private_ensembles.release.releasing import Labels, Place, Request, labels_text

from .. import ending

PLANNER = {
    "mechanisms": ["gnmax_exact"],
    "adjacency": "replace_one",
    "teacher_epsilon": None,
    "teacher_Delta": 0,
    "profile": {"easy_share": 0.7, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0},
}
CONFIG = {
    "noise": "secure",
    "epsilon": 1.0,
    "delta": 1e-5,
    "labels_wanted": None,
    "n_classes": 3,
    "votes_kind": "auto",
    "seed": 0,
    "shards": "disjoint",
    "unit": "record",
    "reach": 1,
    "again": False,
    "total_budget": None,
    "planner": PLANNER,
}
CHOSEN = {
    "terms": '{"task": {"reach": 1}}',
    "mechanism": "gnmax_exact",
    "epsilon": 0.9,
    "delta": 1e-5,
    "privacy_model": "disjoint_shards",
    "adjacency": "replace_one",
}


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("0,1,2\n1,1,1\n")
    return path


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "own" / "release")


@pytest.fixture
def no_wait(stand_in):
    """Do not wait for the disk: a process that ends leaves what it wrote to the system."""
    for module in (io, record):
        stand_in(module, "os", fsync=lambda _: None)


def asking(votes, **change):
    return Request(votes, CONFIG | change)


def draw():
    """Labels that are others each time, as secure noise draws them."""
    return np.frombuffer(os.urandom(20), np.uint8) % 3


def never():
    pytest.fail("drawn")


def make(request, place, draws=draw):
    """Release as both ways do: alone, and shown when it is charged."""
    with io.alone(place.lock):
        labels = releasing.release(request, place, CHOSEN, draws)
        showing.show(labels, {})
    return labels


def newest(place):
    """The labels that were released last, in the folder of their release."""
    number = max(len(record.read(place.record)), 1)
    return place.folder / f"{number:04}" / "labels.csv"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def seen_is_charged(place):
    """Nothing in the folder that may be published tells of labels that are not on record."""
    charged = {one.labels_sha256 for one in record.read(place.record)}
    for path in filter(Path.is_file, place.folder.rglob("*")):
        text = path.read_text()
        assert set(re.findall("[0-9a-f]{64}", text)) <= charged, path
        if text.startswith("query"):
            of = [
                one.read_text()
                for one in place.private.rglob("labels.csv")
                if digest(one) in charged
            ]
            assert any(whole.startswith(text) for whole in of), path


def charged_can_be_finished(request, place):
    """The same request makes one release of it, drawn anew only if nothing was charged."""
    before = record.read(place.record)
    make(request, place, never if before else draw)
    (one,) = record.read(place.record)
    assert before in ([], [one])
    assert digest(newest(place)) == one.labels_sha256
    (folder,) = place.private.iterdir()  # and nothing that was not charged is left
    assert folder.name.startswith("charged-")


@pytest.mark.parametrize("name", ["together", "jointly", "release_of"])
def test_whatever_is_said_after_a_charge_fails_before_it(votes, place, monkeypatch, name):
    monkeypatch.setattr(record, name, lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(asking(votes), place)
    assert record.read(place.record) == []
    assert not [path for path in place.private.iterdir() if path.name.startswith("charged")]


def test_what_is_told_of_labels_is_made_before_they_are_charged(votes, place):
    seen = []

    def tell(labels):
        seen.append((labels.text, labels.total, len(record.read(place.record))))
        return "told"

    with io.alone(place.lock):
        labels = releasing.release(asking(votes), place, CHOSEN, draw, tell=tell)
    assert labels.told == "told"
    assert seen == [(labels.text, labels.total, 0)]
    with io.alone(place.lock), pytest.raises(ZeroDivisionError):
        fails = {"tell": lambda _: 1 / 0}
        releasing.release(asking(votes, again=True, epsilon=2.0), place, CHOSEN, draw, **fails)
    assert len(record.read(place.record)) == 1


def test_labels_are_drawn_charged_and_kept_for_their_owner(votes, place):
    labels = make(asking(votes), place)
    (one,) = record.read(place.record)
    assert one.labels_sha256 == hashlib.sha256(labels.text.encode()).hexdigest()
    assert (one.mechanism, one.epsilon) == ("gnmax_exact", 0.9)
    assert labels.total.epsilon == 0.9
    assert labels.note is None
    assert labels.documents == {}  # of a plan that another version has noted
    (folder,) = place.private.iterdir()
    assert (folder / "labels.csv").read_text() == labels.text
    modes = {path.stat().st_mode & 0o777 for path in (place.private, folder)}
    assert modes == {0o700}
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert {path.name for path in place.folder.iterdir()} == {"0001", "releases.csv"}
    assert (one.labels, one.file) == (len(labels.table()), "0001/labels.csv")
    assert newest(place).read_text() == labels.text


def test_labels_and_their_text_are_the_same():
    text = labels_text(np.array([2, -1, 0, 1]))
    assert text == "query,label\n0,2\n2,0\n3,1\n"
    table = Labels(text).table()
    assert table.to_dict("list") == {"query": [0, 2, 3], "label": [2, 0, 1]}
    assert len(Labels(labels_text(np.array([-1]))).table()) == 0


def test_a_release_that_is_killed_in_any_state_is_uncharged_and_unseen_or_can_be_finished(
    votes, place, no_wait
):
    request = asking(votes)
    own = place.folder.parent
    states = unseen = finished = 0
    for _ in ending.at_every_state(lambda: make(request, place), (releasing, record, showing), own):
        states += 1
        seen_is_charged(place)
        unseen += not record.read(place.record)
        finished += newest(place).exists()
        charged_can_be_finished(request, place)
    assert 10 < unseen < states - 5  # before the charge, and after it
    assert finished


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_release_that_is_ended_at_any_line_is_uncharged_and_unseen_or_can_be_finished(
    votes, place, number, no_wait
):
    request = asking(votes)
    where = (releasing, record, showing)
    runs = unseen = finished = 0
    for _ in ending.at_every_line(lambda: make(request, place), where, ending.by(number)):
        runs += 1
        seen_is_charged(place)
        unseen += not record.read(place.record)
        finished += newest(place).exists()
        charged_can_be_finished(request, place)
        shutil.rmtree(place.folder.parent)
    assert runs > 100
    assert 50 < unseen < runs - 10  # lines before the charge, and after it
    assert finished


def test_a_disk_that_fills_up_at_any_size_leaves_it_uncharged_or_it_can_be_finished(
    votes, place, no_wait
):
    request, done = asking(votes), []
    for size in range(0, 700, 7):
        done.append(ending.with_room_for(size, lambda: make(request, place)))
        seen_is_charged(place)
        charged_can_be_finished(request, place)
        shutil.rmtree(place.folder.parent)
    assert {True, False} == set(done)


def test_a_further_release_that_is_killed_in_any_state_leaves_the_one_before(votes, place, no_wait):
    make(asking(votes), place)
    first, again = newest(place).read_text(), asking(votes, again=True, epsilon=2.0)
    before = newest(place)
    work = ending.at_every_state(
        lambda: make(again, place), (releasing, record, showing), place.folder.parent
    )
    counts = set()
    for _ in work:
        seen_is_charged(place)
        releases = record.read(place.record)
        counts.add(len(releases))
        hashes = {digest(path / "labels.csv") for path in place.private.glob("charged-*")}
        last = releasing._folder_of(releases[-1], place)
        assert releases[0].labels_sha256 in hashes
        assert last is not None
        assert before.read_text() == first
        if len(releases) == 2:  # the same request is finished, and not drawn once more
            if not newest(place).exists():
                make(again, place, never)
            assert digest(newest(place)) == releases[-1].labels_sha256
    assert counts == {1, 2}


def test_labels_that_snakemake_removed_are_put_back_and_not_drawn_again(votes, place):
    labels = make(asking(votes), place)
    newest(place).unlink()
    back = make(asking(votes, epsilon=1), place, never)
    assert back.text == labels.text == newest(place).read_text()
    assert back.note == "These labels were drawn and charged before: they cost nothing more."
    assert (
        make(asking(votes), place, never).text == labels.text
    )  # nor are they where they are there
    assert len(record.read(place.record)) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 2.0},
        {"labels_wanted": 1},
        {"seed": 1},
        {"n_classes": 4},
        {"planner": PLANNER | {"profile": PLANNER["profile"] | {"easy_share": 0.8}}},
        {"planner": PLANNER | {"adjacency": "add_remove"}},
        "votes",
        "gone",
    ],
)
def test_another_request_is_refused_until_it_is_allowed(votes, place, change):
    labels = make(asking(votes), place)
    if change == "votes":
        votes.write_text("0,1,2\n1,1,0\n")
    elif change == "gone":
        votes.unlink()
    change = {} if isinstance(change, str) else change
    wanted = asking(votes, **change)
    for ask in (lambda: releasing.permission(wanted, place), lambda: make(wanted, place, never)):
        with pytest.raises(
            ValueError, match=r"are out already \(1 release, .*: keep those that are"
        ):
            ask()
    assert newest(place).read_text() == labels.text
    if votes.exists():
        assert make(asking(votes, **change | {"again": True}), place).text != labels.text
        assert len(record.read(place.record)) == 2


def test_a_second_release_is_refused_and_says_what_both_would_cost(votes, place):
    assert releasing.permission(asking(votes), place) is None
    make(asking(votes), place)
    message = r"at most epsilon = 0\.9 .* may cost epsilon = 1\.8 .* --config again=yes$"
    with pytest.raises(ValueError, match=message):
        releasing.permission(asking(votes, epsilon=0.9, seed=3), place)
    text = releasing.permission(asking(votes, epsilon=0.9, again=True), place)
    assert text == (
        "Releasing again. With the 1 release before: at most epsilon = 1.8 and delta = 2e-05 "
        "(replace_one) together."
    )


def test_again_draws_again_but_first_what_was_charged_is_put_into_place(votes, place):
    first = make(asking(votes), place).text
    again = asking(votes, again=True)
    second = make(again, place).text
    assert first != second
    newest(place).write_text(first)  # as if the second had ended after its charge
    assert make(again, place, never).text == second
    assert make(again, place).text != second
    assert len(record.read(place.record)) == 3
    assert len(list(place.private.glob("charged-*"))) == 3


def test_a_refusal_says_where_labels_are_that_are_not_in_place(votes, place):
    make(asking(votes), place)
    newest(place).unlink()
    (folder,) = place.private.iterdir()
    with pytest.raises(ValueError, match=rf"keep those in {folder}, which the same request puts"):
        releasing.permission(asking(votes, epsilon=2.0), place)
    shutil.rmtree(place.private)
    with pytest.raises(ValueError, match="keep those that you have, or allow it"):
        releasing.permission(asking(votes), place)


def test_labels_that_another_version_planned_are_not_shown_as_if_by_this_one(votes, place):
    make(asking(votes), place)
    for change in ({"mechanism": "gnmax"}, {"epsilon": 0.8}):
        with pytest.raises(ValueError, match=r"by another version of this program \(gnmax_exact\)"):
            releasing.release(asking(votes), place, CHOSEN | change, never)


def test_kept_labels_that_are_damaged_are_not_shown(votes, place):
    make(asking(votes), place)
    (folder,) = place.private.iterdir()
    (folder / "labels.csv").write_text("query,label\n0,0\n")
    with pytest.raises(ValueError, match="out already"):
        make(asking(votes), place, never)


@pytest.mark.parametrize("left", ["labels", "kept"])
def test_labels_without_a_record_are_refused(votes, place, left):
    """Somebody deleted the record: what was spent is not known."""
    make(asking(votes), place)
    place.record.unlink()
    if left == "kept":
        newest(place).unlink()
    name = "labels.csv" if left == "labels" else "charged-"
    for again in (False, True):
        message = rf"releases\.csv: lacks the release of .*{name}.*: restore the record"
        with pytest.raises(ValueError, match=message):
            make(asking(votes, again=again), place, never)
    assert not place.record.exists()


def test_a_record_that_was_cut_is_refused(votes, place):
    """An older copy of it would make the releases since then free."""
    make(asking(votes), place)
    older = place.record.read_bytes()
    make(asking(votes, again=True), place)
    place.record.write_bytes(older)
    for again in (False, True):
        with pytest.raises(ValueError, match=r"releases\.csv: lacks the release of .*/0002/"):
            make(asking(votes, again=again), place, never)


def test_each_release_keeps_its_folder(votes, place):
    texts = [make(asking(votes, again=True), place).text for _ in range(3)]
    kept = [(place.folder / one.file).read_text() for one in record.read(place.record)]
    assert kept == texts


def test_a_total_budget_refuses_what_exceeds_it_before_anything_is_drawn(votes, place):
    with pytest.raises(ValueError, match=r"must be at most total_budget = 0\.5; epsilon = 0\.5 is"):
        make(asking(votes, total_budget=0.5), place, never)
    assert not place.record.exists()
    first = asking(votes, total_budget=2)
    make(first, place)  # for 1, of which it costs 0.9
    make(asking(votes, again=True, total_budget=2), place)
    message = r"may cost epsilon = 2\.8.* total_budget = 2; epsilon = 0?\.(2|19999) is left$"
    with pytest.raises(ValueError, match=message):
        make(asking(votes, again=True, total_budget=2), place, never)
    assert len(record.read(place.record)) == 2
    assert make(first, place, never).text  # what was charged is shown for nothing


def test_the_disk_has_the_labels_before_they_are_charged(votes, place, monkeypatch):
    """Otherwise a machine that goes down keeps the charge and not the labels."""
    synced, append, events = record.synced, record.append, []

    def sync(path):
        events.append(path)
        synced(path)

    def charge(*given, **more):
        (folder,) = place.private.iterdir()
        assert {folder / "labels.csv", folder / "release.json", folder} <= set(events)
        assert {place.private, place.private.parent} <= set(events)
        append(*given, **more)

    monkeypatch.setattr(record, "synced", sync)
    monkeypatch.setattr(record, "append", charge)
    make(asking(votes), place)
    assert events[-2] == place.folder  # and then the labels are shown


def test_a_record_of_nothing_and_one_that_leads_nowhere_are_refused(votes, place):
    make(asking(votes), place)
    header = place.record.read_text().splitlines(keepends=True)[0]
    place.record.write_text(header)
    with pytest.raises(ValueError, match=r"releases\.csv: holds no release: restore the file"):
        make(asking(votes, again=True), place, never)
    place.record.unlink()
    place.record.symlink_to("nowhere.csv")
    with pytest.raises(ValueError, match=r"releases\.csv: is a link to nowhere\.csv"):
        make(asking(votes, again=True), place, never)


def test_a_rehearsal_costs_nothing_and_may_be_repeated(votes, place):
    make(asking(votes), place)
    before = place.record.read_bytes()
    rehearsal = Place(place.folder.with_name("rehearsal"))
    assert rehearsal.record == place.record
    wanted = asking(votes, noise="reproducible", epsilon=3.0)
    assert releasing.permission(wanted, rehearsal) is None
    for _ in range(2):
        labels = releasing.release(wanted, rehearsal, CHOSEN, lambda: np.array([1, -1]))
        assert labels == Labels("query,label\n0,1\n", rehearsal.folder)
    assert place.record.read_bytes() == before
    assert len(list(place.private.iterdir())) == 1


def test_no_hash_of_the_votes_is_kept(votes, place):
    make(asking(votes), place)
    plain = digest(votes)
    texts = [path.read_text() for path in place.folder.parent.rglob("*") if path.is_file()]
    assert not [text for text in texts if plain in text]
    (folder,) = place.private.iterdir()
    facts = json.loads((folder / "release.json").read_text())
    assert facts["request"] != asking(votes).digest("another salt")


def test_a_disk_of_its_own_for_private_is_refused_before_anything_is_drawn(votes, place):
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == os.stat(votes).st_dev:
        pytest.skip("needs another disk than that of temporary files")
    place.private.parent.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        place.private.symlink_to(elsewhere)
        with pytest.raises(ValueError, match="private: is on another disk than"):
            make(asking(votes), place, never)


def _refuse(*_):
    raise ValueError("not\nagain")


def test_snakemake_stops_before_it_removes_anything(monkeypatch, capsys):
    monkeypatch.setattr(releasing, "permission", _refuse)
    config = CONFIG | {"votes": "votes.csv"}
    others = [SimpleNamespace(rule=SimpleNamespace(name="all"))]
    releasing.permission_or_exit(others, config)
    jobs = [*others, SimpleNamespace(rule=SimpleNamespace(name="apply_votes"))]
    with pytest.raises(SystemExit) as caught:
        releasing.permission_or_exit(jobs, config)
    assert caught.value.code == 1
    assert capsys.readouterr().err == "error: not again\n"


@pytest.mark.parametrize(
    "change",
    [{"shards": "shared"}, {"unit": "patient"}, {"reach": 2}, {"absent": True}, {"n_teachers": 5}],
)
def test_other_facts_are_another_request(votes, change):
    """Labels that were charged for one statement are not shown under another."""
    assert asking(votes, **change).digest("salt") != asking(votes).digest("salt")
    assert asking(votes, anyway=True).digest("salt") == asking(votes).digest("salt")
