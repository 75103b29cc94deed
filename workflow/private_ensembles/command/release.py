"""Release labels for your own votes within a budget, once; docs/your-own-votes.md has the rules."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from private_ensembles.command import settings
from private_ensembles.command.output import emit, high, warn_of

EXAMPLES = (
    "private-ensembles release votes.csv --classes 3 --epsilon 2 --delta 1e-5"
    " --mechanism gnmax_analytic --mechanism permute_and_flip",
)
RESULTS = Path("results/own")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `release` takes."""
    parser.add_argument("votes", metavar="VOTES", help="a file .npz, .npy or .csv; stays private")
    parser.add_argument(
        "--classes", type=int, required=True, help="their number, never read off the votes"
    )
    parser.add_argument("--labels", type=int, help="wanted at most; default: one for each query")
    parser.add_argument("--votes-kind", choices=("auto", "votes", "counts"), default="auto")
    parser.add_argument(
        "--again", action="store_true", help="allow another release; all costs add up"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=RESULTS,
        metavar="FOLDER",
        help="holds release/ and its record, or rehearsal/; default results/own, as the workflow's",
    )
    settings.add_arguments(parser)


def run(given: argparse.Namespace) -> int:
    """Release the labels, keep the record, and print what may be published."""
    from private_ensembles.experiments import own_votes
    from private_ensembles.votes.foreign import read_own_votes

    secure = given.noise == "secure"
    folder = given.out / ("release" if secure else "rehearsal")
    mark = "" if secure else "rehearsal_"
    record = folder / "releases.csv"
    _ask(given, record)  # before any work
    votes = read_own_votes(given.votes, n_classes=given.classes, kind=given.votes_kind)
    budget = {
        "epsilon": given.epsilon,
        "delta": given.delta,
        "labels_wanted": given.labels,
        "noise": given.noise,
    }
    sizes = {"teachers": votes.n_teachers, "n_classes": votes.n_classes}
    chosen = settings.of(given, queries=votes.n_queries, labels=votes.n_queries, **sizes)
    application = own_votes.plan_for(votes, chosen, budget, given.seed, expect=warn_of)
    rows = own_votes.public_rows(application)
    # A release at the same time waits here, and is then asked about what was drawn before.
    with _locked(folder):
        note = _ask(given, record)
        files, total = _draw(application, votes, given.seed, rows, folder, mark, record)
    row = _chosen(rows)
    report = {
        "mechanism": application.chosen.mechanism,
        "parameters": row["parameters"],
        "epsilon": float(row["epsilon"]),
        "delta": given.delta,
        "asked": own_votes.public_facts(application),
        "files": {name: str(path) for name, path in files.items()},
        "all_releases": None
        if total is None
        else {"epsilon": total.epsilon, "delta": total.delta, "adjacency": total.adjacency},
    }
    emit(report, _text(report, note, total), as_json=given.json)
    return 0


def _ask(given: argparse.Namespace, record: Path) -> str | None:
    """Say what a further release costs; ValueError if it is not allowed."""
    from private_ensembles.experiments import releases

    asked = {
        "noise": given.noise,
        "epsilon": given.epsilon,
        "delta": given.delta,
        "planner": {"adjacency": given.adjacency},
        "again": given.again,
    }
    return releases.permission(asked, record, allow="--again")


def _chosen(rows: list[dict]) -> dict:
    return next(row for row in rows if row["chosen"])


def _draw(application, votes, seed, rows, folder: Path, mark: str, record: Path):
    """Draw the labels, record them, put them in place; return what all releases cost."""
    from private_ensembles.experiments import own_votes, releases
    from private_ensembles.jobs import io

    files = {"labels": folder / f"{mark}labels.csv", "mechanisms": folder / f"{mark}mechanisms.csv"}
    parts = {name: path.with_name(f".{path.stem}.part.csv") for name, path in files.items()}
    try:
        for part in parts.values():  # nobody else can read them before they are on record
            part.unlink(missing_ok=True)
            part.touch(mode=0o600)
        io.write_csv(parts["mechanisms"], rows)
        labels = own_votes.labels_rows(own_votes.release(application, votes, seed))
        io.write_csv(parts["labels"], labels, own_votes.LABELS)
        total = None
        if application.task.secure:
            drawn = releases.release_of(_chosen(rows), parts["labels"])
            # On record before anybody can see them.
            releases.append(drawn, record)
            total = releases.together(releases.read(record))
        for name, path in files.items():
            parts[name].chmod(folder.stat().st_mode & 0o666)
            os.replace(parts[name], path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return files, total


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep a folder to one release at a time; make the folder if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _text(report: dict, note: str | None, total) -> list[str]:
    lines, asked = [] if note is None else [note], report["asked"]
    lines += [
        f"{report['mechanism']} ({report['parameters']}): {asked['wanted']} labels wanted of "
        f"{asked['queries']} queries, {asked['teachers']} teachers, {asked['classes']} classes",
        f"cost of all labels: epsilon = {high(report['epsilon'])} at delta = {report['delta']:g}",
        f"labels: {report['files']['labels']}",
    ]
    if total is None:
        lines.append("A REHEARSAL: the noise can be computed from the seed; publish nothing of it")
    else:
        lines.append(f"with all releases on record in this folder: at most {total}")
    return lines
