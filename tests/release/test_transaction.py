"""A release is made once: charged before it is drawn, and put into place whatever ended it."""

import contextlib
import hashlib
import itertools
import os
import shutil
import sqlite3
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from private_ensembles.accounting.adaptive_composition.account import Bounds
from private_ensembles.base import files
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.labels.votes import Votes
from private_ensembles.release import (
    certificate,
    ledger_file,
    record,
    release_files,
    session_export,
    statement,
    transaction,
)
from private_ensembles.release.pool import Pool, labels_text
from private_ensembles.release.record import Record, Total
from private_ensembles.release.release_plan import ReleasePlan
from private_ensembles.release.transaction import Labels, OutputFolder, Request
from tests import ending
from tests.ledgers import NOTHING_PROVEN, releases, seen_is_charged

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
    "already_spent": None,
    "planner": PLANNER,
}
TASK = Task(Ensemble(9, 3), Budget(1.0, 1e-5), Wanted(20), secure=True)
NOISE = load_mechanism("gnmax").calibrate(TASK)
PLAN = ReleasePlan(TASK, "gnmax", NOISE, 1.0, None, "0")
POOL = Pool(Votes(3, [-1] * 20, np.random.default_rng(0).integers(0, 3, (20, 9))))
# Steps of a release, in the files that have them.
STEPS = (transaction, ledger_file, release_files)


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("0,1,2\n1,1,1\n")
    return path


@pytest.fixture
def place(tmp_path):
    return OutputFolder(tmp_path / "own" / "release")


@pytest.fixture(autouse=True)
def nothing_proven(monkeypatch):
    """A certificate takes a second."""
    monkeypatch.setattr(certificate, "prove_or_explain", lambda *_: NOTHING_PROVEN)


def asking(votes, **change):
    return Request(votes, CONFIG | change)


def draw(votes):
    """Labels that are others each time, as secure noise draws them."""
    return np.frombuffer(os.urandom(len(votes.labels)), np.uint8) % 3


def never(_):
    pytest.fail("drawn")


def release_nothing(votes):
    """As of a process that ends while it draws."""
    if len(votes.labels) > 1:
        raise InterruptedError("ended")
    return np.zeros(1, int)


def release(request, place, draws=draw, planned=(PLAN, 0.9), **more):
    """Release as both ways do: alone, and shown when it is charged."""
    with files.hold_lock(place.lock):
        labels = transaction.release_once(request, place, planned, POOL, draws, **more)
        release_files.write_release(labels, {})
    return labels


def newest(place):
    """The labels that were released last, in the folder of their release."""
    return place.numbered_folder(max(len(releases(place.folder.parent)), 1)) / "labels.csv"


