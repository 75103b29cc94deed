"""A Workflow Run RO-Crate of a finished run, from the records that its jobs left.

The crate's root is the folder of results. It holds the code (a copy), every result that has a
record with its sha256, one action for each job, the configuration, and each published number with
the check that compared it with ours. What is private (of somebody's own votes all but the
release) is left out, name and hash included; what a confidential job read is an input without both.

Profiles: Workflow Run Crate 0.5 (Leo et al. 2024, https://w3id.org/ro/wfrun/workflow/0.5).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import pandas as pd

LICENCE = "https://spdx.org/licenses/MIT"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
METADATA, CODE = "ro-crate-metadata.json", "code"
WORKFLOW = f"{CODE}/Snakefile"


def build(
    root: Path,
    code: Path,
    fidelity: Path | None,
    config: Mapping,
    private: Callable[[Path], bool],
) -> dict:
    """Return the metadata of the crate (JSON-LD), of version 1.1.

    root: the folder of results. code: a copy of the code, to be its folder `CODE`. fidelity: the
    table of published numbers; None if the run made none. config: as the run used it; paths of
    votes and data are left out. private: tells whether a result is for its owner's eyes alone.

    Raises ValueError if no result has a record.
    """
    from rocrate.rocrate import ROCrate

    records = read_records(root, private)
    if not records:
        raise ValueError(f"{root}: holds no record of a result")
    crate = ROCrate(version="1.1")
    crate.name = "Private ensembles: a run"
    crate.description = (
        "Results of private prediction from teacher ensembles, where each came from, and every "
        "number of the papers beside ours."
    )
    crate.license = _add(crate, LICENCE, "CreativeWork", name="MIT License")
    for address, (name, version) in PROFILES.items():
        profile = _add(crate, address, "CreativeWork", name=name, version=version)
        crate.root_dataset.append_to("conformsTo", profile)
    workflow = _workflow(crate, code)
    _configuration(crate, workflow, config)
    files = {path: _file(crate, path, record) for path, record in records.items()}
    jobs = _jobs(crate, records, files)
    times = [record["mtime_ns"] for record in records.values()]
    crate.datePublished = _time(max(times))
    run = _add(
        crate,
        "#run",
        "CreateAction",
        name="The run",
        instrument=workflow,
        object=[one for one in crate.contextual_entities if one.id.startswith("#value/")],
        result=list(files.values()),
        startTime=_time(min(times)),
        endTime=_time(max(times)),
        actionStatus={"@id": "http://schema.org/CompletedActionStatus"},
    )
    checks = [] if fidelity is None else _checks(crate, fidelity)
    crate.root_dataset["mentions"] = [run, *jobs, *checks]
    return crate.metadata.generate()


def read_records(root: Path, private: Callable[[Path], bool]) -> dict[str, dict]:
    """Return the records of the results that are there, by path from `root`, sorted.

    What is private has none, unless an earlier version wrote one; it is left out.
    """
    records = {}
    for path in sorted((root / "provenance").rglob("*.json")):
        name = path.relative_to(root / "provenance").as_posix().removesuffix(".json")
        record = json.loads(path.read_text(encoding="utf-8"))
        there = (root / name).is_file() and not private(root / name)
        if there and "sha256" in record and name != METADATA:
            records[name] = record
    return records


def _add(crate, identifier: str, kind, **properties):
    """Add an entity that is not a file, or return the one of this name."""
    from rocrate.model.contextentity import ContextEntity

    if (there := crate.get(identifier)) is not None:
        return there
    return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **properties}))


def _workflow(crate, code: Path):
    for path in sorted(path for path in code.rglob("*") if path.is_file()):
        name = f"{CODE}/{path.relative_to(code).as_posix()}"
        if name != WORKFLOW:
            kind = {"@type": ["File", "SoftwareSourceCode"]}
            is_code = path.suffix in (".py", ".smk")
            crate.add_file(path, name, properties={"name": name} | (kind if is_code else {}))
    main = {"name": "private-ensembles", "license": {"@id": LICENCE}}
    source = code / PurePosixPath(WORKFLOW).name
    return crate.add_workflow(source, WORKFLOW, main=True, lang="snakemake", properties=main)


def _configuration(crate, workflow, config: Mapping) -> None:
    """Add every top-level value of the configuration, as JSON, as a parameter of the workflow."""
    for key in sorted(set(config) - {"votes", "data_mirror"}):
        text = json.dumps(config[key], sort_keys=True, default=str)
        value = _add(crate, f"#value/{key}", "PropertyValue", name=key, value=text)
        slot = _add(crate, f"#parameter/{key}", "FormalParameter", name=key, additionalType="Text")
        slot["workExample"], value["exampleOfWork"] = value, slot
        workflow.append_to("input", slot)


def _file(crate, path: str, record: Mapping):
    facts = {
        "name": path,
        "sha256": record["sha256"],
        "contentSize": str(record["bytes"]),
        "dateModified": _time(record["mtime_ns"]),
    }
    return crate.add_file(path, path, properties=facts, validate_url=False)


def _jobs(crate, records: Mapping[str, Mapping], files: Mapping) -> list:
    """Add one action for each job: what it ran, with which parameters, from what, to what."""
    outputs: dict[str, list[str]] = {}
    for path, record in records.items():
        job = json.dumps([record["rule"], record["wildcards"]], sort_keys=True, default=str)
        outputs.setdefault(job, []).append(path)
    actions = []
    for number, paths in enumerate(outputs.values()):
        record = records[paths[0]]
        rule = record["rule"]
        script = crate.get(f"{CODE}/workflow/scripts/{rule}.py")
        tool = script or _add(crate, f"#rule/{rule}", "SoftwareApplication", name=rule)
        used = [_input(crate, name, digest, files) for name, digest in record["inputs"].items()]
        for key, value in record["params"].items():
            text = json.dumps(value, sort_keys=True, default=str)
            place = f"#job/{number}/{key}"
            used.append(_add(crate, place, "PropertyValue", name=key, value=text))
        versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
        action = _add(
            crate,
            f"#job/{number}",
            "CreateAction",
            name=" ".join([rule, *(f"{k}={v}" for k, v in record["wildcards"].items())]),
            instrument=tool,
            result=[files[path] for path in paths],
            description=f"Revision {record['revision']}, Python {record['python']}, "
            f"{record['machine']}, {record['device']}; {versions}.",
        )
        if used:
            action["object"] = used
        action["endTime"] = _time(max(records[path]["mtime_ns"] for path in paths))
        actions.append(action)
    return actions


def _input(crate, name: str, digest: str | None, files: Mapping):
    """Return what a job read: a result, or what is outside the crate, only named if private."""
    parts = PurePosixPath(name).parts
    inside = "/".join(parts[parts.index("results") + 1 :]) if "results" in parts else None
    if inside in files:
        return files[inside]
    if digest is None:
        text = "Confidential: not part of this crate, and without a hash."
        return _add(crate, "#confidential", "CreativeWork", name="an input", description=text)
    return _add(crate, f"#input/{quote(name)}", "CreativeWork", name=name, sha256=digest)


def _checks(crate, fidelity: Path) -> list:
    """Add every published number, and the comparison with ours as an action that is about it."""
    table = pd.read_csv(fidelity, dtype=str, keep_default_na=False)
    tool = crate.get(f"{CODE}/workflow/scripts/compare_published.py")
    checks = []
    for number, row in enumerate(table.to_dict("records")):
        where = " ".join(filter(None, (row[key] for key in table.columns[:5])))
        printed = _add(
            crate, f"#published/{number}", "PropertyValue", name=where, value=row["published"]
        )
        check = _add(crate, f"#check/{number}", "AssessAction", name=f"check of {where}")
        check["object"], printed["subjectOf"] = printed, check
        check["instrument"] = tool
        check["description"] = f"{row['status']}: {row['note']}".rstrip(": ")
        if row["reproduced"]:
            name = f"#reproduced/{number}"
            ours = _add(crate, name, "PropertyValue", name=where, value=row["reproduced"])
            check["result"] = ours
        checks.append(check)
    return checks


def _time(nanoseconds: int) -> str:
    moment = datetime.fromtimestamp(nanoseconds // 10**9, UTC)
    return moment.isoformat()
