"""Where each result came from: a record in results/provenance, and a check that nobody changed it.

The record of results/<path> is results/provenance/<path>.json, also where a workflow that imports
this one puts a prefix before both. It is written by the job that makes the result, outside
of it, so that equal results are equal bytes, and is compared with the file when a later job reads
it: a disk that flips bytes in a CSV is noticed, too.

A hash reveals something about its source: anyone who knows all votes but one teacher's can try
that teacher's until the hash fits. So what is in a folder called `private` has no record, nor has a
rehearsal, whose noise anyone can compute from the seed. As inputs, these are recorded without
theirs, and so is whatever a confidential job reads.
Imports only the standard library, because every job pays for what is imported here.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path, PurePosixPath

# Modules whose versions matter to a result, if a job has loaded them, and their distributions.
PACKAGES = {
    "dp_accounting": "dp-accounting",
    "gurobipy": "gurobipy",
    "highspy": "highspy",
    "lightgbm": "lightgbm",
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "opacus": "opacus",
    "opendp": "opendp",
    "pandas": "pandas",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "torch": "torch",
}
ROOT, FOLDER = "results", "provenance"
# Folders for their owner's eyes alone: whoever has the seed can take a rehearsal's noise away.
PRIVATE = {"private", "rehearsal"}


def _split(path) -> tuple[Path, tuple[str, ...]] | None:
    """Return the folder of results that holds a path, and the path in it; None for no result."""
    parts = PurePosixPath(path).parts
    if ROOT not in parts or ".." in parts:
        return None
    place = parts.index(ROOT) + 1
    return Path(*parts[:place]), parts[place:]


def is_private(path) -> bool:
    """Tell whether a result is in a folder of `PRIVATE`, for its owner's eyes alone."""
    place = _split(path)
    return place is not None and not PRIVATE.isdisjoint(place[1][:-1])


def record_path(path) -> Path | None:
    """Return where the record of a result is; None for no result (data, docs, logs), or private."""
    place = _split(path)
    if place is None or is_private(path) or os.path.isabs(path):
        return None
    root, parts = place
    if not parts or parts[0] in (FOLDER, "benchmarks"):
        return None
    return Path(root, FOLDER, *parts[:-1], f"{parts[-1]}.json")


def sha256_of(path) -> str:
    """Return the hexadecimal sha256 of a file; OSError if it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_inputs(paths) -> dict[str, str]:
    """Return the sha256 of every input file, after comparing it with its record.

    Raises ValueError, naming the file, if contents differ from the record; OSError if a file
    cannot be read.
    """
    hashes = {}
    for path in map(str, paths):
        if not os.path.isfile(path):
            continue
        hashes[path] = sha256_of(path)
        recorded = read_record(path).get("sha256", hashes[path])
        if recorded != hashes[path]:
            raise ValueError(
                f"{path}: is damaged: its sha256 is {hashes[path]} and was {recorded} when it was "
                "made; delete it and run again, or, if you changed it on purpose, delete its "
                f"record, {record_path(path)}"
            )
    return hashes


def read_record(path) -> dict:
    """Return the record of a result; empty if there is none that can be read."""
    record = record_path(path)
    if record is None:  # downloaded, not made
        return {}
    with contextlib.suppress(OSError, ValueError, TypeError):
        content = json.loads(record.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}


def origin(snakemake, inputs: dict[str, str | None]) -> dict:
    """Return what all outputs of a job have in common: rule, parameters, inputs, surroundings.

    params: the slice of the configuration that the rule uses, with the fingerprint of its code.
    inputs: sha256 by path, None if it is confidential.
    """
    params = getattr(snakemake, "params", None)
    wildcards = getattr(snakemake, "wildcards", None)
    return {
        "rule": getattr(snakemake, "rule", None),
        "wildcards": dict(wildcards.items()) if hasattr(wildcards, "items") else {},
        "params": dict(params.items()) if hasattr(params, "items") else {},
        "seed": (getattr(snakemake, "config", None) or {}).get("seed"),
        "inputs": inputs,
        **surroundings(*(name for module, name in PACKAGES.items() if module in sys.modules)),
    }


def surroundings(*packages: str, device: str | None = None) -> dict:
    """Return versions of this package and of `packages`, git revision, Python, machine, device."""
    return {
        "versions": {name: _version(name) for name in ("private-ensembles", *packages)},
        "revision": _revision(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "device": device or _device(),
    }


def write_record(temporary, final, written, facts: dict) -> None:
    """Write to `temporary` the record of the result `final`, whose bytes are still at `written`.

    A directory has no sha256 and is recorded without.
    """
    content = {"file": str(final), **facts}
    if os.path.isfile(written):
        status = os.stat(written)
        content["sha256"] = sha256_of(written)
        content["bytes"] = status.st_size
        content["mtime_ns"] = status.st_mtime_ns
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain)
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _device() -> str:
    torch = sys.modules.get("torch")
    used = torch is not None and torch.cuda.is_initialized()
    return f"cuda: {torch.cuda.get_device_name()}" if used else "cpu"


def _version(name: str) -> str | None:
    if name == "private-ensembles":
        from private_ensembles import __version__

        return __version__
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache
def _revision() -> str | None:
    """Return the git revision of this code, with "+" if files differ from it."""
    here = str(Path(__file__).resolve().parent)
    command = ["git", "-C", here, "describe", "--always", "--abbrev=40", "--dirty=+"]
    command += ["--exclude=*"]
    # Without its optional lock, a job cannot get in the way of somebody's `git commit`.
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
