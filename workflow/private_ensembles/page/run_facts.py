"""What the page says about the run itself: configuration, versions, machine, time and memory.

All of it is read from what the jobs left behind (``results/provenance``, ``results/benchmarks``,
``logs``); what is missing there is left out here.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.configuration.changes import DEFAULTS, changes
from private_ensembles.page.html import definitions, html_table

# What is between these marks differs between two runs by its nature.
VARIES = ("<!-- varies from run to run -->", "<!-- /varies -->")

_PEAK = re.compile(r"finished, peak memory (\d+) MiB")


def config_changes(config: Mapping, default: Path) -> list[tuple[str, str, str]]:
    """Return (key, default, in this run) in words for every value that is not the default one.

    config: as the run used it; default: the workflow's ``config.yaml``.
    """
    return [
        (key, _shown(before), _shown(after))
        for key, (before, after) in changes(config, default).items()
    ]


def _shown(value: object) -> str:
    return "null" if value is None else str(value)


def origins(root: Path) -> dict[str, dict[str, int]]:
    """Return, of all results that have a record, revisions, Pythons, machines, devices, versions.

    root: the results' folder. Each fact maps its values to how many results have it.
    """
    facts: dict[str, dict[str, int]] = defaultdict(Counter)
    for path in sorted((root / "provenance").rglob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        names = ("revision", "python", "machine", "device", "seed")
        values = {name: record.get(name) for name in names} | (record.get("versions") or {})
        for name, value in values.items():
            if value is not None:
                facts[name][str(value)] += 1
    return facts


def timings(root: Path) -> pd.DataFrame:
    """Return time and memory of the run's jobs, one row per rule, the longest first.

    Columns: rule, jobs, seconds (of all jobs), longest (seconds of one), peak_mib (largest memory
    of one, from its log, else from its benchmark).
    """
    rows = []
    for folder in sorted(path for path in (root / "benchmarks").glob("*") if path.is_dir()):
        files = [pd.read_csv(file, sep="\t", dtype=str) for file in sorted(folder.rglob("*.tsv"))]
        if not files:
            continue
        # "NA": the job was too short to be looked at.
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


def section_html(root: Path, config: Mapping | None) -> str:
    """Return what the page's last chapter says, what varies between the marks `VARIES`.

    config: of the run, to say what is not the default.
    """
    parts = ["<h3>Configuration</h3>"]
    if config is not None and DEFAULTS.is_file():
        changed = config_changes(config, DEFAULTS)
        if changed:
            frame = pd.DataFrame(changed, columns=["key", "default", "this run"])
            parts.append("<p>Not as in <code>config.yaml</code>:</p>")
            parts.append(html_table(frame, "Changed configuration"))
        else:
            parts.append("<p>Every value is that of <code>config.yaml</code>.</p>")
    parts.append(VARIES[0])
    facts = {name: _counted(values) for name, values in origins(root).items()}
    if facts:
        parts += [
            "<h3>Provenance</h3>",
            '<p class="caption">Of the results made so far, each of which has its own record in '
            "<code>results/provenance/</code>; two values mean that some were made before a "
            "change.</p>",
            "<details><summary>Revision, machine and versions</summary>",
            definitions(facts) + "</details>",
        ]
    times = timings(root)
    if len(times):
        jobs, minutes = times["jobs"].sum(), times["seconds"].sum() / 60
        parts += [
            "<h3>Times</h3>",
            f'<p class="caption">{jobs} jobs, {minutes:.1f} minutes of one core in all; what '
            "earlier runs in this folder left is included. <em>peak mib</em>: the most memory of "
            "one job, in MiB.</p>",
            f"<details><summary>All {len(times)} rules</summary>",
            html_table(times, "Time and memory per rule") + "</details>",
        ]
    return "\n".join([*parts, VARIES[1]])


def _counted(values: Mapping[str, int]) -> str:
    if len(values) == 1:
        return escape(next(iter(values)))
    return ", ".join(f"{escape(value)} ({count} results)" for value, count in values.items())
