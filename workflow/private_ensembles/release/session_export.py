"""What a session may show: its labels, its batches, and what they cost, as files for others.

Everything here is a function of the plan and of labels that were released.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from private_ensembles.jobs import io, provenance
from private_ensembles.release import certificate, session_plan, statement
from private_ensembles.release.pool import labels_text
from private_ensembles.release.session import Session
from private_ensembles.release.session_file import Batch
from private_ensembles.release.showing import put, writer

# Shares of the session's delta at which its cost is told.
DELTAS = (100.0, 10.0, 1.0, 0.1, 0.01)
_LABELS = ("batch", "query", "label")
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

    def cost(queries: int, labels: int, at: float) -> dict:
        bounds = plan.bounds(queries, labels, at)
        return {"epsilon": bounds.upper, "least": bounds.lower, "delta": at}

    report = {
        "plan": session_plan.facts(plan),
        "batches": state.batches,
        "lost": sum(batch.labels is None for batch in batches),
        "queries": state.queries,
        "labels": state.labels,
        "remaining": session.remaining,
        "remaining_queries": session.remaining_queries,
        "spent": cost(state.queries, state.labels, delta),
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
    does not agree with itself, and OSError if something cannot be written.
    """
    session.verify()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rehearsal = session.plan.seed is not None
    mode = 0o600 if rehearsal else None
    if rehearsal:
        folder.chmod(0o700)
    batches = session.batches()
    labels = [
        {"batch": batch.key, "query": query, "label": label}
        for batch in batches
        for query, label in enumerate(_labels(batch))
        if label >= 0
    ]
    rows = [_row(batch) for batch in batches]
    report = status(session, curve=True)
    text = json.dumps(report, indent=2, ensure_ascii=False)
    written = {
        "labels.csv": lambda path: io.write_csv(path, labels, _LABELS),
        "batches.csv": lambda path: io.write_csv(path, rows, _BATCHES),
        "session.json": writer(f"{text}\n"),
    }
    files, now = {}, int(time.time())

    def put_all(writers: Mapping[str, Callable[[Path], object]]) -> None:
        for name, write in writers.items():
            files[name] = folder / name
            put(files[name], write, now, mode)

    put_all(written)
    if batches and not rehearsal:
        told = _documents(session, files["labels.csv"], len(labels), report["spent"]["epsilon"])
        put_all({name: writer(text) for name, text in told.items()})
    return files


def _documents(session: Session, labels: Path, number: int, spent: float) -> dict[str, str]:
    """The certificate of a session and the statement on it, as of its last batch."""
    plan, last = session.plan, session.batches()[-1]
    epsilon, proof = plan.task.budget.epsilon, certificate.proof_or_reason(plan)
    times = {"time": _time(last), "labels_sha256": provenance.sha256_of(labels)}
    charged = statement.Charged(
        epsilon, plan.task.budget.delta, **times, labels=number, spent=spent
    )
    said = statement.statement(plan, proof, charged)
    checked = certificate.of_release(plan, proof, **times, epsilon=epsilon)
    return {statement.CERTIFICATE: checked, statement.STATEMENT: said}


def put_batch(
    path: Path,
    batch: Batch,
    *,
    rehearsal: bool,
    text: Callable[[Sequence[int]], str] = labels_text,
) -> None:
    """Let a batch's labels appear whole, or leave the file that was there before.

    The file has the time of the charge, in whole seconds: how long the labels took to draw is
    nobody's business. rehearsal: only its owner may read it. text: writes the labels.
    """

    def write(unfinished: Path) -> None:
        unfinished.write_text(text(_labels(batch)), encoding="utf-8")

    put(path, write, batch.time, 0o600 if rehearsal else None)


def _labels(batch: Batch) -> list[int]:
    """The labels of a batch; none if they were lost."""
    return [] if batch.labels is None else batch.labels


def _time(batch: Batch) -> str:
    return datetime.fromtimestamp(batch.time, UTC).isoformat(timespec="seconds")


def _row(batch: Batch) -> dict:
    digest = hashlib.sha256(labels_text(_labels(batch)).encode()).hexdigest()
    return {
        "batch": batch.key,
        "attempt": batch.attempt,
        "time": _time(batch),
        "queries": batch.queries,
        "labels": batch.answers,
        "labels_sha256": "" if batch.labels is None else digest,
    }
