"""Snakemake in forks of a process that has loaded it: a dry run takes 1 s of one core, not 2.5.

Dry runs in turn in one process, which has then loaded the package as well, take 0.3 s each.

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
    done = _run(folder, _snakemake, arguments, environment, timeout, memory)
    return subprocess.CompletedProcess(arguments, *done)


def run_snakemake_in_turn(folder, argument_lists, environment, timeout):
    """Run Snakemake several times in one process that keeps what it has loaded.

    The folder's code must stay as it is. Returns a finished process for each list of arguments.
    """
    with tempfile.TemporaryDirectory() as streams:
        status, _, err = _run(
            folder, _snakemake_in_turn, (argument_lists, streams), environment, timeout
        )
        assert status == 0, err
        files = [Path(streams) / str(number) for number in range(len(argument_lists))]
        return [
            subprocess.CompletedProcess(
                arguments,
                int(Path(f"{file}.status").read_text()),
                Path(f"{file}.out").read_text(),
                Path(f"{file}.err").read_text(),
            )
            for file, arguments in zip(files, argument_lists, strict=True)
        ]


def call(folder, function, argument, environment, timeout=300):
    """Call a function in a process that was started in the folder; returns what it prints.

    function: of a module of tests; it is given the folder and the argument.
    """
    status, out, err = _run(folder, function, argument, environment, timeout)
    assert status == 0, out + err
    return out


def _run(folder, function, argument, environment, timeout, memory=None):
    """Call function(folder, argument) in a process of its own; returns status, output, errors."""
    with tempfile.TemporaryDirectory() as streams:
        files = [Path(streams) / name for name in ("out", "err")]
        job = str(folder), function, argument, environment, memory, files
        process = _context.Process(target=_start, args=job)
        process.start()
        process.join(timeout)
        late = process.is_alive()
        if late:
            process.kill()
            process.join()
        out, err = (path.read_text() if path.exists() else "" for path in files)
    if late:
        raise subprocess.TimeoutExpired(str(argument), timeout, out, err)
    return process.exitcode, out, err


def _start(folder, function, argument, environment, memory, files):
    """Become a process that was started in the folder, and call a function."""
    _redirect(*files)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:] = [folder, *(path for path in sys.path if path not in OURS)]
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # The process lives for a short time; looking for garbage takes a third of a dry run.
    gc.disable()
    function(folder, argument)


def _redirect(*files):
    """Let what this process prints and reports go into two files."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    for number, path in enumerate(files, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)


def _snakemake(folder, arguments):
    from snakemake.cli import main

    sys.argv = ["snakemake", *arguments]
    main(arguments)


def _snakemake_in_turn(folder, job):
    argument_lists, streams = job
    for number, arguments in enumerate(argument_lists):
        _redirect(f"{streams}/{number}.out", f"{streams}/{number}.err")
        try:
            _snakemake(folder, arguments)
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        Path(f"{streams}/{number}.status").write_text(str(status))
        os.chdir(folder)
    _redirect(os.devnull, os.devnull)
