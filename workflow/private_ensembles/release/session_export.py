"""What a ledger may show: labels, batches, and what they cost, as files and tables for others.

Everything here is a function of the plans and of labels that were released.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from private_ensembles.base import checks
from private_ensembles.release import session_plan
from private_ensembles.release.ledger_file import Batch, files_of
from private_ensembles.release.record import Record, Release
from private_ensembles.release.release_files import list_written_paths, write_atomically, writer
from private_ensembles.release.session import Session

# The cost of a session is given at these multiples of its delta.
DELTAS = (100.0, 10.0, 1.0, 0.1, 0.01)
_BATCHES: tuple[str, ...] = ("batch", "attempt", "time", "queries", "labels", "labels_sha256")
_COSTS: tuple[str, ...] = ("mechanism", "epsilon", "delta", "adjacency", "reach")


def status(session: Session, *, curve: bool = False) -> dict:
    """Return what a session is and what it has spent, for JSON.

    Args:
        session: An open session.
        curve: Whether to add the cost at other deltas.

    Returns:
        Keys: plan (`session_plan.facts`), batches, lost (batches whose labels were lost), queries
        and labels (charged so far), remaining, remaining_queries, spent and total (epsilon at
        delta, with the lower bound of the account in `least`), head, and curve if asked for.
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
                "delta": other_delta,
                "spent": plan.epsilon(state.queries, state.labels, other_delta),
                "total": plan.epsilon(plan.queries, plan.labels, other_delta),
            }
            for other_delta in deltas
        ]
    return report


def status_of_releases(known: Record) -> dict:
    """Return what all releases on a ledger have cost, for JSON.

    Args:
        known: What a ledger holds.

    Returns:
        Keys: batches, lost (releases whose labels were lost), queries and labels (charged),
        already_spent (before the ledger was made), total (of all together), if_planned_together
        (`Record.joint`), head.
    """
    state, joint = known.state, known.joint
    assert state is not None  # there is a ledger
    return {
        "batches": state.batches,
        "lost": sum(release.batch.labels is None for release in known.releases),
        "queries": state.queries,
        "labels": state.labels,
        "already_spent": known.already_spent and asdict(known.already_spent),
        "total": known.total and asdict(known.total),
        "if_planned_together": joint and asdict(joint),
        "head": state.head,
    }


def batch_rows(ledger: Session | Record) -> list[dict]:
    """Return a row for each batch, in the order of charges, as columns of batches.csv have it.

    A row also has epsilon: of a release by itself, of a session's batch with those before it.
    """
    return list(map(_row, _batches(ledger)))


def export(ledger: Session | Record, folder: str | Path) -> dict[str, Path]:
    """Write labels.csv, batches.csv and session.json into a folder; return where they are.

    Unless it is a rehearsal, a session's statement and certificate are written, too. Each release
    has its own beside its labels, and their ledger becomes releases.json.

    Each file appears whole, in place of what an earlier export wrote. A session's file is checked
    first (`Session.verify`). Only their owner may read files of a rehearsal.

    Raises:
        ValueError: If the ledger does not agree with itself, or would be written over.
        OSError: If something cannot be written.
    """
    batches, folder = _batches(ledger), Path(folder)
    released = _label_rows(batches)
    labels = _table(released, _columns(batches))
    cost_columns: tuple[str, ...] = ()
    if isinstance(ledger, Record):
        name, report, rehearsal = "releases", status_of_releases(ledger), False
        cost_columns = _COSTS
    else:
        ledger.verify()
        name, report = "session", status(ledger, curve=True)
        rehearsal = ledger.plan.seed is not None
    texts = {
        "labels.csv": labels,
        "batches.csv": _table(batch_rows(ledger), _BATCHES + cost_columns),
        f"{name}.json": f"{json.dumps(report, indent=2, ensure_ascii=False)}\n",
    }
    if batches and not rehearsal and not isinstance(ledger, Record):
        digest = hashlib.sha256(labels.encode()).hexdigest()
        texts |= ledger.documents(batches[-1].batch, len(released), digest)
    files = {name: folder / name for name in texts}
    written = itertools.chain.from_iterable(map(list_written_paths, files.values()))
    assert ledger.path is not None  # there is a ledger
    checks.check_separate_files(written, **files_of(ledger.path))
    folder.mkdir(parents=True, exist_ok=True)
    if rehearsal:
        folder.chmod(0o700)
    now = int(time.time())
    for name, text in texts.items():
        write_atomically(files[name], writer(text), now, 0o600 if rehearsal else None)
    return files


def put_batch(session: Session, path: Path, batch: Batch) -> None:
    """Write a batch's labels to a file, which appears whole or stays as it was.

    The file has the time of the charge, in whole seconds: how long the labels took to draw is
    nobody's business. Only its owner may read the file of a rehearsal.
    """
    mode = 0o600 if session.plan.seed is not None else None
    write_atomically(path, writer(session.labels_text(batch)), batch.time, mode)


def _batches(ledger: Session | Record) -> list[Release]:
    """Return all batches, each with what was stated for it."""
    if isinstance(ledger, Record):
        return list(ledger.releases)
    return [Release(batch, ledger.terms) for batch in ledger.batches()]


def _columns(batches: Sequence[Release]) -> list[str]:
    """Return the columns of all labels: id and class_name as `pool.labels_text` has them."""
    ids = ["id"] if any(batch.ids is not None for batch, _ in batches) else []
    has_names = any(terms.names.class_names is not None for _, terms in batches)
    return ["batch", "query", *ids, "label", *(["class_name"] if has_names else [])]


def _label_rows(batches: Sequence[Release]) -> list[dict]:
    """Return a row for each label, with a query's identifier and a class's name if there is one."""
    return [
        {
            "batch": batch.key,
            "query": query,
            "id": None if batch.ids is None else batch.ids[query],
            "label": label + terms.names.first_class,
            "class_name": terms.names.class_names and terms.names.class_names[label],
        }
        for batch, terms in batches
        for query, label in enumerate(batch.labels_to_show)
        if label >= 0
    ]


def _table(rows: Sequence[Mapping], columns: Sequence[str]) -> str:
    """Return these columns of rows of text and numbers as CSV."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _row(release: Release) -> dict:
    """Return a batch as a row."""
    batch = release.batch
    digest = hashlib.sha256(release.terms.labels_text(batch).encode()).hexdigest()
    return {
        "batch": batch.key,
        "attempt": batch.attempt,
        "time": batch.charge_time,
        "queries": batch.queries,
        "labels": batch.answers,
        "labels_sha256": "" if batch.labels is None else digest,
        "mechanism": release.plan.name,
        **{name: getattr(release.cost, name) for name in _COSTS[1:]},
    }
