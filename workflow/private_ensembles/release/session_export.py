"""What a session may show: its labels, its batches, and what they cost, as files for others.

Everything here is a function of the plan and of labels that were released.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from private_ensembles import checks
from private_ensembles.release import session_plan
from private_ensembles.release.ledger_file import Batch, files_of
from private_ensembles.release.session import Session
from private_ensembles.release.showing import put, writer, written

# Shares of the session's delta at which its cost is told.
DELTAS = (100.0, 10.0, 1.0, 0.1, 0.01)
_BATCHES = ("batch", "attempt", "time", "queries", "labels", "labels_sha256")


def status(session: Session, *, curve: bool = False) -> dict:
    """Return what a session is and what it has spent, for JSON.

    Keys: plan (`session_plan.facts`), batches, lost (batches whose labels were lost), queries and
    labels (charged so far), remaining, remaining_queries, spent and total (epsilon at delta, with
    the lower bound of the account in `least`), head. curve: with the cost at other deltas, too.
    """
    state, batches = session.snapshot()
    plan = session.plan
    delta = plan.task.budget.delta
    epsilon, least = (batches[-1].epsilon, batches[-1].least) if batches else (0.0, 0.0)
    report = {
        "plan": session_plan.facts(plan),
        "batches": state.batches,
        "lost": sum(batch.labels is None for batch in batches),
        "queries": state.queries,
        "labels": state.labels,
        "remaining": session.remaining,
        "remaining_queries": session.remaining_queries,
        "spent": {"epsilon": epsilon, "least": least, "delta": delta},
        "total": {"epsilon": plan.task.budget.epsilon, "delta": delta},
        "head": state.head,
    }
    if curve:
        deltas = [share * delta for share in DELTAS if share * delta < 1]
        report["curve"] = [
            {
                "delta": at,
                "spent": plan.epsilon(state.queries, state.labels, at),
                "total": plan.epsilon(plan.queries, plan.labels, at),
            }
            for at in deltas
        ]
    return report


def export(session: Session, folder: str | Path) -> dict[str, Path]:
    """Write labels.csv, batches.csv and session.json into a folder; return where they are.

    And, unless it is a rehearsal, the statement on the session and its certificate.

    Each appears whole, in the place of what an earlier export wrote. The session's file is checked
    first (`Session.verify`). Of a rehearsal only their owner may read them. Raises ValueError if it
    does not agree with itself or would be written over, and OSError if something cannot be written.
    """
    session.verify()
    folder = Path(folder)
    batches, rehearsal = session.batches(), session.plan.seed is not None
    rows = _label_rows(session, batches)
    labels = _table(rows, _columns(session, batches))
    report = json.dumps(status(session, curve=True), indent=2, ensure_ascii=False)
    texts = {
        "labels.csv": labels,
        "batches.csv": _table([_row(session, batch) for batch in batches], _BATCHES),
        "session.json": f"{report}\n",
    }
    if batches and not rehearsal:
        digest = hashlib.sha256(labels.encode()).hexdigest()
        texts |= session.documents(batches[-1], len(rows), digest)
    files = {name: folder / name for name in texts}
    everything = itertools.chain.from_iterable(map(written, files.values()))
    checks.apart(everything, **files_of(session.path))
    folder.mkdir(parents=True, exist_ok=True)
    if rehearsal:
        folder.chmod(0o700)
    now = int(time.time())
    for name, text in texts.items():
        put(files[name], writer(text), now, 0o600 if rehearsal else None)
    return files


def put_batch(session: Session, path: Path, batch: Batch) -> None:
    """Let a batch's labels appear whole, or leave the file that was there before.

    The file has the time of the charge, in whole seconds: how long the labels took to draw is
    nobody's business. Of a rehearsal only its owner may read it.
    """
    mode = 0o600 if session.plan.seed is not None else None
    put(path, writer(session.labels_text(batch)), batch.time, mode)


def _columns(session: Session, batches: Sequence[Batch]) -> list[str]:
    """Return the columns of all labels: id and class_name as `pool.labels_text` has them."""
    named = any(batch.ids is not None for batch in batches)
    ids = ["id"] if named else []
    class_names = [] if session.names.class_names is None else ["class_name"]
    return ["batch", "query", *ids, "label", *class_names]


def _label_rows(session: Session, batches: Sequence[Batch]) -> list[dict]:
    """Return a row for each label, with a query's identifier and a class's name if there is one."""
    names = session.names.class_names
    return [
        {
            "batch": batch.key,
            "query": query,
            "id": None if batch.ids is None else batch.ids[query],
            "label": label + session.names.first_class,
            "class_name": None if names is None else names[label],
        }
        for batch in batches
        for query, label in enumerate(batch.labels or [])
        if label >= 0
    ]


def _table(rows: Sequence[Mapping], columns: Sequence[str]) -> str:
    """Return these columns of rows of text and whole numbers as CSV."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _row(session: Session, batch: Batch) -> dict:
    digest = hashlib.sha256(session.labels_text(batch).encode()).hexdigest()
    return {
        "batch": batch.key,
        "attempt": batch.attempt,
        "time": batch.when,
        "queries": batch.queries,
        "labels": batch.answers,
        "labels_sha256": "" if batch.labels is None else digest,
    }
