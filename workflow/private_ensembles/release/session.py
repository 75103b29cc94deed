"""Labels over time: many batches of queries within one budget, and a file that keeps count.

A session states its sizes, its budget and the most labels that it may ever release. The plan is
made then, and its noise never changes. After that any number of batches may be asked, each after
seeing all labels so far, until the labels are used up. docs/many-labels.md has the theorems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import streams
from private_ensembles.base.files import hold_lock
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.parameter_names import write_upper_bound
from private_ensembles.labels import release_gate
from private_ensembles.labels.ballots import deal_absent_ballots
from private_ensembles.labels.parameters import require_count_table, require_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Wanted,
    require_protection,
)
from private_ensembles.release import (
    expectation,
    pool,
    session_plan,
    session_terms,
    statement,
)
from private_ensembles.release.ledger_file import (
    Batch,
    LedgerFile,
    State,
    check_new,
    lock_of,
)
from private_ensembles.release.pool import Names
from private_ensembles.release.release_plan import ReleasePlan
from private_ensembles.release.session_terms import Terms

# A batch's name is no longer than this, so that it stands in one line of any table.
LONGEST_KEY = 200


class Session:
    """One budget, many batches of queries; made by `create` or opened by `open`.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with Session.create(
    ...     f"{folder}/ward.session", Ensemble(40, 2), (2, 1e-6), labels=30, rehearsal=Rehearsal()
    ... ) as session:
    ...     labels = session.release([[39, 1], [2, 38]], key="monday")
    ...     session.release([[39, 1], [2, 38]], key="monday").tolist() == labels.tolist()
    ...     session.remaining, session.spent.epsilon < 2
    True
    (28, True)

    Attributes:
        plan: What was planned; it never changes but by `extend`.
        names: What labels and queries are called.
        path: Where the file is.

    Raises:
        ValueError: If a value is out of range, if a file is no session or is damaged, or if there
            are more queries than remain. The message is one line.
        OSError: If the file cannot be read or written.
    """

    def __init__(self, file: LedgerFile, *, write: bool = True) -> None:
        self._file, self._write = file, write
        self.path = file.path
        self._text = file.plan()
        self.terms = session_terms.read_terms(self._text)
        self._tried = False

    @property
    def plan(self) -> ReleasePlan:
        """Return what was planned, as it was read last."""
        return self.terms.plan

    @property
    def names(self) -> Names:
        """Return what labels and queries are called in all batches."""
        return self.terms.names

    @classmethod
    def create(
        cls,
        path: str | Path,
        ensemble: Ensemble,
        budget: Budget | Sequence[float],
        protection: Protection | None = None,
        *,
        labels: Wanted | int,
        mechanisms: Sequence[str] | None = None,
        profile: Mapping | None = None,
        rehearsal: Rehearsal | None = None,
        anyway: bool = False,
    ) -> Session:
        """Plan a session and make its file.

        What must not be missed about labels and budget becomes a warning.

        Args:
            path: A file that is not there yet.
            ensemble: Who votes, and what classes are called in all batches.
            budget: What all labels may cost together.
            protection: Whom the guarantee protects; may be left out for a rehearsal.
            labels: The most that will ever be released, or a `Wanted`, which also says the most
                queries that will ever be asked, if some may get no label because a threshold is
                asked first.
            mechanisms: Names, of which the best on the profile is taken; None: all.
            profile: As in :func:`private_ensembles.plan`.
            rehearsal: For labels that must not be released; None: noise from the system's entropy.
            anyway: Make the session even if too few labels would be right, on the profile, to be of
                use; a rehearsal is made in any case.

        Raises:
            ValueError: If a value is out of range, if no mechanism applies, if the labels would be
                of too little use (`release.expectation`), or if there is something at `path`. The
                message is one line.
            OSError: If the file cannot be written.
        """
        check_new(path)
        protection = require_protection(protection, secure=rehearsal is None)
        plan = session_plan.plan_session(
            ensemble,
            Budget.coerce(budget),
            Wanted.coerce(labels),
            protection,
            mechanisms=mechanisms,
            profile=profile,
            rehearsal=rehearsal,
        )
        names = pool.names_of(plan.task.ensemble.classes, ensemble.names)
        expected = session_plan.expect_session_labels(plan)
        expectation.announce_and_check(expected, secure=plan.seed is None, anyway=anyway)
        return cls.begin(path, plan, names)

    @classmethod
    def begin(cls, path: str | Path, plan: ReleasePlan, names: Names) -> Session:
        """Make the file of a session that was planned (`session_plan.plan_session`).

        Args:
            path: A file that is not there yet.
            plan: The plan.
            names: What labels and queries are called in all batches.

        Raises:
            ValueError: If there is something at `path`.
            OSError: If the file cannot be written.
        """
        terms = Terms.from_plan(plan, names)
        with hold_lock(lock_of(path)):
            return cls(LedgerFile.create(path, terms.to_json()))

    @classmethod
    def open(cls, path: str | Path, *, head: str | None = None, write: bool = True) -> Session:
        """Open a session that was created before.

        Args:
            path: Its file.
            head: A hash that `head` returned earlier and that was kept elsewhere. The whole file is
                then checked, and refused if it is an older copy.
            write: False to look only, for instance at a file that may not be changed.

        Raises:
            ValueError: If the file is no session, is damaged or lacks the head.
            OSError: If it cannot be read or, with `write`, written.
        """
        session = cls(LedgerFile.open(path, write=write), write=write)
        if head is not None:
            session.verify(head)
        return session

    def close(self) -> None:
        """Close the file. Nothing is lost: each batch was written when it was released."""
        self._file.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @property
    def state(self) -> State:
        """Return how many batches, queries and labels were charged so far, and the head.

        The plan is read again, too, as somebody else may have extended the session.
        """
        with self._file.read_transaction():
            self._read_terms()
            return self._file.state()

    @property
    def head(self) -> str:
        """Return the last hash of the chain over all entries, 64 hex digits; see `open`."""
        return self.state.head

    @property
    def remaining(self) -> int:
        """Return how many labels may still be released."""
        state = self.state
        return max(0, self.plan.labels - state.labels)

    @property
    def remaining_queries(self) -> int:
        """Return how many queries may still be asked; without labels left, none gets one."""
        state = self.state
        return max(0, self.plan.queries - state.queries)

    @property
    def spent(self) -> Budget:
        """Return the cost of what was charged so far, at the session's delta.

        This holds if the number of labels was decided without looking at labels. If it was decided
        by looking, the cost of the cap holds, `total` (docs/own-votes.md). The cost was computed
        before the last batch was charged, and is only read here.
        """
        last = self._file.last_batch()
        return Budget(0.0 if last is None else last.epsilon, self.plan.task.budget.delta)

    @property
    def total(self) -> Budget:
        """Return what the session costs at most, whatever is asked and whenever it ends.

        After `extend`, only if labels that were seen did not decide on that (docs/own-votes.md).
        """
        with self._file.read_transaction():
            self._read_terms()
        return self.plan.task.budget

    def release(
        self,
        counts: ArrayLike,
        *,
        key: str | None = None,
        ids: Sequence[str] | None = None,
        again: bool = False,
    ) -> NDArray[np.int64]:
        """Release one label for each query.

        What will be said of the batch is computed first, and what it costs is written with its
        charge. The charge is a transaction that is on disk before anything is drawn, so that only
        drawing and writing can fail after it. Only the process that has charged a batch draws for
        it, once. Other processes wait.

        Args:
            counts: Integers (queries, classes), votes for each class. Each row adds up to the
                number of teachers, or to at most that if ballots may be absent, which are then
                dealt out to the classes (`labels.ballots.deal_absent_ballots`).
            key: A name for the batch, of at most 200 characters; None: a new batch in any case. A
                batch of this name that was released before is not drawn again: its labels are
                returned as they are, whatever the counts, and cost nothing.
            ids: What its queries are called, which is public; must be given if the session states a
                column of identifiers.
            again: Draw a batch again whose labels were lost because a process ended between charge
                and labels; it is charged anew.

        Returns:
            int64 (queries,), -1 for a query without a label.

        Raises:
            ValueError: Before any charge, if counts are not such a table, if there are more queries
                than remain, if the key is that of other queries, or if a batch was lost, unless
                `again` is true.
            OSError: If the file cannot be written: the labels are then either not charged, or
                charged and lost.
        """
        _check_key(key)
        self._require_write()
        plan = self.plan
        sized = plan.parameters_for(plan.queries, plan.labels)
        counts = require_count_table(counts)  # type: ignore[arg-type]  # what is no array, too
        if plan.task.ensemble.absent:
            counts = deal_absent_ballots(counts, plan.task.ensemble.teachers)
        counts = require_counts(counts, sized)
        if counts.shape[1] != plan.task.ensemble.classes:
            raise ValueError(
                f"counts of {counts.shape[1]} classes: must be of {plan.task.ensemble.classes}"
            )
        self._check_ids(ids, len(counts))
        with hold_lock(lock_of(self.path)):
            earlier = None if key is None else self._file.find(key)
            if earlier is not None and earlier.labels is not None:
                return _require_same_queries(earlier, len(counts))
            if earlier is not None and not again:
                raise ValueError(
                    f"{self.path}: batch {key!r} was charged ({earlier.answers} labels), and its "
                    "labels were lost when the process ended: nobody can get them back; allow a "
                    "new charge with again = yes"
                )
            before = self._require_room(len(counts))
            most = min(len(counts), max(0, self.plan.labels - before.labels))
            queries, labels = before.queries + len(counts), before.labels + most
            cost = self.plan.bounds(queries, labels, self.plan.task.budget.delta)
            self._dry_run()
            batch = self._file.release(
                lambda: self._draw(counts, before).tolist(),
                key,
                len(counts),
                most,
                before=before,
                cost=cost,
                ids=ids,
            )
            return np.array(batch.labels, dtype=np.int64)

    def batch(self, key: str) -> Batch:
        """Return a batch by its name, the last attempt at it; its labels cost nothing more.

        Raises:
            ValueError: If there is none.
        """
        batch = self._file.find(key)
        if batch is None:
            raise ValueError(f"{self.path}: has no batch {key!r}")
        return batch

    def labels_text(self, batch: Batch) -> str:
        """Return a batch's labels as CSV, with what queries and labels mean; none if lost."""
        return self.terms.labels_text(batch)

    def documents(self, last: Batch, labels: int = 0, labels_sha256: str = "") -> dict[str, str]:
        """Return the statement on the session and its certificate, by name, as of its last batch.

        Args:
            last: The last batch.
            labels: How many labels were released so far.
            labels_sha256: The hash of the file that holds them.
        """
        plan, proof = self.terms.plan, self.terms.proof
        charged = statement.LedgerEntry(
            plan.task.budget.epsilon,
            plan.task.budget.delta,
            time=last.charge_time,
            labels=labels,
            labels_sha256=labels_sha256,
            spent=last.epsilon,
        )
        return statement.documents(plan, proof, charged)

    def batches(self) -> list[Batch]:
        """Return all batches in the order of their charges, those that were lost included."""
        return list(self._file.batches())

    def verify(self, head: str | None = None) -> State:
        """Check the whole file against its own hashes and its plan; see `open`."""
        with self._file.read_transaction():
            state = self._file.verify(head)
            self._read_terms()
        if state.labels > self.plan.labels or state.queries > self.plan.queries:
            raise ValueError(f"{self.path}: holds more labels than its plan allows")
        return state

    def snapshot(self) -> tuple[State, list[Batch]]:
        """Return the state and all batches at one moment; `plan` is that of this moment, too."""
        with self._file.read_transaction():
            return self.state, self.batches()

    def cost_of(self, labels: int, queries: int | None = None) -> Budget:
        """Return what a larger cap would cost in all, with the noise as it is; see `extend`.

        Args:
            labels: The new cap on labels, at least the old one.
            queries: The new cap on queries, at least the old one; None: in proportion.

        Raises:
            ValueError: If a cap is smaller than the old one, or if nothing is proven for it.
        """
        return session_plan.enlarge_cap(self.plan, labels, queries).task.budget

    def extend(self, labels: int, *, epsilon: float, queries: int | None = None) -> None:
        """Allow more labels at the same noise; from now on the session costs what the new cap does.

        That holds if labels that were seen did not decide on it. If they did, each of several caps
        that were fixed beforehand keeps its own delta, and these add up (docs/many-labels.md,
        theorem 12).

        Args:
            labels: As in `cost_of`.
            epsilon: What the session may cost then, at the same delta.
            queries: As in `cost_of`.

        Raises:
            ValueError: If a cap is smaller than the old one, or if the new cap costs more than
                `epsilon`; nothing is changed then.
        """
        self._require_write()
        with hold_lock(lock_of(self.path)):
            self._read_terms()
            plan = session_plan.enlarge_cap(self.plan, labels, queries)
            if plan.task.budget.epsilon > epsilon:
                least = write_upper_bound(plan.task.budget.epsilon)
                raise ValueError(
                    f"epsilon = {epsilon}: must be at least {least}, what {labels} labels cost at "
                    f"delta = {plan.task.budget.delta}"
                )
            self._file.extend(Terms.from_plan(plan, self.names).to_json())
            self._read_terms()

    def _require_write(self) -> None:
        if not self._write:
            raise ValueError(f"{self.path}: was opened for reading only (write=False)")

    def _read_terms(self) -> None:
        """Read what the session states again if somebody has changed it."""
        text = self._file.plan()
        if text != self._text:
            self._text, self.terms = text, session_terms.read_terms(text)

    def _check_ids(self, ids: Sequence[str] | None, queries: int) -> None:
        """Raise ValueError for what cannot be the names of so many queries."""
        column = self.names.id_column
        if ids is None:
            if column is not None:
                raise ValueError(
                    "ids: must be given, what each query is called, as the session states a "
                    f"column of identifiers, {column!r}"
                )
            return
        texts = all(isinstance(name, str) and name.isprintable() for name in ids)
        if len(ids) != queries or len(set(ids)) != queries or not texts:
            raise ValueError(f"ids: must be {queries} different texts, one for each query")

    def _require_room(self, queries: int) -> State:
        """Return the state before a batch; ValueError if it asks for more than remains."""
        state = self.state
        remaining = max(0, self.plan.queries - state.queries)
        if queries > remaining:
            raise ValueError(
                f"{self.path}: {queries} queries: must be at most {remaining}, which is what "
                f"remains of {self.plan.queries}; a larger cap costs more (extend)"
            )
        return state

    def _dry_run(self) -> None:
        """Draw for a made-up query and write its documents, once in a process.

        If something is missing, it must fail before the first charge.
        """
        if not self._tried:
            task = self.plan.task
            nobody = np.zeros((1, task.ensemble.classes), dtype=np.int64)
            nobody[0, 0] = task.ensemble.teachers
            drawn = self._draw(nobody, State(0, 0, 0, ""))
            self.documents(Batch(1, "", 1, 0, 1, 1, 0.0, 0.0, None, drawn.tolist()))
            self._tried = True

    def _draw(self, counts: NDArray, before: State) -> NDArray[np.int64]:
        """Draw a batch's labels, at most as many as remained before it was charged."""
        plan = self.plan
        queries = plan.queries - before.queries
        labels = plan.labels - before.labels
        drawn = np.full(len(counts), -1, dtype=np.int64)
        if labels == 0:
            return drawn
        if plan.seed is None:
            noise = plan.parameters_for(queries, labels)
            return release_gate.release_from_counts(plan.mechanism, counts, noise, SecureNoise())
        # Each query has a stream of its own, so that it does not matter how they are batched.
        for query in range(len(counts)):
            remaining = labels - int((drawn >= 0).sum())
            if remaining == 0:
                break
            stream = streams.generator(plan.seed, "session", before.queries + query)
            noise = plan.parameters_for(queries - query, remaining)
            row = counts[query : query + 1]
            drawn[query] = release_gate.release_from_counts(
                plan.mechanism, row, noise, SeededNoise(stream)
            )[0]
        return drawn


def _check_key(key: str | None) -> None:
    """Raise ValueError for a name that a batch cannot have; # stands before numbers of our own."""
    if key is None:
        return
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        allowed = f"a text of at most {LONGEST_KEY} printable characters"
        raise ValueError(f"key = {key!r}: must be {allowed}")
    if key.startswith("#"):
        raise ValueError(f"key = {key!r}: must not begin with #")


def _require_same_queries(batch: Batch, queries: int) -> NDArray[np.int64]:
    """Return a batch's labels; ValueError if it had other queries, by their number."""
    if batch.queries != queries:
        raise ValueError(
            f"key = {batch.key!r}: is the name of a batch of {batch.queries} queries, released "
            f"before, and these are {queries}: give a new batch a new name"
        )
    return np.array(batch.labels, dtype=np.int64)
