"""What a measurement was taken on."""

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path


def describe(*packages: str) -> dict[str, str]:
    """Date, processor, cores, load, memory and versions, as text by name."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f} (last minute, before the start)",
        "memory": _field("/proc/meminfo", "MemTotal") or "unknown",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }


def commit() -> str:
    """The commit that is checked out, and whether tracked files but results differ from it."""
    git = ["git", "-C", str(Path(__file__).resolve().parents[1])]
    try:
        name, changed = (
            subprocess.run([*git, *command], capture_output=True, text=True, check=True).stdout
            for command in (
                ("rev-parse", "--short", "HEAD"),
                ("status", "--porcelain", "-uno", "--", ":/", ":(top,exclude)docs/benchmarks"),
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name.strip() + (" and changes to it" if changed.strip() else "")


def unchanged_since(commit: str, folder: str = "workflow/private_ensembles/darrm") -> bool:
    """Whether a folder's tracked files are as they were at a commit, changes not committed too."""
    root = Path(__file__).resolve().parents[1]
    command = ["git", "-C", str(root), "diff", "--quiet", commit, "--", folder]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def attach(data, facts: dict[str, str]) -> None:
    """Add the facts to a frame of measurements, a column each, in place."""
    for name, value in facts.items():
        data[f"machine_{name}"] = value


def attached(data) -> dict[str, str]:
    """Return what `attach` added; where runs differ, all that they had, in their order."""
    names = [name for name in data.columns if name.startswith("machine_")]
    return {
        name.removeprefix("machine_"): ", ".join(dict.fromkeys(map(str, data[name])))
        for name in names
    }


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)
