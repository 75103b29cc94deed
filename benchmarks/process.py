"""Measuring in a process of its own: time, peak memory, and caches that do not help."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def least(
    name: str, call: Callable[[], object], repetitions: int = 1
) -> tuple[dict[str, float], object]:
    """Least processor and wall-clock seconds of some calls, and the last call's result."""
    processor, wall = [], []
    for _ in range(repetitions):
        started = time.process_time(), time.perf_counter()
        result = call()
        processor.append(time.process_time() - started[0])
        wall.append(time.perf_counter() - started[1])
    return {f"{name}seconds": min(processor), f"{name}wall_seconds": min(wall)}, result


def peak() -> float:
    """Largest resident memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget() -> None:
    """Empty the caches of the library, so that every repetition does all of the work."""
    for name, module in list(sys.modules.items()):
        if name.startswith("private_ensembles"):
            for value in list(vars(module).values()):
                for cached in (value, *(vars(value).values() if isinstance(value, type) else ())):
                    if hasattr(cached, "cache_clear"):
                        cached.cache_clear()


def in_a_process(module: str, what: str, **arguments) -> dict:
    """Call function `what` of benchmarks.`module` in a fresh Python and return its result.

    Raises RuntimeError with the last line of what it wrote to stderr where it fails.
    """
    code = (
        "import sys, json; from importlib import import_module;"
        "sys.path[:0] = json.loads(sys.argv[1]); found = import_module(sys.argv[2]);"
        "print('RESULT' + json.dumps(getattr(found, sys.argv[3])(**json.loads(sys.argv[4]))))"
    )
    root = Path(__file__).resolve().parents[1]
    paths = json.dumps([str(root), str(root / "workflow")])
    command = [
        sys.executable, "-c", code, paths, f"benchmarks.{module}", what, json.dumps(arguments)
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{what} {arguments}: {done.stderr.strip().splitlines()[-1]}")
    line = next(x for x in done.stdout.splitlines() if x.startswith("RESULT"))
    return json.loads(line.removeprefix("RESULT"))
