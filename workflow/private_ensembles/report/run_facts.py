"""What the page says about the run itself: configuration, versions, machine, time and memory.

All of it is read from what the jobs left behind (``results/provenance``, ``results/benchmarks``,
``logs``); what is missing there is left out here.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from private_ensembles.base.provenance import read_record
from private_ensembles.report.html import html_table
from private_ensembles.run.changes import DEFAULTS, changes

_PEAK = re.compile(r"finished, peak memory (\d+) MiB")


def _format_value(value: object) -> str:
    return "null" if value is None else str(value)


def origins(root: Path) -> dict[str, dict[str, int]]:
    """Return revisions, Pythons, machines, devices, seeds and versions behind the results.

    Processors and the instructions that libraries used are among them.

    Args:
        root: The results' folder.

    Returns:
        How many results have each value, by fact and value. Results without a record are left out.
    """
    facts: dict[str, dict[str, int]] = defaultdict(Counter)
    for path in sorted((root / "provenance").rglob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        names = ("revision", "python", "machine", "processor", "device", "seed")
        sets = record.get("instruction_sets") or {}
        values = {name: record.get(name) for name in names} | (record.get("versions") or {})
        values |= {f"{name}, instructions": value for name, value in sets.items()}
        for name, value in values.items():
            if value is not None:
                facts[name][str(value)] += 1
    return facts


def list_revisions(paths: Iterable[Path | str]) -> str:
    """Return the git revisions at which results were made, in words; empty if none is on record.

    A publication changes files in docs/: the revision at its own end would be a changed one.
    """
    revisions = {read_record(path).get("revision") for path in paths} - {None}
    return " and ".join(sorted(map(str, revisions)))


def timings(root: Path) -> pd.DataFrame:
    """Return time and memory of the run's jobs, one row per rule, the longest first.

    Args:
        root: The results' folder.

    Returns:
        A frame with the columns rule, jobs, seconds (of all jobs), longest (seconds of one job) and
        peak_mib (the most memory of one job, from its log, or else from its benchmark).
    """
    rows = []
    for folder in sorted(path for path in (root / "benchmarks").glob("*") if path.is_dir()):
        files = [pd.read_csv(file, sep="\t", dtype=str) for file in sorted(folder.rglob("*.tsv"))]
        if not files:
            continue
        # "NA" means that the job was too short to be measured.
        jobs = pd.concat(files)[["s", "max_rss"]].apply(pd.to_numeric, errors="coerce").fillna(0)
        peaks = [jobs["max_rss"].max()]
        for log in sorted((root.parent / "logs" / folder.name).rglob("*.log")):
            peaks += map(float, _PEAK.findall(log.read_text(encoding="utf-8", errors="replace")))
        rows.append(
            {
                "rule": folder.name,
                "jobs": len(jobs),
                "seconds": round(jobs["s"].sum(), 1),
                "longest": round(jobs["s"].max(), 1),
                "peak_mib": round(max(peaks)) or None,
            }
        )
    columns = ["rule", "jobs", "seconds", "longest", "peak_mib"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("seconds", ascending=False, ignore_index=True)


@dataclass(frozen=True)
class Facts:
    """What ``index.html`` says of the run.

    Attributes:
        changed: A table of the changed configuration, empty if every value is the default; None
            without a configuration.
        origins: The values of each fact, in words.
        rules: The number of rules that ran.
        jobs: The number of their jobs.
        minutes: The minutes of one core, all jobs together.
        times: A table of time and memory per rule.
    """

    changed: Markup | str | None
    origins: Mapping[str, str]
    rules: int
    jobs: int
    minutes: float
    times: Markup


def facts(root: Path, config: Mapping | None) -> Facts:
    """Return what the page's last chapter says.

    Args:
        root: The results' folder.
        config: The run's configuration, if it is known.
    """
    changed = None
    if config is not None and DEFAULTS.is_file():
        rows = [
            {"key": key, "default": _format_value(before), "this run": _format_value(after)}
            for key, (before, after) in changes(config).items()
        ]
        changed = html_table(pd.DataFrame(rows), "Changed configuration") if rows else ""
    times = timings(root)
    return Facts(
        changed=changed,
        origins={name: _format_counts(values) for name, values in origins(root).items()},
        rules=len(times),
        jobs=int(times["jobs"].sum()),
        minutes=float(times["seconds"].sum() / 60),
        times=html_table(times, "Time and memory per rule"),
    )


def _format_counts(values: Mapping[str, int]) -> str:
    if len(values) == 1:
        return next(iter(values))
    return ", ".join(f"{value} ({count} results)" for value, count in values.items())