def finished(request, place):
    """Ask again after the process ended somewhere; return what had become of it before."""
    own = place.folder.parent
    seen_is_charged(own)
    before = releases(own)
    if not before:
        state = "uncharged"
        release(request, place)
    elif before[-1].batch.labels is None:
        state = "lost"
        with pytest.raises(ValueError, match="were lost when the process ended"):
            release(request, place, never)
        release(replace(request, config=request.config | {"again": True}), place)
    else:
        state = "charged"
        release(request, place, never)
    after = releases(own)
    assert after[: len(before)] == before
    assert len(after) == len(before) + (state != "charged")
    last = after[-1]
    assert newest(place).read_text() == last.terms.labels_text(last.batch)
    there = {"release", "ledger.sqlite", ".ledger.sqlite.lock", ".ledger.sqlite.part"}
    assert {path.name for path in own.iterdir()} <= there
    return state


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (record, "compose_totals"),
        (statement, "statement"),
        (statement, "documents"),
        (certificate, "prove_or_explain"),
    ],
)
def test_whatever_is_said_after_a_charge_fails_before_it(votes, place, monkeypatch, module, name):
    monkeypatch.setattr(module, name, lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        release(asking(votes), place)
    assert not place.ledger.exists()


def test_what_is_told_of_labels_is_made_of_made_up_ones_before_they_are_charged(votes, place):
    seen = []

    def tell(labels):
        seen.append((labels.text, labels.total, len(releases(place.folder.parent))))
        return "told"

    labels = release(asking(votes), place, summarize=tell)
    assert labels.summary == "told"
    assert [charged for _, _, charged in seen] == [0, 1]
    assert seen[1][:2] == (labels.text, labels.total)
    assert seen[0] == (labels_text([0] * 20), labels.total, 0)
    with pytest.raises(ZeroDivisionError):
        release(
            asking(votes, again=True, epsilon=2.0),
            place,
            release_nothing,
            summarize=lambda _: 1 / 0,
        )
    assert len(releases(place.folder.parent)) == 1


def test_labels_are_charged_drawn_and_kept_for_their_owner(votes, place):
    labels = release(asking(votes), place)
    (one,) = releases(place.folder.parent)
    assert (one.plan, one.cost.epsilon, one.cost.delta) == (PLAN, 0.9, 1e-5)
    assert one.terms.labels_text(one.batch) == labels.text == newest(place).read_text()
    assert labels.total == Total(0.9, 1e-5, "replace_one")
    assert labels.note is None
    assert set(labels.documents) == {"statement.html", "certificate.json"}
    assert place.ledger.stat().st_mode & 0o777 == 0o600
    assert place.ledger.stat().st_mtime_ns % 10**9 == 0
    assert [path.name for path in place.folder.iterdir()] == ["0001"]
    times = {path.stat().st_mtime_ns for path in place.numbered_folder(1).iterdir()}
    assert times == {one.batch.time * 10**9}


def test_labels_and_their_text_are_the_same():
    text = labels_text(np.array([2, -1, 0, 1]))
    assert text == "query,label\n0,2\n2,0\n3,1\n"
    table = Labels(text).table()
    assert table.to_dict("list") == {"query": [0, 2, 3], "label": [2, 0, 1]}
    assert len(Labels(labels_text(np.array([-1]))).table()) == 0


def test_a_release_that_is_killed_in_any_state_is_unseen_or_charged_and_can_be_finished(
    votes, place
):
    request = asking(votes)
    own = place.folder.parent
    states = [
        finished(request, place)
        for _ in ending.visit_every_state(lambda: release(request, place), STEPS, own)
    ]
    assert set(states) == {"uncharged", "lost", "charged"}


@pytest.mark.slow
def test_a_release_that_is_interrupted_at_any_line_is_unseen_or_charged_and_can_be_finished(
    votes, place
):
    request, states = asking(votes), []
    for _ in ending.end_at_every_line(
        lambda: release(request, place), STEPS, ending.kill_with(ending.signal.SIGINT)
    ):
        states.append(finished(request, place))
        shutil.rmtree(place.folder.parent)
    assert len(states) > 150
    assert set(states) == {"uncharged", "lost", "charged"}


def test_a_disk_that_fills_up_at_any_size_leaves_it_unseen_or_charged(votes, place):
    request, done, states = asking(votes), [], []
    for size in (0, 5_000, 20_000, 60_000):
        done.append(ending.run_with_room_for(size, lambda: release(request, place)))
        states.append(finished(request, place))
        shutil.rmtree(place.folder.parent)
    assert {True, False} == set(done)
    assert states[0] == "uncharged"


def test_a_further_release_that_is_killed_in_any_state_leaves_the_one_before(votes, place):
    release(asking(votes), place)
    first, again = newest(place).read_text(), asking(votes, again=True, epsilon=2.0)
    own = place.folder.parent
    counts = set()
    for _ in ending.visit_every_state(lambda: release(again, place), STEPS, own):
        seen_is_charged(own)
        charged = releases(own)
        counts.add(len(charged))
        assert place.numbered_folder(1).joinpath("labels.csv").read_text() == first
        assert charged[0].terms.labels_text(charged[0].batch) == first
    assert counts == {1, 2}


def test_labels_that_snakemake_removed_are_put_back_and_not_drawn_again(votes, place):
    labels = release(asking(votes), place)
    for change in (newest(place).unlink, lambda: newest(place).write_text("query,label\n0,0\n")):
        change()
        back = release(asking(votes, epsilon=1), place, never)
        assert back.text == labels.text == newest(place).read_text()
        assert back.note == "These labels were drawn and charged before: they cost nothing more."
        assert back.documents == labels.documents
    assert len(releases(place.folder.parent)) == 1


def test_a_request_of_long_ago_has_its_labels_for_nothing(votes, place):
    first = release(asking(votes), place)
    second = release(asking(votes, epsilon=2.0, again=True), place)
    back = release(asking(votes), place, never)
    assert (back.text, back.folder) == (first.text, first.folder)
    assert back.total == second.total
    assert len(releases(place.folder.parent)) == 2


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
    labels = release(asking(votes), place)
    if change == "votes":
        votes.write_text("0,1,2\n1,1,0\n")
    elif change == "gone":
        votes.unlink()
    change = {} if isinstance(change, str) else change
    wanted = asking(votes, **change)
    for ask in (
        lambda: transaction.check_permission(wanted, place),
        lambda: release(wanted, place, never),
    ):
        with pytest.raises(
            ValueError, match=r"are out already \(1 release, .*: keep those that are"
        ):
            ask()
    assert newest(place).read_text() == labels.text
    if votes.exists():
        assert release(asking(votes, **change | {"again": True}), place).text != labels.text
        assert len(releases(place.folder.parent)) == 2


def test_a_second_release_is_refused_and_says_what_both_would_cost(votes, place):
    assert transaction.check_permission(asking(votes), place) is None
    release(asking(votes), place)
    message = r"at most epsilon = 0\.9 .* may cost epsilon = 1\.8 .* --config again=yes$"
    with pytest.raises(ValueError, match=message):
        transaction.check_permission(asking(votes, epsilon=0.9, seed=3), place)
    text = transaction.check_permission(asking(votes, epsilon=0.9, again=True), place)
    assert text == (
        "Releasing again. With the 1 release before: at most epsilon = 1.8 and delta = 2e-05 "
        "(replace_one) together."
    )


def test_again_draws_again_but_first_what_was_charged_is_put_into_place(votes, place):
    first = release(asking(votes), place).text
    again = asking(votes, again=True)
    second = release(again, place).text
    assert first != second
    newest(place).write_text(first)  # as if the second had ended after its charge
    assert release(again, place, never).text == second
    assert release(again, place).text != second
    kept = [one.terms.labels_text(one.batch) for one in releases(place.folder.parent)]
    shown = [(place.numbered_folder(number) / "labels.csv").read_text() for number in (1, 2, 3)]
    assert kept == shown


def test_a_refusal_says_where_labels_are_that_are_not_in_place(votes, place):
    release(asking(votes), place)
    newest(place).unlink()
    with pytest.raises(ValueError, match=rf"keep those in {place.ledger}, which the same request"):
        transaction.check_permission(asking(votes, epsilon=2.0), place)


def test_lost_labels_are_charged_said_to_be_lost_and_charged_anew_if_allowed(votes, place):
    with pytest.raises(InterruptedError):
        release(asking(votes), place, release_nothing)
    assert not place.releases_folder.exists()
    message = r"were charged \(epsilon = 0\.9\), and were lost when .*again=yes$"
    for ask in (
        lambda: transaction.check_permission(asking(votes), place),
        lambda: release(asking(votes), place, never),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            ask()
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="out already"):  # another one knows no more of them
        release(asking(votes, epsilon=2.0), place, never)
    labels = release(asking(votes, again=True), place)
    assert labels.total.epsilon == 1.8
    assert labels.folder == place.numbered_folder(2)
    assert release(asking(votes), place, never).text == labels.text


def test_what_another_process_may_be_drawing_is_not_said_to_be_lost(votes, place):
    with pytest.raises(InterruptedError):
        release(asking(votes), place, release_nothing)
    with files.hold_lock(place.lock):
        assert transaction.check_permission(asking(votes), place) is None


def test_a_ledger_that_changes_after_it_was_read_is_not_charged(votes, place):
    """As when another process knows it by another name, and so holds another lock."""
    release(asking(votes), place)

    def meddle(_):
        kind = ledger_file.RELEASES
        with contextlib.closing(ledger_file.LedgerFile.open(place.ledger, kind)) as file:
            file.charge(None, 1, 1, before=file.state(), cost=Bounds(0.0, 0.1))

    further = asking(votes, again=True, epsilon=2.0)
    with pytest.raises(ValueError, match="has been changed by another process: ask again"):
        release(further, place, release_nothing, summarize=meddle)


def test_labels_that_another_version_planned_are_not_shown_as_if_by_this_one(votes, place):
    release(asking(votes), place)
    for planned in ((replace(PLAN, name="gnmax_exact"), 0.9), (PLAN, 0.8)):
        with pytest.raises(ValueError, match=r"by another version of this program \(gnmax\)"):
            release(asking(votes), place, never, planned)


def test_labels_without_a_ledger_and_one_that_was_put_back_are_refused(votes, place):
    """What was spent is not known, or what came since would be free."""
    release(asking(votes), place)
    older = place.ledger.read_bytes()
    release(asking(votes, again=True), place)
    for damage, lacking in ((lambda: place.ledger.write_bytes(older), 2), (place.ledger.unlink, 2)):
        damage()
        for again in (False, True):
            with pytest.raises(ValueError, match=rf"lacks the release of .*/000{lacking}: restore"):
                release(asking(votes, again=again), place, never)


def test_a_total_budget_refuses_what_exceeds_it_before_anything_is_drawn(votes, place):
    with pytest.raises(ValueError, match=r"must be at most total_budget = 0\.5; epsilon = 0\.5 is"):
        release(asking(votes, total_budget=0.5), place, never)
    assert not place.ledger.exists()
    assert transaction.check_permission(asking(votes, total_budget=1.0), place) is None  # just so
    first = asking(votes, total_budget=2)
    assert 1.0999 < release(first, place).remaining_budget <= 1.1
    release(asking(votes, again=True, total_budget=2), place)
    message = r"may cost epsilon = 2\.8.* total_budget = 2; epsilon = 0?\.(2|19999) is left$"
    with pytest.raises(ValueError, match=message):
        release(asking(votes, epsilon=1, seed=1, again=True, total_budget=2), place, never)
    assert len(releases(place.folder.parent)) == 2
    assert release(first, place, never).text  # what was charged is shown for nothing


def test_what_is_left_of_a_total_budget_is_never_rounded_up():
    for limit, spent in itertools.product(range(1, 10), repeat=2):
        total = Total(spent / 10, 0.0, "replace_one")
        left = transaction._remaining_budget(limit / 10 + 1, Record(already_spent=total))
        exact = Fraction(limit / 10 + 1) - Fraction(spent / 10)
        assert exact - Fraction(1, 2**50) < Fraction(left) <= exact, (limit, spent)


def test_what_was_spent_before_there_was_a_ledger_adds_up(votes, place):
    place.releases_folder.mkdir(parents=True)
    old = place.releases_folder / "releases.csv"
    old.write_text("epsilon,delta,adjacency\n0.5,1e-6,replace_one\n0.25,1e-6,replace_one\n")
    message = r"is the record of version 0\.3: move .* already_spent=EPSILON,DELTA$"
    with pytest.raises(ValueError, match=message) as caught:
        release(asking(votes), place, never)
    assert "\n" not in str(caught.value)
    shutil.rmtree(place.releases_folder)
    carried = asking(votes, already_spent=[0.75, 2e-6])
    with pytest.raises(ValueError, match=r"must be at most total_budget = 1\.7; epsilon = 0\.9"):
        release(asking(votes, already_spent=[0.75, 2e-6], total_budget=1.7), place, never)
    assert release(carried, place).total.epsilon == pytest.approx(1.65)
    again = asking(votes, epsilon=2.0, again=True)
    assert release(again, place).total.epsilon == pytest.approx(2.55)
    assert release(carried, place, never).text
    for other in ([0.7, 2e-6], [0.75, 0]):
        with pytest.raises(ValueError, match=r"was made with epsilon = 0\.75 and delta = 2e-06"):
            release(asking(votes, already_spent=other), place, never)


def test_nothing_can_be_carried_over_to_a_ledger_that_is_there(votes, place):
    release(asking(votes), place)
    with pytest.raises(ValueError, match="was made without it: already_spent must be the same"):
        release(asking(votes, already_spent=[1.0, 0.0]), place, never)


def test_a_rehearsal_costs_nothing_and_may_be_repeated(votes, place):
    release(asking(votes), place)
    before = place.ledger.read_bytes()
    rehearsal = OutputFolder(place.folder.with_name("rehearsal"))
    assert (rehearsal.ledger, rehearsal.lock) == (place.ledger, place.lock)
    wanted = asking(votes, noise="reproducible", epsilon=3.0)
    assert transaction.check_permission(wanted, rehearsal) is None
    for _ in range(2):
        labels = transaction.release_once(
            wanted, rehearsal, None, POOL, lambda _: np.array([1, -1])
        )
        assert labels == Labels("query,label\n0,1\n", rehearsal.folder)
    assert place.ledger.read_bytes() == before


def test_by_what_a_request_is_known_leaves_the_file_with_nothing(votes, place, tmp_path):
    """No hash of the votes is kept without a salt, and salt and digest are in no export or hash."""
    release(asking(votes), place)
    plain = hashlib.sha256(votes.read_bytes()).hexdigest()
    assert plain.encode() not in place.ledger.read_bytes()
    with sqlite3.connect(place.ledger) as connection:
        ((number, *kept),) = connection.execute("SELECT * FROM requests").fetchall()
    assert (number, kept[1]) == (1, asking(votes).digest(kept[0]))
    session_export.export(Record.read_verified(place.ledger), tmp_path / "out")
    for folder in (tmp_path / "out", place.releases_folder):
        for path in filter(type(folder).is_file, folder.rglob("*")):
            assert not [word for word in (plain, *kept) if word in path.read_text()]
    with sqlite3.connect(place.ledger) as connection:
        connection.execute("UPDATE requests SET salt = 'other', digest = 'other'")
    connection.close()
    assert len(releases(place.folder.parent)) == 1  # and the chain of hashes agrees


def _refuse(*_):
    raise ValueError("not\nagain")


def test_snakemake_stops_before_it_removes_anything(monkeypatch, capsys):
    monkeypatch.setattr(transaction, "check_permission", _refuse)
    config = CONFIG | {"votes": "votes.csv"}
    others = [SimpleNamespace(rule=SimpleNamespace(name="all"))]
    transaction.check_permission_or_exit(others, config)
    jobs = [*others, SimpleNamespace(rule=SimpleNamespace(name="apply_votes"))]
    with pytest.raises(SystemExit) as caught:
        transaction.check_permission_or_exit(jobs, config)
    assert caught.value.code == 1
    assert capsys.readouterr().err == "error: not again\n"


@pytest.mark.parametrize(
    "change",
    [{"shards": "shared"}, {"unit": "patient"}, {"reach": 2}, {"absent": True}],
)
def test_other_facts_are_another_request(votes, change):
    """Labels that were charged for one statement are not shown under another."""
    assert asking(votes, **change).digest("salt") != asking(votes).digest("salt")
    assert asking(votes, anyway=True).digest("salt") == asking(votes).digest("salt")
    five = asking(votes, absent=True, n_teachers=5)
    assert five.digest("salt") != asking(votes, absent=True).digest("salt")
