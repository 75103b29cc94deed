"""Measuring: a process of its own, the least of several times, and what machine it was on."""

from __future__ import annotations

import datetime
import json
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from concurrent.futures import ProcessPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def time_call(call: Callable[[], object], repetitions: int = 1) -> tuple[dict[str, float], object]:
    """Return the least processor and wall-clock seconds of some calls, and the last result."""
    processor, wall = [], []
    for _ in range(repetitions):
        started = time.process_time(), time.perf_counter()
        result = call()
        processor.append(time.process_time() - started[0])
        wall.append(time.perf_counter() - started[1])
    return {"seconds": min(processor), "wall_seconds": min(wall)}, result


def peak_memory() -> float:
    """Return the largest resident memory of this process so far, MiB.

    Linux says so itself. Its `ru_maxrss` begins with the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_in_checkout(
    root: Path,
    code: str,
    argument: object,
    *,
    unset: Collection[str] = (),
    patience: float | None = None,
) -> Any:
    """Run code in a fresh Python with a checkout's package; return what it prints, which is JSON.

    Args:
        root: the checkout's folder.
        code: reads its argument, as JSON, from `sys.argv[1]`.
        argument: what JSON can hold.
        unset: variables that the process does not have.
        patience: seconds of the clock until it is no longer waited for; None: as long as it takes.

    Raises:
        subprocess.TimeoutExpired: it takes longer.
    """
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment["PYTHONPATH"] = str(root / "workflow")
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(argument)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=patience,
    )
    return json.loads(done.stdout)


def run_in_process(call: Callable, **arguments):
    """Call a function of a module in a fresh Python: its peak memory is then its own.

    Raises:
        Exception: what the function raises.
    """
    shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
    print(f"{call.__name__}: {shown}", file=sys.stderr, flush=True)
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=fresh) as pool:
        return pool.submit(call, **arguments).result()


def clear_caches() -> None:
    """Empty the caches of the library, so that every repetition does all of the work."""
    for name, module in list(sys.modules.items()):
        if name.startswith("private_ensembles"):
            for value in list(vars(module).values()):
                for cached in (value, *(vars(value).values() if isinstance(value, type) else ())):
                    if hasattr(cached, "cache_clear"):
                        cached.cache_clear()


def describe_machine(*packages: str) -> dict[str, str]:
    """Return date, processor, cores, load, memory and versions, as text by name."""
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


def add_machine(rows: list[dict], facts: dict[str, str]) -> pd.DataFrame:
    """Return the rows as a frame, with a column `machine_...` for each of the facts."""
    return pd.DataFrame(rows).assign(**{f"machine_{name}": fact for name, fact in facts.items()})


def read_machine(data: pd.DataFrame) -> dict[str, str]:
    """Return the facts of `add_machine`; if runs differ, all that they had, in their order."""
    return {
        name.removeprefix("machine_"): ", ".join(dict.fromkeys(map(str, data[name].dropna())))
        for name in data.columns
        if name.startswith("machine_")
    }


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)
