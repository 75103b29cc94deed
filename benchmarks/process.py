"""Measuring in a process of its own: time, peak memory, and caches that do not help."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """The package's folder as of a commit, in a work tree of git that is removed afterwards."""
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "tree"
        git = ["git", "-C", str(root), "worktree"]
        subprocess.run([*git, "add", "--detach", str(place), commit], check=True)
        try:
            yield place / "workflow"
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def forget() -> None:
    """Empty the caches of the library, so that every repetition does all of the work."""
    for name, module in list(sys.modules.items()):
        if name.startswith("private_ensembles"):
            for value in list(vars(module).values()):
                for cached in (value, *(vars(value).values() if isinstance(value, type) else ())):
                    if hasattr(cached, "cache_clear"):
                        cached.cache_clear()


def in_a_process(
    module: str,
    what: str,
    *,
    library: Path | None = None,
    limit: float | None = None,
    **arguments,
) -> dict:
    """Call function `what` of benchmarks.`module` in a fresh Python and return its result.

    library : folder of the package to measure, default that of this checkout; limit : seconds.
    Raises RuntimeError with the last line of what it wrote to stderr where it fails, and
    subprocess.TimeoutExpired after the limit.
    """
    code = (
        "import sys, json; from importlib import import_module;"
        "sys.path[:0] = json.loads(sys.argv[1]); found = import_module(sys.argv[2]);"
        "print('RESULT' + json.dumps(getattr(found, sys.argv[3])(**json.loads(sys.argv[4]))))"
    )
    root = Path(__file__).resolve().parents[1]
    paths = json.dumps([str(root), str(library or root / "workflow")])
    command = [
        sys.executable,
        "-c",
        code,
        paths,
        f"benchmarks.{module}",
        what,
        json.dumps(arguments),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    if done.returncode:
        raise RuntimeError(f"{what} {arguments}: {done.stderr.strip().splitlines()[-1]}")
    line = next(x for x in done.stdout.splitlines() if x.startswith("RESULT"))
    return json.loads(line.removeprefix("RESULT"))
