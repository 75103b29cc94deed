"""What a run says in plain words when it starts and when it ends."""

import csv
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from private_ensembles.papers.all import ALL

# For each rule of longer jobs: what they do, and the singular and plural of what they make.
_WORK = {
    "download_data": ("download", "file", "files"),
    "prepare_dataset": ("prepare", "data set", "data sets"),
    "train_teachers": ("train", "ensemble of teachers", "ensembles of teachers"),
    "train_slice": ("train", "part of an ensemble", "parts of ensembles"),
    "cast_forest_votes": ("train", "ensemble of forests", "ensembles of forests"),
    "cast_bagged_votes": ("train", "set of bagged teachers", "sets of bagged teachers"),
    "optimize_gamma": ("optimise", "noise function", "noise functions"),
    "solve_sweep": ("solve", "point of the sweeps", "points of the sweeps"),
    "release_labels": ("release", "set of labels", "sets of labels"),
    "release_pate_labels": ("ask for", "set of PATE's labels", "sets of PATE's labels"),
    "release_nzc_labels": ("ask for", "set of NZC's labels", "sets of NZC's labels"),
    "train_student": ("train", "student", "students"),
    "train_baseline": ("train", "model without privacy", "models without privacy"),
    "train_bagged_students": ("train", "set of bagged students", "sets of bagged students"),
    "train_nzc_students": ("train", "set of NZC's students", "sets of NZC's students"),
    "apply_votes": ("account for", "vote matrix", "vote matrices"),
}
_DATA = {
    "embedded": "on data that ship with scikit-learn (no data are downloaded)",
    "paper": "on the papers' own data",
}


def describe_start(jobs: Iterable, config: Mapping) -> str:
    """Return two lines on what a run is about to do.

    Args:
        jobs: All of Snakemake's jobs that will run.
        config: The checked configuration.
    """
    counts = Counter(job.rule.name for job in jobs)
    votes, session = config["own"]["votes"], config["own"]["session"]
    if session["file"] is not None:
        purpose = f"Releasing batch {session['batch']} of {session['file']}"
    elif votes is not None:
        purpose = f"Accounting for your votes ({votes})"
    else:
        titles = {paper.name: paper.title for paper in ALL}
        names = [titles[paper] for paper in config["papers"]]
        purpose = f"Reproducing {_join_with_and(names)} {_DATA[config['data']]}"
    work = []
    for rule, (verb, singular, plural) in _WORK.items():
        if number := counts.pop(rule, 0):
            work.append(f"{verb} {number} {singular if number == 1 else plural}")
    for rule in ("all", "default", "report"):
        counts.pop(rule, None)  # such a rule only gathers what others make
    if (rest := counts.total()) and work:
        work.append(f"{rest} shorter jobs (tables, figures, checks)")
    elif rest:
        work.append(f"{rest} job{'s' * (rest > 1)}")
    return (
        f"{purpose}: {_join_with_and(work)}.\n"
        "Ctrl-C stops the run; the same command continues it. Each job's own log: logs/"
    )


def _join_with_and(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "nothing"


def list_requested_files(dag: Any) -> list[str]:
    """Return the files that a run was asked for, sorted: by name, or as what a named rule gathers.

    Args:
        dag: Snakemake's graph of jobs.
    """
    requested = []
    for job in dag.targetjobs:
        by_name = [file for file in job.output if file in dag.targetfiles]
        requested += by_name or list(job.output) or list(job.input)
    return sorted(requested)


def describe_end(
    page: str, comparison: str | Path, *, requested: Sequence[str], since: float, data: str
) -> str | None:
    """Return what came of a run and where it is.

    Args:
        page: Where a whole run ends.
        comparison: The file that compares with the printed numbers; it is counted if this run made
            it.
        requested: The files that the run was asked for. If the page is not among them, they are
            what came of the run.
        since: When the run started, as in `time.time`.
        data: The key `data` of the configuration.

    Returns:
        Three lines at most, or None if none of the files is there.
    """
    made = [Path(name).resolve() for name in requested if Path(name).is_file()]
    if not made:
        return None
    minutes, seconds = divmod(round(time.time() - since), 60)
    lines = [f"Done in {minutes} min {seconds} s." if minutes else f"Done in {seconds} s."]
    comparison = Path(comparison)
    if comparison.is_file() and comparison.stat().st_mtime >= since:
        with open(comparison, encoding="utf-8", newline="") as file:
            # Relations between several printed numbers stand below them, and are not counted.
            rows = [row for row in csv.DictReader(file) if row.get("kind") != "relation"]
        counts = Counter(row["status"] for row in rows)
        rest = counts.pop("not_run", 0)
        verdicts = ", ".join(
            f"{number} {status.replace('_', ' ')}" for status, number in counts.most_common()
        )
        need = "--config data=paper" if data != "paper" else "data that are private or not at hand"
        not_run = f"; {rest} were not run and need {need}" if rest else ""
        lines.append(f"{counts.total()} printed numbers compared: {verdicts or 'none'}{not_run}.")
    if page in requested:
        # A batch of a session ends with its labels, and has no page.
        title = "Labels" if page.endswith(".csv") else "Open the report"
        location = str(Path(page).resolve())
    elif len(made) == 1:
        title, location = "Result", str(made[0])
    else:
        title = "Results"
        location = f"{len(made)} files in {os.path.commonpath([file.parent for file in made])}"
    return "\n".join([*lines, f"{title}: {location}"])


def say(text: str | None) -> None:
    """Print a text to standard error, as Snakemake does with its own; nothing if it is None."""
    if text is not None:
        print(text, file=sys.stderr, flush=True)
