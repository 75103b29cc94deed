"""A ledger on disk: plans, what was charged for each batch, labels, and a chain of hashes.

It is one SQLite file. The ledger of a session has one plan, which may be extended, and many
batches. A ledger of releases has a plan and one batch for each release. A batch is charged in a
transaction of its own, before anything is drawn; its labels come in a second one. A process that
ends in between leaves labels that are charged and lost, and a batch that somebody else has charged
is never drawn for. The file holds plans, sizes, times, what queries are called, costs and labels,
and nothing of the votes but what the mechanism released.

Each entry is hashed together with the hash before it, so that the last hash, the *head*, stands for
the whole history. Whoever keeps heads elsewhere notices a file that was cut, changed or put back
from an older copy. A release that is asked for again is known by a salted hash of the votes, which
is not in the chain, nor in anything that leaves the file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from private_ensembles.base import files

if TYPE_CHECKING:
    from private_ensembles.accounting.adaptive_composition.account import Bounds

# This is the version of the file's format; a program that meets a larger one is too old.
VERSION = 4
# A ledger is of one of two kinds. "PEns" or "PEnr" tells it from any other SQLite file.
SESSION, RELEASES = "session", "releases"
_IDENTITIES = {SESSION: 0x50456E73, RELEASES: 0x50456E72}
_WORDS = {SESSION: "session file", RELEASES: "ledger of releases"}
# A process waits so many seconds while another one writes.
_PATIENCE = 60.0
_SCHEMA = """
CREATE TABLE plans (after INTEGER NOT NULL, time INTEGER NOT NULL, plan TEXT NOT NULL);
CREATE TABLE batches (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    time INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    most INTEGER NOT NULL,
    epsilon REAL NOT NULL,
    least REAL NOT NULL,
    ids TEXT,
    labels TEXT,
    UNIQUE (key, attempt)
);
CREATE TABLE requests (number INTEGER PRIMARY KEY, salt TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE state (
    batches INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    labels INTEGER NOT NULL,
    head TEXT NOT NULL
);
"""


class Batch(NamedTuple):
    """One batch of queries.

    Attributes:
        number: From 1, in the order of charges.
        key: The name by which it is asked for again.
        attempt: From 1; a later one was charged because earlier labels were lost.
        time: The time of the charge, in whole seconds since 1970.
        queries: How many there are.
        most: How many labels it was charged for at first, all that it might release.
        epsilon: What all labels of its plan cost together up to this batch, at most, at the plan's
            delta; in a session this includes the batches before.
        least: What no account of these labels can be below.
        ids: What the queries are called; None if they have no names.
        labels: The label of each query, -1 for none; None if labels are not known yet, or were
            lost.
    """

    number: int
    key: str
    attempt: int
    time: int
    queries: int
    most: int
    epsilon: float
    least: float
    ids: list[str] | None
    labels: list[int] | None

    @property
    def charge_time(self) -> str:
        """Return the time of the charge as text, UTC."""
        return datetime.fromtimestamp(self.time, UTC).isoformat(timespec="seconds")

    @property
    def answers(self) -> int:
        """Return how many labels it has released, or may have: all until they are known."""
        labels = self.labels
        return self.most if labels is None else sum(label >= 0 for label in labels)

    @property
    def labels_to_show(self) -> list[int]:
        """Return its labels, none if they were lost."""
        return [] if self.labels is None else self.labels


class State(NamedTuple):
    """How many batches, queries and labels were charged so far, and the last hash, in hex."""

    batches: int
    queries: int
    labels: int
    head: str


class LedgerFile:
    """The file of one ledger; made by `create` or opened by `open`.

    Every method that changes it is one transaction, which the disk has when it returns.

    Attributes:
        path: Where the file is.
        kind: `SESSION` or `RELEASES`.

    Raises:
        ValueError: If the file is no ledger.
        OSError: If it cannot be read or written.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, kind: str = SESSION):
        self.path, self.kind = path, kind
        self._connection = connection

    @classmethod
    def create(cls, path: str | Path, plan: str, kind: str = SESSION) -> LedgerFile:
        """Make the file of a new ledger, which appears whole, with its first plan, or not at all.

        The caller holds the ledger's lock.

        Args:
            path: Where it is to be.
            plan: The plan of a session; or what holds for all releases
                (`record.Record.opening_entry`).
            kind: `SESSION` or `RELEASES`.

        Raises:
            ValueError: If something is there.
        """
        path = check_new(path, kind)
        paths = files_of(path)
        unfinished = paths["ledger_unfinished"]
        leftovers = [unfinished, paths["ledger_unfinished_journal"]]
        file = None
        try:
            for leftover in leftovers:  # a process that was killed has left them
                leftover.unlink(missing_ok=True)
            with _translate_sqlite_errors(path):
                descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
                os.close(descriptor)
                file = cls(path, _connect(unfinished, write=True), kind)
                file._begin(plan)
                file.close()
                # A link fails if something has come to be there; a rename would replace it.
                os.link(unfinished, path)
        finally:
            if file is not None:
                file.close()
            for leftover in leftovers:
                leftover.unlink(missing_ok=True)
        sync_to_disk(path.parent)
        return cls.open(path, kind)

    @classmethod
    def open(
        cls, path: str | Path, kind: str | None = SESSION, *, write: bool = True
    ) -> LedgerFile:
        """Open the file of a ledger, wherever links lead.

        Whoever only looks at a file that may be changed still takes back what a killed process left
        half done.

        Args:
            path: Where it is.
            kind: What it must be, `SESSION` or `RELEASES`; None: either.
            write: Whether it is to be changed.

        Raises:
            ValueError: If it is no such ledger, or another version of this program made it.
            OSError: If it cannot be read, or written.
        """
        path = Path(path).resolve()
        expected = _WORDS[kind or SESSION]
        if not path.is_file():
            how = "release" if kind == RELEASES else "session create"
            raise ValueError(f"{path}: is not a {expected}: make one with {how}")
        with _translate_sqlite_errors(path):
            connection = _connect(path, write=write or os.access(path, os.W_OK))
            identity = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        actual = next((name for name in _WORDS if _IDENTITIES[name] == identity), None)
        if actual is None or kind not in (None, actual):
            connection.close()
            but = "" if actual is None else f", but a {_WORDS[actual]}"
            raise ValueError(f"{path}: is not a {expected}{but}")
        if version != VERSION:
            connection.close()
            raise ValueError(
                f"{path}: has format {version}: must be {VERSION}; another version of this program "
                "made it"
            )
        return cls(path, connection, actual)

    def close(self) -> None:
        """Close the file; what was charged stays charged."""
        self._connection.close()

    def _fetch_first(self, query: str, *values: object) -> tuple | None:
        """Return the first row that a query finds, None if it finds none."""
        with _translate_sqlite_errors(self.path):
            return self._connection.execute(query, values).fetchone()

    def _fetch_aggregate(self, query: str, *values: object) -> Any:
        """Return the value of an aggregate function, whose query always finds a row."""
        row = self._fetch_first(query, *values)
        assert row is not None
        return row[0]

    def plan(self) -> str:
        """Return the plan in force, with all that was stated: the first, or the last extension."""
        row = self._fetch_first("SELECT plan FROM plans ORDER BY rowid DESC LIMIT 1")
        if row is None:
            raise ValueError(f"{self.path}: holds no plan: restore the file")
        return row[0]

    def plans(self) -> list[str]:
        """Return all plans, the first one first."""
        with _translate_sqlite_errors(self.path):
            rows = self._connection.execute("SELECT plan FROM plans ORDER BY rowid").fetchall()
        return [plan for (plan,) in rows]

    def state(self) -> State:
        """Return what was charged so far."""
        row = self._fetch_first("SELECT * FROM state")
        if row is None:
            raise ValueError(f"{self.path}: holds no state: restore the file")
        return State(*row)

    def find(self, key: str) -> Batch | None:
        """Return the last batch of this key, None if there is none."""
        query = "SELECT * FROM batches WHERE key = ? ORDER BY attempt DESC LIMIT 1"
        row = self._fetch_first(query, key)
        return None if row is None else _batch(row)

    def find_request(self, digest_of: Callable[[str], str]) -> int | None:
        """Return the number of the last batch that was charged for a request, None if none was.

        Args:
            digest_of: Returns the hash of the request with a salt, as `charge` was given it.
        """
        digest = digest_of(self.salt())
        return self._fetch_aggregate("SELECT MAX(number) FROM requests WHERE digest = ?", digest)

    def salt(self) -> str:
        """Return the salt of the hashes of requests, so that none is met elsewhere."""
        row = self._fetch_first("SELECT salt FROM requests LIMIT 1")
        return secrets.token_hex(16) if row is None else row[0]

    def last_batch(self) -> Batch | None:
        """Return the batch that was charged last, None if there is none."""
        row = self._fetch_first("SELECT * FROM batches ORDER BY number DESC LIMIT 1")
        return None if row is None else _batch(row)

    def batches(self) -> Iterator[Batch]:
        """Yield all batches in the order of their charges."""
        with _translate_sqlite_errors(self.path):
            for row in self._connection.execute("SELECT * FROM batches ORDER BY number"):
                yield _batch(row)

    def release(
        self, draw: Callable[[], list[int]], key: str | None, queries: int, labels: int, **charge
    ) -> Batch:
        """Charge a batch, draw its labels and store them: the only way to labels.

        Args:
            draw: Returns the label of each query, -1 for none; called once, after the disk has the
                charge.
            key: As `charge` takes it.
            queries: How many queries there are.
            labels: The most that may be released.
            **charge: As `charge` takes them; it raises the same.
        """
        batch = self.charge(key, queries, labels, **charge)
        return self.store_labels(batch, draw())

    def charge(
        self,
        key: str | None,
        queries: int,
        labels: int,
        *,
        before: State,
        cost: Bounds,
        ids: Sequence[str] | None = None,
        plan: str | None = None,
        request: tuple[str, str] | None = None,
    ) -> Batch:
        """Charge a batch before it is drawn; the caller holds the ledger's lock.

        Args:
            key: The batch's name; None for one made of its number, such as #12.
            queries: How many queries it has.
            labels: The most that it may release.
            before: The state in which the caller has found room for it.
            cost: The cost of all labels after it.
            ids: What its queries are called.
            plan: A plan that comes into force with it.
            request: `salt`, and the hash by which the request is found again (`find_request`).

        Raises:
            ValueError: If `before` is no longer the state, because somebody has changed the file
                without the lock, for instance by another name of it.
        """
        with self._write_transaction():
            state = self.state()
            if state != before:
                raise ValueError(f"{self.path}: has been changed by another process: ask again")
            if plan is not None:
                state = self._add_plan(state, plan)
            number = state.batches + 1
            key = f"#{number}" if key is None else key
            query = "SELECT COALESCE(MAX(attempt), 0) FROM batches WHERE key = ?"
            attempts = self._fetch_aggregate(query, key)
            names = None if ids is None else list(ids)
            sizes = (number, key, attempts + 1, int(time.time()), queries, labels)
            batch = Batch(*sizes, float(cost.upper), float(cost.lower), names, None)
            self._connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (*batch[:-2], None if names is None else json.dumps(names)),
            )
            if request is not None:
                self._connection.execute(
                    "INSERT INTO requests VALUES (?, ?, ?)", (number, *request)
                )
            head = _extend_chain(state.head, _charge_entry(batch))
            self._set(State(number, state.queries + queries, state.labels + labels, head))
        return batch

    def store_labels(self, batch: Batch, labels: list[int]) -> Batch:
        """Store and return the labels of a batch that this process has charged and drawn.

        Queries that got none, because a threshold failed, no longer count as labels. The file keeps
        the time of the charge, in whole seconds: how long the draw took is nobody's business.
        """
        settled = batch._replace(labels=labels)
        text = _labels_text(labels)
        with self._write_transaction():
            state = self.state()
            changed = self._connection.execute(
                "UPDATE batches SET labels = ? WHERE number = ? AND labels IS NULL",
                (text, batch.number),
            ).rowcount
            if changed != 1 or state.batches != batch.number:
                raise ValueError(f"{self.path}: batch {batch.key!r} is not waiting for its labels")
            labels_now = state.labels - batch.answers + settled.answers
            head = _extend_chain(state.head, _labels_entry(settled))
            self._set(state._replace(labels=labels_now, head=head))
        with contextlib.suppress(OSError):  # the file may be somebody else's, who lets us write
            os.utime(self.path, (batch.time, batch.time))
        return settled

    def extend(self, plan: str) -> None:
        """Put another plan into force; the caller holds the ledger's lock."""
        with self._write_transaction():
            self._set(self._add_plan(self.state(), plan))

    def _add_plan(self, state: State, plan: str) -> State:
        """Write a plan, and return the state after it."""
        entry = (state.batches, int(time.time()), plan)
        self._connection.execute("INSERT INTO plans VALUES (?, ?, ?)", entry)
        return state._replace(head=_extend_chain(state.head, _plan_entry(*entry)))

    def verify(self, head: str | None = None) -> State:
        """Compute the whole chain anew, and return the state that it leads to.

        Args:
            head: A hash that was noted earlier; it must be on the chain.

        Raises:
            ValueError: If the file does not agree with itself, or lacks that head: then it was put
                back from an older copy, or is another ledger.
        """
        with self.read_transaction():
            return self._verify(head)

    def _verify(self, head: str | None) -> State:
        plans = self._connection.execute("SELECT * FROM plans ORDER BY rowid").fetchall()
        chain, seen, queries, labels, batches = "", head is None, 0, 0, 0
        waiting = list(plans)

        def step(entry: dict) -> None:
            nonlocal chain, seen
            chain = _extend_chain(chain, entry)
            seen = seen or chain == head

        def plans_after(number: int) -> None:
            while waiting and waiting[0][0] == number:
                step(_plan_entry(*waiting.pop(0)))

        plans_after(0)
        for batch in self.batches():
            step(_charge_entry(batch))
            if batch.labels is not None:
                step(_labels_entry(batch))
            batches = batch.number
            queries, labels = queries + batch.queries, labels + batch.answers
            plans_after(batches)
        state = self.state()
        if waiting or state != State(batches, queries, labels, chain):
            raise ValueError(f"{self.path}: does not agree with its own hashes: restore the file")
        if not seen:
            raise ValueError(
                f"{self.path}: head {head} is not in its history: the file was put back from an "
                "older copy, or is of another one; labels that it lacks were charged"
            )
        return state

    def _begin(self, plan: str) -> None:
        """Write the tables of a new ledger and its first entry."""
        with self._write_transaction():
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id = {_IDENTITIES[self.kind]}")
            self._connection.execute(f"PRAGMA user_version = {VERSION}")
            state = self._add_plan(State(0, 0, 0, ""), plan)
            self._connection.execute("INSERT INTO state VALUES (?, ?, ?, ?)", state)

    def _set(self, state: State) -> None:
        self._connection.execute(
            "UPDATE state SET batches = ?, queries = ?, labels = ?, head = ?", state
        )

    @contextlib.contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Let the block see the file as it is at one moment, whatever others write meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        with _translate_sqlite_errors(self.path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def _write_transaction(self) -> Iterator[None]:
        """Let what the block writes come to be together, or not at all."""
        with _translate_sqlite_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # a full disk has rolled back already
                    self._connection.execute("ROLLBACK")
                raise


def check_new(path: str | Path, kind: str = SESSION) -> Path:
    """Return where the file of a new ledger will be; ValueError if it cannot be made there."""
    path = Path(path).resolve()
    if os.path.lexists(path):
        raise ValueError(f"{path}: is there already: a {_WORDS[kind]} is created once")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: the folder {path.parent} must be there")
    return path


def lock_of(path: str | Path) -> Path:
    """Return the file that whoever changes a ledger holds, wherever links lead."""
    path = Path(path).resolve()
    return path.with_name(f".{path.name}.lock")


def files_of(path: str | Path) -> dict[str, Path]:
    """Return the files that belong to a ledger, by what they are; most are there for moments."""
    path = Path(path).resolve()
    unfinished = path.with_name(f".{path.name}.part")
    return {
        "ledger": path,
        "ledger_journal": path.with_name(f"{path.name}-journal"),
        "ledger_lock": lock_of(path),
        "ledger_unfinished": unfinished,
        "ledger_unfinished_journal": unfinished.with_name(f"{unfinished.name}-journal"),
    }


def sync_to_disk(path: str | Path) -> None:
    """Wait until the disk has a file, or the names in a folder; OSError if it has not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    mode = "rw" if write else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,  # transactions begin and end where this file says so
    )
    # The folder is synced, too, because a charge must not come undone if the power fails.
    connection.execute("PRAGMA synchronous = EXTRA")
    return connection


@contextlib.contextmanager
def _translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ValueError or OSError, in one line that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code in _LOCKS:
            raise OSError(errno.ENOLCK, f"cannot be locked: {files.NO_LOCKS}", str(path)) from None
        code &= 0xFF
        if code in _SYSTEM:
            number = _SYSTEM[code]
            raise OSError(number, os.strerror(number), str(path)) from None
        if code == sqlite3.SQLITE_BUSY:
            held = f"{path}: is held by another process for more than {_PATIENCE:.0f} s"
            raise ValueError(held) from None
        raise ValueError(f"{path}: is damaged, or no ledger: {error}") from None


# SQLite reports one of these if a file cannot be locked.
_LOCKS = {
    sqlite3.SQLITE_IOERR_LOCK,
    sqlite3.SQLITE_IOERR_RDLOCK,
    sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
    sqlite3.SQLITE_IOERR_UNLOCK,
    sqlite3.SQLITE_PROTOCOL,
}
# SQLite reports these of the disk; the value is the system's own error.
_SYSTEM = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}


def _batch(row: Sequence[Any]) -> Batch:
    *sizes, names, text = row
    labels = None if text is None else json.loads(f"[{text}]")
    return Batch._make([*sizes, None if names is None else json.loads(names), labels])


def _labels_text(labels: list[int]) -> str:
    return json.dumps(labels, separators=(",", ":"))[1:-1]


def _extend_chain(head: str, entry: dict) -> str:
    """Return the head of a chain to which one more entry is added."""
    text = json.dumps(entry, sort_keys=True)
    return hashlib.sha256(f"{head}\n{text}".encode()).hexdigest()


def _plan_entry(after: int, timestamp: int, plan: str) -> dict:
    return {"after": after, "time": timestamp, "plan": plan}


def _charge_entry(batch: Batch) -> dict:
    charge = batch._asdict()
    del charge["labels"]
    return {"charge": charge}


def _labels_entry(batch: Batch) -> dict:
    assert batch.labels is not None  # an entry is made once they are known
    digest = hashlib.sha256(_labels_text(batch.labels).encode()).hexdigest()
    return {"batch": batch.number, "answers": batch.answers, "labels_sha256": digest}
