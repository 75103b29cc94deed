"""Snakemake in forks of a process that has loaded it: a dry run takes 1 s of one core, not 2.5.

The process is `multiprocessing`'s own fork server. It loads Snakemake and what the workflow loads
of other libraries, and nothing of the workflow, so that a run reads the files of its own folder.
A run differs from `python -m snakemake` in what its log says of the folder in which it was started.
"""

import gc
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What pytest adds for our own tests, and what a run must not find.
OURS = (str(ROOT), str(ROOT / "workflow"))

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        "snakemake.cli",
        "docutils.parsers.rst",
        "jinja2",
        "jsonschema",
        "nbformat",
        "requests",
        "smart_open",
        "yte",
    ]
)


def run_snakemake(folder, arguments, environment, timeout, memory=None):
    """Run Snakemake's command line in a folder; returns the finished process, output as text.

    environment: all its variables. timeout: seconds, after which the run is killed. memory: bytes
    of address space for each process.
    """
    arguments = [str(argument) for argument in arguments]
    with tempfile.TemporaryDirectory() as streams:
        files = [Path(streams) / name for name in ("out", "err")]
        job = str(folder), arguments, environment, memory, files
        process = _context.Process(target=_snakemake, args=job)
        process.start()
        process.join(timeout)
        late = process.is_alive()
        if late:
            process.kill()
            process.join()
        out, err = (path.read_text() if path.exists() else "" for path in files)
    if late:
        raise subprocess.TimeoutExpired(arguments, timeout, out, err)
    return subprocess.CompletedProcess(arguments, process.exitcode, out, err)


def _snakemake(folder, arguments, environment, memory, files):
    """Become a process that was started in the folder, and run Snakemake there."""
    for number, path in enumerate(files, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:] = [folder, *(path for path in sys.path if path not in OURS)]
    sys.argv = ["snakemake", *arguments]
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # The process lives for a short time; looking for garbage takes a third of a dry run.
    gc.disable()

    from snakemake.cli import main

    main(arguments)
