"""What a measurement was taken on."""

import datetime
import os
import platform
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


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)
