"""The file of a session: what it refuses, and that its hashes notice what was changed."""

import os
import shutil
import sqlite3

import pytest

from private_ensembles.accounting.adaptive_composition.account import Bounds
from private_ensembles.release import ledger_file
from private_ensembles.release.ledger_file import LedgerFile
from tests import ending

# All labels so far are said to cost this.
COST = Bounds(0.5, 0.75)


def charged(file, key, queries=1):
    """A batch that is charged in the state that the file is in."""
    return file.charge(key, queries, queries, before=file.state(), cost=COST)


@pytest.fixture
def path(tmp_path):
    file = LedgerFile.create(tmp_path / "a.session", '{"plan": 1}')
    for key, labels in (("one", [0, 1]), ("two", [2, -1, 0])):
        file.store_labels(charged(file, key, len(labels)), labels)
    file.close()
    return tmp_path / "a.session"


def change(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def opened(path, **how):
    return LedgerFile.open(path, **how)


def test_what_was_written_is_read_again(path):
    file = opened(path)
    assert file.plan() == '{"plan": 1}'
    first, second = file.batches()
    assert (first.key, first.labels, first.answers) == ("one", [0, 1], 2)
    assert (second.number, second.labels, second.most, second.answers) == (2, [2, -1, 0], 3, 2)
    state = file.verify()
    assert (state.batches, state.queries, state.labels) == (2, 5, 4)
    assert file.find("two") == second
    assert file.find("three") is None
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_tells_when_a_batch_was_charged_and_not_how_long_it_took(path):
    last = list(opened(path).batches())[-1]
    assert path.stat().st_mtime_ns == last.time * 10**9


def test_the_head_is_a_hash_over_all_entries_in_their_order(tmp_path):
    heads = set()
    for number, order in enumerate(([0, 1], [1, 0])):
        file = LedgerFile.create(tmp_path / f"{number}.session", "{}")
        for label in order:
            file.store_labels(charged(file, None), [label])
        heads.add(file.verify().head)
        file.close()
    assert len(heads) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE batches SET labels = '0,0' WHERE number = 1",
        "UPDATE batches SET labels = NULL WHERE number = 2",
        "UPDATE batches SET most = 1 WHERE number = 1",
        "UPDATE batches SET time = time + 1 WHERE number = 1",
        "UPDATE batches SET key = 'other' WHERE number = 1",
        "UPDATE batches SET epsilon = 0.1 WHERE number = 2",
        "UPDATE batches SET least = 0.6 WHERE number = 2",
        """UPDATE batches SET ids = '["a", "b"]' WHERE number = 1""",
        "DELETE FROM batches WHERE number = 2",
        "UPDATE plans SET plan = '{}'",
        "INSERT INTO plans VALUES (2, 0, '{}')",
        "UPDATE state SET labels = 0",
        "UPDATE state SET queries = 0",
        "UPDATE state SET head = ''",
    ],
)
def test_a_change_of_any_entry_is_noticed(path, statement):
    change(path, statement)
    with pytest.raises(ValueError, match="does not agree with its own hashes"):
        opened(path).verify()


def test_an_older_copy_is_refused_by_a_head_that_was_kept(path):
    shutil.copy(path, path.with_name("backup"))
    file = opened(path)
    before = file.state().head
    file.store_labels(charged(file, "three"), [1])
    after = file.state().head
    assert file.verify(before) == file.verify(after)
    file.close()
    backup = opened(path.with_name("backup"))
    backup.verify(before)
    with pytest.raises(ValueError, match="put back from an older copy"):
        backup.verify(after)


def test_an_extension_is_an_entry_like_others(path):
    file = opened(path)
    before = file.state()
    file.extend('{"plan": 2}')
    assert file.plan() == '{"plan": 2}'
    assert file.verify(before.head).labels == before.labels
    file.store_labels(charged(file, None), [1])
    file.verify(before.head)
    change(path, "UPDATE plans SET after = 0 WHERE after = 2")
    with pytest.raises(ValueError, match="does not agree"):
        file.verify()


def test_labels_are_stored_once_and_for_the_last_charge_only(path):
    file = opened(path)
    lost = charged(file, "three")
    again = charged(file, "three")
    assert (lost.attempt, again.attempt) == (1, 2)
    with pytest.raises(ValueError, match="not waiting for its labels"):
        file.store_labels(lost, [0])
    file.store_labels(again, [1])
    with pytest.raises(ValueError, match="not waiting for its labels"):
        file.store_labels(again, [0])
    assert file.verify().labels == 4 + 1 + 1


def test_a_session_is_created_once(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is there already"):
        LedgerFile.create(path, "{}")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is not a session file"), (b"votes" * 1000, "is damaged, or no ledger")],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "a.session"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        opened(path)


def test_a_missing_file_and_a_missing_folder_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"b\.session: is not a session file: make one"):
        opened(tmp_path / "b.session")
    with pytest.raises(ValueError, match=r"the folder .*nowhere must be there"):
        LedgerFile.create(tmp_path / "nowhere" / "b.session", "{}")


@pytest.mark.parametrize("by", [-1, 1])
def test_another_format_is_refused(path, by):
    change(path, f"PRAGMA user_version = {ledger_file.VERSION + by}")
    with pytest.raises(ValueError, match="another version of this program made it"):
        opened(path)


def test_a_damaged_file_is_one_line(path):
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 2000] = b"\xff" * 2000
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{path}: is damaged"):
        file = opened(path)
        file.verify()
        list(file.batches())


def test_a_full_disk_charges_nothing_and_says_so(path):
    before = opened(path).state()
    size = path.stat().st_size

    def work():
        charged(opened(path), "x" * 150, 10**6)

    assert not ending.run_with_room_for(size // 2, work)
    assert opened(path).verify() == before


def test_a_file_that_may_not_be_changed_can_be_looked_at(path):
    connection = ledger_file._connect(path, write=False)
    file = LedgerFile(path, connection)
    assert file.verify().labels == 4
    with pytest.raises(OSError, match="Read-only") as caught:
        charged(file, "three")
    assert caught.value.filename == str(path)


def test_a_file_that_cannot_be_locked_says_so(path, monkeypatch):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_LOCK
    with (
        pytest.raises(OSError, match="cannot be locked: this file system") as caught,
        ledger_file._translate_sqlite_errors(path),
    ):
        raise error
    assert caught.value.filename == str(path)


def test_what_a_killed_process_left_half_written_is_taken_back(path):
    before = opened(path).state()

    def work():
        file = opened(path)
        with file._write_transaction():
            file._set(ledger_file.State(9, 9, 9, "x"))
            os.kill(os.getpid(), ending.signal.SIGKILL)

    assert not ending._forked(work)
    assert opened(path, write=False).verify() == before


def test_nothing_is_charged_in_another_state_than_the_one_that_had_room(path):
    """As when two processes hold two locks, because they know the file by two names."""
    file, other = opened(path), opened(path)
    before = file.state()
    charged(other, "three")
    with pytest.raises(ValueError, match="has been changed by another process: ask again"):
        file.charge("four", 1, 1, before=before, cost=COST)
    assert file.verify().batches == 3


def test_what_is_verified_is_one_moment_whatever_others_write(path):
    """A writer between two reads would look like a damaged file."""
    file, other = opened(path), opened(path)
    with file.read_transaction():
        before = file.state()
        batches = file.batches()
        next(batches)
        with pytest.raises(ValueError, match="held by another process"):
            other._connection.execute("PRAGMA busy_timeout = 100")
            other.store_labels(charged(other, "three"), [1])
        assert file.verify() == before
    assert file.verify() == before
