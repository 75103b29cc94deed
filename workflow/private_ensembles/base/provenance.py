"""Where each result came from: a record in results/provenance, and a check that nobody changed it.

The record of results/<path> is results/provenance/<path>.json, also if a workflow that imports
this one puts a prefix before both. The job that makes a result writes its record into another
file, so that equal results are equal bytes. When a later job reads the result, it is compared with
the record, so a disk that flips bytes in a CSV is noticed, too.

A hash reveals something about its source: anyone who knows all votes but one teacher's can try
that teacher's until the hash fits. So what is in a folder called `private` has no record, nor has a
rehearsal, whose noise anyone can compute from the seed. As inputs, both are recorded without their
hashes, and so is whatever a confidential job reads.

This module imports only the standard library, because every job pays for what is imported here.
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
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from private_ensembles.base import instruction_sets

# The versions of these modules matter to a result if its job has loaded them; each has the name of
# its distribution beside it.
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
# Only their owner may look into these folders: whoever has the seed can take away a rehearsal's
# noise.
PRIVATE = {"private", "rehearsal"}


StrPath = str | os.PathLike[str]


def _split(path: StrPath) -> tuple[Path, tuple[str, ...]] | None:
    """Return the folder of results that holds a path, and the path's parts in it, or None."""
    parts = PurePosixPath(path).parts
    if ROOT not in parts or ".." in parts:
        return None
    depth = parts.index(ROOT) + 1
    return Path(*parts[:depth]), parts[depth:]


def is_private(path: StrPath) -> bool:
    """Return whether a result is in a folder of `PRIVATE`, which only its owner may read."""
    split = _split(path)
    return split is not None and not PRIVATE.isdisjoint(split[1][:-1])


def record_path(path: StrPath) -> Path | None:
    """Return the path of a result's record.

    It is None for a private result, and for a file that is no result (data, docs, logs).
    """
    split = _split(path)
    if split is None or is_private(path) or os.path.isabs(path):
        return None
    root, parts = split
    if not parts or parts[0] in (FOLDER, "benchmarks"):
        return None
    return Path(root, FOLDER, *parts[:-1], f"{parts[-1]}.json")


def sha256_of(path: StrPath) -> str:
    """Return the hexadecimal sha256 of a file; raise OSError if it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_inputs(paths: Iterable[StrPath]) -> dict[str, str]:
    """Compare every input file with its record, and return the hexadecimal sha256 by path.

    Raises:
        ValueError: with the name of the file, if its content differs from its record.
        OSError: if a file cannot be read.
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


def read_record(path: StrPath) -> dict[str, Any]:
    """Return the record of a result; it is empty if there is none that can be read."""
    record = record_path(path)
    if record is None:  # the file was downloaded, not made
        return {}
    with contextlib.suppress(OSError, ValueError, TypeError):
        content = json.loads(record.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}


def origin(snakemake: Any, inputs: dict[str, str | None]) -> dict[str, Any]:
    """Return what all outputs of a job have in common: rule, parameters, inputs, surroundings.

    Processor and instruction sets are here and not among the surroundings, because results hold
    those, and results of a portable run are the same bytes on any processor.

    Args:
        snakemake: what Snakemake gives the script. Its params are the slice of the configuration
            that the rule uses, with the fingerprint of its code.
        inputs: hexadecimal sha256 by path; None for what is confidential.
    """
    params: Any = getattr(snakemake, "params", None)
    wildcards: Any = getattr(snakemake, "wildcards", None)
    config = getattr(snakemake, "config", None) or {}
    return {
        "rule": getattr(snakemake, "rule", None),
        "wildcards": dict(wildcards.items()) if hasattr(wildcards, "items") else {},
        "params": dict(params.items()) if hasattr(params, "items") else {},
        "seed": config.get("seed"),
        "inputs": inputs,
        **surroundings(*(name for module, name in PACKAGES.items() if module in sys.modules)),
        "processor": instruction_sets.describe_processor(),
        "instruction_sets": instruction_sets.describe_loaded(),
        "portable": bool(config.get("portable")),
    }


def surroundings(*packages: str, device: str | None = None) -> dict[str, Any]:
    """Return versions of this package and of `packages`, git revision, Python, machine, device.

    Args:
        packages: names of distributions; one that is not installed has None as its version.
        device: "cpu", or the name of a GPU; None looks at what torch uses.
    """
    return {
        "versions": {name: _version(name) for name in ("private-ensembles", *packages)},
        "revision": _revision(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "device": device or _device(),
    }


def write_record(
    temporary: StrPath, final: StrPath, written: StrPath, facts: dict[str, Any]
) -> None:
    """Write the record of a result.

    A directory has no sha256 and is recorded without one.

    Args:
        temporary: where the record is written.
        final: where the result will be.
        written: where its bytes are for now.
        facts: what `origin` returns.
    """
    content: dict[str, Any] = {"file": str(final), **facts}
    if os.path.isfile(written):
        status = os.stat(written)
        content["sha256"] = sha256_of(written)
        content["bytes"] = status.st_size
        content["mtime_ns"] = status.st_mtime_ns
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain)
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _device() -> str:
    torch: Any = sys.modules.get("torch")
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
    folder = str(Path(__file__).resolve().parent)
    command = ["git", "-C", folder, "describe", "--always", "--abbrev=40", "--dirty=+"]
    command += ["--exclude=*"]
    # Without its optional lock, a job cannot get in the way of somebody's `git commit`.
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
